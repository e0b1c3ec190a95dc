"""Answers to exercise 16.5: right ones, and mistakes with the words that they must hear."""

from torch.nn.functional import cross_entropy, kl_div


def parts(student, teacher, T):
    return kl_div((student / T).log_softmax(-1), (teacher / T).log_softmax(-1), log_target=True, reduction="batchmean")


def repaired(student, teacher, labels, T):
    return 5 * parts(student, teacher, T) * T**2 + 2 * cross_entropy(student, labels)


def repaired_by_hand(student, teacher, labels, T):
    s, t = (student / T).log_softmax(-1), (teacher / T).softmax(-1)
    soft = (t * (t.log() - s)).sum(-1).mean()
    masked = labels != -100
    hard = -student.log_softmax(-1)[masked, labels[masked]].mean()
    return T * T * 5 * soft + 2 * hard


def with_short_names(s, t, y, temperature):
    return repaired(s, t, y, temperature)


def averaged_over_words_too(student, teacher, labels, T):
    soft = kl_div((student / T).log_softmax(-1), (teacher / T).softmax(-1))
    return 5 * soft * T**2 + 2 * cross_entropy(student, labels)


def log_of_log(student, teacher, labels, T):
    soft = kl_div((student / T).log_softmax(-1), (teacher / T).log_softmax(-1), reduction="batchmean")
    return 5 * soft * T**2 + 2 * cross_entropy(student, labels)


def her_loss(student, teacher, labels, T):
    return 5 * parts(student, teacher, T) + 2 * cross_entropy(student, labels)


def times_t(student, teacher, labels, T):
    return 5 * parts(student, teacher, T) * T + 2 * cross_entropy(student, labels)


def both_parts(student, teacher, labels, T):
    return her_loss(student, teacher, labels, T) * T**2


def the_hard_part(student, teacher, labels, T):
    return 5 * parts(student, teacher, T) + 2 * cross_entropy(student, labels) * T**2


def divided(student, teacher, labels, T):
    return 5 * parts(student, teacher, T) / T**2 + 2 * cross_entropy(student, labels)


def the_hard_part_divided(student, teacher, labels, T):
    return 5 * parts(student, teacher, T) + 2 * cross_entropy(student, labels) / T**2


def labels_at_the_temperature(student, teacher, labels, T):
    return 5 * parts(student, teacher, T) * T**2 + 2 * cross_entropy(student / T, labels)


def soft_part_only(student, teacher, labels, T):
    return 5 * parts(student, teacher, T) * T**2


def no_temperature(student, teacher, labels, T):
    return her_loss(student, teacher, labels, 1)


def one_side(student, teacher, labels, T):
    return 5 * parts(student, teacher * T, T) * T**2 + 2 * cross_entropy(student, labels)


def sides_swapped(student, teacher, labels, T):
    return 5 * parts(teacher, student, T) * T**2 + 2 * cross_entropy(student, labels)


def four_times(student, teacher, labels, T):
    return 5 * parts(student, teacher, T) * 4 + 2 * cross_entropy(student, labels)


def unweighted(student, teacher, labels, T):
    return parts(student, teacher, T) * T**2 + cross_entropy(student, labels)


def cross_entropy_for_kl(student, teacher, labels, T):
    soft = cross_entropy(student / T, (teacher / T).softmax(dim=-1))
    return 5 * soft * T**2 + 2 * cross_entropy(student, labels)


def masked_tokens_only(student, teacher, labels, T):
    masked = labels != -100
    return repaired(student[masked], teacher[masked], labels[masked], T)


def weights_swapped(student, teacher, labels, T):
    return 2 * parts(student, teacher, T) * T**2 + 5 * cross_entropy(student, labels)


def summed_over_tokens(student, teacher, labels, T):
    return 5 * parts(student, teacher, T) * len(labels) * T**2 + 2 * cross_entropy(student, labels)


def factor_twice(student, teacher, labels, T):
    return 5 * parts(student, teacher, T) * T**4 + 2 * cross_entropy(student, labels)


def hard_part_by_t(student, teacher, labels, T):
    return 5 * parts(student, teacher, T) + 2 * cross_entropy(student, labels) / T


def cut_off(student, teacher, labels, T):
    return repaired(student.detach(), teacher, labels, T)


ANSWERS = {
    "16.5": {
        "accepted": [repaired, repaired_by_hand, with_short_names],
        "wrong": [
            (her_loss, "nothing has changed"),
            (times_t, "You multiplied by T."),
            (both_parts, "You multiplied both parts"),
            (the_hard_part, "Which of the two became too weak"),
            (divided, "too weak already"),
            (the_hard_part_divided, "now both parts shrink"),
            (labels_at_the_temperature, "A label has no temperature"),
            (soft_part_only, "The labels count as well"),
            (no_temperature, "the KL at T = 1"),
            (one_side, "on the student's side only"),
            (sides_swapped, "its two sides swapped"),
            (four_times, "right only for T = 2"),
            (unweighted, "The weights 5 and 2 are missing"),
            (averaged_over_words_too, "averaged over the words, too"),
            (log_of_log, "unless you say log_target=True"),
            (cut_off, "cut off from its inputs"),
            (cross_entropy_for_kl, "Keep her KL"),
            (masked_tokens_only, "about all N"),
            (weights_swapped, "The weights are swapped"),
            (summed_over_tokens, "a sum over the tokens"),
            (factor_twice, "by T² twice"),
            (hard_part_by_t, "divided the hard part by T."),
        ],
    }
}

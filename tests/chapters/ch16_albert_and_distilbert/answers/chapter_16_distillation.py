"""Answers to exercises 16.3 and 16.5: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import cross_entropy, kl_div


def with_log_softmax(student, teacher, mask, T):
    s = (student[mask == 1] / T).log_softmax(dim=-1)
    t = (teacher[mask == 1] / T).log_softmax(dim=-1)
    return (t.exp() * (t - s)).sum(dim=-1).mean()


def with_torch(student, teacher, mask, T):
    real = mask.bool()
    s, t = torch.log_softmax(student[real] / T, -1), torch.log_softmax(teacher[real] / T, -1)
    return kl_div(s, t, reduction="batchmean", log_target=True)


def with_a_weighted_sum(student, teacher, mask, T):
    s, t = torch.log_softmax(student / T, 2), torch.softmax(teacher / T, 2)
    tokens = kl_div(s, t, reduction="none").sum(-1)  # [B, T]
    return (tokens * mask).sum() / mask.sum()


def token_by_token(student, teacher, mask, T):
    losses = []
    for text in range(mask.size(0)):
        for at in range(mask.size(1)):
            if mask[text, at]:
                s = (student[text, at] / T).log_softmax(0)
                t = (teacher[text, at] / T).log_softmax(0)
                losses.append((t.exp() * (t - s)).sum())
    return torch.stack(losses).mean()[None]


def without_logarithm(student, teacher, mask, T):
    s, t = (student[mask == 1] / T).softmax(dim=-1), (teacher[mask == 1] / T).softmax(dim=-1)
    return kl_div(s, t, reduction="batchmean")


def with_padding(student, teacher, mask, T):
    return with_log_softmax(student, teacher, torch.ones_like(mask), T)


def divided_by_all(student, teacher, mask, T):
    return with_a_weighted_sum(student, teacher, mask, T) * mask.sum() / mask.numel()


def with_the_factor(student, teacher, mask, T):
    return with_log_softmax(student, teacher, mask, T) * T**2


def summed(student, teacher, mask, T):
    return with_log_softmax(student, teacher, mask, T) * mask.sum()


def by_texts(student, teacher, mask, T):
    s, t = (student / T).log_softmax(-1), (teacher / T).log_softmax(-1)
    return kl_div(s, t, reduction="batchmean", log_target=True)


def averaged_over_words(student, teacher, mask, T):
    real = mask.bool()
    s, t = (student[real] / T).log_softmax(-1), (teacher[real] / T).softmax(-1)
    return kl_div(s, t)


def swapped(student, teacher, mask, T):
    return with_log_softmax(teacher, student, mask, T)


def without_temperature(student, teacher, mask, T):
    return with_log_softmax(student, teacher, mask, 1)


def student_only(student, teacher, mask, T):
    return with_log_softmax(student, teacher * T, mask, T)


def teacher_only(student, teacher, mask, T):
    return with_log_softmax(student * T, teacher, mask, T)


def times_temperature(student, teacher, mask, T):
    return with_log_softmax(student, teacher, mask, 1 / T)


def only_cross_entropy(student, teacher, mask, T):
    s, t = (student[mask == 1] / T).log_softmax(-1), (teacher[mask == 1] / T).softmax(-1)
    return -(t * s).sum(-1).mean()


def negative(student, teacher, mask, T):
    return -with_log_softmax(student, teacher, mask, T)


def logarithm_of_a_logarithm(student, teacher, mask, T):
    real = mask == 1
    s, t = (student[real] / T).log_softmax(-1), (teacher[real] / T).log_softmax(-1)
    return kl_div(s, t, reduction="batchmean")


def mask_of_numbers(student, teacher, mask, T):
    s, t = (student[mask] / T).log_softmax(-1), (teacher[mask] / T).log_softmax(-1)
    return (t.exp() * (t - s)).sum(-1).mean()


def mask_as_a_truth(student, teacher, mask, T):
    return with_log_softmax(student, teacher, mask, T) if mask else None


def with_other_names(of_student, of_teacher, is_real, temperature):
    return with_log_softmax(of_student, of_teacher, is_real, temperature)


def over_the_tokens(student, teacher, mask, T):
    s, t = (student / T).log_softmax(1), (teacher / T).log_softmax(1)
    return (t.exp() * (t - s)).sum(-1)[mask == 1].mean()


def always_two(student, teacher, mask, T):
    return with_log_softmax(student, teacher, mask, 2)


def through_softmax(student, teacher, mask, T):
    s, t = (student[mask == 1] / T).softmax(-1), (teacher[mask == 1] / T).softmax(-1)
    return (t * (t.log() - s.log())).sum(-1).mean()


def detached(student, teacher, mask, T):
    return with_log_softmax(student.detach(), teacher, mask, T)


def as_a_number(student, teacher, mask, T):
    return with_log_softmax(student, teacher, mask, T).item()


def for_each_token(student, teacher, mask, T):
    s, t = (student[mask == 1] / T).log_softmax(-1), (teacher[mask == 1] / T).log_softmax(-1)
    return (t.exp() * (t - s)).sum(-1)


def without_an_axis(student, teacher, mask, T):
    return (student[mask == 1] / T).softmax().sum()


def mean_of_texts(student, teacher, mask, T):
    texts = [with_log_softmax(student[i : i + 1], teacher[i : i + 1], mask[i : i + 1], T) for i in range(len(mask))]
    return torch.stack(texts).mean()


def divided_by_the_factor(student, teacher, mask, T):
    return with_log_softmax(student, teacher, mask, T) / T**2


def only_padding(student, teacher, mask, T):
    return with_log_softmax(student, teacher, 1 - mask, T)


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
    "16.3": {
        "accepted": [with_log_softmax, with_torch, with_a_weighted_sum, token_by_token, with_other_names],
        "wrong": [
            (without_logarithm, "log_softmax, and not softmax"),
            (with_padding, "Padding counts in your mean"),
            (divided_by_all, "How many real tokens are there"),
            (with_the_factor, "The factor comes later"),
            (summed, "a sum over the real tokens"),
            (by_texts, "divided by the number of texts"),
            (averaged_over_words, "averaged over the words"),
            (swapped, "its two sides swapped"),
            (without_temperature, "The temperature is missing"),
            (student_only, "Only the student is divided by T"),
            (teacher_only, "Only the teacher is divided by T"),
            (times_temperature, "A temperature divides"),
            (only_cross_entropy, "Subtract the teacher's entropy"),
            (negative, "never negative"),
            (logarithm_of_a_logarithm, "unless you say log_target=True"),
            (mask_of_numbers, "Make the mask boolean"),
            (mask_as_a_truth, "A mask selects tokens by indexing"),
            (over_the_tokens, "runs over the tokens"),
            (always_two, "Use the argument T"),
            (through_softmax, "rounded to 0"),
            (detached, "cut off from its inputs"),
            (as_a_number, "without .item()"),
            (for_each_token, "one number is asked for"),
            (without_an_axis, "along which one are the V scores"),
            (mean_of_texts, "Each real token should count once"),
            (divided_by_the_factor, "comes later, and multiplies"),
            (only_padding, "runs over the padding"),
        ],
    },
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
    },
}

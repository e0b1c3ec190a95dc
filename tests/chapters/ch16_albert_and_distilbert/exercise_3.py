"""Answers to exercise 16.3: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import kl_div


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
    }
}

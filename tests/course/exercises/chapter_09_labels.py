"""Answers to exercises 9.4 and 9.5: right ones, and mistakes with the words that they must hear."""

import random

import torch

from bertedu.interpretation.probing import control_labels


def with_a_dictionary(words, number_of_labels, seed=0):
    lottery, label = random.Random(seed), {}
    for word in words:
        label.setdefault(word.lower(), lottery.randrange(number_of_labels))
    return [label[word.lower()] for word in words]


def types_first(words, number_of_labels, seed):
    generator = torch.Generator().manual_seed(seed)
    types = sorted({word.lower() for word in words})
    drawn = dict(zip(types, torch.randint(number_of_labels, (len(types),), generator=generator).tolist(), strict=True))
    return [drawn[word.lower()] for word in words]


def for_each_token(words, number_of_labels, seed=0):
    lottery = random.Random(seed)
    return [lottery.randrange(number_of_labels) for _ in words]


def case_matters(words, number_of_labels, seed=0):
    return [random.Random(f"{seed} {word}").randrange(number_of_labels) for word in words]


def from_one(words, number_of_labels, seed=0):
    return [label + 1 for label in control_labels(words, number_of_labels, seed)]


def counted_off(words, number_of_labels, seed=0):
    types = sorted({word.lower() for word in words})
    return [(types.index(word.lower()) + seed) % number_of_labels for word in words]


def seedless(words, number_of_labels, seed=0):
    return control_labels(words, number_of_labels, 0)


def by_length(words, number_of_labels, seed=0):
    return [len(word) % number_of_labels for word in words]


def a_label_a_type(words, number_of_labels, seed=0):
    return control_labels(sorted({word.lower() for word in words}), number_of_labels, seed)


def unseeded(words, number_of_labels, seed=0):
    label = {}
    return [label.setdefault(word.lower(), random.randrange(number_of_labels)) for word in words]


def weighted(states, attention_mask):
    mask = attention_mask[:, :, None].to(states.dtype)
    return (states * mask).sum(dim=1) / mask.sum(dim=1).clamp_min(1)


def filled(states, attention_mask):
    count = attention_mask.sum(1, keepdim=True).clamp(min=1)
    return states.masked_fill(attention_mask[..., None] == 0, 0).sum(1) / count


def in_a_loop(states, attention_mask):
    kept = [row[mask.bool()] for row, mask in zip(states, attention_mask, strict=True)]
    return torch.stack([row.mean(0) if len(row) else row.new_zeros(states.size(-1)) for row in kept])


def over_everything(states, attention_mask):
    return states.mean(dim=1)


def divided_by_all(states, attention_mask):
    return (states * attention_mask[:, :, None]).mean(dim=1)


def only_summed(states, attention_mask):
    return (states * attention_mask[:, :, None]).sum(dim=1)


def batch_divisor(states, attention_mask):
    return (states * attention_mask[:, :, None]).sum(dim=1) / attention_mask.sum()


def nan_when_empty(states, attention_mask):
    return (states * attention_mask[:, :, None]).sum(dim=1) / attention_mask.sum(dim=1, keepdim=True)


def float32_always(states, attention_mask):
    mask = attention_mask[:, :, None].float()
    return (states * mask).sum(dim=1) / mask.sum(dim=1).clamp_min(1)


def first_token(states, attention_mask):
    return states[:, 0]


def cut_off(states, attention_mask):
    return weighted(states.detach(), attention_mask)


ANSWERS = {
    "9.4": {
        "accepted": [with_a_dictionary, types_first],
        "wrong": [
            (control_labels, "the package's own"),
            (for_each_token, "every probe would look selective"),
            (case_matters, "They are one type"),
            (from_one, "they go from 0 to 3"),
            (counted_off, "drawn, or counted off"),
            (seedless, "Does the seed reach the lottery"),
            (by_length, "as likely as the others"),
            (a_label_a_type, "each place wants its label"),
            (unseeded, "Use the seed"),
        ],
    },
    "9.5": {
        "accepted": [weighted, filled, in_a_loop],
        "wrong": [
            (over_everything, "50s of the padding"),
            (divided_by_all, "you still divide by T"),
            (only_summed, "A mean divides"),
            (batch_divisor, "Each text has its own number"),
            (nan_when_empty, "0 divided by 0"),
            (float32_always, "dtype of the states"),
            (first_token, "the first token"),
            (cut_off, "cut off from its inputs"),
        ],
    },
}

"""Answers to exercise 6.5: right ones, and mistakes with the words that they must hear."""

import torch


def batch(masked, labels):
    return {"input_ids": masked, "labels": labels}


def filled(input_ids, chosen, special):
    return batch(input_ids.masked_fill(chosen, 4), input_ids.masked_fill(~chosen, -100))


def masked_returned(input_ids, chosen, special):
    labels = torch.full_like(input_ids, -100)
    labels[chosen] = input_ids[chosen]
    masked = input_ids.clone()
    masked[chosen] = 4
    return batch(masked, labels)


def labels_for_all(input_ids, chosen, special):
    return batch(input_ids.masked_fill(chosen, 4), input_ids.masked_fill(special, -100))


def after_hiding(input_ids, chosen, special):
    masked = input_ids.masked_fill(chosen, 4)
    return batch(masked, masked.masked_fill(~chosen, -100))


def the_wrong_way_round(input_ids, chosen, special):
    return batch(input_ids.masked_fill(chosen, 4), input_ids.masked_fill(chosen | special, -100))


def zeros(input_ids, chosen, special):
    return batch(input_ids.masked_fill(chosen, 4), input_ids.masked_fill(~chosen, 0))


def unchanged(input_ids, chosen, special):
    return batch(input_ids, input_ids.masked_fill(~chosen, -100))


def as_a_tuple(input_ids, chosen, special):
    return filled(input_ids, chosen, special)["input_ids"], filled(input_ids, chosen, special)["labels"]


def in_place(input_ids, chosen, special):
    labels = input_ids.masked_fill(~chosen, -100)
    input_ids[chosen] = 4
    return batch(input_ids, labels)


ANSWERS = {
    "6.5": {
        "accepted": [filled, masked_returned],
        "wrong": [
            (unchanged, "what the broken function returns: the model sees"),
            (labels_for_all, "It asks for every word now"),
            (after_hiding, "Those labels say [MASK]"),
            (the_wrong_way_round, "the mask is inverted"),
            (zeros, "the id of [PAD]"),
            (as_a_tuple, "a dict with"),
            (in_place, "changed its input"),
        ],
    }
}

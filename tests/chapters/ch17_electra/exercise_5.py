"""Answers to exercise 17.5: right ones, and mistakes with the words that they must hear."""

import torch


def by_assignment(masked, labels, sampled):
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    seen = text.clone()
    seen[chosen] = sampled
    return seen, seen != text


def by_scatter(masked, labels, sampled):
    chosen = labels.ne(-100)
    seen = masked.masked_scatter(chosen, sampled)
    replaced = (chosen & (seen != labels)).long()
    return seen, replaced


def in_a_loop(masked, labels, sampled):
    seen, replaced, k = masked.clone(), torch.zeros(masked.shape), 0
    for i, row in enumerate(labels.tolist()):
        for j, label in enumerate(row):
            if label != -100:
                seen[i, j], replaced[i, j] = sampled[k], float(sampled[k] != label)
                k += 1
    return seen, replaced


def written_into_a_copy(masked, labels, sampled):
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    seen = masked.clone()
    seen[chosen].copy_(sampled)
    return seen, seen != text


def copy_of_the_text(masked, labels, sampled):
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    seen = text.clone()
    seen[chosen].copy_(sampled)
    return seen, seen != text


def at_masks_only(masked, labels, sampled):
    text = torch.where(labels != -100, labels, masked)
    seen = text.masked_scatter(masked == 4, sampled)
    return seen, seen != text


def assigned_at_masks(masked, labels, sampled):
    seen = masked.clone()
    seen[masked == 4] = sampled
    return seen, seen != masked


def all_chosen(masked, labels, sampled):
    return by_assignment(masked, labels, sampled)[0], labels != -100


def against_the_masked(masked, labels, sampled):
    seen = by_assignment(masked, labels, sampled)[0]
    return seen, seen != masked


def against_the_labels(masked, labels, sampled):
    seen = by_assignment(masked, labels, sampled)[0]
    return seen, seen != labels


def original_is_one(masked, labels, sampled):
    seen, replaced = by_assignment(masked, labels, sampled)
    return seen, ~replaced


def labels_as_text(masked, labels, sampled):
    seen = labels.clone()
    seen[labels != -100] = sampled
    return seen, seen != labels


def ids_as_floats(masked, labels, sampled):
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    return text.double().masked_scatter(chosen, sampled.double()), text.masked_scatter(chosen, sampled) != text


def wrong_way_round(masked, labels, sampled):
    return by_assignment(masked, labels, sampled)[::-1]


def into_the_input(masked, labels, sampled):
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    masked[chosen] = sampled
    return masked, masked != text


ANSWERS = {
    "17.5": {
        "accepted": [by_assignment, by_scatter, in_a_loop],
        "wrong": [
            (written_into_a_copy, "still reads [MASK]"),
            (copy_of_the_text, "the copy was changed"),
            (at_masks_only, "one token off"),
            (assigned_at_masks, "Some chosen tokens are not [MASK]"),
            (all_chosen, "A lucky guess is original"),
            (against_the_masked, "compared with the masked text"),
            (against_the_labels, "compared with the labels"),
            (original_is_one, "1 stands for replaced"),
            (labels_as_text, "seen contains -100"),
            (wrong_way_round, "in the wrong order"),
            (into_the_input, "changed its input"),
            (ids_as_floats, "Ids are whole numbers"),
        ],
    }
}

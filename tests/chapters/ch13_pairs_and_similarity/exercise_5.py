"""Answers to exercise 13.5: right ones, and mistakes with the words that they must hear."""

import torch

# 13.5 ------------------------------------------------------------------------------------------------------------


def by_sorting_both(logits, model_labels, data_labels):
    small, wanted = ([label.lower() for label in labels] for labels in (model_labels, data_labels))
    sorted_columns = logits[:, sorted(range(len(small)), key=lambda n: small[n])]
    return sorted_columns[:, [sorted(wanted).index(label) for label in wanted]]


def looked_up(logits, model_labels, data_labels):
    small = [label.lower() for label in model_labels]
    return logits[:, [small.index(label.lower()) for label in data_labels]]


def stacked(logits, model_labels, data_labels):
    column = {label.casefold(): logits[:, number] for number, label in enumerate(model_labels)}
    return torch.stack([column[label.casefold()] for label in data_labels], dim=1)


def unchanged(logits, model_labels, data_labels):
    return logits


def the_way_back(logits, model_labels, data_labels):
    small = [label.lower() for label in data_labels]
    return logits[:, [small.index(label.lower()) for label in model_labels]]


def case_matters(logits, model_labels, data_labels):
    return logits[:, [model_labels.index(label) for label in data_labels]]


def written_down(logits, model_labels, data_labels):
    return logits[:, [1, 2, 0]]


def reversed_columns(logits, model_labels, data_labels):
    return logits.flip(-1)


def rows_by_name(logits, model_labels, data_labels):
    small = [label.lower() for label in model_labels]
    return logits[[small.index(label.lower()) for label in data_labels]]


def in_place(logits, model_labels, data_labels):
    small = [label.lower() for label in model_labels]
    for number, label in enumerate(data_labels):
        logits[:, number] = logits[:, small.index(label.lower())]
    return logits


def by_the_labels_themselves(logits, model_labels, data_labels):
    return logits[:, data_labels]


def by_a_matrix(logits, model_labels, data_labels):
    pairs = [[float(m.lower() == d.lower()) for d in data_labels] for m in model_labels]
    return logits @ torch.tensor(pairs)


def only_capitals(logits, model_labels, data_labels):
    return logits[:, [model_labels.index(label.upper()) for label in data_labels]]


def softmax_of_it(logits, model_labels, data_labels):
    return looked_up(logits, model_labels, data_labels).softmax(dim=-1)


def the_winner(logits, model_labels, data_labels):
    return looked_up(logits, model_labels, data_labels).argmax(dim=-1)


ANSWERS = {
    "13.5": {
        "accepted": [looked_up, stacked, by_sorting_both, by_a_matrix],
        "wrong": [
            (unchanged, "Nothing has changed"),
            (the_way_back, "the inverse order"),
            (case_matters, "labels in capitals"),
            (written_down, "its own order"),
            (reversed_columns, "reversed the columns"),
            (in_place, "overwrites columns"),
            (rows_by_name, "select columns"),
            (by_the_labels_themselves, "names, and columns are selected by numbers"),
            (the_winner, "one number a row"),
            (only_capitals, "Compare both in lower case"),
            (softmax_of_it, "Those are probabilities"),
        ],
    }
}

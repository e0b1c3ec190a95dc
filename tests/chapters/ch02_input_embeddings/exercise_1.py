"""Answers to exercise 2.1: right ones, and mistakes with the words that they must hear."""

import torch
from torch import nn
from torch.nn.functional import embedding, one_hot

# 2.1 -------------------------------------------------------------------------------------------------------------


def by_index(table, ids):
    return table[ids]


def by_product(table, ids):
    return one_hot(ids, len(table)).float() @ table


def by_function(table, ids):
    return embedding(ids, table)


def in_loops(table, ids):
    return torch.stack([torch.stack([table[int(i)] for i in row]) for row in ids])


def columns(table, ids):
    return table[:, ids]


def end_to_end(table, ids):
    return table[ids.flatten()]


def from_one(table, ids):
    return table[ids - 1]


def times_the_id(table, ids):
    return table[ids] * ids.unsqueeze(-1)


def too_few_columns(table, ids):
    return one_hot(ids).float() @ table


def of_integers(table, ids):
    return one_hot(ids, len(table)) @ table


def detached(table, ids):
    return table.detach()[ids]


def a_table_of_its_own(table, ids):
    return nn.Embedding(*table.shape)(ids)


def without_gradient(table, ids):
    return nn.Embedding.from_pretrained(table)(ids)


def one_hots_themselves(table, ids):
    return one_hot(ids, len(table)).float()


ANSWERS = {
    "2.1": {
        "accepted": [by_index, by_product, by_function, in_loops],
        "wrong": [
            (columns, "it holds columns of the table"),
            (end_to_end, "were joined into one"),
            (from_one, "count from 0"),
            (times_the_id, "multiplied by its id"),
            (too_few_columns, "one column for each row of the table"),
            (of_integers, "it returns integers"),
            (detached, "cut off from its inputs"),
            (without_gradient, "which freezes"),
            (a_table_of_its_own, "a second call with the same table"),
            (one_hots_themselves, "should become one row of the table"),
        ],
    }
}

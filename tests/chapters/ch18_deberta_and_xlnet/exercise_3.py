"""Answers to exercise 18.3: right ones, and mistakes with the words that they must hear."""

import numpy as np
import torch


def by_time(order):
    when = torch.tensor(order).argsort()
    query = when[None, :] < when[:, None]
    return query | torch.eye(len(order), dtype=torch.bool), query


def with_loops(order):
    query = [[order.index(j) < order.index(i) for j in range(len(order))] for i in range(len(order))]
    content = [[order.index(j) <= order.index(i) for j in range(len(order))] for i in range(len(order))]
    return content, query


def step_by_step(order):
    content = torch.zeros(len(order), len(order))
    query = torch.zeros(len(order), len(order))
    for step, position in enumerate(order):
        query[position, order[:step]] = 1
        content[position, order[: step + 1]] = 1
    return content, query


def from_lower_triangle(order):
    when = torch.tensor(order).argsort()
    lower = torch.ones(len(order), len(order)).tril().bool()
    return lower[when][:, when], lower.tril(-1)[when][:, when]


def with_numpy(order):
    when = np.argsort(order)
    return when[None] <= when[:, None], when[None] < when[:, None]


def order_as_time(order):
    when = torch.tensor(order)
    query = when[None, :] < when[:, None]
    return query | torch.eye(len(order), dtype=torch.bool), query


def order_of_the_text(order):
    return by_time(list(range(len(order))))


def the_other_direction(order):
    when = torch.tensor(order).argsort()
    query = when[None, :] > when[:, None]
    return query | torch.eye(len(order), dtype=torch.bool), query


def exchanged(order):
    return by_time(order)[::-1]


def hidden(order):
    return tuple(~mask for mask in by_time(order))


def sees_itself(order):
    content, _ = by_time(order)
    return content, content


def never_sees_itself(order):
    _, query = by_time(order)
    return query, query


def only_the_query_mask(order):
    return by_time(order)[1]


def content_sees_all(order):
    _, query = by_time(order)
    return torch.ones_like(query), query


def five_by_heart(order):
    _, query = by_time(order)
    return query | torch.eye(5, dtype=torch.bool), query


def rows_are_steps(order):
    query = torch.zeros(len(order), len(order)).bool()
    for step in range(len(order)):
        query[step, order[:step]] = True
    return query | torch.eye(len(order)).bool(), query


def scores_to_add(order):
    return tuple(torch.zeros(mask.shape).masked_fill(~mask, -1e9) for mask in by_time(order))


def list_as_tensor(order):
    when = order.argsort()
    return when[None, :] <= when[:, None], when[None, :] < when[:, None]


ANSWERS = {
    "18.3": {
        "accepted": [by_time, with_loops, step_by_step, from_lower_triangle, with_numpy],
        "wrong": [
            (order_as_time, "a position, not a time"),
            (order_of_the_text, "the order of the text"),
            (the_other_direction, "comes *after* it in the order"),
            (exchanged, "in the wrong order"),
            (hidden, "may *not* be seen"),
            (sees_itself, "read its own answer"),
            (never_sees_itself, "How can it, without the word"),
            (only_the_query_mask, "2 things are asked for"),
            (content_sees_all, "True everywhere"),
            (rows_are_steps, "not steps"),
            (five_by_heart, "five_by_heart stopped"),
            (scores_to_add, "other numbers than 0 and 1"),
            (list_as_tensor, "makes a tensor of it"),
        ],
    }
}

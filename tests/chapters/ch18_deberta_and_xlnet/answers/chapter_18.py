"""Answers to the exercises of chapter 18 about distances: right ones, and mistakes with the words they must hear."""

import numpy as np
import torch

from bertedu.family.deberta.attention import position_scores


def broadcast(length, span):
    positions = torch.arange(length)
    return (positions[:, None] - positions[None, :] + span).clamp(0, 2 * span - 1)


def with_loops(length, span):
    return torch.tensor([[min(max(i - j + span, 0), 2 * span - 1) for j in range(length)] for i in range(length)])


def plain_lists(length, span):
    return [[min(max(i - j + span, 0), 2 * span - 1) for j in range(length)] for i in range(length)]


def clamped_first(length, span):
    i, j = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="ij")
    return (i - j).clamp(-span, span - 1) + span


def with_numpy(length, span):
    positions = np.arange(length)
    return np.clip(np.subtract.outer(positions, positions) + span, 0, 2 * span - 1)


def swapped_and_one_too_many(length, span):
    return one_too_many(length, span).flip(0, 1)


def swapped(length, span):
    return broadcast(length, span).T


def unclamped(length, span):
    positions = torch.arange(length)
    return positions[:, None] - positions + span


def without_span(length, span):
    positions = torch.arange(length)
    return (positions[:, None] - positions).clamp(0, 2 * span - 1)


def span_after_clamp(length, span):
    return without_span(length, span) + span


def without_sign(length, span):
    positions = torch.arange(length)
    return ((positions[:, None] - positions).abs() + span).clamp(0, 2 * span - 1)


def one_too_many(length, span):
    positions = torch.arange(length)
    return (positions[:, None] - positions + span).clamp(0, 2 * span)


def half_a_table(length, span):
    positions = torch.arange(length)
    return (positions[:, None] - positions + span).clamp(0, span - 1)


def length_as_span(length, span):
    return broadcast(length, length)


def one_row(length, span):
    return torch.arange(-length + 1, length).add(span).clamp(0, 2 * span - 1)


def in_floats(length, span):
    return broadcast(length, span).float()


def sizes_by_heart(length, span):
    positions = torch.arange(6)
    return (positions[:, None] - positions + 3).clamp(0, 5)


def around(length, span):
    return unclamped(length, span) % (2 * span)


def clamped_distances(length, span):
    positions = torch.arange(length)
    return (positions[:, None] - positions).clamp(-span, span - 1)


def from_one(length, span):
    return unclamped(length, span).clamp(1, 2 * span)


def as_the_package(q, k, q_position, k_position, index):
    return position_scores(q, k, q_position, k_position, index)


def along_the_distances(q, k, q_position, k_position, index):
    pairs = index.expand(*q.shape[:-1], k.size(-2))
    return (q @ k_position.mT).gather(-1, pairs) + (q_position @ k.mT).gather(-2, pairs)


def with_another_name(q, k, positions_of_q, positions_of_k, delta):
    return along_the_distances(q, k, positions_of_q, positions_of_k, delta)


def by_looking_up(q, k, q_position, k_position, index):
    return torch.einsum("bhid,hijd->bhij", q, k_position[:, index]) + torch.einsum(
        "bhjd,hijd->bhij", k, q_position[:, index]
    )


def colleagues(q, k, q_position, k_position, index):
    last = q_position.size(-2)
    c2p = (q @ k_position.mT).gather(-1, index.expand(*q.shape[:-1], -1))
    opposite = (last - index).clamp(0, last - 1)
    return c2p + (q_position @ k.mT).gather(-2, opposite.expand(*q.shape[:-1], -1))


def index_transposed_only(q, k, q_position, k_position, index):
    pairs = index.expand(*q.shape[:-1], k.size(-2))
    return (q @ k_position.mT).gather(-1, pairs) + (k @ q_position.mT).gather(-1, pairs.mT)


def result_transposed_only(q, k, q_position, k_position, index):
    pairs = index.expand(*q.shape[:-1], k.size(-2))
    return (q @ k_position.mT).gather(-1, pairs) + (k @ q_position.mT).gather(-1, pairs).mT


def not_transposed(q, k, q_position, k_position, index):
    pairs = index.expand(*q.shape[:-1], k.size(-2))
    return (q @ k_position.mT).gather(-1, pairs) + (k @ q_position.mT).gather(-1, pairs)


def both_opposite(q, k, q_position, k_position, index):
    last = q_position.size(-2)
    opposite = (last - index).clamp(0, last - 1).expand(*q.shape[:-1], k.size(-2))
    return (q @ k_position.mT).gather(-1, opposite) + (q_position @ k.mT).gather(
        -2, index.expand(*q.shape[:-1], k.size(-2))
    )


def opposite_of_clamped(q, k, q_position, k_position, index):
    last, pairs = q_position.size(-2), index.expand(*q.shape[:-1], k.size(-2))
    opposite = (last - index).clamp(0, last - 1).expand(pairs.shape)
    return (q @ k_position.mT).gather(-1, pairs) + (k @ q_position.mT).gather(-1, opposite).mT


def queries_twice(q, k, q_position, k_position, index):
    pairs = index.expand(*q.shape[:-1], k.size(-2))
    return (q @ k_position.mT).gather(-1, pairs) + (q @ q_position.mT).gather(-1, pairs.mT).mT


def without_p2c(q, k, q_position, k_position, index):
    return (q @ k_position.mT).gather(-1, index.expand(*q.shape[:-1], k.size(-2)))


def without_c2p(q, k, q_position, k_position, index):
    return (q_position @ k.mT).gather(-2, index.expand(*q.shape[:-1], k.size(-2)))


def mirrored_in_the_wrong_place(q, k, q_position, k_position, index):
    pairs = (*q.shape[:-1], k.size(-2))
    mirrored = q_position.size(-2) - 1 - index
    c2p = (q @ k_position.mT).gather(-1, index.expand(pairs))
    return c2p + (q_position @ k.mT).gather(-2, mirrored.expand(pairs))


def both_terms(q, k, q_position, k_position, index):
    pairs = (*q.shape[:-1], k.size(-2))
    c2p = (q @ k_position.mT).gather(-1, index.expand(pairs))
    return c2p, (k @ q_position.mT).gather(-1, index.T.expand(pairs)).mT


def divided(q, k, q_position, k_position, index):
    return along_the_distances(q, k, q_position, k_position, index) / (3 * q.size(-1)) ** 0.5


def queries_not_transposed(q, k, q_position, k_position, index):
    pairs = index.expand(*q.shape[:-1], k.size(-2))
    return (q @ k_position.mT).gather(-1, pairs) + (q @ q_position.mT).gather(-1, pairs)


def with_content(q, k, q_position, k_position, index):
    return q @ k.mT + along_the_distances(q, k, q_position, k_position, index)


def unexpanded(q, k, q_position, k_position, index):
    return (q @ k_position.mT).gather(-1, index) + (k @ q_position.mT).gather(-1, index.T).mT


ANSWERS = {
    "18.1": {
        "accepted": [broadcast, with_loops, plain_lists, clamped_first, with_numpy],
        "wrong": [
            (swapped, "row and column are swapped"),
            (unclamped, "Nothing is clamped"),
            (without_span, "Distance 0 should get row s"),
            (span_after_clamp, "First add, then clamp"),
            (without_sign, "sign of the distance is lost"),
            (one_too_many, "no row 2s"),
            (half_a_table, "as if it had s"),
            (length_as_span, "length as the span"),
            (one_row, "Each *pair* of tokens"),
            (in_floats, "numbered by integers"),
            (sizes_by_heart, "no number from the first call"),
            (around, "not start again"),
            (clamped_distances, "starts at 0"),
            (from_one, "numbered from 0: the table's first row"),
            (swapped_and_one_too_many, "And the largest row should be 2s − 1"),
        ],
    },
    "18.2": {
        "accepted": [[4, -5, 6, 7], (4, -5, 6, 7), torch.tensor([4, -5, 6, 7])],
        "wrong": [
            ([4, 5, 6, 7], "the sign of −7"),
            ([4, -4, 5, 6], "You rounded down"),
            ([4, -5, 5, 6], "which becomes 2"),
            ([4, -4, 6, 7], "rounded with its sign"),
            ([4, -7, 6, 7], "the distance 7 is beyond it"),
            ([4, -5, 6, 6], "rounded to the nearest"),
            ([5, -5, 6, 7], "its own bucket"),
            ([4, -7, 7, 7], "by their logarithm"),
            ([4, -7, 15, 20], "several distances share"),
            ([12, 3, 14, 15], "rows in the table"),
            ([4, -1, 2, 3], "left out the m"),
            ([4, -6, 6, 7], "one by one"),
            (7, "is written like this"),
        ],
    },
    "18.4": {
        "accepted": [along_the_distances, by_looking_up, with_another_name],
        "wrong": [
            (as_the_package, "uses the package's `position_scores`"),
            (colleagues, "still the colleague's p2c"),
            (index_transposed_only, "did not transpose the result"),
            (result_transposed_only, "transpose the result only?"),
            (not_transposed, "Neither the index nor the result"),
            (both_opposite, "Now c2p has the opposite distance"),
            (opposite_of_clamped, "can't be computed from a clamped index"),
            (queries_twice, "the keys' words, k"),
            (without_p2c, "c2p alone"),
            (without_c2p, "p2c alone"),
            (divided, "divided already"),
            (mirrored_in_the_wrong_place, "row s belongs to distance 0"),
            (both_terms, "their sum"),
            (queries_not_transposed, "without transposing"),
            (with_content, "added content to content"),
            (unexpanded, "as many axes as the table"),
        ],
    },
}

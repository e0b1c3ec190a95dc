"""Answers to exercise 18.4: right ones, and mistakes with the words that they must hear."""

import torch

from bertedu.family.deberta.attention import position_scores


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
    }
}

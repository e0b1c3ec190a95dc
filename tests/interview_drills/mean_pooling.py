"""Answers to the drill of mean pooling: right ones, and mistakes with the words that they must hear."""

import numpy as np
import torch
from torch.nn import functional as F


def compared(pooled):
    vectors = F.normalize(pooled, dim=-1)
    return pooled, vectors @ vectors.T


def with_a_mask(hidden, mask):
    m = mask.unsqueeze(-1)
    return compared((hidden * m).sum(1) / m.sum(1).clamp(min=1e-9))


def with_einsum(hidden, mask):
    total = torch.einsum("btd,bt->bd", hidden.double(), mask.double())
    pooled = total / mask.sum(1).clamp_min(1)[:, None]
    return pooled, F.cosine_similarity(pooled[:, None], pooled[None], dim=-1)


def with_loops(hidden, mask):
    rows = [vectors[m == 1].mean(0) if m.any() else torch.zeros(hidden.size(-1)) for vectors, m in zip(hidden, mask)]  # noqa: B905
    pooled = torch.stack(rows)
    table = torch.zeros(len(rows), len(rows))
    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            table[i, j] = a @ b / max(float(a.norm() * b.norm()), 1e-8)
    return pooled, table


def with_numpy(hidden, mask):
    h, m = hidden.numpy(), mask.numpy().astype(bool)
    pooled = np.stack([a[b].mean(0) if b.any() else np.zeros(h.shape[-1]) for a, b in zip(h, m)])  # noqa: B905
    norms = np.linalg.norm(pooled, axis=1, keepdims=True)
    unit = np.divide(pooled, norms, out=np.zeros_like(pooled), where=norms > 0)
    return pooled, unit @ unit.T


def with_nanmean(hidden, mask):
    pooled = hidden.masked_fill(mask[..., None] == 0, torch.nan).nanmean(1).nan_to_num()
    return compared(pooled)


def with_a_batched_product(hidden, mask):
    weights = mask / mask.sum(-1, keepdim=True).clamp(min=1)
    return compared(torch.bmm(weights[:, None], hidden)[:, 0])


def padding_counts(hidden, mask):
    return compared(hidden.mean(1))


def divided_by_all(hidden, mask):
    return compared((hidden * mask[:, :, None]).mean(1))


def sums(hidden, mask):
    return compared((hidden * mask[:, :, None]).sum(1))


def inverted(hidden, mask):
    return with_a_mask(hidden, 1 - mask)


def first_token(hidden, mask):
    return compared(hidden[:, 0])


def normalized_too_early(hidden, mask):
    pooled = F.normalize(with_a_mask(hidden, mask)[0], dim=-1)
    return pooled, pooled @ pooled.T


def dot_products(hidden, mask):
    pooled = with_a_mask(hidden, mask)[0]
    return pooled, pooled @ pooled.T


def one_norm(hidden, mask):
    pooled = with_a_mask(hidden, mask)[0]
    unit = pooled / pooled.norm()
    return pooled, unit @ unit.T


def one_side(hidden, mask):
    pooled = with_a_mask(hidden, mask)[0]
    return pooled, F.normalize(pooled, dim=-1) @ pooled.T


def columns(hidden, mask):
    pooled = with_a_mask(hidden, mask)[0]
    unit = F.normalize(pooled, dim=0)
    return pooled, unit @ unit.T


def without_a_clamp(hidden, mask):
    m = mask.unsqueeze(-1)
    return compared((hidden * m).sum(1) / m.sum(1))


def nan_in_the_cosines(hidden, mask):
    pooled = with_a_mask(hidden, mask)[0]
    unit = pooled / pooled.norm(dim=-1, keepdim=True)
    return pooled, unit @ unit.T


def two_axes(hidden, mask):
    return compared((hidden * mask).sum(1) / mask.sum(1))


def padding_at_the_end(hidden, mask):
    rows = [vectors[: int(n)].sum(0) / max(int(n), 1) for vectors, n in zip(hidden, mask.sum(1))]  # noqa: B905
    return compared(torch.stack(rows))


def neighbours_only(hidden, mask):
    pooled = with_a_mask(hidden, mask)[0]
    return pooled, F.cosine_similarity(pooled, pooled.roll(1, 0), dim=-1)


def cosines_first(hidden, mask):
    return with_a_mask(hidden, mask)[::-1]


def tokens_normalized(hidden, mask):
    return with_a_mask(F.normalize(hidden, dim=-1), mask)


def over_the_numbers(hidden, mask):
    return compared((hidden * mask[:, :, None]).mean(-1))


ANSWERS = {
    "mean-pooling": {
        "accepted": [with_a_mask, with_einsum, with_loops, with_numpy, with_nanmean, with_a_batched_product],
        "wrong": [
            (padding_counts, "Padding counts in your mean"),
            (divided_by_all, "but you divide by T"),
            (sums, "That is the sum"),
            (inverted, "The mask is inverted"),
            (first_token, "the first token"),
            (normalized_too_early, "normalized already"),
            (tokens_normalized, "vectors of the tokens before the mean"),
            (dot_products, "Those are dot products"),
            (one_norm, "norm needs an axis"),
            (one_side, "Only one side"),
            (columns, "You normalized the columns"),
            (without_a_clamp, "Clamp what you divide by"),
            (nan_in_the_cosines, "But cosines contains nan"),
            (two_axes, "give the mask a third axis"),
            (padding_at_the_end, "The mask says where it is"),
            (neighbours_only, "Each text with each text"),
            (cosines_first, "in the wrong order"),
            (over_the_numbers, "the mean runs over its tokens"),
        ],
    },
}

"""Answers to exercise 10.2: right ones, and mistakes with the words that they must hear."""

import torch

# 10.2 ------------------------------------------------------------------------------------------------------------


def by_masks(vectors, attention_mask, how):
    mask = attention_mask[..., None].float()
    if how == "cls":
        return vectors[:, 0, :]
    if how == "mean":
        return (vectors * mask).sum(1) / mask.sum(1)
    return (vectors + (1 - mask) * -1e9).max(dim=1).values


def by_loops(vectors, attention_mask, how):
    texts = [rows[real.bool()] for rows, real in zip(vectors, attention_mask, strict=True)]
    pick = {"cls": lambda t: t[0], "mean": lambda t: t.mean(0), "max": lambda t: t.amax(0)}[how]
    return torch.stack([pick(text) for text in texts])


def padding_in(vectors, attention_mask, how):
    return {"cls": vectors[:, 0], "mean": vectors.mean(1), "max": vectors.amax(1)}[how]


def padding_counted(vectors, attention_mask, how):
    zeroed = vectors * attention_mask[..., None]
    return zeroed.mean(1) if how == "mean" else by_masks(vectors, attention_mask, how)


def padding_zero(vectors, attention_mask, how):
    zeroed = vectors * attention_mask[..., None]
    return zeroed.amax(1) if how == "max" else by_masks(vectors, attention_mask, how)


def padding_wins(vectors, attention_mask, how):
    return vectors.amax(1) if how == "max" else by_masks(vectors, attention_mask, how)


def low_floor(floor):
    def my_pool(vectors, attention_mask, how):
        filled = vectors.masked_fill(attention_mask[..., None] == 0, floor)
        return filled.amax(1) if how == "max" else by_masks(vectors, attention_mask, how)

    my_pool.__name__ = f"floor_{-floor}"
    return my_pool


def with_positions(vectors, attention_mask, how):
    filled = vectors.masked_fill(attention_mask[..., None] == 0, -torch.inf)
    return filled.max(dim=1) if how == "max" else by_masks(vectors, attention_mask, how)


def by_indices(vectors, attention_mask, how):
    last = attention_mask.sum(1).tolist()
    if how == "cls":
        return torch.stack([text[0] for text in vectors])
    pick = torch.mean if how == "mean" else torch.amax
    return torch.cat([pick(vectors[i, :n], 0, keepdim=True) for i, n in enumerate(last)])


def mask_without_axis(vectors, attention_mask, how):
    return (vectors * attention_mask).sum(1) if how == "mean" else by_masks(vectors, attention_mask, how)


def over_dimensions(vectors, attention_mask, how):
    return vectors.mean(-1)


def last_token(vectors, attention_mask, how):
    return vectors[:, -1] if how == "cls" else by_masks(vectors, attention_mask, how)


def by_batch(vectors, attention_mask, how):
    zeroed = vectors * attention_mask[..., None]
    return zeroed.sum(1) / attention_mask.sum() if how == "mean" else by_masks(vectors, attention_mask, how)


def mask_upside_down(vectors, attention_mask, how):
    real, counts = attention_mask[..., None].bool(), attention_mask.sum(1, keepdim=True)
    if how == "mean":
        return vectors.masked_fill(real, 0).sum(1) / counts
    return by_masks(vectors, attention_mask, how)


def upside_down_in_the_maximum(vectors, attention_mask, how):
    if how == "max":
        return vectors.masked_fill(attention_mask[..., None].bool(), -torch.inf).amax(1)
    return by_masks(vectors, attention_mask, how)


def mask_of_numbers(vectors, attention_mask, how):
    mask = attention_mask[..., None]
    return vectors.masked_fill(~mask, 0).sum(1) / mask.sum(1) if how == "mean" else vectors[:, 0]


def counts_without_axis(vectors, attention_mask, how):
    if how == "mean":
        return (vectors * attention_mask[..., None]).sum(1) / attention_mask.sum(1)
    return by_masks(vectors, attention_mask, how)


def by_nanmean(vectors, attention_mask, how):
    padding = attention_mask[..., None] == 0
    if how == "mean":
        return vectors.masked_fill(padding, torch.nan).nanmean(1)
    lowest = torch.finfo(vectors.dtype).min
    return vectors[:, 0] if how == "cls" else vectors.masked_fill(padding, lowest).amax(1)


def mean_of_the_batch(vectors, attention_mask, how):
    return vectors[attention_mask.bool()].mean(0) if how == "mean" else by_masks(vectors, attention_mask, how)


ANSWERS = {
    "10.2": {
        "accepted": [by_masks, by_loops, by_indices, by_nanmean, low_floor(-1e9), low_floor(-torch.inf)],
        "wrong": [
            (padding_in, "padding is averaged in"),
            (padding_counted, "it is still counted"),
            (padding_zero, "0 wins"),
            (padding_wins, "padding wins the maximum"),
            (low_floor(-100), "not low enough"),
            (low_floor(-10_000), "not low enough"),
            (with_positions, "values and positions"),
            (mask_without_axis, "one axis more"),
            (by_batch, "whole batch"),
            (mask_upside_down, "the wrong way round"),
            (upside_down_in_the_maximum, "the wrong way round"),
            (mask_of_numbers, "True at the padding"),
            (counts_without_axis, "the numbers of tokens, [B, 1]"),
            (mean_of_the_batch, "how = 'mean'"),
            (last_token, "first token"),
            (over_dimensions, "one vector for each text"),
        ],
    }
}

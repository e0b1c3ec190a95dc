"""Answers to the exercises 10.1, 10.2, 10.3 and 10.5: right ones, and mistakes with the words that they hear."""

import numpy as np
import torch
from torch.nn.functional import cross_entropy, nll_loss

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


# 10.3 ------------------------------------------------------------------------------------------------------------


def by_powers(L, rate, decay):
    return [rate * decay ** (L + 1 - depth) for depth in range(L + 2)]


def downwards(L, rate, decay):
    found = [rate]
    for _ in range(L + 1):
        found.append(found[-1] * decay)
    return torch.tensor(found[::-1], dtype=torch.double)


def by_array(L, rate, decay):
    return rate * decay ** np.arange(L + 1, -1, -1)


def one_step_large(L, rate, decay):
    return [rate * decay ** (L - depth) for depth in range(L + 2)]


def head_alone(L, rate, decay):
    return rate


def reversed_order(L, rate, decay):
    return by_powers(L, rate, decay)[::-1]


def layers_only(L, rate, decay):
    return by_powers(L, rate, decay)[1:-1]


def without_embeddings(L, rate, decay):
    return by_powers(L, rate, decay)[1:]


def head_slowed(L, rate, decay):
    return [one * decay for one in by_powers(L, rate, decay)]


def linear(L, rate, decay):
    return [rate * (1 - (1 - decay) * (L + 1 - depth)) for depth in range(L + 2)]


def without_a_step_to_the_head(L, rate, decay):
    return [rate * decay ** max(0, L - depth) for depth in range(L + 2)]


def without_a_step_to_the_embeddings(L, rate, decay):
    return [rate * decay ** min(L, L + 1 - depth) for depth in range(L + 2)]


def divided(L, rate, decay):
    return [rate / decay ** (L + 1 - depth) for depth in range(L + 2)]


def by_multiples(L, rate, decay):
    return [rate * decay * depth for depth in range(L + 2)]


def shares_of_depth(L, rate, decay):
    return [rate * (depth + 1) / (L + 2) for depth in range(L + 2)]


def rounded(L, rate, decay):
    return [round(one, 4) for one in by_powers(L, rate, decay)]


def squared_decay(L, rate, decay):
    return [rate * decay ** (2 * (L + 1 - depth)) for depth in range(L + 2)]


# 10.5 ------------------------------------------------------------------------------------------------------------


def plain(logits, labels):
    return cross_entropy(logits, labels)


def by_log_softmax(logits, labels):
    return nll_loss(logits.log_softmax(-1), labels)


def still_broken(logits, labels):
    return cross_entropy(logits.softmax(-1), labels)


def log_of_softmax(logits, labels):
    return nll_loss(logits.softmax(-1).log(), labels)


def summed(logits, labels):
    return cross_entropy(logits, labels, reduction="sum")


def over_all_logits(logits, labels):
    one_hot = torch.nn.functional.one_hot(labels, 3)
    return -(logits.log_softmax(-1) * one_hot).mean()


def each_row(logits, labels):
    return cross_entropy(logits, labels, reduction="none")


def no_logarithm(logits, labels):
    return 1 - logits.softmax(-1).gather(1, labels[:, None]).mean()


def by_logsumexp(logits, labels):
    return (logits.logsumexp(1) - logits[torch.arange(len(labels)), labels]).mean()


def with_a_small_number(logits, labels):
    return nll_loss((logits.softmax(-1) + 1e-9).log(), labels)


def no_softmax(logits, labels):
    return nll_loss(logits, labels)


def no_logarithm_either(logits, labels):
    return nll_loss(logits.softmax(-1), labels)


def by_exp(logits, labels):
    probabilities = logits.exp() / logits.exp().sum(-1, keepdim=True)
    return nll_loss(probabilities.log(), labels)


def over_the_batch(logits, labels):
    return nll_loss(logits.log_softmax(0), labels)


def through_a_sigmoid(logits, labels):
    return cross_entropy(logits.sigmoid(), labels)


def cut_off(logits, labels):
    return cross_entropy(logits.detach(), labels)


def negated(logits, labels):
    return -cross_entropy(logits, labels)


ANSWERS = {
    "10.1": {
        "accepted": [1.1, 1.0986],
        "wrong": [
            (0.33, "One third is the probability"),
            (0, "the probability 1"),
            (0.69, "ln 2"),
            (1.58, "in bits"),
            (0.48, "base 10"),
            (3, "three equal probabilities"),
        ],
    },
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
    },
    "10.3": {
        "accepted": [by_powers, downwards, by_array],
        "wrong": [
            (reversed_order, "order is reversed"),
            (layers_only, "embeddings and the head learn too"),
            (without_embeddings, "needs 6"),
            (head_slowed, "slowed down the head"),
            (one_step_large, "one step too large"),
            (head_alone, "a list of 6 numbers"),
            (linear, "A decay multiplies"),
            (by_multiples, "A decay multiplies"),
            (shares_of_depth, "A decay multiplies"),
            (without_a_step_to_the_head, "Layer L learns as fast as the head"),
            (without_a_step_to_the_embeddings, "The embeddings learn as fast as layer 1"),
            (divided, "You divide by the decay"),
            (rounded, "Are the numbers rounded"),
            (squared_decay, "embeddings 3.13e-05, layer 1 6.25e-05"),
        ],
    },
    "10.5": {
        "accepted": [plain, by_log_softmax, by_logsumexp],
        "wrong": [
            (still_broken, "still two softmaxes"),
            (log_of_softmax, "not finite"),
            (by_exp, "infinity divided by infinity"),
            (over_the_batch, "goes over the rows"),
            (through_a_sigmoid, "Only one line of broken_loss is wrong"),
            (cut_off, "cut off from its inputs"),
            (with_a_small_number, "small number inside your logarithm"),
            (no_softmax, "a softmax is missing"),
            (no_logarithm_either, "a logarithm is missing"),
            (summed, "Return the mean"),
            (over_all_logits, "Divide by the number of rows"),
            (each_row, "one number for the batch"),
            (no_logarithm, "a logarithm is missing"),
            (negated, "The sign is wrong"),
        ],
    },
}

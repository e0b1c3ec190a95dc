"""Answers to exercise 9.2: right ones, and mistakes with the words that they must hear."""

import functools

import torch

from bertedu.interpretation.rollout import attention_rollout

# 9.2 -------------------------------------------------------------------------------------------------------------


def layer_by_layer(attentions):
    shares = torch.eye(attentions[0].size(-1))
    for weights in attentions:
        shares = (0.5 * weights.mean(dim=1) + 0.5 * torch.eye(weights.size(-1))) @ shares
    return shares


def normalised(attentions):
    result = None
    for weights in attentions:
        mixed = weights.mean(1) + torch.eye(weights.size(-1))
        mixed = mixed / mixed.sum(-1, keepdim=True)
        result = mixed if result is None else torch.matmul(mixed, result)
    return result


def every_layer(attentions):
    return attention_rollout(attentions)


def no_residual(attentions):
    shares = torch.eye(attentions[0].size(-1))
    for weights in attentions:
        shares = weights.mean(dim=1) @ shares
    return shares


def reversed_order(attentions):
    shares = torch.eye(attentions[0].size(-1))
    for weights in attentions:
        shares = shares @ (0.5 * weights.mean(dim=1) + 0.5 * torch.eye(weights.size(-1)))
    return shares


def reversed_and_bare(attentions):
    shares = attentions[0].mean(dim=1)
    for weights in attentions[1:]:
        shares = shares @ weights.mean(dim=1)
    return shares


def averaged_layers(attentions):
    return torch.stack(list(attentions)).mean(dim=(0, 2))


def summed_heads(attentions):
    shares = torch.eye(attentions[0].size(-1))
    for weights in attentions:
        shares = (0.5 * weights.sum(dim=1) + 0.5 * torch.eye(weights.size(-1))) @ shares
    return shares


def not_halved(attentions):
    shares = torch.eye(attentions[0].size(-1))
    for weights in attentions:
        shares = (weights.mean(dim=1) + torch.eye(weights.size(-1))) @ shares
    return shares


def heads_left(attentions):
    shares = torch.eye(attentions[0].size(-1))
    for weights in attentions:
        shares = (0.5 * weights + 0.5 * torch.eye(weights.size(-1))) @ shares
    return shares


def last_alone(attentions):
    return attentions[-1].mean(dim=1)


def without_the_first(attentions):
    return layer_by_layer(attentions[1:]) if len(attentions) > 1 else layer_by_layer(attentions)


def without_the_last(attentions):
    return layer_by_layer(attentions[:-1]) if len(attentions) > 1 else layer_by_layer(attentions)


def entry_by_entry(attentions):
    shares = 1
    for weights in attentions:
        shares = shares * (0.5 * weights.mean(dim=1) + 0.5 * torch.eye(weights.size(-1)))
    return shares


def one_text(attentions):
    return layer_by_layer([weights[:1] for weights in attentions])[0]


def mean_of_the_list(attentions):
    return attentions.mean(dim=1)


def head_by_head(attentions):
    alone = [layer_by_layer([weights[:, [head]] for weights in attentions]) for head in range(attentions[0].size(1))]
    return torch.stack(alone).mean(dim=0)


def from_zeros(attentions):
    shares = torch.zeros(attentions[0].size(-1), attentions[0].size(-1))
    for weights in attentions:
        shares = (0.5 * weights.mean(dim=1) + 0.5 * torch.eye(weights.size(-1))) @ shares
    return shares


def from_ones(attentions):
    return from_zeros(attentions) + 1


def transposed_weights(attentions):
    return layer_by_layer([weights.transpose(-1, -2) for weights in attentions])


def one_half_at_the_end(attentions):
    return 0.5 * no_residual(attentions) + 0.5 * torch.eye(attentions[0].size(-1))


def always_its_own_word(attentions):
    shares = torch.eye(attentions[0].size(-1))
    for weights in attentions:
        shares = 0.5 * weights.mean(dim=1) @ shares + 0.5 * torch.eye(weights.size(-1))
    return shares


def residual_of_the_shares(attentions):
    shares = torch.eye(attentions[0].size(-1)).expand(len(attentions[0]), -1, -1)
    for weights in attentions:
        shares = 0.5 * torch.einsum("bhij,bjk->bik", weights, shares) / weights.size(1) + 0.5 * shares
    return shares


def first_head(attentions):
    return layer_by_layer([weights[:, :1] for weights in attentions])


def swapped(attentions):
    return layer_by_layer(attentions).transpose(1, 2)


def as_one_product(attentions):
    means = torch.stack(attentions).mean(dim=2)
    factors = [0.5 * mean + 0.5 * torch.eye(mean.size(-1)) for mean in means]
    return functools.reduce(torch.bmm, factors[::-1])


ANSWERS = {
    "9.2": {
        "accepted": [layer_by_layer, normalised, as_one_product, residual_of_the_shares],
        "wrong": [
            (every_layer, "uses the package's `attention_rollout`"),
            (no_residual, "Where is the residual connection"),
            (reversed_order, "in reverse order"),
            (reversed_and_bare, "Two things"),
            (averaged_layers, "multiply their matrices"),
            (summed_heads, "You added up the heads"),
            (not_halved, "twice ½ A + ½ I"),
            (entry_by_entry, "matrix product (`@`)"),
            (one_text, "one matrix for each text"),
            (mean_of_the_list, "a list with one tensor for each layer"),
            (without_the_last, "last layer is missing"),
            (heads_left, "neither of these axes is left"),
            (last_alone, "only the last layer's attention"),
            (without_the_first, "first layer is missing"),
            (one_half_at_the_end, "once, after the last layer"),
            (always_its_own_word, "what the token contains so far"),
            (first_head, "the first head alone"),
            (head_by_head, "before you multiply"),
            (from_zeros, "begin with zeros"),
            (from_ones, "begin with ones"),
            (transposed_weights, "weights of each layer are transposed"),
            (swapped, "Rows and columns are swapped"),
        ],
    }
}

"""Answers to the exercises of chapter 9: right ones, and mistakes with the words that they must hear."""

import functools
import math
from copy import deepcopy

import torch

from bertedu.config import BertConfig
from bertedu.interpretation.rollout import attention_rollout
from bertedu.model import BertForPreTraining

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


# 9.3 -------------------------------------------------------------------------------------------------------------


def part_of(copy, layer):
    attention = copy.bert.encoder.layers[layer].attention
    return attention, attention.output.in_features // attention.num_heads


def columns(model, layer, head):
    copy = deepcopy(model)
    attention, d = part_of(copy, layer)
    with torch.no_grad():
        attention.output.weight[:, head * d : (head + 1) * d] = 0
    return copy


def values(model, layer, head):
    copy = deepcopy(model)
    attention, d = part_of(copy, layer)
    attention.value.weight.data[head * d : head * d + d] = 0
    attention.value.bias.data[head * d : head * d + d] = 0
    return copy


def rows(model, layer, head):
    copy = deepcopy(model)
    attention, d = part_of(copy, layer)
    attention.output.weight.data[head * d : (head + 1) * d] = 0
    return copy


def value_weight_only(model, layer, head):
    copy = deepcopy(model)
    attention, d = part_of(copy, layer)
    attention.value.weight.data[head * d : head * d + d] = 0
    return copy


def in_place(model, layer, head):
    attention, d = part_of(model, layer)
    attention.output.weight.data[:, head * d : (head + 1) * d] = 0
    return model


def whole_layer(model, layer, head):
    copy = deepcopy(model)
    copy.bert.encoder.layers[layer].attention.output.weight.data.zero_()
    return copy


def counted_from_one(model, layer, head):
    return columns(model, layer, head - 1)


def with_bias(model, layer, head):
    copy = columns(model, layer, head)
    copy.bert.encoder.layers[layer].attention.output.bias.data.zero_()
    return copy


def one_column(model, layer, head):
    copy = deepcopy(model)
    copy.bert.encoder.layers[layer].attention.output.weight.data[:, head] = 0
    return copy


def strided(model, layer, head):
    copy = deepcopy(model)
    attention, _ = part_of(copy, layer)
    attention.output.weight.data[:, head :: attention.num_heads] = 0
    return copy


def no_queries(model, layer, head):
    copy = deepcopy(model)
    attention, d = part_of(copy, layer)
    attention.query.weight.data[head * d : head * d + d] = 0
    return copy


def no_keys(model, layer, head):
    copy = deepcopy(model)
    attention, d = part_of(copy, layer)
    attention.key.weight.data[head * d : head * d + d] = 0
    return copy


def slice_from_the_head(model, layer, head):
    copy = deepcopy(model)
    attention, d = part_of(copy, layer)
    attention.output.weight.data[:, head : head + d] = 0
    return copy


def the_others(model, layer, head):
    copy = deepcopy(model)
    attention, d = part_of(copy, layer)
    attention.output.weight.data[:, : head * d] = 0
    attention.output.weight.data[:, (head + 1) * d :] = 0
    return copy


def another_weight(model, layer, head):
    copy = deepcopy(model)
    attention, d = part_of(copy, layer)
    keep = (torch.arange(attention.output.in_features) // d != head).float()
    attention.output.weight = torch.nn.Parameter(attention.output.weight.detach() * keep)
    return copy


def d_is_the_number_of_heads(model, layer, head):
    copy = deepcopy(model)
    attention, _ = part_of(copy, layer)
    d = attention.num_heads
    attention.output.weight.data[:, head * d : (head + 1) * d] = 0
    return copy


def with_a_hook(model, layer, head):
    copy = deepcopy(model)
    attention, d = part_of(copy, layer)

    def hook(module, inputs):
        mixed = inputs[0].clone()
        mixed[..., head * d : (head + 1) * d] = 0
        return (mixed,)

    attention.output.register_forward_pre_hook(hook)
    return copy


def both_counted_from_one(model, layer, head):
    return columns(model, layer - 1, head - 1)


def layer_counted_from_one(model, layer, head):
    return columns(model, layer - 1, head)


def without_no_grad(model, layer, head):
    copy = deepcopy(model)
    attention, d = part_of(copy, layer)
    attention.output.weight[:, head * d : (head + 1) * d] = 0
    return copy


def d_is_a_float(model, layer, head):
    copy = deepcopy(model)
    attention, _ = part_of(copy, layer)
    d = attention.output.in_features / attention.num_heads
    attention.output.weight.data[:, head * d : (head + 1) * d] = 0
    return copy


NOTEBOOKS_OWN = BertForPreTraining(
    BertConfig.preset("tiny", hidden_size=12, num_hidden_layers=2, num_attention_heads=3, vocab_size=30)
)


def of_the_notebook(another, layer, head):
    return columns(NOTEBOOKS_OWN, layer, head)


def d_of_another_model(model, layer, head):
    copy = deepcopy(model)
    copy.bert.encoder.layers[layer].attention.output.weight.data[:, head * 64 : (head + 1) * 64] = 0
    return copy


def a_clone(model, layer, head, back=False):
    copy = deepcopy(model)
    attention, d = part_of(copy, layer)
    weight = attention.output.weight.clone()
    weight[:, head * d : (head + 1) * d] = 0
    if back:
        attention.output.weight = weight
    return copy


def a_tensor_for_a_parameter(model, layer, head):
    return a_clone(model, layer, head, back=True)


def no_copy_returned(model, layer, head):
    return columns(model, layer, head).state_dict()


def unchanged(model, layer, head):
    return deepcopy(model)


ANSWERS = {
    "9.1": {
        "accepted": [1.5, 1.499],
        "wrong": [
            (2, "four equal weights"),
            (1.58, "three equal weights"),
            (1.04, "in nats"),
            (-1.5, "the minus before the sum"),
            (5, "by its weight first"),
            (1, "split again"),
            (0.5, "the weight ½ alone"),
            (2**1.5, "2 to the power of the entropy"),
            (math.pi, "the three weights, and add them"),
            (math.nan, "A weight of 0 adds 0"),
        ],
    },
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
    },
    "9.3": {
        "accepted": [columns, values, with_a_hook, another_weight],
        "wrong": [
            (rows, "You set rows to 0"),
            (value_weight_only, "but its bias is not"),
            (in_place, "has changed too"),
            (whole_layer, "the whole layer"),
            (counted_from_one, "You ablated another head. Both numbers count from 0"),
            (both_counted_from_one, "another head of another layer"),
            (layer_counted_from_one, "in another layer"),
            (without_no_grad, "with torch.no_grad()"),
            (d_is_a_float, "D // H"),
            (no_copy_returned, "the result should be a model"),
            (with_bias, "does not belong to any head"),
            (one_column, "d = D / H of them"),
            (strided, "spread over all heads"),
            (unchanged, "Nothing has changed"),
            (of_the_notebook, "one of the notebook's"),
            (d_of_another_model, "computed from this model"),
            (a_clone, "not a clone of it"),
            (a_tensor_for_a_parameter, "no plain tensor"),
            (no_queries, "still passes on"),
            (no_keys, "Without its keys"),
            (slice_from_the_head, "Your slice begins at column"),
            (the_others, "kept this one"),
            (d_is_the_number_of_heads, "Print d"),
        ],
    },
}

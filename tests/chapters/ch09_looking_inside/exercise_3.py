"""Answers to exercise 9.3: right ones, and mistakes with the words that they must hear."""

from copy import deepcopy

import torch

from bertedu.config import BertConfig
from bertedu.model import BertForPreTraining

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
    }
}

"""Answers to the exercises of chapter 9: right ones, and mistakes with the words that they must hear."""

import math
import random
from copy import deepcopy

import torch

from bertedu.interpretation.probing import control_labels
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


def d_is_the_number_of_heads(model, layer, head):
    copy = deepcopy(model)
    attention, _ = part_of(copy, layer)
    d = attention.num_heads
    attention.output.weight.data[:, head * d : (head + 1) * d] = 0
    return copy


def unchanged(model, layer, head):
    return deepcopy(model)


# 9.4 -------------------------------------------------------------------------------------------------------------


def with_a_dictionary(words, number_of_labels, seed=0):
    lottery, label = random.Random(seed), {}
    for word in words:
        label.setdefault(word.lower(), lottery.randrange(number_of_labels))
    return [label[word.lower()] for word in words]


def types_first(words, number_of_labels, seed):
    generator = torch.Generator().manual_seed(seed)
    types = sorted({word.lower() for word in words})
    drawn = dict(zip(types, torch.randint(number_of_labels, (len(types),), generator=generator).tolist(), strict=True))
    return [drawn[word.lower()] for word in words]


def for_each_token(words, number_of_labels, seed=0):
    lottery = random.Random(seed)
    return [lottery.randrange(number_of_labels) for _ in words]


def case_matters(words, number_of_labels, seed=0):
    return [random.Random(f"{seed} {word}").randrange(number_of_labels) for word in words]


def from_one(words, number_of_labels, seed=0):
    return [label + 1 for label in control_labels(words, number_of_labels, seed)]


def counted_off(words, number_of_labels, seed=0):
    types = sorted({word.lower() for word in words})
    return [(types.index(word.lower()) + seed) % number_of_labels for word in words]


def seedless(words, number_of_labels, seed=0):
    return control_labels(words, number_of_labels, 0)


def by_length(words, number_of_labels, seed=0):
    return [len(word) % number_of_labels for word in words]


def a_label_a_type(words, number_of_labels, seed=0):
    return control_labels(sorted({word.lower() for word in words}), number_of_labels, seed)


def unseeded(words, number_of_labels, seed=0):
    label = {}
    return [label.setdefault(word.lower(), random.randrange(number_of_labels)) for word in words]


# 9.5 -------------------------------------------------------------------------------------------------------------


def weighted(states, attention_mask):
    mask = attention_mask[:, :, None].to(states.dtype)
    return (states * mask).sum(dim=1) / mask.sum(dim=1).clamp_min(1)


def filled(states, attention_mask):
    count = attention_mask.sum(1, keepdim=True).clamp(min=1)
    return states.masked_fill(attention_mask[..., None] == 0, 0).sum(1) / count


def in_a_loop(states, attention_mask):
    kept = [row[mask.bool()] for row, mask in zip(states, attention_mask, strict=True)]
    return torch.stack([row.mean(0) if len(row) else row.new_zeros(states.size(-1)) for row in kept])


def over_everything(states, attention_mask):
    return states.mean(dim=1)


def divided_by_all(states, attention_mask):
    return (states * attention_mask[:, :, None]).mean(dim=1)


def only_summed(states, attention_mask):
    return (states * attention_mask[:, :, None]).sum(dim=1)


def batch_divisor(states, attention_mask):
    return (states * attention_mask[:, :, None]).sum(dim=1) / attention_mask.sum()


def nan_when_empty(states, attention_mask):
    return (states * attention_mask[:, :, None]).sum(dim=1) / attention_mask.sum(dim=1, keepdim=True)


def float32_always(states, attention_mask):
    mask = attention_mask[:, :, None].float()
    return (states * mask).sum(dim=1) / mask.sum(dim=1).clamp_min(1)


def first_token(states, attention_mask):
    return states[:, 0]


def cut_off(states, attention_mask):
    return weighted(states.detach(), attention_mask)


ANSWERS = {
    "9.1": {
        "accepted": [1.5, 1.499],
        "wrong": [
            (2, "four even shares"),
            (1.58, "three even shares"),
            (1.04, "in nats"),
            (-1.5, "turns that round"),
            (5, "as often as its share"),
            (1, "split once more"),
            (0.5, "adds p times"),
            (math.pi, "Add up the three"),
        ],
    },
    "9.2": {
        "accepted": [layer_by_layer, normalised, every_layer],
        "wrong": [
            (no_residual, "Where is the residual"),
            (reversed_order, "reverse order"),
            (reversed_and_bare, "Two things"),
            (averaged_layers, "their matrices multiply"),
            (summed_heads, "heads are added up"),
            (not_halved, "twice ½ A + ½ I"),
            (heads_left, "neither axis is left"),
            (last_alone, "last layer's attention alone"),
            (without_the_first, "first layer is missing"),
        ],
    },
    "9.3": {
        "accepted": [columns, values],
        "wrong": [
            (rows, "You took rows"),
            (value_weight_only, "its bias still speaks"),
            (in_place, "has changed too"),
            (whole_layer, "whole layer is silent"),
            (counted_from_one, "Both numbers count from 0"),
            (with_bias, "It belongs to no head"),
            (one_column, "d = D / H of them"),
            (strided, "spread over all heads"),
            (unchanged, "Nothing has changed"),
            (no_queries, "still hands on"),
            (d_is_the_number_of_heads, "Print d"),
        ],
    },
    "9.4": {
        "accepted": [with_a_dictionary, types_first, control_labels],
        "wrong": [
            (for_each_token, "every probe would look selective"),
            (case_matters, "They are one type"),
            (from_one, "they go from 0 to 3"),
            (counted_off, "drawn, or counted off"),
            (seedless, "Does the seed reach the lottery"),
            (by_length, "as likely as the others"),
            (a_label_a_type, "each place wants its label"),
            (unseeded, "Use the seed"),
        ],
    },
    "9.5": {
        "accepted": [weighted, filled, in_a_loop],
        "wrong": [
            (over_everything, "50s of the padding"),
            (divided_by_all, "you still divide by T"),
            (only_summed, "A mean divides"),
            (batch_divisor, "Each text has its own number"),
            (nan_when_empty, "0 divided by 0"),
            (float32_always, "dtype of the states"),
            (first_token, "the first token"),
            (cut_off, "cut off from its inputs"),
        ],
    },
}

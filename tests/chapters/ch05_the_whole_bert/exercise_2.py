"""Answers to exercise 5.2: right ones, and mistakes with the words that they must hear."""

import torch

from bertedu.model import BertModel

# 5.2 -------------------------------------------------------------------------------------------------------------


def linear(n, m, bias=True):
    return n * m + m * bias


def counted(config, *, tables=3, bias=True, norms=True, maps=4, pooler=True, heads=1, inner=None, layers=None):
    D, inner = config.hidden_size, inner or config.intermediate_size
    rows = [config.vocab_size, config.max_position_embeddings, config.type_vocab_size][:tables]
    norm = 2 * D * norms
    layer = heads * maps * linear(D, D, bias) + linear(D, inner, bias) + linear(inner, D, bias) + 2 * norm
    return sum(rows) * D + norm + (layers or config.num_hidden_layers) * layer + linear(D, D, bias) * pooler


def part_by_part(config):
    return counted(config)


def closed_form(config):
    D, inner = config.hidden_size, config.intermediate_size
    tables = config.vocab_size + config.max_position_embeddings + config.type_vocab_size
    layer = 4 * D * D + 2 * D * inner + 9 * D + inner
    return D * (tables + 2) + config.num_hidden_layers * layer + D * (D + 1)


def no_pooler(config):
    return counted(config, pooler=False)


def no_biases(config):
    return counted(config, bias=False)


def no_norms(config):
    return counted(config, norms=False)


def no_output_projection(config):
    return counted(config, maps=3)


def no_segments(config):
    return counted(config, tables=2)


def one_layer(config):
    return counted(config, layers=1)


def times_heads(config):
    return counted(config, heads=config.num_attention_heads)


def four_times(config):
    return counted(config, inner=4 * config.hidden_size)


def no_norms_no_pooler(config):
    return counted(config, norms=False, pooler=False)


def from_memory(config):
    return 110_000_000


def half_norms(config):
    return counted(config) - config.num_hidden_layers * 2 * config.hidden_size - config.hidden_size


def a_pooler_per_layer(config):
    return counted(config) + (config.num_hidden_layers - 1) * linear(config.hidden_size, config.hidden_size)


def both_biases_inner(config):
    return counted(config) + config.num_hidden_layers * (config.intermediate_size - config.hidden_size)


def both_biases_D(config):
    return counted(config) - config.num_hidden_layers * (config.intermediate_size - config.hidden_size)


def on_the_meta_device(config):
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in BertModel(config).parameters())


def two_segments(config):
    return counted(config) - (config.type_vocab_size - 2) * config.hidden_size


ANSWERS = {
    "5.2": {
        "accepted": [part_by_part, closed_form],
        "wrong": [
            (on_the_meta_device, "uses the package's `BertModel`"),
            (no_pooler, "the pooler"),
            (no_biases, "all biases"),
            (no_norms, "all LayerNorms"),
            (no_output_projection, "attention's output projection"),
            (no_segments, "the token type embeddings"),
            (one_layer, "all layers but one"),
            (times_heads, "by the number of heads"),
            (four_times, "has a field of its own"),
            (no_norms_no_pooler, "(the pooler) and 360 (all LayerNorms)"),
            (from_memory, "No single part"),
            (half_norms, "half of every LayerNorm"),
            (a_pooler_per_layer, "a pooler in each layer"),
            (both_biases_inner, "The second layer has D outputs"),
            (both_biases_D, "have size D"),
            (two_segments, "number of token types"),
        ],
    }
}

"""Answers to the exercises of chapter 5: right ones, and mistakes with the words that they must hear."""

import re

import torch

from bertedu.checkpoints.names import from_transformers
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


# 5.3 -------------------------------------------------------------------------------------------------------------

TABLE = [
    ("attention.output.LayerNorm", "attention_norm"),
    ("attention.output.dense", "attention.output"),
    ("attention.self", "attention"),
    ("intermediate.dense", "feed_forward.expand"),
    ("output.dense", "feed_forward.shrink"),
    ("output.LayerNorm", "feed_forward_norm"),
    ("encoder.layer.", "encoder.layers."),
    ("word_embeddings", "token"),
    ("position_embeddings", "position"),
    ("token_type_embeddings", "token_type"),
    ("embeddings.LayerNorm", "embeddings.norm"),
]


def replaced(name, table):
    for old, new in table:
        name = name.replace(old, new)
    return name


def in_order(name):
    return replaced(name, TABLE)


def in_one_pass(name):
    rows = dict(TABLE)
    theirs = sorted(rows, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, theirs)), lambda found: rows[found[0]], name)


def with_the_package(name):
    return from_transformers(name)


def shorter_first(name):
    return replaced(name, sorted(TABLE, key=lambda row: len(row[0])))


def layer_without_s(name):
    return replaced(name, [row for row in TABLE if row[0] != "encoder.layer."])


def one_norm(name):
    return replaced(name, [("LayerNorm", "norm"), *TABLE])


def with_self(name):
    return replaced(name, [row for row in TABLE if row[0] != "attention.self"])


def one_digit(name):
    match = re.match(r"encoder\.layer\.(\d)\.(.*)", name)
    if not match:
        return replaced(name, TABLE) if not name.startswith("encoder") else name
    return f"encoder.layers.{match[1]}.{replaced(match[2], TABLE)}"


def same_name(name):
    return name


def no_dense_at_all(name):
    return replaced(name, [*TABLE, (".dense", "")])


def intermediate_left(name):
    return replaced(name, [row for row in TABLE if row[0] != "intermediate.dense"])


def other_word_for_token_types(name):
    return replaced(name, [("token_type_embeddings", "segment"), *TABLE])


def printed(name):
    print(end="")


ANSWERS = {
    "5.1": {
        "accepted": [288, 288.0],
        "wrong": [
            (576, "twice as many, for twice the heads"),
            (568, "keeps the size d of a head"),
            (144, "twice as many of them"),
            (1152, "a share of one"),
            (256, "leaves out the biases"),
            (72, "That is one projection"),
            (1088, "D stays 8"),
            (300, "once for 2 heads"),
            ("the same", "is written like this"),
        ],
    },
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
            (no_norms_no_pooler, "the pooler; all LayerNorms"),
            (from_memory, "No single part"),
            (half_norms, "half of every LayerNorm"),
            (a_pooler_per_layer, "a pooler in each layer"),
            (both_biases_inner, "The second layer has D outputs"),
            (both_biases_D, "have size D"),
            (two_segments, "number of token types"),
        ],
    },
    "5.3": {
        "accepted": [in_order, in_one_pass],
        "wrong": [
            (with_the_package, "uses the package's `from_transformers`"),
            (shorter_first, "has to come first"),
            (layer_without_s, "with an s"),
            (one_norm, "LayerNorm` has three names"),
            (with_self, "no `self` level"),
            (one_digit, "one digit only"),
            (same_name, "returned it unchanged"),
            (no_dense_at_all, "The pooler has the same names"),
            (intermediate_left, "the first feed-forward layer"),
            (other_word_for_token_types, "The embedding tables are called"),
            (printed, "returned None"),
        ],
    },
}

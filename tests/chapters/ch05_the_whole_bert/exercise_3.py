"""Answers to exercise 5.3: right ones, and mistakes with the words that they must hear."""

import re

from bertedu.checkpoints.names import from_transformers

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
    }
}

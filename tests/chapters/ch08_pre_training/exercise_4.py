"""Answers to exercise 8.4: right ones, and mistakes with the words that they must hear."""

import torch
from chapters.ch08_pre_training.shared import count


def counted(config, length):
    return count(config, length)


def with_pooler(config, length):
    return count(config, length) + 6 * config.hidden_size**2 / length / 100


def as_a_tensor(config, length):
    return torch.tensor(count(config, length))


def forward_only(config, length):
    return count(config, length, three=1)


def backward_once(config, length):
    return count(config, length, three=2)


def multiplications(config, length):
    return count(config, length, two=1)


def weights_alone(config, length):
    return count(config, length, attention=0)


def head_everywhere(config, length):
    return count(config, length, everywhere=True)


def times_heads(config, length):
    return count(config, length) + 2 * (config.num_attention_heads - 1) * config.num_hidden_layers * 2 * length * (
        config.hidden_size * 3
    )


def scores_alone(config, length):
    return count(config, length, attention=1)


def whole_text(config, length):
    D, L = config.hidden_size, config.num_hidden_layers
    return count(config, length, attention=0) + 6 * L * 2 * length * length * D


def no_output_matrix(config, length):
    return count(config, length) - 6 * config.num_hidden_layers * config.hidden_size**2


def half_a_network(config, length):
    return count(config, length) - 6 * config.num_hidden_layers * config.hidden_size * config.intermediate_size


def one_layer(config, length):
    head = count(config, length, masked=0.15) - count(config, length, masked=0.0)
    return (count(config, length) - head) / config.num_hidden_layers + head


def scores_of_all_tokens(config, length):
    return count(config, length) + 6 * 0.85 * config.hidden_size * config.vocab_size


def whole_sequence(config, length):
    return length * count(config, length)


def no_dense(config, length):
    return count(config, length) - 6 * 0.15 * config.hidden_size**2


def multiplications_forward(config, length):
    return count(config, length, two=1, three=1)


def one_head_of_attention(config, length):
    return count(config, length, heads=1 / config.num_attention_heads)


def inner_size_of_base(config, length):
    D, L = config.hidden_size, config.num_hidden_layers
    return 6 * (L * (12 * D * D + 2 * length * D) + 0.15 * (D * D + D * config.vocab_size))


def dense_of_all_tokens(config, length):
    return count(config, length) + 6 * 0.85 * config.hidden_size**2


def attention_once(config, length):
    return count(config, length, attention=2 / config.num_hidden_layers)


def head_in_every_layer(config, length):
    head = count(config, length) - count(config, length, masked=0.0)
    return count(config, length) + head * (config.num_hidden_layers - 1)


def with_embeddings(config, length):
    return count(config, length) + 6 * config.hidden_size * config.vocab_size


def no_head(config, length):
    return count(config, length, masked=0.0)


ANSWERS = {
    "8.4": {
        "accepted": [counted, with_pooler, as_a_tensor],
        "wrong": [
            (forward_only, "That is the forward pass only"),
            (backward_once, "two products for each one"),
            (multiplications, "two operations"),
            (multiplications_forward, "multiplications of the forward pass"),
            (one_head_of_attention, "for one head"),
            (inner_size_of_base, "Read it from the config"),
            (dense_of_all_tokens, "the first one (D to D) too"),
            (weights_alone, "grow with T"),
            (scores_alone, "mixing the values"),
            (whole_text, "one token has one query"),
            (no_output_matrix, "query, key, value and output"),
            (half_a_network, "D to inner size, and back"),
            (one_layer, "by the number of layers"),
            (scores_of_all_tokens, "the second one (D to V) too"),
            (whole_sequence, "One token was asked for"),
            (no_dense, "left out the first one"),
            (no_head, "left out the masked-word head"),
            (head_everywhere, "15 % only"),
            (attention_once, "Every layer has them"),
            (head_in_every_layer, "There is one head"),
            (with_embeddings, "multiplies nothing"),
            (times_heads, "products by H"),
        ],
    }
}

"""Answers to exercise 16.1: right ones, and mistakes with the words that they must hear."""

import torch


def layer_parameters(D):
    return 12 * D * D + 13 * D


def in_three_parts(V, D, E, L, G):
    embeddings = (V + 512 + 2) * E + 2 * E
    return embeddings + E * D + D + G * layer_parameters(D)


def table_by_table(V, D, E, L, G):
    tables = sum(rows * E for rows in (V, 512, 2, 1, 1))
    mapping = (E + 1) * D
    groups = 0
    for _ in range(G):
        groups += 4 * (D * D + D) + 2 * (4 * D * D) + 4 * D + D + 4 * D
    return torch.tensor(tables + mapping + groups)


def of_the_model(V, D, E, L, G):
    from bertedu.family.albert import AlbertConfig, AlbertModel

    heads = {"num_attention_heads": 1, "intermediate_size": 4 * D, "num_hidden_layers": L, "num_hidden_groups": G}
    with torch.device("meta"):
        model = AlbertModel(AlbertConfig(vocab_size=V, hidden_size=D, embedding_size=E, **heads), False)
    return float(sum(weight.numel() for weight in model.parameters()))


def every_layer(V, D, E, L, G):
    return in_three_parts(V, D, E, L, G) + (L - G) * layer_parameters(D)


def one_layer(V, D, E, L, G):
    return in_three_parts(V, D, E, L, 1)


def every_layer_of_a_group(V, D, E, L, G):
    return (V + 516) * E + E * D + D + (G * L if G > 1 else 1) * layer_parameters(D)


def without_bias(V, D, E, L, G):
    return in_three_parts(V, D, E, L, G) - D


def small_bias(V, D, E, L, G):
    return in_three_parts(V, D, E, L, G) - D + E


def no_mapping_of_a_square(V, D, E, L, G):
    return in_three_parts(V, D, E, L, G) - (E * D + D if E == D else 0)


def no_norm(V, D, E, L, G):
    return in_three_parts(V, D, E, L, G) - 2 * E


def norm_once(V, D, E, L, G):
    return in_three_parts(V, D, E, L, G) - E


def norm_after_the_mapping(V, D, E, L, G):
    return in_three_parts(V, D, E, L, G) - 2 * E + 2 * D


def words_only(V, D, E, L, G):
    return V * E + E * D + D + G * layer_parameters(D)


def long_positions(V, D, E, L, G):
    return V * E + 514 * D + 2 * E + E * D + D + G * layer_parameters(D)


def long_words(V, D, E, L, G):
    return in_three_parts(V, D, E, L, G) + V * (D - E)


def with_pooler(V, D, E, L, G):
    return in_three_parts(V, D, E, L, G) + D * D + D


def in_millions(V, D, E, L, G):
    return in_three_parts(V, D, E, L, G) / 1e6


def no_positions(V, D, E, L, G):
    return in_three_parts(V, D, E, L, G) - 512 * E


def no_words(V, D, E, L, G):
    return in_three_parts(V, D, E, L, G) - V * E


def narrow_layers(V, D, E, L, G):
    return (V + 516) * E + E * D + D + G * layer_parameters(E)


def matrices_only(V, D, E, L, G):
    return (V + 516) * E + E * D + D + G * 12 * D * D


ANSWERS = {
    "16.1": {
        "accepted": [in_three_parts, table_by_table, of_the_model],
        "wrong": [
            (every_layer, "How many of them are stored"),
            (one_layer, "each with its own layer"),
            (every_layer_of_a_group, "A group stores one layer"),
            (without_bias, "it has a bias of D numbers"),
            (small_bias, "D, not E"),
            (no_mapping_of_a_square, "It exists even where E = D"),
            (no_norm, "The LayerNorm of the embeddings is missing"),
            (norm_once, "2·E numbers"),
            (norm_after_the_mapping, "before the mapping"),
            (words_only, "The words are right"),
            (long_positions, "positions and segments have size E, too"),
            (long_words, "Your word embeddings have size D"),
            (with_pooler, "You counted the pooler"),
            (no_positions, "The 512 position embeddings are missing"),
            (in_millions, "Is there a division"),
            (no_words, "The word embeddings are missing"),
            (narrow_layers, "Your layers have size E"),
            (matrices_only, "no biases and no LayerNorms"),
        ],
    }
}

"""Answers to exercises 16.1, 16.2 and 16.4: right ones, and mistakes with the words that they must hear."""

import math
from fractions import Fraction

import numpy as np
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


def rounded(of_teacher, of_student):
    step = (of_teacher - 1) / max(1, of_student - 1)
    return [round(number * step) for number in range(of_student)]


def with_numpys_numbers(of_teacher, of_student):
    return list(np.linspace(0, of_teacher - 1, of_student).round().astype(int))


def with_torchs_numbers(of_teacher, of_student):
    return list(torch.linspace(0, of_teacher - 1, of_student).round().long())


def with_linspace(of_teacher, of_student):
    return np.linspace(0, of_teacher - 1, of_student).round().astype(int)


def in_whole_numbers(of_teacher, of_student):
    if of_student == 1:
        return (0,)
    return tuple(math.floor(n * (of_teacher - 1) / (of_student - 1) + 0.5) for n in range(of_student))


def every_second(of_teacher, of_student):
    return list(range(0, of_teacher, of_teacher // of_student))


def every_second_from_one(of_teacher, of_student):
    return list(range(1, of_teacher, of_teacher // of_student))


def rounded_down(of_teacher, of_student):
    return [n * (of_teacher - 1) // max(1, of_student - 1) for n in range(of_student)]


def twos_and_the_last(of_teacher, of_student):
    return [of_teacher // of_student * n for n in range(of_student - 1)] + [of_teacher - 1]


def rounded_up(of_teacher, of_student):
    return [math.ceil(n * (of_teacher - 1) / max(1, of_student - 1)) for n in range(of_student)]


def counted_from_one(of_teacher, of_student):
    return [number + 1 for number in rounded(of_teacher, of_student)]


def to_twelve(of_teacher, of_student):
    return [round(number * of_teacher / (of_student - 1)) for number in range(of_student)]


def the_first(of_teacher, of_student):
    return list(range(of_student))


def the_last(of_teacher, of_student):
    return list(range(of_teacher - of_student, of_teacher))


def not_rounded(of_teacher, of_student):
    return [number * (of_teacher - 1) / max(1, of_student - 1) for number in range(of_student)]


def by_heart(of_teacher, of_student):
    return [0, 2, 4, 7, 9, 11]


def divides_by_zero(of_teacher, of_student):
    return [round(number * (of_teacher - 1) / (of_student - 1)) for number in range(of_student)]


def last_of_one(of_teacher, of_student):
    return rounded(of_teacher, of_student) if of_student > 1 else [of_teacher - 1]


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
    },
    "16.2": {
        "accepted": [[2 / 3, 8], (0.67, 8.0), [0.666, 8], [Fraction(2, 3), 8]],
        "wrong": [
            ([8, 2 / 3], "in the other order"),
            ([1.5, 0.125], "divided by ALBERT-xxlarge"),
            ([2 / 3, 2 / 3], "twelve run"),
            ([8, 8], "How many of them are stored"),
            ([0.67, 16], "runs 12 of them"),
            ([16, 8], "one layer against one"),
            ([1 / 6, 2], "16 times the weights"),
            ([2 / 3, 1], "if the width were the same"),
            ([2 / 3, 2], "D² counts, not D"),
            ([0.7, 8], "235 / 334, of the whole models"),
            ([2 / 3, 0.125], "The first is right"),
            ([4, 4], "the ratio of the widths"),
            ([1 / 24, 0.5], "You counted layers"),
            ([2 / 3, 3], "measured in training"),
            ([2 / 3], "needs a second one"),
            ([0.66, 8], "cut off"),
            ([66.7, 8], "in percent"),
            ([1.5, 8], "The second is right"),
            ([2 / 3, 12], "in BERT-large 24 do"),
            ([0.5, 8], "24 layers of width 1024"),
            (["2/3", 8], "Without quotation marks"),
            ([1, 1], "A layer with four times the width"),
            (8, "is written like this"),
        ],
    },
    "16.4": {
        "accepted": [rounded, with_linspace, in_whole_numbers, with_numpys_numbers, with_torchs_numbers],
        "wrong": [
            (every_second, "The last layer, 11, is not among them"),
            (every_second_from_one, "The first layer, 0, is not among them"),
            (rounded_down, "Did you round down"),
            (twos_and_the_last, "in steps of 2"),
            (rounded_up, "rounded up"),
            (counted_from_one, "Layers are counted from 0"),
            (to_twelve, "There is no layer 12"),
            (the_first, "the first six"),
            (the_last, "the last six"),
            (not_rounded, "round them"),
            (by_heart, "Compute it from the arguments"),
            (divides_by_zero, "It copies layer 0"),
            (last_of_one, "A student of one layer copies layer 0"),
        ],
    },
}

"""Answers to exercise 20.1: right ones, and mistakes with the words that they must hear."""

import math

import torch

# 20.1 ------------------------------------------------------------------------------------------------------------


def with_a_loop(sizes, exponent):
    powers = {}
    for name, size in sizes.items():
        powers[name] = size**exponent if size > 0 else 0
    return {name: power / sum(powers.values()) for name, power in powers.items()}


def from_shares(sizes, exponent):
    total = sum(sizes.values())
    powers = {name: (size / total) ** exponent * (size > 0) for name, size in sizes.items()}
    return {name: power / sum(powers.values()) for name, power in powers.items()}


def with_tensors(sizes, exponent):
    amounts = torch.tensor(list(sizes.values()), dtype=torch.float64)
    powers = torch.where(amounts > 0, amounts**exponent, 0.0)
    return dict(zip(sizes, powers / powers.sum(), strict=True))


def by_logarithms(sizes, exponent):
    powers = {name: math.exp(exponent * math.log(size)) if size else 0.0 for name, size in sizes.items()}
    return {name: power / sum(powers.values()) for name, power in powers.items()}


def undivided(sizes, exponent):
    return {name: size**exponent for name, size in sizes.items()}


def undivided_shares(sizes, exponent):
    return {name: (size / sum(sizes.values())) ** exponent for name, size in sizes.items()}


def by_amounts(sizes, exponent):
    return {name: size**exponent / sum(sizes.values()) for name, size in sizes.items()}


def without_exponent(sizes, exponent):
    return {name: size / sum(sizes.values()) for name, size in sizes.items()}


def multiplied(sizes, exponent):
    return {name: exponent * size / sum(exponent * s for s in sizes.values()) for name, size in sizes.items()}


def inverse_exponent(sizes, exponent):
    powers = {name: size ** (1 / exponent) for name, size in sizes.items()}
    return {name: power / sum(powers.values()) for name, power in powers.items()}


def zero_to_the_zero(sizes, exponent):
    powers = {name: size**exponent for name, size in sizes.items()}
    return {name: power / sum(powers.values()) for name, power in powers.items()}


def empty_left_out(sizes, exponent):
    return zero_to_the_zero({name: size for name, size in sizes.items() if size}, exponent)


def in_percent(sizes, exponent):
    return {name: 100 * power for name, power in with_a_loop(sizes, exponent).items()}


def rounded(sizes, exponent):
    return {name: round(power, 2) for name, power in with_a_loop(sizes, exponent).items()}


def divided_by_the_largest(sizes, exponent):
    return {name: (size / max(sizes.values())) ** exponent for name, size in sizes.items()}


def as_a_list(sizes, exponent):
    return list(zero_to_the_zero(sizes, exponent).values())


def power_of_the_dictionary(sizes, exponent):
    return sizes**exponent


ANSWERS = {
    "20.1": {
        "accepted": [with_a_loop, from_shares, with_tensors, by_logarithms],
        "wrong": [
            (undivided, "Probabilities sum to 1"),
            (undivided_shares, "they no longer sum to 1"),
            (by_amounts, "sum of the *powers*"),
            (without_exponent, "without any exponent"),
            (multiplied, "without any exponent"),
            (inverse_exponent, "large language is favored"),
            (zero_to_the_zero, "0**0 is 1"),
            (empty_left_out, "Sumerian is missing"),
            (in_percent, "but in percent"),
            (rounded, "numbers are rounded"),
            (divided_by_the_largest, "They sum to 1.348"),
            (as_a_list, "should be a dictionary"),
            (power_of_the_dictionary, "`sizes` is a dictionary"),
        ],
    }
}

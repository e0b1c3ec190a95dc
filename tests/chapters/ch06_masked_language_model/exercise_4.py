"""Answers to exercise 6.4: right ones, and mistakes with the words that they must hear."""

import random

import torch

from bertedu.chapters.ch06_masked_language_model.exercises.shared import span_length


def until_enough(length, number, rng):
    chosen = [False] * length
    while sum(chosen) < number:
        span = min(span_length(rng), number - sum(chosen))
        start = rng.randrange(length - span + 1)
        chosen[start : start + span] = [True] * span
    return chosen


def with_a_tensor(length, number, rng):
    chosen = torch.zeros(length, dtype=torch.bool)
    while (missing := number - int(chosen.sum())) > 0:
        span = min(missing, span_length(rng))
        start = rng.randint(0, length - span)
        if not chosen[start : start + span].any():
            chosen[start : start + span] = True
        elif missing >= length // 2:
            chosen[(~chosen).nonzero()[0]] = True
    return chosen


def draws_again_if_too_long(length, number, rng):
    chosen = [False] * length
    while (missing := number - sum(chosen)) > 0:
        if (span := span_length(rng)) <= missing:
            start = rng.randint(0, length - span)
            chosen[start : start + span] = [True] * span
    return chosen


def of_length(size):
    def choose(length, number, rng):
        chosen = [False] * length
        while (missing := number - sum(chosen)) > 0:
            span = min(size, missing)
            start = rng.randrange(length - span + 1)
            chosen[start : start + span] = [True] * span
        return chosen

    return choose


always_pairs, always_fours = of_length(2), of_length(4)


def single_tokens(length, number, rng):
    places = rng.sample(range(length), number)
    return [place in places for place in range(length)]


def one_stretch(length, number, rng):
    start = rng.randrange(length - number + 1)
    return [start <= place < start + number for place in range(length)]


def overshoots(length, number, rng):
    chosen = [False] * length
    while sum(chosen) < number:
        span = span_length(rng)
        start = rng.randrange(length - span + 1)
        chosen[start : start + span] = [True] * span
    return chosen


def counts_overlaps_twice(length, number, rng):
    chosen, left = [False] * length, number
    while left:
        span = min(span_length(rng), left)
        start = rng.randrange(length - span + 1)
        chosen[start : start + span] = [True] * span
        left -= span
    return chosen


def never_the_last(length, number, rng):
    chosen = [False] * length
    while sum(chosen) < number:
        span = min(span_length(rng), number - sum(chosen))
        start = rng.randrange(max(1, length - span))
        chosen[start : start + span] = [True] * span
    return chosen


def own_randomness(length, number, rng):
    return until_enough(length, number, random.Random())


def always_seed_0(length, number, rng):
    return until_enough(length, number, random.Random(0))


def places_only(length, number, rng):
    return [place for place, yes in enumerate(until_enough(length, number, rng)) if yes]


ANSWERS = {
    "6.4": {
        "accepted": [until_enough, with_a_tensor, draws_again_if_too_long],
        "wrong": [
            (single_tokens, "nearly all are single tokens"),
            (always_pairs, "lengths come from span_length"),
            (always_fours, "lengths come from span_length"),
            (one_stretch, "form one span"),
            (overshoots, "Cut the last span"),
            (counts_overlaps_twice, "Spans can overlap"),
            (never_the_last, "the last token was never chosen"),
            (own_randomness, "Draw every number from rng"),
            (always_seed_0, "draw from rng"),
            (places_only, "One for each of the 60 tokens"),
        ],
    }
}

"""Answers to exercise 22.4: right ones, and mistakes with the words that they must hear."""

import torch

from bertedu.chapters.ch22_many_gpus.exercises.exercise_4 import zero_bytes


def bytes_of(weights, workers, stage):
    parts = [8, 4, 4]
    return weights * sum(part / workers if number < stage else part for number, part in enumerate(parts))


def bytes_by_table(weights, workers, stage):
    table = {0: 16, 1: 8 + 8 / workers, 2: 4 + 12 / workers, 3: 16 / workers}
    return table[stage] * weights


def together(weights, workers, stage):
    return workers * zero_bytes(weights, workers, stage)


def only_its_own_part(weights, workers, stage):
    return weights * (16 - {1: 8, 2: 4, 3: 4}.get(stage, 0) * (1 - 1 / workers))


def weights_first(weights, workers, stage):
    return weights * {0: 16, 1: 12 + 4 / workers, 2: 8 + 8 / workers, 3: 16 / workers}[stage]


def always_all(weights, workers, stage):
    return 16 * weights / workers


def never(weights, workers, stage):
    return 16 * weights


def one_mean(weights, workers, stage):
    return zero_bytes(weights, workers, stage) - weights * 4 / (workers if stage >= 1 else 1)


def bytes_by_tensor(weights, workers, stage):
    parts = torch.tensor([8.0, 4.0, 4.0])
    parts[:stage] /= workers
    return weights * parts.sum()


def for_each_weight(weights, workers, stage):
    return zero_bytes(1, workers, stage)


def in_gigabytes(weights, workers, stage):
    return zero_bytes(weights, workers, stage) / 1e9


def multiplied(weights, workers, stage):
    return zero_bytes(weights, 1 / workers, stage)


def without_means(weights, workers, stage):
    return zero_bytes(weights, workers, stage) - weights * 8 / (workers if stage else 1)


def stages_from_one(weights, workers, stage):
    return zero_bytes(weights, workers, min(stage + 1, 3))


def gradients_in_stage_3(weights, workers, stage):
    return weights * {0: 16, 1: 8 + 8 / workers, 2: 8 + 8 / workers, 3: 16 / workers}[stage]


def rounded_parts(weights, workers, stage):
    return weights * sum(part // workers if number < stage else part for number, part in enumerate((8, 4, 4)))


def always_eight(weights, workers, stage):
    return zero_bytes(weights, 8, stage)


def without_itself(weights, workers, stage):
    return zero_bytes(weights, workers - 1, stage)


def three_parts(weights, workers, stage):
    return [weights * part / (workers if number < stage else 1) for number, part in enumerate((8, 4, 4))]


ANSWERS = {
    "22.4": {
        "accepted": [bytes_of, bytes_by_table, bytes_by_tensor],
        "wrong": [
            (together, "all workers keep together"),
            (only_its_own_part, "what the stages before it share out: stage 2 divides 12"),
            (weights_first, "This divides 4 of them"),
            (always_all, "what stage 3 keeps. Stage 0 shares nothing out"),
            (never, "is 16,000,000 and should be 10,000,000. This is what stage 0 keeps"),
            (one_mean, "two means of 4 bytes"),
            (for_each_weight, "Multiply by the number of weights"),
            (in_gigabytes, "These are gigabytes"),
            (multiplied, "is divided by them"),
            (without_means, "two means are missing"),
            (stages_from_one, "what stage 1 keeps. Stage 0 shares nothing out"),
            (gradients_in_stage_3, "what stage 1 keeps. Stage 2 divides 12"),
            (rounded_parts, "`//` rounds down"),
            (always_eight, "Here there are 4 workers"),
            (without_itself, "not by N − 1"),
            (three_parts, "should be a single number"),
        ],
    }
}

"""Answers to exercise 25.2: right ones, and mistakes with the words that they must hear."""


# 25.2 ------------------------------------------------------------------------------------------------------------


def by_parts(parameters, trained, mixed):
    return ((6 if mixed else 4) * parameters + 12 * trained) / 10**9


def frozen_apart(parameters, trained, mixed):
    frozen = parameters - trained
    return (frozen * (4 + 2 * mixed) + trained * (16 + 2 * mixed)) / 1e9


def all_trained(parameters, trained, mixed):
    return (16 + 2 * mixed) * parameters / 1e9


def in_bytes(parameters, trained, mixed):
    return 1e9 * by_parts(parameters, trained, mixed)


def in_gib(parameters, trained, mixed):
    return by_parts(parameters, trained, mixed) * 1e9 / 2**30


def weights_alone(parameters, trained, mixed):
    return 4 * parameters / 1e9


def no_moments(parameters, trained, mixed):
    return (4 * parameters + 4 * trained) / 1e9


def trained_copy(parameters, trained, mixed):
    return (4 * parameters + (14 if mixed else 12) * trained) / 1e9


def halved(parameters, trained, mixed):
    return by_parts(parameters, trained, False) / (2 if mixed else 1)


def gradients_of_all(parameters, trained, mixed):
    return ((10 if mixed else 8) * parameters + 8 * trained) / 1e9


def gradients_in_bf16(parameters, trained, mixed):
    return ((2 if mixed else 4) * (parameters + trained) + 8 * trained) / 1e9


def in_megabytes(parameters, trained, mixed):
    return by_parts(parameters, trained, mixed) * 1000


def instead(parameters, trained, mixed):
    return ((2 if mixed else 4) * parameters + 12 * trained) / 1e9


def only_trained(parameters, trained, mixed):
    return 16 * trained / 1e9


ANSWERS = {
    "25.2": {
        "accepted": [by_parts, frozen_apart],
        "wrong": [
            (all_trained, "Frozen weights need no gradient"),
            (in_bytes, "Those are bytes"),
            (in_gib, "which is a GiB"),
            (weights_alone, "Those are the weights alone"),
            (no_moments, "AdamW keeps two more numbers"),
            (trained_copy, "The bf16 copy holds *all* weights"),
            (halved, "Not everything is halved"),
            (instead, "The fp32 weights stay"),
            (gradients_of_all, "You counted a gradient for every weight"),
            (gradients_in_bf16, "gradients are in fp32 here"),
            (in_megabytes, "Those are megabytes"),
            (only_trained, "The frozen weights take memory too"),
        ],
    }
}

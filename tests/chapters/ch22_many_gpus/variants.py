"""Answers to the variants of chapter 22: see test_classroom_variants.py."""

from support.variant_facts import found

SCALE = """
def next_scale(scale, clean_steps, finite, interval):
    if not finite:
        return max(scale / shrink, lowest), 0, False
    if clean_steps + 1 == interval:
        return scale * grow, 0, True
    return scale, clean_steps + 1, True
"""
SCALE_SHORT = """
def next_scale(scale, clean_steps, finite, interval):
    count = (clean_steps + 1) % interval if finite else 0
    factor = 1 if count else grow
    return [scale * factor if finite else max(lowest, scale / shrink), count, finite]
"""
BYTES = """
def training_bytes(weights, workers, stage):
    optimizer, gradients, values = 4 + 4 * means, gradient, 2
    if stage >= 1: optimizer /= workers
    if stage >= 2: gradients /= workers
    if stage >= 3: values /= workers
    return weights * (optimizer + gradients + values)
"""
BYTES_TABLE = """
def training_bytes(weights, workers, stage):
    shared = [0, 4 + 4 * means, 4 + 4 * means + gradient, 4 + 4 * means + gradient + 2]
    return weights * (shared[3] - shared[stage] + shared[stage] / workers)
"""

RIGHT = {"22.11": [SCALE, SCALE_SHORT], "22.12": [BYTES, BYTES_TABLE]}
WRONG = {
    "22.11": {
        SCALE.replace("max(scale / shrink, lowest)", "scale / shrink"): r"never goes below",
        SCALE.replace("scale / shrink", "scale / grow").replace("scale * grow", "scale * shrink"): r"swapped",
        SCALE.replace("scale * grow", "scale * 2").replace("scale / shrink", "scale / 2"): (
            r"factors of the chapter|swapped|never goes below|S is multiplied"
        ),
        SCALE.replace("clean_steps + 1 == interval", "clean_steps == interval"): r"complete",
        SCALE.replace("if clean_steps + 1 == interval:", "if True:"): r"not after each one",
        SCALE.replace("0, False", "clean_steps, False"): r"count starts again",
        SCALE.replace("0, False", "0, True"): r"is skipped",
    },
    "22.12": {
        BYTES.replace("4 + 4 * means, gradient, 2", "4 * means, gradient, 6"): r"belongs to the optimizer",
        BYTES.replace("4 + 4 * means", "4 * means"): r"is missing",
        BYTES.replace("return weights", "return workers * weights"): r"all workers keep together",
        BYTES.replace("stage >= 1", "True").replace("stage >= 2", "True").replace("stage >= 3", "True"): (
            r"shares out less"
        ),
        BYTES.replace("/= workers", "/= 1"): r"shares something out",
    },
}
PUBLIC = {"22.11": "22.2", "22.12": "22.4"}


def facts(text):
    """The numbers that a variant's text names."""
    return {
        "shrink": int(found(r"divided by \*\*(\d+)\*\*", text) or 0),
        "lowest": int(found(r"below \*\*(\d+)\*\*", text) or 0),
        "grow": int(found(r"multiplied by \*\*(\d+)\*\*", text) or 0),
        "gradient": int(found(r"gradient \*\*(\d+)\*\*", text) or 0),
        "means": int(found(r"and \*\*(\d+)\*\* running", text) or 0),
    }

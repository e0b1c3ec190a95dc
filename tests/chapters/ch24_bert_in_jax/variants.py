"""Answers to the variants of chapter 24: see test_classroom_variants.py."""

import re

from support.variant_facts import found

SHAPES = """
def compiled_shapes(lengths):
    shapes = []
    for start in range(0, len(lengths), size):
        batch = lengths[start : start + size]
        longest = -(-max(batch) // multiple) * multiple
        if len(batch) < size and not kept: continue
        if (len(batch), longest) not in shapes: shapes.append((len(batch), longest))
    return shapes
"""
SHAPES_SHORT = """
def compiled_shapes(lengths):
    whole = len(lengths) if kept else len(lengths) // size * size
    parts = [lengths[i : min(i + size, whole)] for i in range(0, whole, size)]
    return list(dict.fromkeys((len(p), (max(p) + multiple - 1) // multiple * multiple) for p in parts))
"""
KEYS = """
def keys_for(key, step, worker, fold):
    now = fold(key, step)
    keys = {"order": fold(now, 0), "masks": fold(fold(now, 1), worker), "dropout": fold(fold(now, 2), worker)}
    return [keys[use] for use in uses]
"""
KEYS_BY_USE = """
def keys_for(key, step, worker, fold):
    def one(use):
        made = fold(fold(key, ["dropout", "order", "masks"].index(use)), step)
        return made if use == "order" else fold(made, worker)
    return tuple(one(use) for use in uses)
"""

RIGHT = {"24.11": [SHAPES, SHAPES_SHORT], "24.12": [KEYS, KEYS_BY_USE]}
WRONG = {
    "24.11": {
        SHAPES.replace("not kept", "kept"): r"last batch .* if it is smaller",
        SHAPES.replace("-(-max(batch) // multiple) * multiple", "max(batch)"): r"rounded up to a multiple",
        SHAPES.replace("-(-max(batch) // multiple)", "(max(batch) // multiple + 1)"): r"needs no padding",
        SHAPES.replace("-(-max(batch) // multiple)", "(max(batch) // multiple)"): r"does not fit",
        SHAPES.replace("if (len(batch), longest) not in shapes: ", ""): r"List it once",
        SHAPES.replace("return shapes", "return [shape[::-1] for shape in shapes]"): r"Rows come first",
        SHAPES.replace("return shapes", "return len(shapes)"): r"a list of pairs",
    },
    "24.12": {
        KEYS.replace("now = fold(key, step)", "now = key"): r"is also the key of",
        KEYS.replace("now = fold(key, step)", "now = fold(key, step + worker)"): r"is also the key of|differs from",
        KEYS.replace("fold(now, 2)", "fold(now, 1)"): r"is also the key of",
        KEYS.replace("fold(now, 0)", "fold(fold(now, 0), worker)"): r"must read the same order",
        KEYS.replace("fold(fold(now, 1), worker)", "fold(now, 1)"): r"is also the key of",
        KEYS.replace("fold(now, 0)", "key"): r"is also the key of the run",
        KEYS.replace("fold(key, step)", "fold(7, step)"): r"share keys",
        KEYS.replace("for use in uses]", "for use in uses][:2]"): r"3 are asked for",
    },
}
PUBLIC = {"24.11": "24.1", "24.12": "24.4"}


def facts(text):
    """The numbers and the order of keys that a variant's text names."""
    names = re.findall(r"\*\*the (masks|dropout|order)", text)
    return {
        "size": int(found(r"in batches of \*\*(\d+)\*\*", text) or 0),
        "multiple": int(found(r"a multiple of \*\*(\d+)\*\*", text) or 0),
        "kept": "**is kept as it is**" in text,
        "uses": names,
    }

"""The pictures of chapter 23 up to the smaller model: the service, the graph, and what eight bits cost."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor

from bertedu.course.pictures import Sheet
from bertedu.course.pictures.sheet import number
from bertedu.tokenization import BertTokenizer


def service() -> Figure:
    """The way of a request, and what watches it."""
    sheet = Sheet(250, "What stands between a request and its answer?")
    names = ("limits", "cache", "tokenizer", "batches", "graph", "decision")
    known = {"tokenizer", "graph"}
    boxes = [sheet.box(14 + 118 * i, 84, 100, 46, name, new=name not in known) for i, name in enumerate(names)]
    for i, box in enumerate(boxes[:-1]):
        sheet.arrow(box, boxes[i + 1])
    below = {"a log without texts": 14, "a monitor for drift": 250, "a check at the start": 486}
    for (name, x), source in zip(below.items(), (0, 2, 4), strict=True):
        box = sheet.box(x, 178, 214, 46, name, new=True)
        middle = boxes[source].centre[0]
        start, end = ((middle, 130), (middle, box.y)) if source < 4 else ((middle, box.y), (middle, 130))
        sheet.arrow(start, end)
    return sheet.figure()


def traced(example: Mapping[str, Tensor]) -> Figure:
    """What a graph takes that was traced with one example, without and with dynamic axes."""
    rows, columns = example["input_ids"].shape
    sheet = Sheet(300, "What does tracing write into the graph?")
    shapes = (f"[{rows}, {columns}]", f"[{rows}, {columns + 1}]")
    for y, told, takes, outcomes in (
        (96, "as traced", f"{shapes[0]} only", ("answer", "error")),
        (212, "with dynamic axes", "[batch, tokens]", ("answer", "answer")),
    ):
        sheet.words(14, y - 22, told, bold=True)
        start = sheet.box(14, y, 140, 58, "example", shapes[0])
        graph = sheet.box(216, y, 180, 58, "graph takes", takes, new=True)
        sheet.arrow(start, graph)
        for i, (shape, outcome) in enumerate(zip(shapes, outcomes, strict=True)):
            at = sheet.words(452, y + 12 + 34 * i, shape, mono=True)
            sheet.arrow((at.right + 2, at.centre[1]), (at.right + 50, at.centre[1]))
            sheet.words(at.right + 56, y + 12 + 34 * i, outcome, bold=outcome == "error")
    return sheet.figure()


def mask(batch: Sequence[str], alone: NDArray, unmasked: NDArray, tokenizer: BertTokenizer, task: Any) -> Figure:
    """One short text with its padding: its probabilities with the mask, and with a mask of ones."""
    shares = softmax(alone, axis=1), softmax(unmasked, axis=1)
    short = [i for i in range(1, len(batch)) if len(batch[i]) < 60]
    chosen = max(short, key=lambda i: float(np.abs(shares[0][i] - shares[1][i]).max()))
    sheet = Sheet(374, "What if the padding isn't masked?", batch[chosen])
    chips = sheet.chips(150, 80, tokenizer(batch[chosen]).tokens[0][:3])
    sheet.words(chips[-1].right + 8, 97, "…")
    chips += sheet.chips(chips[-1].right + 34, 80, ["[SEP]", "[PAD]", "[PAD]"], {1: "padding", 2: "padding"})
    sheet.words(chips[-1].right + 8, 97, "…")
    for y, told, hides in ((138, "the mask", True), (168, "a mask of ones", False)):
        sheet.words(14, y, told)
        for i, chip in enumerate(chips):
            real = i < len(chips) - 2 or not hides
            sheet.words(chip.centre[0], y, str(int(real)), align="center", bold=i >= len(chips) - 2)
    for x, told, share in ((112, "with the mask", shares[0]), (478, "padding read", shares[1])):
        sheet.words(x, 222, told, bold=True)
        sheet.bars(x, 240, share[chosen], list(task.labels), longest=150, thick=[int(share[chosen].argmax())])
    return sheet.figure()


def eight_bits() -> Figure:
    """Three weights in eight bits and back, and the same three beside a large one."""
    sheet = Sheet(330, "What becomes of a weight in eight bits?")
    rows = {"weights": 3, "integers": 0, "back": 3}
    for i, name in enumerate(rows):
        sheet.words(14, 147 + 70 * i, name, bold=i == 1)
    for x, values in ((150.0, (0.50, -1.27, 0.014)), (402.0, (0.50, -1.27, 0.014, 12.7))):
        weights = np.array(values)
        scale = np.abs(weights).max() / 127
        integers = (weights / scale).round()
        sheet.words(x, 84, f"scale {np.abs(weights).max():g} / 127 = {scale:g}", bold=True)
        for i, (part, digits) in enumerate(zip((weights, integers, integers * scale), rows.values(), strict=True)):
            sheet.grid(x, 130 + 70 * i, part, cell=76, digits=digits)
        for i, told in enumerate(("divide by the scale, round", "multiply by the scale")):
            sheet.words(x, 182 + 70 * i, told, faint=True)
    return sheet.figure()


def outlier(weights: Tensor, largest: Mapping[str, Tensor]) -> Figure:
    """The first rows of a matrix with an outlier, and the scales that its columns get."""
    sheet = Sheet(400, "Which column decides the scale?")
    some, each = weights[:5], largest["per channel"] / 127
    grid = sheet.grid(160, 90, some, cell=68, digits=1, largest=6)
    sheet.words(grid.column(3).centre[0], 74, "outlier", align="center", bold=True)
    sheet.words(146, grid.centre[1], "weights", align="right")
    box = sheet.box(160, 292, 8 * 68, 34, f"one scale for all: {number(largest['per tensor'].item() / 127, 3)}")
    sheet.words(146, box.centre[1], "per tensor", align="right")
    low = sheet.grid(160, 346, each, cell=68, digits=3, largest=0.2)
    sheet.words(146, low.centre[1], "per channel", align="right")
    return sheet.figure()


def smaller(compression: Mapping[str, Any]) -> Figure:
    """Time and accuracy of what was removed or quantized, on two sets, and a bag of words."""
    versions = {
        "ONNX": "as it is",
        "ONNX, int8": "int8",
        "50% of heads removed, tuned": "half the heads",
        "upper half of layers removed": "half the layers",
        "upper half of layers removed, tuned": "  … and tuned",
        "student alone": "student",
        "student distilled": "  … distilled",
        "student distilled, int8": "  … and int8",
    }
    films, course = (one["versions"] for one in compression["sets"].values())
    words = [one["baselines"]["bag of words"]["accuracy"] for one in compression["sets"].values()]
    sheet = Sheet(426, "What can be removed, and what does it cost?")
    whole = films["ONNX"]["ms_a_text_in_32"]
    for x, told in ((168, "time of a text"), (366, "film reviews"), (550, "our reviews")):
        sheet.words(x, 70, told, bold=True)
    for i, name in enumerate([*versions.values(), "bag of words"]):
        sheet.words(156, 105 + 34 * i, name.strip(), align="right")
    sheet.bars(168, 88, [films[name]["ms_a_text_in_32"] / whole for name in versions], longest=120)
    for x, told, bag in ((366, films, words[0]), (550, course, words[1])):
        values = [*(told[name]["accuracy"] for name in versions), bag]
        sheet.bars(x, 88, values, longest=100, thick=[len(versions)])
    sheet.words(14, 412, "Right: accuracy, mean of three seeds. A thick edge: the bag of words.", faint=True)
    return sheet.figure()

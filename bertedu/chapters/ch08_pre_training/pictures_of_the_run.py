"""The pictures of chapter 08's run: how it starts, what it leaves behind, what it costs."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Plane, Sheet


def start(start_tokens: Sequence[str], first_layer: Mapping[str, Tensor]) -> Figure:
    """The first layer's attention before any training, with two initializations."""
    sheet = Sheet(
        440, "Where does the first layer attend before training?", "A row attends to a column; mean over heads"
    )
    for x, (name, table) in zip((104, 440), first_layer.items(), strict=True):
        sheet.words(x, 92, {"published": "as published", "matching": "matching"}[name], bold=True)
        rows = start_tokens if x < 200 else ()
        sheet.grid(x, 116, table, rows=rows, numbers=False, cell=26, row=29, largest=0.5)
    return sheet.figure()


def muon(stretches: Mapping[str, Tensor]) -> Figure:
    """The largest singular values of one gradient before and after Muon."""
    sheet = Sheet(290, "What does Muon do to a gradient?", "Its 20 largest singular values")
    for x, name, title in ((40, "gradient", "the gradient, norm 1"), (400, "Muon", "after Muon")):
        sheet.words(x, 90, title, bold=True)
        sheet.line((x, 262), (x + 290, 262))
        for i, value in enumerate(stretches[name][:20].tolist()):
            sheet.column(x + 14 * i, 262, 110 * value, 10)
        sheet.words(x - 6, 152, "1", align="right")
        sheet.line((x, 152), (x + 290, 152), dashed=True)
    return sheet.figure()


def folder(run_files: Mapping[str, int]) -> Figure:
    """The files of a run, and what each is for."""
    sheet = Sheet(300, "What is in a run's folder, and for what?")
    parts = {
        "metrics.jsonl": "the curves: a line every 20 steps",
        "resume.safetensors": "to go on: weights, averages, progress",
        "checkpoint": "the last weights: from_pretrained",
        "checkpoint-best": "the weights that validated best",
    }
    for i, (name, what) in enumerate(parts.items()):
        size = sum(size for path, size in run_files.items() if path.split("/")[0] == name)
        y = 56 + 60 * i
        sheet.box(14, y, 206, 44, name)
        sheet.words(312, y + 22, f"{size / 1e6:.2f} MB", align="right", faint=True)
        sheet.arrow((314, y + 22), (352, y + 22))
        sheet.words(358, y + 22, what)
    return sheet.figure()


def ladder(task: Any, unigram_loss: float, copying: float, yours: Mapping[str, Sequence[float]]) -> Figure:
    """A scale of losses with what each height means."""
    sheet = Sheet(420, "What does a loss mean?", "Loss of the masked words")
    plane = Plane(sheet, 70, 76, 90, 320, (0, 1), (0, 8))
    plane.ticks(up=(0, 2, 4, 6, 8))
    end = sum(yours["mlm_loss"][-5:]) / 5
    marks = (
        (math.log(len(task.tokenizer)), 0, "ln V: nothing is known", False),
        (unigram_loss, -14, "unigram loss: frequencies", False),
        (math.log(copying), 4, "… and copying what is visible", False),
        (unigram_loss - 0.5, 30, "below: the other words are used", False),
        (end, 0, "the end of this run", True),
    )
    for value, shift, text, bold in marks:
        y = plane.at(0, value)[1]
        sheet.line((70, y), (160, y), (190, y + shift), thick=bold, ink="#222222")
        sheet.words(198, y + shift, f"{value:.1f}", bold=bold, mono=True)
        sheet.words(250, y + shift, text, bold=bold)
    return sheet.figure()


def resume() -> Figure:
    """What a run saves, and what it computes again."""
    sheet = Sheet(320, "What must a run keep to go on?", "Left it is saved; right it follows from that")
    saved = [
        sheet.box(14, 82 + 78 * i, 250, 54, *lines, new=True)
        for i, lines in enumerate(
            (
                ("weights", "of the model"),
                ("averages", "2 for a weight (Muon: 1)"),
                ("progress", "step, epoch, batch"),
            )
        )
    ]
    computed = [
        sheet.box(440, 82 + 78 * i, 266, 54, *lines)
        for i, lines in enumerate((("next learning rate",), ("next batch, its masks",), ("next dropout",)))
    ]
    for one in computed:
        sheet.arrow(saved[2], one)
    sheet.words(352, 300, "with the seed", align="center", faint=True)
    return sheet.figure()


def six() -> Figure:
    """The three products that one weight takes part in."""
    sheet = Sheet(
        290, "Why six operations for each weight?", "One weight w, one token: y gets x · w (∂w: the gradient of w)"
    )
    for y, name, products in (
        (84, "forward", (("x · w", "added into y", "2"),)),
        (150, "backward", (("∂y · w", "added into ∂x, for the layer below", "2"), ("∂y · x", "added into ∂w", "2"))),
    ):
        sheet.words(14, y + 20, name, bold=True)
        for i, (product, into, count) in enumerate(products):
            box = sheet.box(130, y + 54 * i, 110, 40, product)
            sheet.arrow((box.right, box.centre[1]), (290, box.centre[1]))
            sheet.words(296, box.centre[1], into)
            sheet.words(690, box.centre[1], count, align="right", bold=True)
    sheet.line((650, 250), (700, 250))
    sheet.words(690, 268, "6", align="right", bold=True)
    sheet.words(14, 268, "multiplications and additions", faint=True)
    return sheet.figure()


def shares(operations: Mapping[int, Mapping[str, float]]) -> Figure:
    """Where the operations of BERT-Base go, for two lengths."""
    sheet = Sheet(440, "Where do the operations of BERT-Base go?", "Shares of the operations for one token")
    for y, (length, parts) in zip((90, 266), operations.items(), strict=True):
        sheet.words(14, y, f"sequences of {length} tokens", bold=True)
        whole = sum(parts.values())
        sheet.bars(290, y + 12, [part / whole for part in parts.values()], list(parts), longest=360, full=0.7)
    return sheet.figure()


def memory(memory: Mapping[str, tuple[float, float]]) -> Figure:
    """Memory for weights and averages, and for activations."""
    sheet = Sheet(260, "How much memory does a batch of 256 take?", "In GB; the line is a card with 24 GB")
    for i, (name, (fixed, moving)) in enumerate(memory.items()):
        y = 100 + 36 * i
        sheet.words(206, y, name, align="right", mono=True)
        first = sheet.column(216, y + 9, 18, 3.4 * fixed, thick=True)
        sheet.column(first.right, y + 9, 18, 3.4 * moving)
        sheet.words(704, y, f"{fixed:.0f} + {moving:.0f}", align="right", bold=fixed + moving < 24)
    sheet.line((216 + 3.4 * 24, 80), (216 + 3.4 * 24, 226), dashed=True, ink="#222222")
    sheet.words(14, 242, "thick edge: weights, gradients and averages; then activations", faint=True)
    return sheet.figure()


def parts() -> Figure:
    """A batch in four parts, one step."""
    sheet = Sheet(270, "How does a batch fit that is too large?", "16 pairs, 4 at a time; one step at the end")
    for i in range(4):
        x = 14 + 128 * i
        part = sheet.box(x, 80, 104, 44, "4 pairs")
        total = sheet.box(x, 176, 104, 56, ".grad", "g1" if not i else f"… + g{i + 1}")
        sheet.arrow(part, total)
        sheet.words(x + 60, 150, f"g{i + 1}")
        if i:
            sheet.arrow((x - 24, 204), (x, 204))
    optimizer = sheet.box(560, 176, 146, 56, "one step", "AdamW", new=True)
    sheet.arrow((14 + 128 * 3 + 104, 204), (optimizer.x, 204))
    return sheet.figure()


def weights(label_counts: Mapping[str, Sequence[int]]) -> Figure:
    """What one label weighs in each part, broken and right."""
    sheet = Sheet(360, "What does one label weigh?", "In thousandths of the whole batch")
    counts = label_counts["short first"]
    names = [f"{count} labels" for count in counts]
    whole = sum(counts)
    for x, title, values in (
        (180, "mean of means", [1000 / len(counts) / count for count in counts]),
        (500, "sum over count", [1000 / whole for _ in counts]),
    ):
        sheet.words(x, 96, title, bold=True)
        sheet.bars(x, 112, values, names if x < 200 else (), longest=170, full=max(1000 / 4 / min(counts), 1), digits=1)
    sheet.words(14, 280, f"mean of means: 1 / (4 · {counts[0]}) and 1 / (4 · {counts[1]})")
    sheet.words(14, 312, f"right: 1 / {whole} for every label", bold=True)
    return sheet.figure()

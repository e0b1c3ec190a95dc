"""The pictures of chapter 19 from the gate on: what a layer computes and leaves out, training, and the lab.

Shapes: B texts, N real tokens of a batch, T tokens, L layers.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Plane, Sheet


def gate() -> Figure:
    """The way of a vector through both feed-forward networks, with the sizes of the matrices."""
    sheet = Sheet(330, "What does the gate add?")
    sheet.words(14, 66, "BERT", bold=True)
    row = [sheet.box(x, 84, w, 46, *t) for x, w, t in ((14, 70, ("x", "D")), (150, 90, ("A", "D × I")),
           (300, 90, ("GELU",)), (600, 100, ("S", "I × D")))]  # fmt: skip
    for one, following in pairwise(row):
        sheet.arrow(one, following)
    sheet.words(14, 182, "GeGLU", bold=True)
    sheet.box(14, 226, 70, 46, "x", "D")
    first = sheet.box(150, 188, 90, 46, "A", "D × I")
    active = sheet.box(300, 188, 90, 46, "GELU")
    sheet.box(150, 266, 90, 46, "G", "D × I", new=True)
    times = sheet.box(460, 226, 80, 46, "times", new=True)
    last = sheet.box(600, 226, 100, 46, "S", "I × D")
    sheet.arrow((84, 240), (150, 214))
    sheet.arrow((84, 258), (150, 286))
    sheet.arrow(first, active)
    sheet.arrow((390, 214), (460, 240))
    sheet.arrow((240, 290), (460, 262))
    sheet.arrow(times, last)
    sheet.words(350, 304, "as it is", align="center", faint=True)
    return sheet.figure()


def stream(added: Mapping[int, Sequence[float]]) -> Figure:
    """What all layers have added to the residual stream, by depth and initialization."""
    sheet = Sheet(240, "How much do all layers add?", "Standard deviation, in an untrained pre-norm model")
    names = [f"L = {L}" for L in added]
    largest = max(plain for _, plain in added.values())
    sheet.words(100, 92, "0.02/√(2L)", bold=True)
    sheet.bars(100, 108, [small for small, _ in added.values()], names, longest=230, full=largest)
    sheet.words(400, 92, "0.02", bold=True)
    sheet.bars(400, 108, [plain for _, plain in added.values()], longest=230, full=largest)
    return sheet.figure()


def masks(local: Tensor, two_layers: Tensor) -> Figure:
    """Who attends to whom in a global layer, in a local one, and over two local ones."""
    sheet = Sheet(350, "Who attends to whom?", "A text of 24 tokens, queries down and keys across")
    panels = {"global layer": torch.ones(24, 24), "local, window 8": local, "two local layers": two_layers}
    for n, (name, mask) in enumerate(panels.items()):
        grid = sheet.grid(14 + 240 * n, 112, mask.float(), cell=8.8, row=8.8, largest=1.3, numbers=False)
        sheet.words(grid.centre[0], 92, name, align="center", bold=True)
        sheet.words(grid.centre[0], grid.bottom + 18, f"{int(mask.sum())} pairs", align="center", faint=True)
    return sheet.figure()


def what_is_saved(saved: Mapping[int, float]) -> Figure:
    """The share of the multiplications that local layers save."""
    sheet = Sheet(206, "What do local layers save?", "Share of all multiplications of ModernBERT-base")
    sheet.bars(150, 84, list(saved.values()), [f"T = {T}" for T in saved], longest=430)
    return sheet.figure()


def blocks() -> Figure:
    """A text in blocks: the keys that the queries of one block need."""
    sheet = Sheet(260, "Which keys does a block of queries need?", "Blocks of 64 tokens; at most 64 to each side")
    keys = [sheet.box(102 + 86 * i, 92, 78, 40, str(i), new=2 <= i <= 4) for i in range(7)]
    queries = [sheet.box(102 + 86 * i, 190, 78, 40, str(i), new=i == 3) for i in range(7)]
    sheet.words(14, 112, "keys", bold=True)
    sheet.words(14, 210, "queries", bold=True)
    for i in (2, 3, 4):
        sheet.arrow((keys[i].centre[0], keys[i].bottom + 2), (queries[3].centre[0] + 16 * (i - 3), queries[3].y))
    return sheet.figure()


def packed(three_lengths: Sequence[int]) -> Figure:
    """Three texts as a rectangle with padding, packed with their offsets, and the mask of the packed ones."""
    longest, total = max(three_lengths), sum(three_lengths)
    sheet = Sheet(400, "How does a batch lose its padding?")
    cell = 30.0
    sheet.words(
        14, 66, f"with padding: {len(three_lengths)} × {longest} = {longest * len(three_lengths)} tokens", bold=True
    )
    for row, length in enumerate(three_lengths):
        for t in range(longest):
            real = t < length
            sheet.chip(
                14 + cell * t, 82 + 36 * row, "ABC"[row] if real else "", "plain" if real else "padding", cell - 4
            )
    texts = torch.repeat_interleave(torch.arange(len(three_lengths)), torch.tensor(three_lengths))
    sheet.words(14, 234, f"packed: {total} tokens", bold=True)
    narrow = 26.6
    for t, text in enumerate(texts.tolist()):
        sheet.chip(14 + narrow * t, 252, "ABC"[text], width=narrow - 2)
    offsets = [sum(three_lengths[:n]) for n in range(len(three_lengths) + 1)]
    for offset in offsets:
        x = 14 + narrow * offset - 1
        sheet.line((x, 248), (x, 300), ink="#222222")
        sheet.words(x if offset else 20, 316, str(offset), align="center", bold=True)
    sheet.words(14, 346, "Offsets: where a text begins. A token attends to", faint=True)
    sheet.words(14, 370, "tokens of its own letter only, the filled squares.", faint=True)
    own = (texts[:, None] == texts[None, :]).float()  # [N, N]
    sheet.grid(560, 76, own, cell=5.2, row=5.2, largest=1.3, numbers=False)
    return sheet.figure()


def schedules() -> Figure:
    """BERT's linear schedule beside a trapezoid that falls like 1 - √t."""
    sheet = Sheet(330, "How does the learning rate move?", "Share of its peak, over a run of 100 %")
    for x, name in ((60, "BERT: linear"), (400, "trapezoid")):
        plane = Plane(sheet, x, 112, 270, 160, (0, 100), (0, 1.1))
        points = []
        for tenth in range(1001):
            time = tenth / 10
            rising = min(1.0, time / 2)
            falling = (100 - time) / 98 if name != "trapezoid" else 1 - max(0.0, (time - 90) / 10) ** 0.5
            points.append(plane.at(time, min(rising, falling)))
        sheet.line(*points, thick=True, ink="#222222")
        plane.ticks((0, 90) if name == "trapezoid" else (0, 50, 100), (0, 1))
        sheet.words(x + 135, 92, name, align="center", bold=True)
    return sheet.figure()


def ladder(recorded: Sequence[Mapping[str, Any]]) -> Figure:
    """The loss of each run of 600 steps, in the row of its model."""
    runs = [run for run in recorded if run["steps"] == 600]
    names = list(dict.fromkeys(run["model"] for run in runs))
    sheet = Sheet(
        160 + 40 * len(names), "What is each change worth?", "Cross-entropy after 600 steps, a dot for each run"
    )
    left, wide, bottom = 230.0, 440.0, 92 + 40 * len(names)
    for loss in range(6):
        x = left + wide * loss / 5
        sheet.line((x, 80), (x, bottom), dashed=True)
        sheet.words(x, bottom + 20, str(loss), align="center", faint=True)
    for row, name in enumerate(names):
        y = 104 + 40 * row
        sheet.words(left - 12, y, name, align="right")
        for run in runs:
            if run["model"] == name:
                sheet.dot((left + wide * run["loss"] / 5, y), 6)
    sheet.words(left + wide / 2, bottom + 46, "less is better", align="center", faint=True)
    return sheet.figure()


def rows_of_a_head() -> Figure:
    """The rows of a head's queries in the order of halves and in the order of neighbors."""
    sheet = Sheet(410, "Where does each row of a head go?", "d = 8: pair 1 has a thick edge")
    order = [number for k in range(4) for number in (k, k + 4)]
    places = {i: 112 + 35 * n for n, i in enumerate(order)}
    sheet.words(175, 92, "halves", align="center", bold=True)
    sheet.words(535, 92, "neighbors", align="center", bold=True)
    for i in range(8):
        before = sheet.box(100, 112 + 35 * i, 150, 29, f"row {i}", new=i % 4 == 1)
        after = sheet.box(460, places[i], 150, 29, f"row {i}", new=i % 4 == 1)
        sheet.line((250, before.centre[1]), (460, after.centre[1]), ink="#222222" if i % 4 == 1 else "#bbbbbb")
    return sheet.figure()

"""The pictures of chapter 01b, drawn from its tensors."""

import math
from collections.abc import Sequence
from itertools import product

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Plane, Sheet, map_of_bert
from bertedu.course.pictures.colours import INK
from bertedu.course.pictures.sheet import number


def where() -> Figure:
    """The map of BERT, and what of this chapter every part needs."""
    sheet = Sheet(240, "What do all parts of BERT have in common?")
    parts = map_of_bert(sheet, 46, ())
    first, last = parts["embeddings"], parts["heads"]
    sheet.box(first.x, 178, last.right - first.x, 44, "tensors, loss, gradient, training step", new=True)
    return sheet.figure()


def problem() -> Figure:
    """The sentence of the chapter, and the two words that decide."""
    sheet = Sheet(250, "Which word is missing?")
    chips = sheet.chips(
        110, 110, ["the", "keys", "[MASK]", "wet", "yesterday", "."], {1: "chosen", 2: "hidden", 4: "chosen"}
    )
    for place, why in ((1, "plural"), (4, "past")):
        x = chips[place].centre[0]
        sheet.words(x, 72, why, align="center")
        sheet.line((x, 86), (x, chips[place].y - 5))
    gap = chips[2]
    sheet.words(gap.centre[0], 178, "is?  are?  was?  were?", align="center")
    sheet.words(gap.centre[0], 214, "plural and past: were", align="center", bold=True)
    return sheet.figure()


def indexing(inputs: Tensor, table: Tensor) -> Figure:
    """A row, a column, a number, and a look-up of rows."""
    sheet = Sheet(310, "What do the square brackets choose?")
    for x, name, what, (down, across) in (
        (30, "inputs[2]", "a row [2]", (slice(2, 3), slice(0, 2))),
        (180, "inputs[:, 1]", "a column [8]", (slice(0, 4), slice(1, 2))),
        (330, "inputs[2, 1]", "a number", (slice(2, 3), slice(1, 2))),
    ):
        box = sheet.grid(x, 110, inputs[:4], name, digits=0, largest=1000, cell=44)
        a, b = box.cell(down.start, across.start), box.cell(down.stop - 1, across.stop - 1)
        corners = ((a.x, a.y), (b.right, a.y), (b.right, b.bottom), (a.x, b.bottom), (a.x, a.y))
        sheet.line(*corners, thick=True, ink=INK)
        sheet.words(box.centre[0], box.bottom + 12, "…", align="center")
        sheet.words(box.centre[0], box.bottom + 40, what, align="center")
    whole = sheet.grid(480, 110, table, "table", digits=0, largest=1000, cell=40, rows=["0", "1", "2"])
    out = sheet.grid(626, 110, table[[2, 0, 2]], "rows", digits=0, largest=1000, cell=40, rows=["2", "0", "2"])
    sheet.arrow(whole, (out.x - 20, out.centre[1]))
    sheet.words(706, whole.bottom + 26, "rows of the ids 2, 0, 2 [3, 2]", align="right")
    return sheet.figure()


def broadcasting(table: Tensor, row: Tensor, column: Tensor) -> Figure:
    """A row is repeated downwards, a column to the right."""
    sheet = Sheet(370, "What is added, if the shapes differ?", "Grey: repeated, without being stored.")
    for y, name, small in ((122, "row", row), (260, "column", column)):
        one = sheet.grid(40, y, table, "table", "[3, 2]", digits=0, largest=12, cell=44, row=26)
        sheet.words(one.right + 26, one.centre[1], "+", align="center")
        spread, first = small.expand(3, 2), small.ndim - 1  # the axis along which only the first is stored
        repeated = sheet.grid(210, y, spread * 0, name, str(list(small.shape)), numbers=False, cell=56, row=26)
        for place in product(range(3), range(2)):
            stored = place[first] == 0
            told = f"{spread[place]:.0f}"
            sheet.words(*repeated.cell(*place).centre, told, align="center", bold=stored, faint=not stored)
        sheet.words(repeated.right + 28, one.centre[1], "=", align="center")
        sheet.grid(380, y, table + small, "sum", "[3, 2]", digits=0, largest=700, cell=60, row=26)
        sheet.words(530, y + 26, f"[3, 2] and {list(small.shape)}")
        sheet.words(530, y + 52, "in all 3 rows" if small.ndim == 1 else "in both columns", faint=True)
    return sheet.figure()


def sums(table: Tensor) -> Figure:
    """The sums of a table along each of its axes."""
    sheet = Sheet(300, "Which axis does a sum take away?")
    rows = sheet.grid(60, 100, table, "table", "[3, 2]", digits=0, cell=60, row=30, largest=14)
    below = sheet.grid(60, 236, table.sum(dim=0)[None], digits=0, cell=60, row=30, largest=14)
    beside = sheet.grid(300, 100, table.sum(dim=1)[:, None], "sum(dim=1)", "[3]", digits=0, cell=60, row=30, largest=14)
    sheet.arrow((rows.centre[0], rows.bottom + 6), (rows.centre[0], below.y - 4))
    sheet.arrow((rows.right + 6, rows.centre[1]), (beside.x - 6, beside.centre[1]))
    sheet.words(below.right + 14, below.centre[1], "sum(dim=0)", bold=True)
    sheet.words(below.right + 14, below.centre[1] + 26, "[2]: axis 0, the 3 rows, is gone", faint=True)
    sheet.words(beside.right + 14, beside.centre[1], "axis 1, the 2 columns, is gone", faint=True)
    return sheet.figure()


def softmax(candidates: Sequence[str], exact: Tensor) -> Figure:
    """Logits, their powers, and their shares."""
    sheet = Sheet(286, "How do scores become probabilities?")
    powers, shares = exact.exp(), exact.softmax(dim=-1)
    scores = sheet.grid(90, 96, exact[:, None], "logits", rows=candidates, cell=60, largest=3.2)
    raised = sheet.grid(290, 96, powers[:, None], "powers", cell=70, largest=12)
    sheet.arrow(scores, raised, "e to the")
    bars = sheet.bars(500, 96, shares.tolist(), longest=150)
    sheet.words(500, 75, "probabilities", bold=True)
    sheet.arrow((raised.right, raised.centre[1]), (bars[0].x, raised.centre[1]), "÷ sum")
    sheet.words(raised.centre[0], raised.bottom + 22, f"sum {powers.sum():.2f}", align="center")
    sheet.words(500, raised.bottom + 22, "sum 1")
    return sheet.figure()


def loss() -> Figure:
    """Minus the logarithm of a probability."""
    sheet = Sheet(330, "What does the right word's probability cost?")
    plane = Plane(sheet, 90, 60, 560, 220, (0, 1), (0, 4.2))
    plane.curve(lambda p: -math.log(p), 0.0155, 1)
    for p in (0.05, 0.5, 0.9):
        x, y = plane.point(p, -math.log(p))
        sheet.words(x + 10, y - 16, f"{-math.log(p):.2f}", bold=True)
    plane.ticks(across=(0.05, 0.5, 0.9), up=(0, 2, 4))
    sheet.words(650, 318, "probability of the right word", align="right", faint=True)
    sheet.words(126, 70, "loss", faint=True)
    return sheet.figure()


def wiggle(exact: Tensor, right: int) -> Figure:
    """The loss over the logit of the right word, and its slope where we are."""
    sheet = Sheet(330, "In which direction does the loss fall?", "Only the logit of are changes.")

    def cost(logit: float) -> float:
        changed = exact.clone()
        changed[right] = logit
        return float(-changed.softmax(dim=-1)[right].log())

    plane = Plane(sheet, 90, 84, 560, 194, (-1, 5), (0, 3.6))
    plane.curve(cost, -1, 5)
    here = float(exact[right])
    slope = float(exact.softmax(dim=-1)[right]) - 1
    sheet.line(*(plane.at(here + d, cost(here) + d * slope) for d in (-1.4, 1.4)), dashed=True)
    x, y = plane.point(here, cost(here), 6)
    sheet.words(x + 14, y - 20, f"slope {number(slope, 2)}", bold=True)
    sheet.words(x + 14, y - 46, "we are here")
    plane.ticks(across=(-1, 0, 1, 2, 3, 4, 5), up=(0, 1, 2, 3))
    sheet.words(650, 318, "logit of are", align="right", faint=True)
    sheet.words(100, 92, "loss", faint=True)
    return sheet.figure()


def gradients(candidates: Sequence[str], exact: Tensor, right: int) -> Figure:
    """The gradient of cross-entropy: probabilities minus what would be right."""
    sheet = Sheet(260, "What does the gradient say about each logit?")
    p, wanted = exact.softmax(dim=-1), torch.zeros(len(candidates))
    wanted[right] = 1
    have = sheet.grid(90, 90, p[:, None], "probability", rows=candidates, cell=96, digits=2, largest=1.2)
    want = sheet.grid(262, 90, wanted[:, None], "right", cell=70, largest=1.2)
    slope = sheet.grid(408, 90, (p - wanted)[:, None], "gradient", cell=96, digits=2, largest=1.2)
    sheet.words((have.right + want.x) / 2, have.centre[1], "\N{MINUS SIGN}", align="center")
    sheet.words((want.right + slope.x) / 2, have.centre[1], "=", align="center")
    for i in range(len(candidates)):
        sheet.words(slope.right + 16, slope.row(i).centre[1], "raise it" if i == right else "lower it", bold=i == right)
    return sheet.figure()

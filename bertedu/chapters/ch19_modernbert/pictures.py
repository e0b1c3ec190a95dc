"""The pictures of chapter 19 up to the rotary positions: tables that end, arrows that turn, pairs with speeds.

Shapes: T tokens, d size of a head.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import cos, log10, pi, sin

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from bertedu.course.pictures import Plane, Sheet
from bertedu.course.pictures.sheet import number

BERT = ("words, positions, segments", "LayerNorm", "self-attention", "add, LayerNorm", "GELU", "add, LayerNorm")
MODERN = ("words", "LayerNorm", "*LayerNorm, not in layer 0", "*rotary, local or global", "add", "*LayerNorm",
          "*GeGLU", "add", "*LayerNorm after the last")  # fmt: skip


def layers() -> Figure:
    """One layer of each model, from bottom to top; what is new has a thick edge."""
    sheet = Sheet(540, "What has changed in a layer?")
    for x, title, names in ((14.0, "BERT", BERT), (386.0, "ModernBERT", MODERN)):
        sheet.words(x + 160, 62, title, align="center", bold=True)
        gap = 412 / (len(names) - 1)
        boxes = []
        for level, name in enumerate(names):
            y = 488 - gap * level
            boxes.append(sheet.box(x, y, 320, 32, name.strip("*"), new=name.startswith("*")))
        for one, following in pairwise(boxes):
            sheet.arrow(one, following)
    return sheet.figure()


def where_each_letter_looks(table_letters: nn.Module) -> Figure:
    """The mean attention weights of the trained model at the first positions, and at positions beyond its training."""
    sheet = Sheet(420, "Where does each letter look?", "Mean attention weight; queries down, keys across")
    for x, first in ((40, 0), (400, 48)):
        weights = _weights(table_letters, torch.arange(first, first + 16)).mean(dim=(0, 1))  # [T, T]
        grid = sheet.grid(x, 120, weights, cell=17, row=17, largest=0.6, numbers=False)
        sheet.words(grid.centre[0], 98, f"positions {first} to {first + 15}", align="center", bold=True)
    return sheet.figure()


def _weights(model: nn.Module, positions: Tensor) -> Tensor:
    """The attention weights of a model of letters on new texts, [B, H, T, T]."""
    ids = torch.randint(10, (50, len(positions)), generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        model.cpu()(ids, positions)
    weights: Tensor = model.weights  # type: ignore[assignment]
    return weights


def quarter_turns() -> Figure:
    """A query of two numbers at four positions: an arrow that turns by 90 degrees at each."""
    sheet = Sheet(300, "How does a position turn a query?", "The query (1, 2), a quarter turn for each position")
    x, y = 1.0, 2.0
    for position in range(4):
        left = 14 + 176 * position
        middle = left + 80, 176.0
        sheet.line((left + 6, middle[1]), (left + 154, middle[1]))
        sheet.line((middle[0], 102), (middle[0], 250))
        sheet.arrow(middle, (middle[0] + 32 * x, middle[1] - 32 * y))
        sheet.words(middle[0], 82, f"position {position}", align="center", bold=True)
        sheet.words(middle[0], 276, f"({number(x, 0)}, {number(y, 0)})", align="center", mono=True)
        x, y = -y, x
    return sheet.figure()


def diagonals(by_position: Sequence[Sequence[float]]) -> Figure:
    """The scores of one query and one key at all positions from 0 to 4."""
    sheet = Sheet(340, "Which scores are equal?", "One query and one key, an angle of 0.5 a position")
    names = [str(position) for position in range(len(by_position))]
    grid = sheet.grid(150, 132, by_position, "j, of the key", rows=names, columns=names, cell=92)
    sheet.words(30, grid.centre[1], "i, of the", bold=True)
    sheet.words(30, grid.centre[1] + 22, "query", bold=True)
    sheet.words(grid.centre[0], 324, "Down a diagonal i − j is the same, and so is the score.", align="center")
    return sheet.figure()


def clocks() -> Figure:
    """The pairs of a head of d = 8 as hands of clocks, at four positions."""
    sheet = Sheet(440, "How far has each pair turned?", "θ = 10,000, d = 8: a pair is the hand of a clock")
    places = (0, 1, 10, 100)
    for column, position in enumerate(places):
        sheet.words(230 + 140 * column, 88, f"position {position}", align="center", bold=True)
    for k in range(4):
        speed = 10_000 ** (-2 * k / 8)
        y = 138.0 + 80 * k
        sheet.words(14, y - 11, f"pair {k}", bold=True)
        sheet.words(14, y + 11, f"{speed:g} a step", faint=True)
        for column, position in enumerate(places):
            middle = 230.0 + 140 * column, y
            ring = [(middle[0] + 33 * cos(a / 20 * pi), y + 33 * sin(a / 20 * pi)) for a in range(41)]
            sheet.line(*ring)
            angle = position * speed
            sheet.line(middle, (middle[0] + 30 * cos(angle), y - 30 * sin(angle)), thick=True, ink="#222222")
    return sheet.figure()


def wavelengths_by_base(wavelengths: Mapping[int, Tensor]) -> Figure:
    """Positions in a full turn, for each pair of a head and both bases, on a logarithmic axis."""
    sheet = Sheet(390, "How long is a full turn of each pair?", "Positions in a full turn, a logarithmic axis")
    plane = Plane(sheet, 90, 84, 420, 250, (0, 31), (0, 6))
    for power in (1, 3, 5):
        sheet.words(80, plane.at(0, power)[1], f"{10**power:,}", align="right")
    for length, told in ((128, "128: a local window"), (8192, "8192: longest text")):
        height = plane.at(0, log10(length))[1]
        sheet.line((90, height), (510, height), dashed=True)
        sheet.words(518, height, told)
    for dashed, (theta, numbers) in enumerate(wavelengths.items()):
        points = [plane.at(k, log10(turn)) for k, turn in enumerate(numbers.tolist())]
        sheet.line(*points, thick=not dashed, dashed=bool(dashed), ink="#222222")
        sheet.words(518, points[-1][1] + (2 if not dashed else -4), f"θ = {theta:,}", bold=True)
    plane.ticks((0, 10, 20, 31))
    sheet.words(300, 372, "pair k of a head", align="center", faint=True)
    return sheet.figure()


def halves_or_neighbors() -> Figure:
    """The eight numbers of a head, joined in pairs in the two ways."""
    sheet = Sheet(300, "Which numbers of a head form a pair?", "d = 8; a line joins the two numbers of a pair")
    ways = (
        (112, "neighbors", "the paper", [(2 * k, 2 * k + 1) for k in range(4)]),
        (216, "halves", "ModernBERT", [(k, k + 4) for k in range(4)]),
    )
    for y, name, whose, joined in ways:
        sheet.words(14, y + 8, name, bold=True)
        sheet.words(14, y + 30, whose, faint=True)
        boxes = [sheet.box(150 + 68 * i, y, 52, 36, str(i)) for i in range(8)]
        for k, (one, other) in enumerate(joined):
            depth = y + 36 + (14 if name == "neighbors" else 10 + 9 * k)
            a, b = boxes[one].centre[0], boxes[other].centre[0]
            sheet.line((a, y + 36), (a, depth), (b, depth), (b, y + 36), ink="#222222")
    return sheet.figure()


def far_keys(rotary_letters: nn.Module) -> Figure:
    """The mean attention weight by distance, in texts four times as long as those of the training."""
    sheet = Sheet(370, "Where does the weight go in longer texts?", "Mean weight by j − i, in texts of 64 letters")
    weights = _weights(rotary_letters, torch.arange(64)).mean(dim=(0, 1))[24:40]  # [16, T]: queries in the middle
    distances = torch.arange(64)[None, :] - torch.arange(24, 40)[:, None]
    reach = range(-24, 25)
    means = [weights[distances == distance].mean().item() for distance in reach]
    plane = Plane(sheet, 60, 84, 600, 220, (-24, 24), (0, max(means)))
    for edge in (-15, 15):
        x = plane.at(edge, 0)[0]
        sheet.line((x, 84), (x, 304), dashed=True)
    sheet.line(
        *(plane.at(distance, mean) for distance, mean in zip(reach, means, strict=True)), thick=True, ink="#222222"
    )
    plane.ticks((-24, -15, -1, 15, 24))
    sheet.words(360, 348, "between the dashed lines: distances of the training", align="center", faint=True)
    return sheet.figure()

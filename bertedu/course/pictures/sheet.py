"""The sheet that a picture is drawn on: 720 pixels wide, its title a question, its text 18 pixels high.

Every mark returns the box where it stands, so that arrows can join them. What a reader could not see is refused when
the figure is asked for: words that leave the sheet, or that stand on other words.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.textpath import text_to_path

from bertedu.course.pictures.colours import BAR, DARK, FAINT, INK, PALE, ROLES, RULE, fill_of, ink_on
from bertedu.course.pictures.places import Box, Grid, Point, between

WIDTH, MARGIN = 720, 14
PIXELS_PER_INCH, POINTS_PER_PIXEL = 96, 72 / 96
TITLE, TEXT = 21.0, 18.0  # pixels: 18 are 9 on a phone, which shows a picture half as wide
LETTER = 0.61 * TEXT  # the width of a letter of the monospaced face
CHIP_HEIGHT, CHIP_GAP, ROW = 34.0, 5.0, 34.0

# How a chip shows what became of its token: its edge, the width of the edge, its fill and its ink.
STATES: dict[str, tuple[str, float, str, str]] = {
    "plain": ("solid", 1.2, "#ffffff", INK),
    "chosen": ("solid", 2.8, "#ffffff", INK),
    "hidden": ("solid", 2.8, DARK, "#ffffff"),
    "random": ("dashed", 2.4, "#ffffff", INK),
    "padding": ("solid", 1.2, "#ffffff", FAINT),
    "frozen": ("dotted", 2.0, "#ffffff", INK),
}


class Sheet:
    """A picture under a title (a question) and a line of grey words, if there are any."""

    def __init__(self, height: float, title: str, below: str = "") -> None:
        self.height = height
        self._figure = Figure(figsize=(WIDTH / PIXELS_PER_INCH, height / PIXELS_PER_INCH), facecolor="white")
        self._axes = self._figure.add_axes((0, 0, 1, 1))
        self._axes.set(xlim=(0, WIDTH), ylim=(height, 0))
        self._axes.axis("off")
        self._written: list[tuple[str, Box]] = []
        self._write(MARGIN, 24, title, "left", INK, bold=True, size=TITLE)
        if below:
            self.words(MARGIN, 54, below, faint=True)

    def words(
        self,
        x: float,
        y: float,
        text: str,
        align: str = "left",
        bold: bool = False,
        faint: bool = False,
        mono: bool = False,
        ink: str = INK,
    ) -> Box:
        """One line whose middle is at height y; `align` says which end (left, center, right) is at x."""
        return self._write(x, y, text, align, FAINT if faint else ink, bold, mono)

    def chip(self, x: float, y: float, token: str, state: str = "plain", width: float = 0.0) -> Box:
        """A token, in a rounded box at least so wide; its upper left corner is at (x, y)."""
        line, thick, fill, ink = STATES[state]
        box = Box(x, y, max(width, width_of_chip(token)), CHIP_HEIGHT)
        shape = FancyBboxPatch(
            (box.x + 5, box.y + 5),
            box.width - 10,
            box.height - 10,
            boxstyle="round,pad=5,rounding_size=6",
            facecolor=fill,
            edgecolor=FAINT if state in ("plain", "padding") else INK,
            linewidth=thick,
            linestyle=line,
        )
        if state == "padding":
            shape.set_hatch("////")
            shape.set_hatchcolor("#d0d0d0")
        self._axes.add_patch(shape)
        bold = state in ("chosen", "hidden", "random")
        self.words(*box.centre, token, align="center", bold=bold, mono=True, ink=ink)
        return box

    def chips(
        self, x: float, y: float, tokens: Sequence[str], states: Mapping[int, str] | None = None, width: float = 0.0
    ) -> list[Box]:
        """Tokens in a row; `states` says which are not plain, by position."""
        boxes: list[Box] = []
        for i, token in enumerate(tokens):
            at = boxes[-1].right + CHIP_GAP if boxes else x
            boxes.append(self.chip(at, y, token, (states or {}).get(i, "plain"), width))
        return boxes

    def grid(
        self,
        x: float,
        y: float,
        values: Any,
        name: str = "",
        shape: str = "",
        role: str = "",
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        cell: float = 0.0,
        row: float = ROW,
        largest: float = 0.0,
        digits: int | None = None,
        numbers: bool = True,
    ) -> Grid:
        """A matrix `[rows, columns]`, or a vector as one row: each cell filled by its value, its number in it.

        The name stands above it, the shape in grey below the name. `role` is query, key or value, whose colour its
        edge and name get. `cell` is the width of a cell (by itself as its longest number needs), `row` its height.
        `largest` is the value that is full gold (by itself more than the largest of the matrix, so that black ink
        stays readable), and `digits` those after the point (none where all are whole, else two).
        """
        table = np.atleast_2d(np.asarray(values, dtype=float))
        largest = largest or 1.6 * float(np.abs(table).max()) or 1.0
        digits = digits if digits is not None else 0 if (table == table.round()).all() else 2
        told = [[number(value, digits) for value in line] for line in table]
        cell = cell or max(36.0, LETTER * max(len(one) for line in told for one in line) + 10)
        box = Grid(x, y, cell * table.shape[1], row * table.shape[0], *table.shape)
        for i, j in np.ndindex(*table.shape):
            fill = fill_of(float(table[i, j]), largest)
            self._rectangle(box.cell(i, j), fill, "#ffffff", 1.5)
            if numbers:
                self.words(*box.cell(i, j).centre, told[i][j], align="center", ink=ink_on(fill))
        self._rectangle(box, "none", ROLES.get(role, FAINT), 2.2)
        above = box.y - 15 - (22 if columns else 0)
        if shape:
            self.words(box.centre[0], above, shape, align="center", faint=True)
            above -= 22
        if name:
            self.words(box.centre[0], above, name, align="center", bold=True, ink=ROLES.get(role, INK))
        for i, text in enumerate(rows):
            self.words(box.x - 8, box.row(i).centre[1], text, align="right", mono=True)
        for j, text in enumerate(columns):
            self.words(box.column(j).centre[0], box.y - 13, text, align="center", mono=True)
        return box

    def bars(
        self,
        x: float,
        y: float,
        values: Sequence[float],
        labels: Sequence[str] = (),
        longest: float = 100.0,
        full: float = 1.0,
        digits: int = 2,
        thick: Sequence[int] = (),
    ) -> list[Box]:
        """Lying bars, one below the other, each with its number; `full` is the value of a bar of `longest` pixels.
        The labels stand left of x; the bars whose positions are in `thick` have a thick edge."""
        boxes = []
        for i, value in enumerate(values):
            middle = y + (i + 0.5) * ROW
            box = Box(x, middle - 9, max(1.5, longest * float(value) / full), 18)
            self._bar(box, i in thick)
            told = self.words(box.right + 6, middle, number(value, digits), bold=i in thick)
            if labels:
                self.words(x - 8, middle, labels[i], align="right", mono=True)
            boxes.append(Box(x, box.y, told.right - x, 18))
        return boxes

    def column(self, x: float, base: float, height: float, width: float, thick: bool = False) -> Box:
        """A standing bar on the height `base`."""
        box = Box(x, base - max(1.5, height), width, max(1.5, height))
        self._bar(box, thick)
        return box

    def box(
        self, x: float, y: float, width: float, height: float, *lines: str, new: bool = False, frozen: bool = False
    ) -> Box:
        """A part of the model by its name: thick where it is new in this chapter, dotted where it is not trained."""
        box = Box(x, y, width, height)
        style = ":" if frozen else "-"
        self._rectangle(box, "#ffffff" if new else PALE, INK if new else FAINT, 2.8 if new else 1.2, style)
        for i, line in enumerate(lines):
            middle = box.centre[1] + (i - (len(lines) - 1) / 2) * 22
            self.words(box.centre[0], middle, line, align="center", bold=new and not i)
        return box

    def arrow(self, start: Box | Point, end: Box | Point, text: str = "") -> None:
        """From one to the other: "goes into". The words stand above a lying arrow, right of a standing one."""
        first, last = between(start, end, gap=5)
        self._axes.add_patch(
            FancyArrowPatch(first, last, arrowstyle="-|>", mutation_scale=12, color=FAINT, shrinkA=0, shrinkB=0)
        )
        if text:
            x, y = (first[0] + last[0]) / 2, (first[1] + last[1]) / 2
            if abs(first[0] - last[0]) >= abs(first[1] - last[1]):
                self.words(x, y - 14, text, align="center")
            else:
                self.words(x + 8, y, text)

    def line(self, *points: Point, thick: bool = False, dashed: bool = False, ink: str = RULE) -> None:
        """A line through points: a rule between panels, an axis, a curve."""
        across, down = zip(*points, strict=True)
        self._axes.plot(across, down, color=ink, linewidth=2.6 if thick else 1.2, linestyle="--" if dashed else "-")

    def dot(self, place: Point, size: float = 5) -> None:
        """A point of a drawing, `size` pixels around its middle."""
        self._axes.add_patch(Circle(place, size, facecolor=INK, edgecolor="white", linewidth=0.8, zorder=3))

    def figure(self) -> Figure:
        """What was drawn. Raises ValueError for words that nobody could read: outside the sheet, or on each other."""
        for i, (text, box) in enumerate(self._written):
            if box.x < 0 or box.right > WIDTH or box.y < 0 or box.bottom > self.height:
                ends = f"{box.x:.0f} to {box.right:.0f}, {box.y:.0f} to {box.bottom:.0f}"
                raise ValueError(f"{text!r} leaves the sheet ({WIDTH} x {self.height:.0f}): it stands at {ends}.")
            for other, place in self._written[:i]:
                if box.overlaps(place):
                    raise ValueError(f"{text!r} stands on {other!r} at ({box.x:.0f}, {box.y:.0f}).")
        return self._figure

    def _write(
        self,
        x: float,
        y: float,
        text: str,
        align: str,
        ink: str,
        bold: bool = False,
        mono: bool = False,
        size: float = TEXT,
    ) -> Box:
        family, weight = "monospace" if mono else "sans-serif", "bold" if bold else "normal"
        font = FontProperties(family=family, weight=weight, size=size)
        width = text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]
        font.set_size(size * POINTS_PER_PIXEL)
        self._axes.text(x, y, text, color=ink, ha=align, va="center_baseline", fontproperties=font, parse_math=False)
        left = x - {"left": 0.0, "center": width / 2, "right": width}[align]
        box = Box(left, y - 0.42 * size, width, 0.84 * size)
        self._written.append((text, box))
        return box

    def _bar(self, box: Box, thick: bool) -> None:
        self._rectangle(box, BAR, INK if thick else BAR, 2.4 if thick else 1.0)

    def _rectangle(self, box: Box, fill: str, edge: str, line: float, style: str = "-") -> None:
        place = (box.x, box.y), box.width, box.height
        self._axes.add_patch(Rectangle(*place, facecolor=fill, edgecolor=edge, linewidth=line, linestyle=style))


def number(value: float, digits: int) -> str:
    """A number as pictures write it: with a true minus sign, and no minus before zero."""
    text = f"{float(value):.{digits}f}"
    return (text[1:] if float(text) == 0 and text.startswith("-") else text).replace("-", "\N{MINUS SIGN}")


def width_of_chip(token: str) -> float:
    """How wide a token's chip is at least."""
    return LETTER * len(token) + 14

"""The pictures of chapter 21 on noise: three runs, what they know of it, whose it is, and that of the test rows."""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import mean, stdev
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bertedu.chapters.ch21_which_one.family_pictures import TITLES
from bertedu.course.pictures import Plane, Sheet
from bertedu.course.pictures.sheet import number


def tokens_read(runs: Mapping[str, Sequence[Any]], NAMES: Sequence[str]) -> Figure:
    """How many tokens each member reads in the same time."""
    sheet = Sheet(110 + 34 * len(NAMES), "Who reads how much in ten minutes?", "Million tokens of pre-training")
    values = [runs[name][0]["pretraining"]["tokens"] / 1e6 for name in NAMES]
    sheet.bars(220, 76, values, longest=400, full=max(values), digits=1)
    for i, name in enumerate(NAMES):
        sheet.words(210, 93 + 34 * i, TITLES[name], align="right")
    return sheet.figure()


def three_runs(of_bert: Sequence[float], of_another: Sequence[float]) -> Figure:
    """Three runs of each of two members: their means, and the standard errors of these."""
    sheet = Sheet(310, "Is the second member better?", "A dot: one run. A line: mean ± its standard error")
    left, wide, low, high = 150.0, 520.0, 0.58, 0.69

    def at(score: float) -> float:
        return left + wide * (score - low) / (high - low)

    for y, told, scores in ((108, "BERT", of_bert), (188, "another", of_another)):
        sheet.words(14, y, told, bold=True)
        error, middle = stdev(scores) / sqrt(len(scores)), mean(scores)
        for score in scores:
            sheet.dot((at(score), y), 7)
        sheet.line((at(middle - error), y + 28), (at(middle + error), y + 28), thick=True, ink="#222222")
        sheet.words(at(middle + error) + 10, y + 28, f"{middle:.2f} ± {error:.4f}")
    sheet.line((left, 252), (left + wide, 252))
    for score in (0.60, 0.62, 0.64, 0.66, 0.68):
        sheet.line((at(score), 247), (at(score), 257))
        sheet.words(at(score), 276, f"{score:.2f}", align="center", faint=True)
    return sheet.figure()


def spread_of_s(variances: NDArray) -> Figure:
    """The standard deviations that three runs give, and the true one."""
    sheet = Sheet(330, "What do three runs say of s = 0.02?", "Ten thousand members, three runs each")
    found = np.sqrt(variances[:, 0])
    counts, edges = np.histogram(found, bins=26, range=(0, 0.052))
    plane = Plane(sheet, 40, 80, 640, 190, (0, 0.052), (0, float(counts.max())))
    inside = np.quantile(found, [0.05, 0.95])
    for count, start in zip(counts.tolist(), edges.tolist(), strict=False):
        sheet.column(plane.at(start, 0)[0] + 1, 270, 185 * count / float(counts.max()), 640 / 26 - 2)
    truth = plane.at(0.02, 0)[0]
    sheet.line((truth, 76), (truth, 270), thick=True, ink="#222222")
    plane.ticks((0, 0.01, 0.02, 0.03, 0.04, 0.05))
    sheet.words(680, 96, f"90 %: {number(inside[0], 3)} to {number(inside[1], 3)}", align="right", bold=True)
    sheet.words(360, 314, "s of three runs; the line: the truth", align="center", faint=True)
    return sheet.figure()


def own_noise(columns: Mapping[str, Mapping[str, Sequence[float]]], NAMES: Sequence[str]) -> Figure:
    """The three runs of each member on one task."""
    order = sorted(NAMES, key=lambda name: stdev(columns["entities"][name]))
    sheet = Sheet(116 + 34 * len(order), "Do all members have the same noise?", "Entities, F1: a dot for each seed")
    left, wide, low, high = 210.0, 470.0, 0.25, 0.8
    bottom = 78 + 34 * len(order)
    for score in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        x = left + wide * (score - low) / (high - low)
        sheet.line((x, 78), (x, bottom), dashed=True)
        sheet.words(x, bottom + 18, f"{score:g}", align="center", faint=True)
    for i, name in enumerate(order):
        sheet.words(left - 12, 95 + 34 * i, TITLES[name], align="right")
        for score in columns["entities"][name]:
            sheet.dot((left + wide * (score - low) / (high - low), 95 + 34 * i), 6)
    return sheet.figure()


def two_noises() -> Figure:
    """Three runs on the same test rows: what seeds show, and what they share."""
    sheet = Sheet(330, "Which noise do the seeds show, and which not?", "1: the run is right on this row")
    rows = np.array([[1, 0, 1, 1, 0, 1, 1, 0], [1, 0, 1, 1, 1, 1, 0, 0], [1, 0, 1, 1, 0, 1, 1, 1]])
    grid = sheet.grid(110, 104, rows, cell=40, largest=1.8, digits=0)
    for i in range(3):
        share = rows[i].mean()
        sheet.words(100, grid.row(i).centre[1], f"seed {i}", align="right")
        sheet.words(grid.right + 14, grid.row(i).centre[1], f"{share:.3f}")
    sheet.words(grid.right + 14, 88, "accuracy", bold=True)
    sheet.words(110, 88, "the same test rows", bold=True)
    sheet.line((grid.right + 86, 112), (grid.right + 86, 202), thick=True, ink="#222222")
    sheet.words(grid.right + 98, 157, "s of the seeds", bold=True)
    sheet.words(110, 246, "Other rows would move all three together:")
    sheet.words(110, 272, "the seeds can't see that.", bold=True)
    sheet.words(110, 306, "standard error of the rows √(p · (1 − p) / n)", faint=True)
    return sheet.figure()

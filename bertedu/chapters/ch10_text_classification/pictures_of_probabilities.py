"""The pictures of chapter 10 that show what probabilities are worth, drawn from the notebook's numbers."""

import numpy as np
import torch
from matplotlib.figure import Figure

from bertedu.course.pictures import Sheet


def reliability(few_hits: np.ndarray, confidence: np.ndarray) -> Figure:
    """Accuracy by confidence, where there are ten answers or more."""
    sheet = Sheet(
        430,
        "Is it right as often as it is certain?",
        "Columns: share of right answers. Line: what the confidence promises.",
    )
    base, tall = 300.0, 210.0
    for tick in (0.0, 0.5, 1.0):
        sheet.line((92, base - tall * tick), (708, base - tall * tick), dashed=tick > 0)
        sheet.words(86, base - tall * tick, f"{tick:.0%}", align="right", faint=True)
    for i, text in enumerate(("sure, %", "reviews", "right")):
        sheet.words(14, base + 24 + 26 * i, text, faint=True)
    promised = []
    for i in range(3, 10):
        chosen = (confidence >= i / 10) & (confidence < (i + 1) / 10 + (i == 9))
        x, many = 108 + 86 * (i - 3), int(chosen.sum())
        told = f"{few_hits[chosen].mean():.0%}" if many >= 10 else "\u2013"
        sheet.words(x + 32, base + 24, f"{10 * i}–{10 * i + 10}", align="center", faint=True)
        sheet.words(x + 32, base + 50, str(many), align="center")
        sheet.words(x + 32, base + 76, told, align="center", bold=True)
        if many >= 10:
            box = sheet.column(x + 6, base, tall * few_hits[chosen].mean(), 52)
            promised.append((box.centre[0], base - tall * float(confidence[chosen].mean())))
    sheet.line(*promised, thick=True, ink="#1a1a1a")
    sheet.words(14, base + 106, "\u2013: fewer than ten reviews, no column", faint=True)
    return sheet.figure()


def thresholds(angry: np.ndarray, truth: np.ndarray) -> Figure:
    """Precision and recall by threshold."""
    sheet = Sheet(416, "What does a threshold trade?", "Precision and recall of the complaints (the class negative)")
    base, tall, wide = 310.0, 220.0, 530.0
    steps = [i / 50 for i in range(1, 50) if (angry >= i / 50).any()]
    hits = [(truth & (angry >= one)).sum() for one in steps]
    curves = {
        "precision": [hit / (angry >= one).sum() for hit, one in zip(hits, steps, strict=True)],
        "recall": [hit / truth.sum() for hit in hits],
    }
    for tick in (0.0, 0.5, 1.0):
        sheet.line((60, base - tall * tick), (60 + wide, base - tall * tick), dashed=tick > 0)
        sheet.words(52, base - tall * tick, f"{tick:.1f}", align="right", faint=True)
        sheet.words(60 + wide * tick, base + 24, f"{tick:.1f}", align="center", faint=True)
    for name, shares in curves.items():
        points = [(60 + wide * one, base - tall * share) for one, share in zip(steps, shares, strict=True)]
        sheet.line(*points, thick=name == "precision", dashed=name == "recall", ink="#1a1a1a")
        sheet.words(60 + wide + 8, points[-1][1], name, bold=name == "precision")
    nine = max(i for i, share in enumerate(curves["recall"]) if share >= 0.9)
    x = 60 + wide * steps[nine]
    sheet.dot((x, base - tall * curves["recall"][nine]))
    sheet.dot((x, base - tall * curves["precision"][nine]))
    alarms = (angry >= steps[nine]).sum() - hits[nine]
    sheet.words(60 + wide + 26, base + 24, "threshold", faint=True)
    passed = (angry >= steps[-1]).sum()
    sheet.words(
        60, base + 82, f"far right: {passed} {'review is' if passed == 1 else 'reviews are'} passed on", faint=True
    )
    sheet.words(60, base + 54, f"dots: from {steps[nine]:.2f} on, {hits[nine]} found, {alarms} false alarms")
    return sheet.figure()


def sigmoids() -> Figure:
    """Softmax and sigmoids of the same logits."""
    sheet = Sheet(350, "How can two labels be right at once?")
    logits = torch.tensor([2.0, 2, -3])
    names = ["food praised", "price blamed", "room praised"]
    grid = sheet.grid(170, 160, logits[:, None], "logits", cell=60)
    for i, name in enumerate(names):
        sheet.words(20, grid.row(i).centre[1], name)
    for y, name, told, values in (
        (92, "softmax", "share one unit", logits.softmax(dim=0)),
        (232, "three sigmoids", "each a yes or no", logits.sigmoid()),
    ):
        heading = sheet.words(400, y - 22, name, bold=True)
        sheet.words(heading.right + 14, y - 22, told, faint=True)
        bars = sheet.bars(400, y, values.tolist(), longest=150)
        sheet.arrow((grid.right, grid.centre[1] + (y - 162) / 4), (392, bars[1].centre[1]))
    return sheet.figure()

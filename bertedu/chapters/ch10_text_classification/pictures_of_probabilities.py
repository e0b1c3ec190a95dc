"""The pictures of chapter 10 that show what probabilities are worth, drawn from the notebook's numbers."""

import numpy as np
import torch
from matplotlib.figure import Figure

from bertedu.course.pictures import Sheet


def reliability(few_hits: np.ndarray, confidence: np.ndarray) -> Figure:
    """Accuracy by confidence, where there are ten answers or more."""
    sheet = Sheet(
        390, "Is it right as often as it is certain?", "Columns: accuracy. Line: what the confidence promises."
    )
    base, tall = 310.0, 220.0
    promised = []
    for i in range(3, 10):
        chosen = (confidence >= i / 10) & (confidence < (i + 1) / 10 + (i == 9))
        x = 70 + 90 * (i - 3)
        sheet.words(x + 26, base + 24, f"{10 * i}–{10 * i + 10}", align="center", faint=True)
        if chosen.sum() >= 10:
            box = sheet.column(x, base, tall * few_hits[chosen].mean(), 52)
            sheet.words(x + 26, base + 52, str(chosen.sum()), align="center")
            sheet.words(x + 26, base - 18, f"{few_hits[chosen].mean():.0%}", align="center", bold=True)
            promised.append((box.centre[0], base - tall * float(confidence[chosen].mean())))
    sheet.line(*promised, thick=True, ink="#1a1a1a")
    sheet.line((50, base), (700, base))
    return sheet.figure()


def thresholds(angry: np.ndarray, truth: np.ndarray) -> Figure:
    """Precision and recall by threshold."""
    sheet = Sheet(390, "What does a threshold trade?", "Precision and recall of the complaints, by threshold")
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
    sheet.words(60, base + 54, f"dots: from {steps[nine]:.2f} on, {hits[nine]} found, {alarms} false alarms")
    return sheet.figure()


def sigmoids() -> Figure:
    """Softmax and sigmoids of the same logits."""
    sheet = Sheet(300, "How can two labels be right at once?")
    logits = torch.tensor([2.0, 2, -3])
    names = ["food praised", "price blamed", "room praised"]
    for i, name in enumerate(names):
        sheet.words(20, 150 + 34 * i, name)
    grid = sheet.grid(180, 133, logits[:, None], "logits", cell=60)
    for x, name, values in ((330, "softmax", logits.softmax(dim=0)), (530, "sigmoids", logits.sigmoid())):
        sheet.words(x, 96, name, bold=True)
        sheet.bars(x, 133, values.tolist(), longest=100)
    sheet.words(330, 262, "share one unit", faint=True)
    sheet.words(530, 262, "each a yes or no", faint=True)
    sheet.arrow((grid.right, grid.centre[1]), (322, grid.centre[1]))
    return sheet.figure()

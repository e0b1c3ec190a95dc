"""The pictures of chapter 08: the loop around BERT, and what keeps it going."""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Plane, Sheet, map_of_bert

IGNORED = -100


def where() -> Figure:
    """The map of BERT, and below it the way of the gradients back into it."""
    sheet = Sheet(300, "What turns random weights into a BERT?", "Thick: new in this chapter")
    boxes = map_of_bert(sheet, 70, set())
    losses = sheet.box(592, 224, 114, 44, "two losses")
    optimizer = sheet.box(366, 224, 96, 44, "AdamW", new=True)
    weights = sheet.box(120, 224, 150, 44, "new weights", new=True)
    answers = boxes["heads"].centre[0]
    sheet.arrow((answers, 172), (answers, 224))
    sheet.arrow(losses, optimizer, "gradients")
    sheet.arrow(optimizer, weights)
    sheet.arrow((195, 224), (195, 174))
    sheet.words(210, 200, "thousands of times")
    return sheet.figure()


def batches(corpus: Any, task: Any, batches: Any, shortest: Any, example_batch: Any) -> Figure:
    """From documents to batches, and one pair of a batch before and after masking, with its labels."""
    sheet = Sheet(470, "How does text become batches?")
    counts = (
        (f"{len(corpus.train):,}", "documents"),
        (f"{len(task.train_text.tokens):,}", "tokens"),
        (f"{sum(len(one['input_ids']) for one in batches):,}", "pairs"),
        (f"{len(batches):,}", "batches"),
    )
    boxes = [sheet.box(14 + 182 * i, 58, 136, 58, *lines) for i, lines in enumerate(counts)]
    for one, following in pairwise(boxes):
        sheet.arrow(one, following)
    ids, shown, labels = (
        row[0].tolist() for row in (shortest["input_ids"], example_batch["input_ids"], example_batch["labels"])
    )
    names = [task.tokenizer.convert_ids_to_tokens(row) for row in (ids, shown)]
    width = names[0].index("[PAD]") if "[PAD]" in names[0] else len(ids)
    half = names[0].index("[SEP]") + 1
    sheet.words(14, 152, "a pair", bold=True)
    sheet.words(14, 262, "masked", bold=True)
    sheet.words(104, 262, "anew each time; the labels below, all others −100", faint=True)
    for y, tokens, masked in ((170, names[0], False), (280, names[1], True)):
        for start, stop, top in ((0, half, y), (half, width, y + (84 if masked else 40))):
            states = {}
            for i in range(start, stop):
                if masked and labels[i] != IGNORED:
                    states[i - start] = (
                        "hidden" if tokens[i] == "[MASK]" else "chosen" if shown[i] == ids[i] else "random"
                    )
            row = sheet.chips(14, top, tokens[start:stop], states)
            for i, chip in enumerate(row, start):
                if masked and labels[i] != IGNORED:
                    sheet.words(chip.centre[0], top + 52, names[0][i], align="center", mono=True)
    return sheet.figure()


def padding(some_pairs: Sequence[Any]) -> Figure:
    """A batch in the order of the text and one of pairs of about one length."""
    sheet = Sheet(300, "Who waits for the longest pair?", "A batch of 16 pairs: tokens grey, padding white")
    ordered = sorted(some_pairs, key=len)
    for x, name, some in ((14, "in order of the text", some_pairs[:16]), (372, "sorted by length", ordered[160:176])):
        sheet.words(x, 86, name, bold=True)
        longest = max(map(len, some)) + 3
        for i, pair in enumerate(some):
            y = 116 + 10.5 * i
            sheet.column(x, y, 8, 330 * (len(pair) + 3) / longest)
        sheet.line((x, 104), (x + 331, 104), (x + 331, 277), (x, 277), (x, 104))
    return sheet.figure()


def adam(adam_paths: Mapping[str, Sequence[Sequence[float]]]) -> Figure:
    """Two weights, three steps each: what Adam keeps of their gradients, and how far it goes."""
    sheet = Sheet(330, "How far does Adam go where gradients flip?", "Each row is a step; the learning rate is 0.01")
    columns = ["g", "mean", "square", "100 · move"]
    for x, (name, path) in zip((60, 408), adam_paths.items(), strict=True):
        sheet.words(x, 96, {"steady": "steady gradients", "flips": "gradients that flip"}[name], bold=True)
        for i, (column, width) in enumerate(zip(columns, (48, 64, 74, 112), strict=True)):
            left = x + (0, 48, 112, 186)[i]
            factor = 100 if i == 3 else 1
            values = [[factor * row[i]] for row in path]
            sheet.words(left + width / 2, 132, column, align="center", faint=i < 3, bold=i == 3)
            sheet.grid(left, 150, values, digits=(0, 2, 1, 2)[i], cell=width, largest=(4, 4, 9, 2)[i], row=40)
        if x < 100:
            for i in range(3):
                sheet.words(46, 170 + 40 * i, f"{i + 1}", align="right", mono=True)
        told = sum(row[3] for row in path)
        sheet.words(x, 300, f"together {told:.3f}", bold=True)
    return sheet.figure()


def decay(after_decay: Any) -> Figure:
    """What is left of two weights under two kinds of decay."""
    sheet = Sheet(300, "What is left of a weight of 1.0?", "300 steps of AdamW or Adam on gradients of pure noise")
    for y, name, decoupled in ((84, "decay in the gradient", False), (186, "decoupled decay", True)):
        sheet.words(14, y + 8, name, bold=True)
        left = [after_decay(scale, decoupled) for scale in (0.01, 10)]
        sheet.bars(200, y + 22, left, ["small noise", "large noise"], longest=420, full=1.0)
    return sheet.figure()


def schedule(rate_factor: Any) -> Figure:
    """The learning rate over a run."""
    sheet = Sheet(290, "How does the learning rate move through a run?")
    plane = Plane(sheet, 90, 70, 590, 160, (0, 1), (0, 1.1))
    plane.curve(rate_factor, 0.0, 0.06)
    plane.curve(rate_factor, 0.06, 1.0)
    plane.ticks(up=(0, 0.5, 1))
    for share, text in ((0.06, "6 %"), (1.0, "100 %")):
        sheet.words(plane.at(share, 0)[0], 250, text, align="center")
    sheet.words(plane.at(0.5, 0)[0], 250, "share of the run", align="center", faint=True)
    for share in (0.03, 0.53):
        plane.point(share, rate_factor(share))
    left, right = plane.at(0.03, 0.5), plane.at(0.53, 0.5)
    sheet.line(left, right, dashed=True)
    sheet.words(left[0] + 14, left[1] + 16, "at 3 %")
    sheet.words(right[0] + 14, right[1] - 8, "at 53 %")
    sheet.words(plane.at(0.1, 1)[0], 66, "peak", bold=True)
    sheet.words(plane.at(0.32, 0)[0], left[1] + 16, "half of the peak", align="center")
    return sheet.figure()


def descent(rate_factor: Any, valley: Mapping[str, Any]) -> Figure:
    """The loss of two weights under three schedules, on a logarithmic scale."""
    sheet = Sheet(
        330, "What do warm-up and the fall to 0 protect?", "The loss over 200 steps; a line is a tenth of the one above"
    )
    schedules = {
        "always the peak": lambda share: 1.0,
        "with warm-up": lambda share: min(1.0, rate_factor(share) if share < 0.06 else 1.0),
        "and the fall to 0": rate_factor,
    }
    top, tall, wide = 116.0, 130.0, 190.0
    for place, (name, factor) in enumerate(schedules.items()):
        left = 62 + 222 * place
        losses = _descended(valley, [0.2 * factor(step / 200) for step in range(200)])
        sheet.words(left, 88, name, bold=True)
        for power in range(1, -4, -1):
            y = top + tall * (1 - power) / 4
            sheet.line((left, y), (left + wide, y), dashed=power > -3)
            if not place:
                sheet.words(left - 8, y, f"{10.0**power:g}", align="right", faint=True)
        points = [
            (left + wide * step / 200, top + tall * (1 - max(-3.0, math.log10(loss))) / 4)
            for step, loss in enumerate(losses)
        ]
        sheet.line(*points, ink="#1a1a1a")
        sheet.words(left, 276, f"highest {max(losses):.1f}")
        sheet.words(left, 302, f"last 20: {sum(losses[-20:]) / 20:.3f}", bold=place == 2)
    return sheet.figure()


def _descended(valley: Mapping[str, Any], rates: Sequence[float]) -> list[float]:
    """The loss before each step of Adam with these learning rates, and after the last."""
    draw = random.Random(0)
    weights = torch.tensor(valley["start"], dtype=torch.double, requires_grad=True)
    curvature = torch.tensor(valley["curvature"], dtype=torch.double)
    adam = torch.optim.Adam([weights], betas=tuple(valley["betas"]), eps=valley["epsilon"])
    losses = []
    for rate in (*rates, 0.0):
        losses.append(float((curvature * weights.detach() ** 2).sum() / 2))
        adam.param_groups[0]["lr"] = rate
        noise = torch.tensor([draw.gauss() for _ in valley["start"]], dtype=torch.double)
        weights.grad = curvature * weights.detach() + noise
        adam.step()
    return losses


def clipping() -> Figure:
    """A gradient of two numbers before and after clipping to norm 1."""
    sheet = Sheet(360, "What does clipping keep?", "The direction; only the length becomes 1")
    plane = Plane(sheet, 120, 80, 300, 240, (0, 5), (0, 4.4))
    plane.curve(lambda a: math.sqrt(max(0.0, 1 - a * a)), 0.0, 1.0)
    sheet.line(plane.at(0, 0), plane.at(3, 4), dashed=True, ink="#222222")
    plane.point(3, 4)
    plane.point(0.6, 0.8)
    plane.ticks(across=(1, 3), up=(1, 4))
    sheet.words(plane.at(3, 4)[0] + 14, plane.at(3, 4)[1], "(3, 4): norm 5")
    sheet.words(plane.at(0.6, 0.8)[0] + 24, plane.at(0.6, 0.8)[1], "(0.6, 0.8): norm 1", bold=True)
    return sheet.figure()


def step(seen: Mapping[str, float], step_loss: Tensor, step_norm: float) -> Figure:
    """One training step from left to right, and what it does to one weight."""
    sheet = Sheet(270, "What happens to one weight in a training step?", "Thick: new against the first try")
    names = ("forward", "backward", "clip", "step", "zero_grad")
    told = (
        (f"loss {step_loss.item():.2f}", ""),
        ("gradient", f"{seen['gradient']:.5f}"),
        (f"norm {step_norm:.1f} → 1" if step_norm > 1 else f"norm {step_norm:.2f}", f"{seen['clipped']:.5f}"),
        ("by AdamW", ""),
        ("gradient", "gone"),
    )
    boxes = []
    for i, (name, lines) in enumerate(zip(names, told, strict=True)):
        boxes.append(sheet.box(14 + 142 * i, 84, 118, 46, name, new=name in ("clip", "step")))
        for j, line in enumerate(lines):
            if line:
                sheet.words(73 + 142 * i, 152 + 24 * j, line.replace("-", "−"), align="center", faint=not j)
    for one, following in pairwise(boxes):
        sheet.arrow(one, following)
    before, after = (f"{seen[name]:.5f}".replace("-", "−") for name in ("before", "after"))
    moved = f"{seen['after'] - seen['before']:+.4f}".replace("-", "−")
    sheet.words(14, 236, f"the weight: {before} before, {after} after, moved by {moved}", bold=True)
    return sheet.figure()

"""The pictures of chapter 22 for several workers: sums around a ring, shares of the memory, noise, and dice.

Shapes: N workers, B sequences.
"""

from collections.abc import Mapping

import torch
from matplotlib.figure import Figure

from bertedu.course.pictures import Sheet


def two_workers() -> Figure:
    """Data parallelism with two workers."""
    sheet = Sheet(330, "How do two workers train one model?", "The same weights before the step, and after it")
    batch = sheet.box(14, 146, 96, 60, "batch", "[B, T]")
    both = sheet.box(420, 146, 126, 60, "all-reduce", "sum", new=True)
    for y, rank in ((84, 0), (216, 1)):
        half = sheet.box(150, y, 92, 54, "half", f"rank {rank}")
        model = sheet.box(276, y, 110, 54, "model", "gradient")
        step = sheet.box(586, y, 120, 54, "same step", f"rank {rank}")
        sheet.arrow((batch.right, batch.centre[1] + (rank - 0.5) * 20), (half.x, half.centre[1]))
        sheet.arrow(half, model)
        sheet.arrow((model.right, model.centre[1]), (both.x, both.centre[1] + (rank - 0.5) * 24))
        sheet.arrow((both.right, both.centre[1] + (rank - 0.5) * 24), (step.x, step.centre[1]))
    sheet.words(14, 306, "Divide both losses by the count of the whole batch.", bold=True)
    return sheet.figure()


def ring() -> Figure:
    """Three workers with three chunks each, after every step of the ring all-reduce."""
    sheet = Sheet(
        480,
        "How does a sum go round a ring of three?",
        "A row is a worker; it sends one chunk to the next in each step",
    )
    held = [[1, 2, 3], [10, 20, 30], [100, 200, 300]]
    states: list[tuple[str, list[list[int]], set]] = [("start", [row[:] for row in held], set())]
    for phase, shift in (("reduce-scatter", 0), ("all-gather", 1)):
        for step in range(2):
            before = [row[:] for row in held]
            got = set()
            for worker in range(3):
                right, chunk = (worker + 1) % 3, (worker + shift - step) % 3
                held[right][chunk] = before[worker][chunk] + (0 if shift else before[right][chunk])
                got.add((right, chunk))
            states.append((f"{phase} {step}", [row[:] for row in held], got))
    places = ((14, 116), (250, 116), (486, 116), (132, 316), (368, 316))
    for (x, y), (name, rows, got) in zip(places, states, strict=True):
        sheet.words(x + 105, y - 20, name, align="center", bold=True)
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                sheet.box(x + 70 * j, y + 42 * i, 66, 36, str(value), new=(i, j) in got)
    sheet.words(14, 460, "Thick: what has just arrived. 111, 222 and 333 are complete sums.", faint=True)
    return sheet.figure()


def sharding() -> Figure:
    """What one of four workers keeps in each stage of ZeRO, in bytes for each weight."""
    sheet = Sheet(330, "What does each of four workers keep?", "Bytes for each weight: weight, gradient, two means")
    scale = 28.0
    for stage in range(4):
        y, x = 88 + 52 * stage, 110.0
        sheet.words(14, y + 18, f"stage {stage}", bold=True)
        parts = (("weight", 4, 3), ("gradient", 4, 2), ("means", 8, 1))
        for name, size, first in parts:
            share = size / 4 if stage >= first else size
            sheet.box(x, y, share * scale, 36, name if share * scale > 100 else "", new=stage >= first)
            x += share * scale + 3
        total = sum(size / 4 if stage >= first else size for _, size, first in parts)
        sheet.words(x + 12, y + 18, f"{total:g}", bold=True)
    sheet.words(14, 308, "Thick edge: divided by N = 4.", faint=True)
    return sheet.figure()


def gradient_noise(cosines: Mapping[int, float]) -> Figure:
    """The cosine between the gradients of two batches, by their size."""
    sheet = Sheet(246, "Do two batches agree on the direction?", "Cosine between the gradients of two batches")
    sheet.bars(190, 84, list(cosines.values()), [f"{size} sequences" for size in cosines], longest=420)
    return sheet.figure()


def other_dice() -> Figure:
    """Dropout's zeros in the forward pass and in the recomputation."""
    sheet = Sheet(280, "Which numbers did the layer drop?", "Dropout 0.3; hatched: dropped")
    generator = torch.Generator().manual_seed(3)
    names = ("forward pass", "computed again")
    for row, name in enumerate(names):
        y = 90 + 66 * row
        sheet.words(14, y + 17, name, bold=True)
        for i, dropped in enumerate((torch.rand(10, generator=generator) < 0.3).tolist()):
            sheet.chip(192 + 51 * i, y, "" if dropped else str(i), "padding" if dropped else "plain", 46)
    sheet.words(14, 230, "The loss belongs to the first row, the gradient to the second.", bold=True)
    sheet.words(14, 258, "Keep the generator's state with the input, and both rows are equal.", faint=True)
    return sheet.figure()

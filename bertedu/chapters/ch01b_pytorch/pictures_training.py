"""The pictures of chapter 01b from the first step on: the network, its training, and its use."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.course.pictures import Plane, Sheet
from bertedu.course.pictures.sheet import number, width_of_chip


def learning_rate() -> Figure:
    """Five steps in the same valley, with three learning rates."""
    sheet = Sheet(
        332,
        "How far should a step go?",
        "(x \N{MINUS SIGN} 3)²: five steps from x = 0. The large dot: where they end",
    )
    for left, rate, name in ((30, 0.05, "too small"), (265, 0.3, "good"), (500, 1.05, "too large")):
        plane = Plane(sheet, left, 100, 190, 150, (-2, 8.5), (0, 26))
        plane.curve(lambda x: (x - 3) ** 2, -2, 8)
        x, places = 0.0, []
        for _ in range(6):
            places.append(plane.at(x, (x - 3) ** 2))
            x -= rate * 2 * (x - 3)
        sheet.line(*places, dashed=True)
        for i, (a, b) in enumerate(places):
            sheet.dot((a, b), 4 + (i == 5) * 3)
        plane.ticks(across=(0, 3))
        sheet.words(left + 95, 286, f"learning rate {rate:g}", align="center")
        sheet.words(left + 95, 312, name, align="center", bold=True)
    return sheet.figure()


def model(words: Sequence[str], vectors_before: Tensor) -> Figure:
    """What goes in, what comes out: two ids, two rows, four numbers, ten logits."""
    sheet = Sheet(400, "How do two words become ten scores?")
    noun, time = words.index("keys"), words.index("yesterday")
    chips = [sheet.chip(20, y, words[i], width=116) for y, i in ((150, noun), (224, time))]
    table = sheet.grid(206, 100, vectors_before[:6], "embedding", digits=1, cell=52, largest=4, rows=[*"012345"])
    sheet.words(table.centre[0], table.bottom + 16, "…", align="center")
    for chip, i in zip(chips, (noun, time), strict=True):
        sheet.words(chip.centre[0], chip.bottom + 14, f"id {i}", align="center", faint=True)
        sheet.arrow((chip.right, chip.centre[1]), (table.x - 24, table.row(i).centre[1]))
    both = vectors_before[[noun, time]].reshape(4, 1)
    flat = sheet.grid(376, 134, both, "side by side", digits=1, cell=52, largest=4)
    for i, at in ((noun, 0.5), (time, 2.5)):
        sheet.arrow((table.right, table.row(i).centre[1]), (flat.x, flat.y + 34 * (at + 0.5)))
    linear = sheet.box(474, 180, 84, 44, "Linear", new=True)
    sheet.arrow(flat, linear)
    for i, word in enumerate(words):
        sheet.words(606, 76 + 28 * i, word, mono=True)
    sheet.line((594, 66), (594, 338))
    sheet.arrow((linear.right, linear.centre[1]), (592, linear.centre[1]))
    for x, shape in ((78, "ids [T]"), (table.centre[0], "[V, D]"), (flat.centre[0], "[T·D]"), (650, "logits [V]")):
        sheet.words(x, 374, shape, align="center", faint=True)
    return sheet.figure()


def loop(GapModel: Any, train_inputs: Tensor, train_answers: Tensor) -> Figure:
    """The second training step, line by line, and what it does to one weight."""
    torch.manual_seed(0)
    network = GapModel(vocab_size=10, hidden_size=2)
    sgd = torch.optim.SGD(network.parameters(), lr=0.5)
    weight = network.output.bias
    for _ in range(2):  # the first step, so that there are old gradients, and then the second one
        old = 0.0 if weight.grad is None else float(weight.grad[6])
        cost = cross_entropy(network(train_inputs), train_answers)
        before = float(weight.detach()[6])
        sgd.zero_grad()
        cost.backward()
        sgd.step()
    found, new, after = cost.item(), float(weight.grad[6]), float(weight.detach()[6])
    sheet = Sheet(
        330, "What happens in a training step?", "The second step, one weight of 70. Bold: what a line changes"
    )
    lines = enumerate(("model", "loss", "zero_grad", "backward", "step"))
    boxes = [sheet.box(110 + 120 * i, 84, 104, 44, line) for i, line in lines]
    for one, other in pairwise(boxes):
        sheet.arrow(one, other)
    rows: dict[str, list[float | None]] = {
        "loss": [None, found, found, found, found],
        "grad": [old, old, 0.0, new, new],
        "weight": [before, before, before, before, after],
    }
    for j, (name, values) in enumerate(rows.items()):
        y = 164 + 40 * j
        sheet.words(98, y, name, align="right")
        for i, value in enumerate(values):
            changed = i > 0 and value != values[i - 1]
            if value is not None:
                sheet.words(boxes[i].centre[0], y, number(value, 2), align="center", bold=changed, faint=not changed)
    last, first = boxes[-1].centre[0], boxes[0].centre[0]
    sheet.line((last, 268), (last, 290), (24, 290), (24, 106))
    sheet.arrow((24, 106), (boxes[0].x, 106))
    sheet.words((first + last) / 2, 309, "again, with the moved weights", align="center", faint=True)
    return sheet.figure()


def losses(losses: Sequence[float]) -> Figure:
    """The loss of each step, and the loss of ignorance."""
    sheet = Sheet(310, "Does the network learn?")
    plane = Plane(sheet, 80, 60, 580, 200, (1, 100), (0, 3.2))
    sheet.line(*(plane.at(step, value) for step, value in enumerate(losses, start=1)), thick=True)
    knows_nothing = math.log(10)
    sheet.line(plane.at(1, knows_nothing), plane.at(100, knows_nothing), dashed=True)
    sheet.words(656, plane.at(0, knows_nothing)[1] - 14, "a model that knows nothing, 2.30", align="right", faint=True)
    sheet.words(plane.at(1, losses[0])[0] + 14, plane.at(1, losses[0])[1] - 6, f"{losses[0]:.2f}", bold=True)
    plane.ticks(across=(1, 25, 50, 75, 100), up=(0, 1, 2, 3))
    sheet.words(660, 299, "step", align="right", faint=True)
    return sheet.figure()


def vectors(words: Sequence[str], vectors_before: Tensor, model: Any) -> Figure:
    """The rows of the embedding table as points, before training and after."""
    sheet = Sheet(
        390, "What did it learn about the words?", "Each word as a point. Across: its first number, up: its second"
    )
    after = model.embedding.weight.detach()
    for left, name, points in ((20, "before training", vectors_before), (375, "after 100 steps", after)):
        plane = Plane(sheet, left, 104, 325, 270, (-2.4, 4.4), (-3.1, 3.1))
        sheet.words(left, 86, name, bold=True)
        for word, (a, b) in zip(words[:6], points.tolist(), strict=False):
            x, y = plane.point(a, b)
            to_left = word.startswith("key") or x + 12 + width_of_chip(word) > left + 330
            sheet.words(x - 10 if to_left else x + 10, y, word, "right" if to_left else "left", mono=True)
    return sheet.figure()


def dropout(dropped: Tensor, kept: Tensor) -> Figure:
    """Eight ones, while the network trains and when it is used."""
    sheet = Sheet(230, "What does dropout do to eight ones?")
    start = sheet.grid(60, 118, torch.ones(8), "in", largest=3, cell=36, row=30)
    for y, name, numbers in ((76, "train", dropped), (160, "eval", kept)):
        out = sheet.grid(406, y, numbers, largest=3, cell=36, row=30)
        sheet.arrow((start.right, start.centre[1]), (out.x, out.centre[1]))
        sheet.words(378, out.y - 2 if y < 100 else out.bottom + 4, name, align="right", bold=True)
    return sheet.figure()


def twice() -> Figure:
    """A certain and right answer: softmax once, and twice."""
    sheet = Sheet(290, "What is the best loss that can be reached?", "An answer that is certain and right, 10 words")
    floor = math.e / (math.e + 9)
    for y, name, values in ((100, "once", (1.0, 0.0)), (196, "twice", (floor, (1 - floor) / 9))):
        sheet.words(14, y + 34, f"softmax {name}", bold=True)
        for i, (value, what) in enumerate(zip(values, ("the right word", "each of the 9 others"), strict=True)):
            (bar,) = sheet.bars(370, y + 34 * i, [value], longest=110)
            sheet.words(bar.x - 10, bar.centre[1], what, align="right")
        sheet.words(570, y + 34, f"loss {abs(math.log(values[0])):.2f}", bold=True)
    sheet.line((14, 184), (706, 184))
    return sheet.figure()


def ahead() -> Figure:
    """Where each tool comes back."""
    sheet = Sheet(300, "Where do you meet these again?")
    found = [
        ("look-up of rows", "02", "vectors of words and positions"),
        ("softmax", "03", "attention weights"),
        ("nn.Module", "04, 05", "a layer, and the whole BERT"),
        ("cross-entropy", "06", "masked words"),
        ("training step", "08", "pre-training"),
    ]
    for i, (tool, chapter, what) in enumerate(found):
        y = 56 + 46 * i
        one = sheet.box(14, y, 170, 36, tool)
        other = sheet.box(290, y, 90, 36, chapter, new=True)
        sheet.arrow(one, other)
        sheet.words(400, other.centre[1], what)
    return sheet.figure()

"""The pictures of chapter 25: an interview and its practice, numbers said aloud, a gradient, and a mean of means."""

from collections.abc import Sequence
from typing import Any

import torch
from matplotlib.figure import Figure
from torch.nn.functional import one_hot

from bertedu.course.pictures import Sheet
from bertedu.course.pictures.sheet import number


def interview() -> Figure:
    """The parts of an interview, and what practises each."""
    sheet = Sheet(250, "Which practice belongs to which part?", "Above: the part and its minutes. Below: the practice")
    parts = (
        ("Screen", "30", "the bank"),
        ("Whiteboard", "45", "drills"),
        ("Depth", "45", "derivations"),
        ("Debugging", "30", "a lab"),
        ("Design", "45", "cases"),
    )
    for i, (name, minutes, practice) in enumerate(parts):
        box = sheet.box(14 + 140 * i, 82, 130, 58, name, f"{minutes} min")
        below = sheet.box(box.x, 182, 130, 44, practice, new=True)
        sheet.arrow(below, box)
    return sheet.figure()


def two_lengths(question: Any) -> Figure:
    """The short and the long answer on a clock."""
    sheet = Sheet(230, "How long is an answer?", "At 150 spoken words a minute")
    left, a_second = 110.0, 4.0
    for y, name, text in ((86, "short", question.short), (134, "long", question.long)):
        words = len(text.split())
        seconds = words / 150 * 60
        box = sheet.box(left, y, a_second * seconds, 34, new=name == "short")
        sheet.words(left - 10, y + 17, name, align="right", bold=True)
        sheet.words(box.right + 8, y + 17, f"{seconds:.0f} s")
    for seconds in (0, 30, 60, 90, 120):
        sheet.line((left + a_second * seconds, 180), (left + a_second * seconds, 190))
        sheet.words(left + a_second * seconds, 208, str(seconds), align="center", faint=True)
    sheet.line((left, 185), (left + 4 * 130, 185))
    return sheet.figure()


def where_parameters(layers: int, table: int) -> Figure:
    """The parameters of BERT-Base by where they are."""
    sheet = Sheet(250, "Where are BERT-Base's parameters?", "Millions")
    attention = layers / 3 / 1e6
    names = ["feed-forward", "attention", "token table", "all else"]
    exact = 109_482_240 / 1e6
    values = [2 * attention, attention, table / 1e6, exact - (layers + table) / 1e6]
    sheet.bars(170, 78, values, names, longest=440, full=60, digits=1, thick=[0, 1])
    sheet.words(14, 230, f"thick: the layers, {number(layers / 1e6, 0)} of {number(exact, 0)} million", faint=True)
    return sheet.figure()


def bytes_each() -> Figure:
    """What a trained parameter takes with AdamW, in fp32 and with a copy in bf16."""
    sheet = Sheet(250, "How many bytes does a trained parameter take?", "AdamW, without activations")
    parts = (("weight", 4), ("gradient", 4), ("moment 1", 4), ("moment 2", 4), ("copy", 2))
    for y, name, some in ((86, "fp32", parts[:4]), (152, "mixed", parts)):
        sheet.words(84, y + 25, name, align="right", bold=True)
        x = 96.0
        for told, count in some:
            box = sheet.box(x, y, 29.5 * count, 50, told, str(count), new=told == "copy")
            x = box.right + 4
        sheet.words(x + 4, y + 25, f"= {sum(count for _, count in some)}", bold=True)
    sheet.words(14, 230, "frozen: 4, or 6 with the copy", faint=True)
    return sheet.figure()


def attention_memory() -> Figure:
    """What attention keeps for the backward pass, by the length of the texts."""
    sheet = Sheet(
        230, "What does a text four times as long cost?", "GB that attention keeps, 32 texts, BERT-Base, fp32"
    )
    lengths = (128, 512, 2048)
    values = [9 * 32 * 12 * length**2 * 12 / 1e9 for length in lengths]
    sheet.bars(120, 78, values, [f"T = {length}" for length in lengths], longest=480, full=values[-1], digits=1)
    sheet.words(14, 206, "16 times as much: T² attention weights in each head of each layer", faint=True)
    return sheet.figure()


def probabilities_minus_one_hot() -> Figure:
    """One row of logits, its probabilities, the label, and the gradient."""
    logits, label = torch.tensor([2.0, 1.0, -1.0]), 1
    chance = logits.softmax(dim=0)
    target = one_hot(torch.tensor(label), 3).float()
    sheet = Sheet(230, "Which way does the loss push each logit?", "Three classes; the label is the second one")
    for x, name, values in ((14, "logits z", logits), (196, "p", chance), (376, "one-hot", target)):
        sheet.grid(x, 128, values, name, cell=50, digits={"logits z": 1, "p": 2}.get(name, 0), largest=3)
    sheet.grid(546, 128, chance - target, "gradient", cell=54, digits=2, largest=1.6)
    sheet.words(361, 145, "−", align="center", bold=True)
    sheet.words(536, 145, "=", align="center", bold=True)
    sheet.arrow((166, 145), (194, 145))
    sheet.words(14, 204, "Only the label's logit is pushed up. The sum is 0.", faint=True)
    return sheet.figure()


def mean_of_means(LOSSES: Sequence[Sequence[float]]) -> Figure:
    """The batches of one text each: how much each weighs in a mean of means, and how many tokens it has."""
    sheet = Sheet(104 + 34 * len(LOSSES) + 34, "Which text weighs how much?", "Batches of one text")
    for x, told in ((120, "mean loss"), (330, "in a mean of means"), (560, "tokens")):
        sheet.words(x, 88, told, bold=True)
    y = 104.0
    for i in range(len(LOSSES)):
        sheet.words(108, y + 17 + 34 * i, f"text {i + 1}", align="right")
    sheet.bars(120, y, [sum(losses) / len(losses) for losses in LOSSES], longest=110, full=7, digits=1)
    sheet.bars(330, y, [1 / len(LOSSES)] * len(LOSSES), longest=110, full=0.15, digits=3)
    sheet.bars(560, y, [len(losses) for losses in LOSSES], longest=100, full=20, digits=0)
    sheet.words(14, y + 34 * len(LOSSES) + 18, "Texts with a single hard token count as much as long ones.", faint=True)
    return sheet.figure()

"""The pictures of chapter 06 that show how the head answers, and what the answers cost."""

import math
from collections.abc import Callable
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Sheet

MASK = "[MASK]"


def head(candidates: list[str], dots: Tensor, biases: Tensor, chances: Tensor) -> Figure:
    """The way of one vector through the head: transformed, compared with rows of the table, biases added."""
    sheet = Sheet(380, "How does the head score the words?", "The capital of Portugal is [MASK].")
    vector = sheet.chip(14, 92, MASK, "hidden")
    sheet.words(vector.centre[0], 142, "[D]", align="center", faint=True)
    transform = sheet.box(150, 82, 250, 54, "transform", "linear, GELU, LayerNorm", new=True)
    compare = sheet.box(450, 82, 256, 54, "compare", "with each row of the table", new=True)
    sheet.arrow(vector, transform)
    sheet.arrow(transform, compare)
    sheet.words(578, 154, "the input embeddings [V, D]", align="center", faint=True)
    dot = sheet.grid(130, 230, dots[:, None], "dot product", rows=candidates, digits=1, cell=90, largest=32)
    bias = sheet.grid(290, 230, biases[:, None], "bias", digits=1, cell=90, largest=32)
    scores = sheet.grid(450, 230, (dots + biases)[:, None], "score", digits=1, cell=90, largest=32)
    sheet.words((dot.right + bias.x) / 2, dot.centre[1], "+", align="center")
    sheet.words((bias.right + scores.x) / 2, dot.centre[1], "=", align="center")
    sheet.words(646, 215, "p", align="center", bold=True)
    for i, p in enumerate(chances.tolist()):
        sheet.words(646, scores.row(i).centre[1], f"{p:.3f}", align="center", bold=not i)
    sheet.arrow((scores.right, scores.centre[1]), (620, scores.centre[1]))
    return sheet.figure()


def loss(three_scores: Tensor, three_labels: Tensor) -> Figure:
    """Scores, probabilities and costs of three tokens, of which two have a label."""
    sheet = Sheet(300, "How do three rows of scores become one loss?", "V = 3: cat, sat, mat")
    probabilities = three_scores.softmax(dim=-1)
    names = [f"token {i}" for i in range(3)]
    scores = sheet.grid(100, 130, three_scores, "scores", "[T, V]", rows=names, cell=44, row=40)
    chances = sheet.grid(320, 130, probabilities, "p", "[T, V]", digits=2, cell=58, row=40, largest=1.6)
    sheet.arrow(scores, chances, "softmax")
    sheet.words(540, 93, "label", align="center", bold=True)
    sheet.words(650, 93, "\N{MINUS SIGN}ln p", align="center", bold=True)
    costs = []
    for i, label in enumerate(three_labels.tolist()):
        y = scores.row(i).centre[1]
        if label < 0:
            sheet.words(540, y, "\N{MINUS SIGN}100", align="center", faint=True)
            sheet.words(650, y, "not asked", align="center", faint=True)
            continue
        costs.append(-math.log(float(probabilities[i, label])))
        sheet.words(540, y, ("cat", "sat", "mat")[label], align="center", mono=True)
        sheet.words(650, y, f"{costs[-1]:.2f}", align="center", bold=True)
    mean = sum(costs) / len(costs)
    sheet.line((610, 258), (690, 258))
    sheet.words(690, 276, f"loss: the mean of {len(costs)} numbers, {mean:.2f}", align="right", bold=True)
    return sheet.figure()


def one_text(tokens: list[str], sees: list[str], asked_at: Tensor, right_p: Tensor) -> Figure:
    """The labels of a whole text, what the model saw there, and what each costs."""
    others = len(tokens) - len(asked_at)
    sheet = Sheet(270, "What does a whole text cost?", f"Its {len(asked_at)} labels; {others} tokens have none")
    for x, name in ((70, "label"), (230, "seen"), (390, "p of the label")):
        sheet.words(x, 86, name, align="center", faint=True)
    sheet.words(660, 86, "\N{MINUS SIGN}ln p", align="center", faint=True)
    for i, (place, p) in enumerate(zip(asked_at.tolist(), right_p.tolist(), strict=True)):
        y, seen = 104 + 42 * i, sees[place]
        state = "hidden" if seen == MASK else "chosen" if seen == tokens[place] else "random"
        sheet.chip(20, y, tokens[place], width=100)
        sheet.chip(180, y, seen, state, 100)
        sheet.bars(340, y, [p], longest=190)
        sheet.words(660, y + 17, f"{-math.log(p):.2f}", align="center")
    sheet.words(690, 248, f"loss, their mean: {-float(right_p.log().mean()):.2f}", align="right", bold=True)
    return sheet.figure()


def only_labels() -> Figure:
    """Score all tokens, or those with a label only: the memory of the scores."""
    sheet = Sheet(290, "Which vectors need scores?", "256 texts of 128 tokens, V = 30,522, 4 bytes a number")
    tokens, words = 256 * 128, 30522
    for y, count, kept in ((80, tokens, False), (190, round(0.15 * tokens), True)):
        vectors = sheet.box(14, y, 130, 60, f"{tokens:,}", "vectors")
        if kept:
            chosen = sheet.box(200, y, 130, 60, f"{count:,}", "with a label", new=True)
            sheet.arrow(vectors, chosen)
            vectors = chosen
        one = sheet.box(390, y, 90, 60, "head")
        sheet.arrow(vectors, one)
        scores = sheet.box(540, y, 166, 60, f"{count * words * 4 / 1e9:.1f} GB", "of scores", new=kept)
        sheet.arrow(one, scores)
    sheet.words(360, 274, "the same loss, and the same gradient", align="center")
    return sheet.figure()


def batches(
    small_tokenizer: Any,
    test_ids: Tensor,
    draw: Callable[..., Any],
    make_batch: Callable[..., Any],
    right_batch: Callable[..., Any],
    broken_report: float,
    broken_masked: float,
    right_report: float,
    right_masked: float,
) -> Figure:
    """One text as the broken function and the repaired one give it to the model, with both accuracies."""
    sheet = Sheet(300, "What did the colleague's model see?")
    chosen, special = draw(test_ids, torch.Generator().manual_seed(1))
    row = 0
    first = int(chosen[row].nonzero()[0])
    start = max(1, min(first - 2, int((test_ids[row] != 0).sum()) - 6))
    for y, name, function, report, masked in (
        (70, "broken", make_batch, broken_report, broken_masked),
        (186, "repaired", right_batch, right_report, right_masked),
    ):
        batch = function(test_ids, chosen, special)
        seen = small_tokenizer.convert_ids_to_tokens(batch["input_ids"][row, start : start + 6].tolist())
        asked = batch["labels"][row, start : start + 6] != -100
        state = {"broken": "chosen", "repaired": "hidden"}[name]
        sheet.words(14, y + 17, name, bold=True)
        row_of_chips = sheet.chips(110, y, seen, {i: state for i, yes in enumerate(asked.tolist()) if yes})
        labels = small_tokenizer.convert_ids_to_tokens(test_ids[row, start : start + 6][asked].tolist())
        sheet.words(max(row_of_chips[-1].right + 20, 540), y + 17, "labels: " + ", ".join(labels))
        told = f"right: {float(report):.0%} of its own labels, {float(masked):.0%} of masked tokens"
        sheet.words(110, y + 56, told)
    return sheet.figure()


def summary(candidates: list[str], chances: Tensor) -> Figure:
    """One hidden word, from the text to its loss."""
    sheet = Sheet(260, "How does one hidden word become a loss?")
    row = sheet.chips(14, 64, ["The", "capital", "of", "Portugal", "is", MASK, "."], {5: "hidden"})
    label = sheet.chip(620, 64, candidates[0], "chosen", width=86)
    sheet.words(label.x - 10, label.centre[1], "label", align="right", faint=True)
    bert = sheet.box(150, 150, 110, 56, "BERT", "[B, T, D]")
    head = sheet.box(290, 150, 130, 56, "MLM head", "[N, V]", new=True)
    loss = sheet.box(620, 150, 86, 56, "loss", f"{-math.log(float(chances[0])):.2f}", new=True)
    middle = (row[0].x + row[-1].right) / 2
    sheet.arrow((middle, row[0].bottom), (bert.centre[0], bert.y))
    sheet.arrow(bert, head)
    told = sheet.words(456, head.centre[1], f"p = {chances[0]:.2f}")
    sheet.arrow(head, (told.x, head.centre[1]))
    sheet.arrow((told.right, head.centre[1]), loss, "\N{MINUS SIGN}ln")
    sheet.arrow(label, loss)
    sheet.words(14, 238, "Only chosen tokens have a label: 15 % of all.", faint=True)
    return sheet.figure()

"""The pictures of chapter 10, drawn from the notebook's numbers after its last cell."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from scipy.stats import binomtest

from bertedu.course.pictures import Sheet, map_of_bert
from bertedu.course.pictures.colours import FAINT


def where() -> Figure:
    """The map of BERT with the heads lit."""
    sheet = Sheet(190, "Where is what this chapter adds?")
    map_of_bert(sheet, 50, {"heads"})
    return sheet.figure()


def bags() -> Figure:
    """Two reviews with one bag."""
    sheet = Sheet(276, "Why can't a bag of single words tell these apart?")
    counted = sheet.grid(330, 128, [[1, 1, 1]], "the bag", columns=["bad", "good", "not"], cell=64)
    answer = sheet.box(566, counted.y - 4, 138, 42, "one answer")
    for y, tokens, label in ((84, ["good", "not", "bad"], "positive"), (186, ["bad", "not", "good"], "negative")):
        chips = sheet.chips(24, y, tokens)
        sheet.words(24, y + 54, label, bold=True)
        sheet.arrow((chips[-1].right, y + 17), counted)
    sheet.arrow(counted, answer)
    sheet.words(330, 200, "The order is gone before", faint=True)
    sheet.words(330, 224, "any weight is learned.", faint=True)
    sheet.words(330, 248, "Ours counts pairs too: “not bad”.")
    return sheet.figure()


def head(model: Any, tokenizer: Any) -> Figure:
    """Token vectors, the maximum over them, three scores, three probabilities."""
    batch = tokenizer(["It never crashes.", "It never crashes, it just stops."])
    with torch.no_grad():
        vectors = model.bert(batch.input_ids, batch.attention_mask).last_hidden_state[0]  # [T, D]
        logits = model(batch.input_ids, batch.attention_mask)[0]  # [C]
    real = int(batch.attention_mask[0].sum())
    sheet = Sheet(
        510, "How do three probabilities come out of a text?", "After fine-tuning; four of the 256 dimensions"
    )
    tokens = batch.tokens[0][:real]
    grid = sheet.grid(100, 122, vectors[:real, :4], "token vectors", "[T, D]", rows=tokens, digits=1, cell=60)
    padding = sheet.chip(grid.x, grid.bottom + 3, "left out", "padding", width=grid.width)
    sheet.words(grid.x - 8, padding.centre[1], "[PAD]", align="right", faint=True, mono=True)
    pooled = sheet.grid(100, padding.bottom + 60, vectors[:real, :4].amax(dim=0), rows=["maximum"], digits=1, cell=60)
    sheet.arrow((grid.centre[0], padding.bottom), (pooled.centre[0], pooled.y), "pooling")
    classes = ["negative", "neutral", "positive"]
    scores = sheet.grid(480, 190, logits[:, None], "logits", "[C]", rows=classes, digits=1, cell=60)
    sheet.arrow((pooled.right, pooled.centre[1]), (scores.x + 30, scores.bottom + 6))
    sheet.words(452, 402, "linear layer")
    bars = sheet.bars(610, 190, logits.softmax(dim=-1).tolist(), longest=54)
    sheet.arrow((scores.right, scores.centre[1]), (bars[1].x, scores.centre[1]))
    sheet.words(610, 160, "softmax", bold=True)
    return sheet.figure()


def collate(tokenizer: Any) -> Figure:
    """Three reviews as ids, and the batch that is made of them."""
    texts = ["I love it.", "It broke on day one.", "Not bad at all."]
    rows = [[2, *tokenizer.encode(text), 3] for text in texts]
    classes, targets = ["positive", "negative", "positive"], [[2], [0], [2]]
    longest = max(map(len, rows))
    sheet = Sheet(486, "What does the collate function make of three reviews?")
    for i, (text, ids) in enumerate(zip(texts, rows, strict=True)):
        sheet.words(14, 86 + 46 * i, text)
        sheet.chips(222, 69 + 46 * i, [str(one) for one in ids])
        sheet.words(706, 86 + 46 * i, classes[i], align="right")
    batch = np.array([ids + [0] * (longest - len(ids)) for ids in rows])
    grid = sheet.grid(30, 288, np.zeros_like(batch), "input_ids", "[B, T]", cell=52, numbers=False)
    for (i, j), token in np.ndenumerate(batch):
        cell = grid.cell(i, j)
        if token:
            sheet.words(*cell.centre, str(token), align="center")
        else:
            sheet.chip(cell.x + 3, cell.y, "0", "padding", width=46)
    mask = sheet.grid(466, 288, batch != 0, "mask", "[B, T]", cell=20, numbers=False, largest=2)
    labels = sheet.grid(650, 288, targets, "labels", "[B]", largest=9)
    for box, text in ((grid, "hatched: padding, the id 0"), (mask, "gold: real")):
        sheet.words(box.centre[0], box.bottom + 24, text, align="center", faint=True)
    for i, text in enumerate(("0: negative", "2: positive")):
        sheet.words(706, labels.bottom + 24 + 24 * i, text, align="right", faint=True)
    sheet.arrow((360, 204), (360, 232))
    return sheet.figure()


def loop() -> Figure:
    """A training step, and what happens after each epoch."""
    sheet = Sheet(350, "What happens in a step, and what after an epoch?")
    names = ("batch", ""), ("model", "logits"), ("loss", ""), ("backward,", "clip"), ("AdamW", "step")
    boxes = [sheet.box(14 + 141 * i, 74, 112, 62, *(line for line in one if line)) for i, one in enumerate(names)]
    for one, following in pairwise(boxes):
        sheet.arrow(one, following)
    first, last, low = boxes[0], boxes[-1], 162.0
    sheet.line((last.centre[0], last.bottom + 5), (last.centre[0], low), (first.centre[0], low), ink=FAINT)
    sheet.arrow((first.centre[0], low + 5), (first.centre[0], first.bottom))
    sheet.words(440, 182, "again, for each batch of the epoch", align="center", faint=True)
    check = sheet.box(20, 240, 170, 62, "measure", "validation")
    keep = sheet.box(256, 240, 170, 62, "best so far?", "copy weights", new=True)
    stop = sheet.box(492, 240, 214, 62, "no gain for long?", "stop")
    sheet.arrow((check.centre[0], low - 3), (check.centre[0], check.y), "after each epoch")
    sheet.arrow(check, keep)
    sheet.arrow(keep, stop)
    sheet.words(360, 328, "else the next epoch; at the end the copy is put back", align="center", faint=True)
    return sheet.figure()


def gain(hits: np.ndarray, bag_hits: np.ndarray, phenomena: np.ndarray, shown: Sequence[str]) -> Figure:
    """Accuracy by phenomenon of both models."""
    sheet = Sheet(96 + 84 * len(shown), "Where does BERT gain?", "Accuracy on validation, by phenomenon")
    for i, kind in enumerate(
        sorted(shown, key=lambda k: bag_hits[phenomena == k].mean() - hits[phenomena == k].mean())
    ):
        chosen, y = phenomena == kind, 80 + 84 * i
        sheet.words(14, y + 34, kind, bold=True)
        values = [hits[chosen].mean(), bag_hits[chosen].mean()]
        sheet.bars(300, y, values, ["BERT", "bag of words"], longest=350, thick=(0,))
    return sheet.figure()


def confusion(table: np.ndarray) -> Figure:
    """Rows: the right class; columns: the answer."""
    sheet = Sheet(330, "Who is taken for whom?", "Reviews of validation: each row adds up to its class.")
    names = ["negative", "neutral", "positive"]
    grid = sheet.grid(250, 150, table, rows=names, columns=names, cell=110, row=44)
    sheet.words(grid.centre[0], 96, "what BERT says", align="center", bold=True)
    sheet.words(20, grid.centre[1], "right class", bold=True)
    sheet.words(grid.centre[0], 308, "on the diagonal: right answers", align="center", faint=True)
    return sheet.figure()


def mcnemar(bert: np.ndarray, bags: np.ndarray) -> Figure:
    """The four kinds of test reviews."""
    sheet = Sheet(350, "Which reviews tell two models apart?", "Those on which exactly one of them is right.")
    counts = [[(bert & bags).sum(), (bert & ~bags).sum()], [(~bert & bags).sum(), (~bert & ~bags).sum()]]
    for i, row in enumerate(counts):
        for j, count in enumerate(row):
            box = sheet.box(250 + 200 * j, 120 + 90 * i, 180, 76, new=i != j)
            sheet.words(*box.centre, str(count), align="center", bold=i != j)
    for j, text in enumerate(("bag right", "bag wrong")):
        sheet.words(340 + 200 * j, 94, text, align="center")
    for i, text in enumerate(("BERT right", "BERT wrong")):
        sheet.words(230, 158 + 90 * i, text, align="right")
    one, other = int(counts[0][1]), int(counts[1][0])
    tossed = float(binomtest(one, one + other).pvalue)
    sheet.words(
        360, 322, f"{one} against {other}: fair coins are at least as uneven in {tossed:.0%}", align="center", bold=True
    )
    return sheet.figure()


def curves(few_history: Sequence[Mapping[str, float]]) -> Figure:
    """Training loss, validation loss and accuracy by epoch."""
    sheet = Sheet(450, "When has a model of 300 reviews learned enough?", "Dots: the epoch with the highest accuracy")
    across, wide = 52.0, 500.0
    highest = max(1.5, *(one[name] for one in few_history for name in ("training", "validation")))
    kept = max(range(len(few_history)), key=lambda i: few_history[i]["accuracy"])

    def panel(base: float, tall: float, full: float, ticks: Mapping[float, str], names: Mapping[str, str]) -> None:
        ends = []
        for tick, text in ticks.items():
            sheet.line((70, base - tall * tick / full), (70 + wide, base - tall * tick / full))
            sheet.words(62, base - tall * tick / full, text, align="right", faint=True)
        for name, told in names.items():
            points = [(80 + across * i, base - tall * one[name] / full) for i, one in enumerate(few_history)]
            sheet.line(*points, thick=name != "training", ink="#1a1a1a")
            ends.append((points[-1][1], told))
            if name != "training":
                sheet.dot(points[kept])
        low = 0.0
        for y, told in sorted(ends):
            low = max(y, low + 24)
            sheet.words(80 + wide, low, told)

    panel(230, 140, highest, {0: "0.0", 0.5: "0.5", 1: "1.0"}, {"training": "training", "validation": "validation"})
    panel(384, 90, 1, {0: "0%", 0.5: "50%", 1: "100%"}, {"accuracy": "validation"})
    sheet.words(14, 84, "loss", bold=True)
    sheet.words(14, 268, "accuracy", bold=True)
    for i in range(0, len(few_history), 3):
        sheet.words(80 + across * i, 408, str(i + 1), align="center", faint=True)
    sheet.words(80 + wide, 408, "epoch", faint=True)
    return sheet.figure()


def rates(rates: Mapping[str, Sequence[float]]) -> Figure:
    """A dot for each seed, by learning rate."""
    sheet = Sheet(420, "Which learning rate?", "600 reviews from templates: accuracy of three seeds; thick: their mean")
    base, top = 330.0, 104.0

    def height(accuracy: float) -> float:
        return base - (base - top) * (accuracy - 0.3) / 0.55

    for tick in (0.5, 0.7):
        sheet.line((60, height(tick)), (706, height(tick)))
        sheet.words(54, height(tick), f"{tick:.0%}", align="right", faint=True)
    sheet.line((60, height(1 / 3)), (706, height(1 / 3)), dashed=True, ink="#1a1a1a")
    sheet.words(64, height(1 / 3) - 13, "guessing among three", faint=True)
    for i, (rate, scores) in enumerate(rates.items()):
        x = 120 + 128 * i
        sheet.words(x, base + 26, rate, align="center")
        mean = float(np.mean(scores))
        sheet.line((x - 24, height(mean)), (x + 24, height(mean)), thick=True, ink="#1a1a1a")
        for j, score in enumerate(sorted(scores)):
            sheet.column(x - 14 + 10 * j, height(score) + 4, 8, 8)
        sheet.words(x, height(max(scores)) - 20, f"{mean:.0%}", align="center", bold=True)
    ours = 120 + 128 + 128 * np.log(3e-4 / 1.5e-4) / np.log(5e-4 / 1.5e-4)
    sheet.words(ours, base + 26, "3e-4", align="center", bold=True)
    sheet.words(ours, base + 50, "this chapter's", align="center", bold=True)
    sheet.words(706, base + 56, "learning rate", align="right", faint=True)
    return sheet.figure()


def poolings() -> Figure:
    """Three poolings of two tokens and a padding."""
    sheet = Sheet(310, "Which vector stands for the text?")
    vectors = np.array([[1, 4], [3, 0], [9, 9]])
    kept = vectors[:2]
    given = sheet.grid(120, 110, kept, "vectors", "[T, D]", rows=["[CLS]", "good"], cell=52, largest=14)
    for j in range(2):
        sheet.chip(given.x + 52 * j + 2, given.bottom + 3, "9", "padding", width=48)
    sheet.words(given.x - 8, given.bottom + 20, "[PAD]", align="right", faint=True, mono=True)
    sheet.words(330, 74, "padding left out", bold=True)
    sheet.words(520, 74, "padding forgotten", bold=True)
    for i, (name, right, wrong) in enumerate(
        (
            ("cls", kept[0], vectors[0]),
            ("mean", kept.mean(axis=0), vectors.mean(axis=0)),
            ("max", kept.max(axis=0), vectors.max(axis=0)),
        )
    ):
        y = 104 + 56 * i
        sheet.grid(360, y, right, rows=[name], largest=14, digits=1, cell=52)
        sheet.grid(560, y, wrong, largest=14, digits=1, cell=52)
    sheet.words(306, 286, "this chapter's BERT takes max", faint=True)
    return sheet.figure()


def last() -> Figure:
    """Where the last vector of a batch stands."""
    sheet = Sheet(280, "Which vector is the last one?", "Below each token its position; \u22121 is the last.")
    short, long = ["[CLS]", "It", "works", ".", "[SEP]"], ["[CLS]", "It", "broke", "on", "day", "one", "[SEP]"]
    padded = [*short, "[PAD]", "[PAD]"]
    for y, tokens, states in ((84, padded, {4: "chosen", 5: "padding", 6: "padding"}), (168, long, {6: "chosen"})):
        for i, chip in enumerate(sheet.chips(30, y, tokens, states, width=86)):
            bold = states.get(i) == "chosen"
            sheet.words(chip.centre[0], y + 52, "6 = \u22121" if i == 6 else str(i), align="center", bold=bold)
    sheet.words(30, 254, "Thick: the end of the text. Position \u22121 of the short one is padding.")
    return sheet.figure()


def frozen() -> Figure:
    """What learns and what does not."""
    sheet = Sheet(210, "What learns when the lower half is frozen?", "Dotted: frozen")
    names = ("embeddings", 132), ("layer 1", 104), ("layer 2", 104), ("layer 3", 104), ("layer 4", 104), ("head", 70)
    x, boxes = 14.0, []
    for i, (name, width) in enumerate(names):
        boxes.append(sheet.box(x, 92, width, 50, name, new=i > 2, frozen=i < 3))
        x = boxes[-1].right + 13
    sheet.words(14, 176, "keep their weights", faint=True)
    sheet.words(boxes[3].x, 176, "learn", bold=True)
    return sheet.figure()


def worth() -> Figure:
    """From small to large: when which."""
    sheet = Sheet(450, "Which model for which task?", "Try them from above to below, and stop when it is good enough.")
    ways = (
        ("bag of words", "single words decide; few labeled texts", "seconds to train, no GPU"),
        ("small BERT", "order decides; many texts a second", "minutes on a laptop"),
        ("BERT-Base", "a few points matter; wording varies", "minutes on a GPU"),
        ("large model", "no labeled texts yet; few texts to judge", "a price for each text"),
    )
    for i, (name, when, cost) in enumerate(ways):
        y = 84 + 90 * i
        sheet.box(20, y, 170, 62, name, new=i == 1)
        sheet.words(220, y + 18, when)
        sheet.words(220, y + 46, cost, faint=True)
    return sheet.figure()

"""The pictures of chapter 10, drawn from the notebook's numbers after its last cell."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from bertedu.course.pictures import Sheet, map_of_bert


def where() -> Figure:
    """The map of BERT with the heads lit."""
    sheet = Sheet(190, "Where is what this chapter adds?")
    map_of_bert(sheet, 50, {"heads"})
    return sheet.figure()


def bags() -> Figure:
    """Two reviews with one bag."""
    sheet = Sheet(270, "Why can't a bag of words tell these apart?")
    counted = sheet.grid(350, 128, [[1, 1, 1]], "the bag", columns=["bad", "good", "not"], cell=64)
    answer = sheet.box(590, counted.y - 4, 110, 42, "one answer")
    for y, tokens, label in ((84, ["good", "not", "bad"], "positive"), (186, ["bad", "not", "good"], "negative")):
        chips = sheet.chips(30, y, tokens)
        sheet.words(30, y + 54, label, bold=True)
        sheet.arrow((chips[-1].right, y + 17), counted)
    sheet.arrow(counted, answer)
    sheet.words(350, 200, "The order is gone before", faint=True)
    sheet.words(350, 224, "any weight is learned.", faint=True)
    return sheet.figure()


def head(model: Any, tokenizer: Any) -> Figure:
    """Token vectors, the maximum over them, three scores, three probabilities."""
    batch = tokenizer(["It never crashes.", "It never crashes, it just stops."])
    with torch.no_grad():
        vectors = model.bert(batch.input_ids, batch.attention_mask).last_hidden_state[0]  # [T, D]
        logits = model(batch.input_ids, batch.attention_mask)[0]  # [C]
    real = int(batch.attention_mask[0].sum())
    sheet = Sheet(
        510, "How do three probabilities come out of a text?", "Four of the 256 dimensions; padding is left out."
    )
    tokens = [*batch.tokens[0][:real], "[PAD]"]
    grid = sheet.grid(100, 122, vectors[: real + 1, :4], "token vectors", "[T, D]", rows=tokens, digits=1, cell=60)
    pooled = sheet.grid(100, grid.bottom + 64, vectors[:real, :4].amax(dim=0), rows=["maximum"], digits=1, cell=60)
    sheet.arrow((grid.centre[0], grid.bottom), (pooled.centre[0], pooled.y), "pooling")
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
    longest = max(map(len, rows))
    sheet = Sheet(470, "What does the collate function make of three reviews?")
    for i, (text, ids) in enumerate(zip(texts, rows, strict=True)):
        sheet.words(30, 86 + 46 * i, text)
        sheet.chips(260, 69 + 46 * i, [str(one) for one in ids])
    batch = [ids + [0] * (longest - len(ids)) for ids in rows]
    grid = sheet.grid(30, 288, batch, "input_ids", "[B, T], 0 is [PAD]", cell=52, largest=1e6)
    mask = sheet.grid(466, 288, np.array(batch) != 0, "mask", "[B, T]", cell=20, numbers=False, largest=2)
    targets = sheet.grid(650, 288, [[2], [0], [2]], "labels", "[B]", largest=9)
    for box, text in ((grid, "short rows end in padding"), (mask, "gold: real"), (targets, "0, 1, 2")):
        sheet.words(box.centre[0], box.bottom + 24, text, align="center", faint=True)
    sheet.arrow((360, 204), (360, 232))
    return sheet.figure()


def loop() -> Figure:
    """A training step, and what happens after each epoch."""
    sheet = Sheet(330, "What happens in a step, and what after an epoch?")
    names = ("batch", ""), ("model", "logits"), ("loss", ""), ("backward,", "clip"), ("AdamW", "step")
    boxes = [sheet.box(14 + 141 * i, 84, 112, 62, *(line for line in one if line)) for i, one in enumerate(names)]
    for one, following in pairwise(boxes):
        sheet.arrow(one, following)
    sheet.words(360, 176, "again, for each batch of the epoch", align="center", faint=True)
    check = sheet.box(60, 220, 170, 62, "measure", "validation")
    keep = sheet.box(300, 220, 170, 62, "best so far?", "copy weights", new=True)
    stop = sheet.box(540, 220, 160, 62, "no gain for long?", "stop")
    sheet.arrow(check, keep)
    sheet.arrow(keep, stop)
    sheet.words(360, 308, "after each epoch; at the end the copy is put back", align="center", faint=True)
    return sheet.figure()


def gain(hits: np.ndarray, bag_hits: np.ndarray, phenomena: np.ndarray, shown: Sequence[str]) -> Figure:
    """Accuracy by phenomenon of both models."""
    sheet = Sheet(
        110 + 84 * len(shown), "Where does BERT gain?", "Accuracy on validation; above BERT, below the bag of words"
    )
    for i, kind in enumerate(
        sorted(shown, key=lambda k: bag_hits[phenomena == k].mean() - hits[phenomena == k].mean())
    ):
        chosen = phenomena == kind
        sheet.bars(
            200,
            86 + 84 * i,
            [hits[chosen].mean(), bag_hits[chosen].mean()],
            [kind, "bag of words"],
            longest=420,
            thick=(0,),
        )
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
    sheet = Sheet(330, "Which reviews tell two models apart?", "Those on which exactly one of them is right.")
    counts = [[(bert & bags).sum(), (bert & ~bags).sum()], [(~bert & bags).sum(), (~bert & ~bags).sum()]]
    for i, row in enumerate(counts):
        for j, count in enumerate(row):
            box = sheet.box(250 + 200 * j, 130 + 90 * i, 180, 76, new=i != j)
            sheet.words(*box.centre, str(count), align="center", bold=i != j)
    for j, text in enumerate(("bag right", "bag wrong")):
        sheet.words(340 + 200 * j, 104, text, align="center")
    for i, text in enumerate(("BERT right", "BERT wrong")):
        sheet.words(230, 168 + 90 * i, text, align="right")
    return sheet.figure()


def curves(few_history: Sequence[Mapping[str, float]]) -> Figure:
    """Training loss, validation loss and accuracy by epoch."""
    sheet = Sheet(370, "When has a model of 300 reviews learned enough?", "Epochs 1 to 10")
    base, across = 320.0, 52.0
    highest = max(2.0, *(one[name] for one in few_history for name in ("training", "validation")))
    for tick in (0.0, 0.5, 1.0):
        sheet.line((60, base - 220 * tick / highest), (560, base - 220 * tick / highest), dashed=tick > 0)
        sheet.words(52, base - 220 * tick / highest, f"{tick:.1f}", align="right", faint=True)
    ends = []
    for name, told in (("training", "training loss"), ("validation", "validation loss"), ("accuracy", "accuracy")):
        points = [(70 + across * i, base - 220 * one[name] / highest) for i, one in enumerate(few_history)]
        sheet.line(*points, thick=name == "validation", dashed=name == "accuracy", ink="#1a1a1a")
        ends.append((points[-1][1], told))
    low = 0.0
    for y, name in sorted(ends):
        low = max(y, low + 24)
        sheet.words(560, low, name)
    for i in range(0, len(few_history), 3):
        sheet.words(70 + across * i, base + 24, str(i + 1), align="center", faint=True)
    return sheet.figure()


def rates(rates: Mapping[str, Sequence[float]]) -> Figure:
    """A dot for each seed, by learning rate."""
    sheet = Sheet(360, "Which learning rate?", "Accuracy, three seeds each; thick: their mean; dashed: guessing")
    base, top = 300.0, 90.0

    def height(accuracy: float) -> float:
        return base - (base - top) * (accuracy - 0.3) / 0.55

    sheet.line((60, height(1 / 3)), (700, height(1 / 3)), dashed=True)
    for i, (rate, scores) in enumerate(rates.items()):
        x = 120 + 128 * i
        sheet.words(x, base + 32, rate, align="center")
        mean = float(np.mean(scores))
        sheet.line((x - 24, height(mean)), (x + 24, height(mean)), thick=True, ink="#1a1a1a")
        for j, score in enumerate(sorted(scores)):
            sheet.column(x - 14 + 10 * j, height(score) + 4, 8, 8)
        sheet.words(x, height(max(scores)) - 20, f"{mean:.0%}", align="center", bold=True)
    return sheet.figure()


def poolings() -> Figure:
    """Three poolings of two tokens and a padding."""
    sheet = Sheet(310, "Which vector stands for the text?")
    vectors = np.array([[1, 4], [3, 0], [9, 9]])
    sheet.grid(120, 110, vectors, "vectors", "[T, D]", rows=["[CLS]", "good", "[PAD]"], largest=14)
    kept = vectors[:2]
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
        sheet.grid(360, y, right, rows=[name], largest=14, digits=0, cell=52)
        sheet.grid(560, y, wrong, largest=14, digits=1, cell=52)
    sheet.words(30, 286, "The last row is padding.", faint=True)
    return sheet.figure()


def last() -> Figure:
    """Where the last vector of a batch stands."""
    sheet = Sheet(250, "Which vector is the last one?")
    short, long = ["[CLS]", "It", "works", ".", "[SEP]"], ["[CLS]", "It", "broke", "on", "day", "one", "[SEP]"]
    sheet.chips(30, 70, [*short, "[PAD]", "[PAD]"], {5: "padding", 6: "padding"}, width=86)
    sheet.chips(30, 124, long, {6: "chosen"}, width=86)
    sheet.words(30 + 43, 186, "0", align="center")
    sheet.words(30 + 4 * 91 + 43, 186, "4", align="center")
    sheet.words(30 + 6 * 91 + 43, 186, "\u22121 and 6", align="center", bold=True)
    sheet.words(30, 222, "The short text ends at 4. Its position \u22121 is padding.")
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
        ("bag of words", "single words decide; few labels", "seconds to train, no GPU"),
        ("small BERT", "order decides; many texts a second", "minutes on a laptop"),
        ("BERT-Base", "points count; wording varies", "minutes on a GPU"),
        ("large model", "no labels yet; rare questions", "a price for each text"),
    )
    for i, (name, when, cost) in enumerate(ways):
        y = 84 + 90 * i
        sheet.box(20, y, 170, 62, name, new=i == 1)
        sheet.words(220, y + 18, when)
        sheet.words(220, y + 46, cost, faint=True)
    return sheet.figure()

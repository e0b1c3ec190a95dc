"""The pictures of chapter 13, drawn from its sentences, vectors and cosines."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from matplotlib.figure import Figure

from bertedu.corpora.readers import LabelledText
from bertedu.course.pictures import Sheet, map_of_bert
from bertedu.course.pictures.colours import INK
from bertedu.segmentation import terms
from bertedu.tokenization import Tokenizer


def where() -> Figure:
    """The map of BERT with what goes in and what comes out lit."""
    sheet = Sheet(190, "How does BERT read two texts?")
    map_of_bert(sheet, 50, {"tokenizer", "heads"})
    return sheet.figure()


def two_encoders() -> Figure:
    """Cross-encoder and bi-encoder side by side."""
    sheet = Sheet(370, "Two texts A and B: together, or each alone?")
    sheet.words(150, 62, "cross-encoder", align="center", bold=True)
    sheet.words(530, 62, "bi-encoder", align="center", bold=True)
    sheet.line((304, 52), (304, 356), dashed=True)
    together = sheet.chips(20, 312, ["[CLS]", "A", "[SEP]", "B", "[SEP]"])
    reader = sheet.box(60, 216, 180, 46, "BERT", new=True)
    sheet.arrow((150, 310), reader)
    first = sheet.box(85, 142, 130, 40, "[CLS] vector")
    sheet.arrow(reader, first)
    score = sheet.box(105, 84, 90, 36, "score")
    sheet.arrow(first, score)
    assert together[-1].right < 304
    cosine = sheet.box(485, 84, 90, 36, "cosine")
    for x, name in ((330, "A"), (540, "B")):
        tokens = sheet.chips(x, 312, ["[CLS]", name, "[SEP]"])
        middle = (tokens[0].x + tokens[-1].right) / 2
        alone = sheet.box(middle - 75, 216, 150, 46, "BERT", new=True)
        sheet.arrow((middle, 310), alone)
        vector = sheet.box(middle - 75, 142, 150, 40, "mean of tokens")
        sheet.arrow(alone, vector)
        sheet.arrow(vector, cosine)
    sheet.words(521, 286, "same weights", align="center", faint=True)
    return sheet.figure()


def same_words(three: Sequence[LabelledText]) -> Figure:
    """Two premises with the same words, and their counts."""
    same = [row.text for row in three if "not on" in row.text]
    counts = [Counter(terms(text)) for text in same]
    words = sorted(counts[0])
    sheet = Sheet(330, "What does a bag of words see?", f"Hypothesis: {three[0].pair} Two premises:")
    table = torch.tensor([[float(count[word]) for word in words] for count in counts])
    for i, text in enumerate(same):
        sheet.words(14, 92 + 32 * i, f"{i + 1}.  {text}")
    sheet.grid(60, 194, table, rows=["1.", "2."], columns=words, cell=92, largest=4)
    sheet.words(60, 288, "The hypothesis adds the same to both rows.", faint=True)
    sheet.words(60, 312, "Equal counts: it must give both the same label.", bold=True)
    return sheet.figure()


def inputs(tokenizer: Tokenizer) -> Figure:
    """Tokens and token types of a pair, and the scores from [CLS]."""
    encoding = tokenizer("Mary is older.", "Peter is younger.")
    tokens, types = encoding.tokens[0], encoding.token_type_ids[0].tolist()
    sheet = Sheet(330, "What goes into a cross-encoder, and what comes out?")
    chips = sheet.chips(14, 230, tokens)
    for chip, kind in zip(chips, types, strict=True):
        sheet.words(chip.centre[0], 288, str(kind), align="center", mono=True)
    sheet.words(14, 314, "token types: 0 up to the first [SEP], then 1", faint=True)
    bert = sheet.box(14, 140, chips[-1].right - 14, 46, "BERT")
    for chip in chips:
        sheet.arrow(chip, (chip.centre[0], bert.bottom))
    head = sheet.box(14, 66, 190, 40, "pooler, linear", new=True)
    sheet.arrow((chips[0].centre[0], bert.y), (chips[0].centre[0], head.bottom))
    x = 262.0
    for label, width in (("contradiction", 140), ("entailment", 118), ("neutral", 92)):
        score = sheet.box(x, 66, width, 40, label)
        x = score.right + 8
    sheet.arrow(head, (262, 86))
    sheet.words(262, 123, "one score for each label", faint=True)
    return sheet.figure()


def both_orders() -> Figure:
    """A pair read twice, as A B and as B A."""
    sheet = Sheet(240, "What if A and B change places?")
    boxes = []
    for y, order in ((72, ["A", "B"]), (164, ["B", "A"])):
        chips = sheet.chips(14, y, ["[CLS]", order[0], "[SEP]", order[1], "[SEP]"])
        bert = sheet.box(330, y - 3, 148, 40, "cross-encoder")
        sheet.arrow(chips[-1], bert)
        boxes.append(bert)
    mean = sheet.box(560, 116, 140, 44, "mean score", new=True)
    sheet.words(404, 136, "same weights", align="center", faint=True)
    for bert, score in zip(boxes, ("score", "score"), strict=True):
        sheet.words(bert.right + 8, bert.y - 12 if bert.y < 100 else bert.bottom + 14, score, faint=True)
        sheet.arrow(bert, mean)
    return sheet.figure()


def passes() -> Figure:
    """All pairs of six sentences, and six sentences."""
    sheet = Sheet(330, "How many passes for all pairs of six sentences?")
    names = list("ABCDEF")
    for i, name in enumerate(names):
        if i:
            sheet.words(52, 107 + 34 * i, name, align="center", mono=True)
            sheet.words(53 + 34 * i, 106, names[i - 1], align="center", mono=True)
        for j in range(i):
            sheet.chip(70 + 34 * j + 1, 90 + 34 * i + 1, "", width=32)
    sheet.words(300, 160, "cross-encoder: 15 passes", bold=True)
    sheet.words(300, 186, "n (n − 1) / 2", faint=True)
    sheet.words(300, 240, "bi-encoder: 6 passes", bold=True)
    sheet.words(300, 266, "n, and then cosines", faint=True)
    sheet.chips(540, 223, names[:3], width=44)
    sheet.chips(540, 262, names[3:], width=44)
    return sheet.figure()


def rerank() -> Figure:
    """From a million texts to one."""
    sheet = Sheet(270, "Who reads a million texts?")
    boxes = [
        sheet.box(14, 154, 140, 56, "1,000,000", "stored vectors"),
        sheet.box(204, 154, 120, 56, "bi-encoder", "cosines"),
        sheet.box(374, 154, 120, 56, "100", "candidates"),
        sheet.box(544, 154, 160, 56, "cross-encoder", "100 passes", new=True),
    ]
    for one, following in pairwise(boxes):
        sheet.arrow(one, following)
    query = sheet.box(374, 64, 120, 44, "the query")
    for reader in (boxes[1], boxes[3]):
        sheet.arrow((query.x if reader.x < query.x else query.right, query.bottom), (reader.centre[0], reader.y))
    sheet.words(14, 244, "The first step must find the right text, the second puts it first.", faint=True)
    return sheet.figure()


def recall() -> Figure:
    """Where the partner stands among five results."""
    sheet = Sheet(300, "When has a search found it?", "Five results for each of four queries; thick: the partner")
    for i, at in enumerate((0, 2, 4, None)):
        y = 84 + 44 * i
        sheet.words(14, y + 17, f"query {i + 1}")
        sheet.chips(104, y, ["1.", "2.", "3.", "4.", "5."], {} if at is None else {at: "chosen"}, width=52)
        told = "not found" if at is None else "found for k = 1 and 5" if at == 0 else "found for k = 5"
        sheet.words(420, y + 17, told)
    sheet.words(104, 274, "recall@1 = 1/4, recall@5 = 3/4", bold=True)
    return sheet.figure()


def temperature() -> Figure:
    """Softmax over three cosines at two temperatures."""
    given = torch.tensor([0.9, 0.5, 0.4])
    sheet = Sheet(
        250,
        "How certain can a softmax over cosines be?",
        "Cosines divided by the temperature τ; wanted: 1 for the partner",
    )
    names = ["partner", "other", "other"]
    for x, longest, title, values in (
        (110, 90, "cosines", given),
        (310, 90, "softmax, τ = 1", given.softmax(0)),
        (520, 90, "softmax, τ = 0.05", (given / 0.05).softmax(0)),
    ):
        sheet.words(x, 98, title, bold=True)
        shown = names if x == 110 else ()
        digits = 4 if "0.05" in title else 2
        sheet.bars(x, 120, values.tolist(), shown, longest=longest, digits=digits, thick=[0])
    return sheet.figure()


def choices() -> Figure:
    """Four pairs for one question, and a softmax over their scores."""
    sheet = Sheet(280, "How does a cross-encoder choose?", "[B, C, T] becomes [B · C, T]: each choice makes a pair")
    bert = sheet.box(474, 84, 92, 166, "BERT,", "linear:", "a score", "a pair")
    softmax = sheet.box(606, 84, 100, 166, "softmax", "over the", "4 scores", new=True)
    for i in range(4):
        y = 84 + 44 * i
        chips = sheet.chips(14, y, ["[CLS]", "question", "[SEP]", f"choice {i + 1}", "[SEP]"])
        sheet.arrow(chips[-1], (bert.x, y + 17))
        sheet.arrow((bert.right, y + 17), (softmax.x, y + 17))
    return sheet.figure()


def sentences_in() -> Figure:
    """An input with a [CLS] for each sentence."""
    sheet = Sheet(330, "How does each sentence get a vector of its own?")
    row = ["[CLS]", "rain", "fell", "[SEP]", "[CLS]", "bread", "sold", "[SEP]", "[CLS]", "…"]
    chips = sheet.chips(14, 210, row, {i: "chosen" for i, token in enumerate(row) if token == "[CLS]"})
    bert = sheet.box(14, 132, chips[-1].right - 14, 44, "BERT")
    for i, chip in enumerate(chips):
        kind = 0 if i < 4 else 1 if i < 8 else 0
        sheet.words(chip.centre[0], 264, str(kind), align="center", mono=True)
        sheet.arrow(chip, (chip.centre[0], bert.bottom))
        if row[i] == "[CLS]":
            top = sheet.box(chip.x, 66, 108, 34, "in or out?")
            sheet.arrow((chip.centre[0], bert.y), (chip.centre[0], top.bottom))
    sheet.words(14, 296, "token types change with the sentence: 0, 1, 0, …", faint=True)
    return sheet.figure()


def swapped(reader: Any, low: float, known_good: float) -> Figure:
    """Which number means which label, for the model and for the file: compared by number, and by name."""
    model, data = reader.task_config.labels, ("entailment", "neutral", "contradiction")
    sheet = Sheet(430, "What does the number 0 mean?")
    sheet.words(153, 60, "the model", align="center", bold=True)
    sheet.words(425, 60, "the file (GLUE)", align="center", bold=True)
    panels = (
        (84, ("the bug:", "equal numbers", f"accuracy {float(low):.2f}"), [0, 1, 2]),
        (262, ("repaired:", "equal names", f"accuracy {float(known_good):.2f}"), [data.index(one) for one in model]),
    )
    for y, told, partners in panels:
        for x, labels in ((60, model), (332, data)):
            for i, label in enumerate(labels):
                sheet.words(x, y + 17 + 46 * i, str(i), align="right", mono=True)
                sheet.chip(x + 8, y + 46 * i, label, width=170)
        for i, j in enumerate(partners):
            sheet.line((242, y + 17 + 46 * i), (316, y + 17 + 46 * j), ink=INK)
        for i, text in enumerate(told):
            sheet.words(536, y + 37 + 26 * i, text, bold=i == 0)
    return sheet.figure()

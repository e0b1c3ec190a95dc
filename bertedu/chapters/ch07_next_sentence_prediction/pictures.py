"""The pictures of chapter 07, drawn from its pairs and measurements."""

import math
import random
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Sheet, map_of_bert
from bertedu.course.pictures.colours import INK


def where() -> Figure:
    """The map of BERT with the heads lit."""
    sheet = Sheet(180, "Where does BERT judge a pair of texts?")
    map_of_bert(sheet, 50, {"heads"})
    return sheet.figure()


def losses() -> Figure:
    """The way from a pair to the sum of two losses."""
    sheet = Sheet(260, "How do two tasks train one BERT?")
    pair = sheet.box(14, 118, 110, 56, "pair", "[B, T]", new=True)
    bert = sheet.box(152, 118, 110, 56, "BERT", "[B, T, D]")
    words = sheet.box(300, 62, 130, 56, "MLM head", "[N, V]")
    pooler = sheet.box(300, 176, 90, 56, "pooler", "[B, D]")
    scores = sheet.box(414, 176, 132, 56, "two scores", "[B, 2]", new=True)
    total = sheet.box(640, 118, 66, 56, "sum", new=True)
    for one, following in ((pair, bert), (bert, words), (bert, pooler), (pooler, scores), (words, total)):
        sheet.arrow(one, following)
    sheet.arrow(scores, total)
    sheet.words(444, 76, "mean over words")
    sheet.words(554, 226, "mean over pairs")
    return sheet.figure()


def chunk() -> Figure:
    """Collect, split, toss a coin."""
    sheet = Sheet(340, "How is a training pair made?", "Sentences 0 to 4; the numbers below count their tokens")
    sheet.words(14, 100, "1. collect", bold=True)
    row = sheet.chips(180, 82, list("01234"), {0: "chosen", 1: "chosen", 2: "chosen"}, width=56)
    for chip, length in zip(row, (3, 4, 2, 5, 3), strict=True):
        sheet.words(chip.centre[0], 132, f"{length}", align="center", faint=True)
    sheet.words(row[-1].right + 16, 100, "at least 9 tokens", faint=True)
    sheet.words(14, 184, "2. split", bold=True)
    sheet.chips(180, 166, ["0"], {0: "chosen"}, width=56)
    sheet.chips(280, 166, ["1", "2"], {0: "chosen", 1: "chosen"}, width=56)
    sheet.words(14, 250, "3. heads", bold=True)
    sheet.words(42, 306, "tails", bold=True)
    for y, second, state, label in ((232, ["1", "2"], "chosen", "IsNext"), (288, ["?", "?"], "random", "NotNext")):
        sheet.chips(180, y, ["0"], {0: "chosen"}, width=56)
        sheet.chips(280, y, second, {0: state, 1: state}, width=56)
        sheet.words(430, y + 17, label, bold=True)
    sheet.words(540, 295, "another document;", faint=True)
    sheet.words(540, 317, "1, 2: put back", faint=True)
    return sheet.figure()


def truncate() -> Figure:
    """A pair that is shortened, a token at a time."""
    sheet = Sheet(
        320, "How is a pair of 6 + 4 tokens cut to 7?", "Always from the longer one; a coin says front or back"
    )
    first, second, rng = [f"a{i}" for i in range(6)], [f"b{i}" for i in range(4)], random.Random(3)
    for y in (84, 142, 200, 258):
        row = sheet.chips(14, y, first, width=46)
        sheet.chips(360, y, second, width=46)
        assert row[-1].right < 350
        if len(first) + len(second) > 7:
            front = rng.random() < 0.5
            sheet.words(600, y + 17, f"remove {(first if front else first[::-1])[0]}", bold=True)
            first = first[1:] if front else first[:-1]
    return sheet.figure()


def negatives(labels: list[int], sizes: list[int]) -> Figure:
    """The pairs of single sentences and the others, and how many of each are NotNext."""
    sheet = Sheet(270, "Why are more than half of the pairs NotNext?", "Chunks with one sentence cannot be split")
    table = []
    for least in (1, 2):
        some = [label for label, size in zip(labels, sizes, strict=True) if size == least]
        table.append([len(some) / len(labels), sum(some) / len(some)])
    sheet.grid(240, 116, table, rows=["one sentence", "two or more"], columns=["of all pairs", "of them NotNext"],
               cell=190, row=40, largest=1.4)  # fmt: skip
    (a, p), (b, q) = table
    sheet.words(240, 226, f"{a:.2f} · {p:.2f} + {b:.2f} · {q:.2f} = {a * p + b * q:.2f}", bold=True)
    return sheet.figure()


def pair(encoding: Any) -> Figure:
    """Tokens and segment ids of a pair."""
    sheet = Sheet(250, "What does BERT read of a pair?", "Below each token: its segment id")
    tokens, ids = encoding.tokens[0], encoding.token_type_ids[0].tolist()
    middle = tokens.index("[SEP]") + 1
    for y, start, stop in ((84, 0, middle), (170, middle, len(tokens))):
        states = {i: "chosen" for i in range(stop - start) if ids[start + i]}
        states |= {i: "padding" for i, token in enumerate(tokens[start:stop]) if token == "[PAD]"}
        row = sheet.chips(14, y, tokens[start:stop], states)
        for chip, number in zip(row, ids[start:stop], strict=False):
            sheet.words(chip.centre[0], y + 52, f"{number}", align="center", mono=True, bold=number == 1)
    return sheet.figure()


def head(scores: Tensor, labels_by_hand: Tensor) -> Figure:
    """From two scores to the loss of a pair, three times."""
    sheet = Sheet(310, "What does a pair cost?", "Thick: the probability of the label")
    given = sheet.grid(
        110, 130, scores, "scores", "[B, 2]", rows=["pair 1", "pair 2", "pair 3"], digits=0, cell=56, row=44
    )
    probabilities = scores.softmax(dim=-1)
    shares = sheet.grid(322, 130, probabilities, "probabilities", "[B, 2]", digits=2, cell=92, row=44, largest=1.4)
    chosen = probabilities.gather(1, labels_by_hand[:, None])
    loss = sheet.grid(590, 130, -chosen.log(), "loss", "[B]", digits=2, cell=64, row=44)
    for i, label in enumerate(labels_by_hand.tolist()):
        cell = shares.cell(i, label)
        corners = (
            (cell.x, cell.y),
            (cell.right, cell.y),
            (cell.right, cell.bottom),
            (cell.x, cell.bottom),
            (cell.x, cell.y),
        )
        sheet.line(*corners, thick=True, ink=INK)
    sheet.arrow(given, shares, "softmax")
    sheet.arrow(shares, loss, "\u2212ln")
    sheet.words(shares.column(0).centre[0], 282, "IsNext", align="center", faint=True)
    sheet.words(shares.column(1).centre[0], 282, "NotNext", align="center", faint=True)
    sheet.words(loss.centre[0], 282, f"mean {-chosen.log().mean():.2f}", align="center", bold=True)
    return sheet.figure()


def overlap(overlap: Any, tokenizer: Any) -> Figure:
    """Words of two segments with their weights."""
    sheet = Sheet(290, "Which words give a pair away?", "Below each word: its weight, ln(segments / segments with it)")
    sheet.words(706, 54, "score", align="right", bold=True)
    for y, name, words, shared in (
        (84, "same document", ("portugal", "is", "portugal", "the"), (0, 2)),
        (184, "another one", ("portugal", "is", "oboe", "the"), ()),
    ):
        sheet.words(14, y + 17, name, bold=True)
        row = sheet.chips(188, y, words[:2], dict.fromkeys((i for i in shared if i < 2), "chosen"), width=103)
        row += sheet.chips(434, y, words[2:], dict.fromkeys((i - 2 for i in shared if i > 1), "chosen"), width=103)
        weights = [float(overlap.weights[tokenizer.convert_tokens_to_ids(word)]) for word in words]
        for chip, weight in zip(row, weights, strict=True):
            sheet.words(chip.centre[0], y + 54, f"{weight:.1f}", align="center", mono=True)
        common = sum(weights[i] ** 2 for i in shared if i < 2)
        cosine = common / math.hypot(*weights[:2]) / math.hypot(*weights[2:])
        sheet.words(706, y + 17, f"{cosine:.2f}", align="right", bold=True)
    return sheet.figure()


def three_negatives() -> Figure:
    """Three kinds of second segments that are not the next one."""
    sheet = Sheet(350, "Where does the wrong second segment come from?")
    sheet.words(14, 118, "NotNext, from", faint=True)
    for y, name, first, second in (
        (56, "IsNext", "Portugal, segment 1", "Portugal, segment 2"),
        (136, "another document", "Portugal, segment 1", "an oboe"),
        (206, "same topic", "Portugal, segment 1", "Norway"),
        (276, "swapped", "Portugal, segment 2", "Portugal, segment 1"),
    ):
        sheet.words(14, y + 25, name, bold=True)
        one = sheet.box(210, y, 220, 50, first)
        other = sheet.box(460, y, 220, 50, second, new=name != "IsNext")
        sheet.line((one.right, one.centre[1]), (other.x, other.centre[1]))
    return sheet.figure()


def results(results: dict[str, list[float]]) -> Figure:
    """Balanced accuracy of word overlap and of BERT on three kinds of negatives."""
    sheet = Sheet(290, "What is left when the topic is taken away?", "Balanced accuracy; a constant answer has 0.50")
    sheet.grid(250, 116, list(results.values()), rows=list(results), columns=["word overlap", "BERT"], cell=180, row=44,
               digits=2, largest=1.4)  # fmt: skip
    return sheet.figure()


def order() -> Figure:
    """Two neighboring segments in both orders."""
    sheet = Sheet(230, "Which came first?", "Sentence order: both segments from one document, always")
    for y, label, texts in ((82, "label 0", ("1", "2")), (156, "label 1", ("2", "1"))):
        sheet.words(14, y + 25, label, bold=True)
        boxes = [
            sheet.box(
                130 + 290 * i, y, 270, 50, "People in Portugal speak …" if text == "1" else "Its capital is Lisbon."
            )
            for i, text in enumerate(texts)
        ]
        for one, other in pairwise(boxes):
            sheet.line((one.right, one.centre[1]), (other.x, other.centre[1]))
    return sheet.figure()


def zero() -> Figure:
    """What a loss that ignores label 0 leaves out."""
    sheet = Sheet(250, "What does ignore_index = 0 leave out?", "Hatched: not counted")
    for y, name, chips, states in (
        (84, "labels of words", ["0", "0", "417", "0", "83"], {0: "padding", 1: "padding", 3: "padding"}),
        (160, "labels of pairs", ["0", "1", "0", "1", "1"], {0: "padding", 2: "padding"}),
    ):
        sheet.words(14, y + 17, name, bold=True)
        row = sheet.chips(190, y, chips, states, width=60)
        told = "0: nothing to predict" if name == "labels of words" else "0: IsNext, all gone"
        sheet.words(row[-1].right + 14, y + 17, told)
    return sheet.figure()

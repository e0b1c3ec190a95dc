"""The pictures of chapter 23 from the batches on: waiting, codes, costs, drift, search, and Monday's version."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from torch import Tensor

from bertedu.course.pictures import Plane, Sheet
from bertedu.course.pictures.sheet import number, width_of_chip
from bertedu.production.engine import Engine
from bertedu.production.monitor import Reference
from bertedu.tokenization import BertTokenizer


def padding() -> Figure:
    """Four texts in one batch, and in two batches of like lengths."""
    sheet = Sheet(330, "What does one long text cost the others?", "Grey: tokens. Hatched: padding")
    wide = 9.0
    for x, told, batches in ((50, "one batch", [[5, 6, 30, 31]]), (416, "two batches", [[5, 6], [30, 31]])):
        sheet.words(x, 92, told, bold=True)
        y, positions, tokens = 112.0, 0, 0
        for lengths in batches:
            longest = max(lengths)
            for length in lengths:
                sheet.words(x - 8, y + 17, str(length), align="right")
                empty = max(16.0, wide * (longest - length)) if length < longest else 0.0
                filled = sheet.box(x, y, wide * longest - empty, 34)
                if empty:
                    sheet.chip(filled.right + 1, y, "", "padding", width=empty)
                y += 40
            positions, tokens, y = positions + longest * len(lengths), tokens + sum(lengths), y + 14
        lost = positions - tokens
        sheet.words(x, 306, f"{lost} of {positions} are padding: {lost / positions:.0%}", bold=True)
    return sheet.figure()


def queue(simulated: Mapping[int, tuple[float, float]]) -> Figure:
    """The mean wait of the formula as a curve, and what was simulated: means, and the slowest hundredth."""
    sheet = Sheet(360, "How long does a request wait before its own 10 ms?")
    plane = Plane(sheet, 70, 66, 480, 230, (0, 100), (0, 250))
    plane.ticks((0, 50, 70, 80, 100), (0, 100, 200))
    plane.curve(lambda r: 10 * r / (100 - r), 0, 84)
    for rate, values in simulated.items():
        for value in values:
            plane.point(rate, float(value), 6)
    last = max(simulated)
    for told, value in zip(("mean", "p99"), simulated[last], strict=True):
        sheet.words(plane.at(last, 0)[0] + 34, plane.at(0, float(value))[1], f"{told} {number(value, 0)} ms")
    sheet.words(310, 340, "requests a second; line: formula, dots: simulated", align="center", faint=True)
    return sheet.figure()


def clock(due: NDArray, answered: Sequence[float]) -> Figure:
    """The requests of both loops around the second in which the service stands still; a line is a wait."""
    sheet = Sheet(400, "Who waits while the service stands still?", "A dot: a request is due. A line: it waits")

    def at(seconds: float) -> float:
        return 14 + (seconds - 4.7) * 400

    for seconds, told in ((5.0, "second 5"), (6.0, "second 6")):
        sheet.line((at(seconds), 84), (at(seconds), 366), dashed=True)
        sheet.words(at(seconds), 384, told, align="center", faint=True)
    sheet.words(at(5.5), 92, "open loop (each tenth request)", align="center", bold=True)
    y = 116.0
    for moment, end in list(zip(due.tolist(), answered, strict=True))[470:640:10]:
        if end - moment > 0.01:
            sheet.line((at(moment), y), (at(end), y), thick=True, ink="#222222")
        sheet.dot((at(moment), y))
        y += 13 if 5 <= moment < 6 else 0
    sheet.words(at(5.5), 288, "closed loop, one client", align="center", bold=True)
    sheet.line((at(5.0), 326), (at(6.0), 326), thick=True, ink="#222222")
    for moment in (4.7, 4.8, 4.9, 5.0, 6.1, 6.2, 6.3):
        sheet.dot((at(moment), 326))
    sheet.words(at(5.5), 350, "one slow request in a second", align="center", faint=True)
    return sheet.figure()


def codes() -> Figure:
    """The gates that a request passes, and the status with which each turns it away."""
    sheet = Sheet(220, "Which gate turns a request away?")
    gates = (
        ("size", "413", "too large"),
        ("JSON", "400", "unreadable"),
        ("text", "422", "no answer"),
        ("queue", "503", "too busy"),
        ("model", "200", "answer"),
    )
    boxes = [sheet.box(14 + 146 * i, 70, 108, 44, gate, new=gate == "model") for i, (gate, _, _) in enumerate(gates)]
    for i, (box, (_, code, told)) in enumerate(zip(boxes, gates, strict=True)):
        if i:
            sheet.arrow(boxes[i - 1], box)
        sheet.arrow((box.centre[0], box.bottom), (box.centre[0], 156))
        sheet.words(box.centre[0], 168, code, align="center", bold=True, mono=True)
        sheet.words(box.centre[0], 196, told, align="center")
    return sheet.figure()


def costs() -> Figure:
    """The expected cost of calling, of not calling, and of a reader, by the probability."""
    sheet = Sheet(370, "What does each decision cost, by the probability?")
    plane = Plane(sheet, 50, 66, 620, 240, (0, 0.6), (0, 2.5))
    plane.ticks((0, 0.05, 0.5), (0, 1, 2))
    sheet.words(plane.at(2 / 22, 0)[0] + 6, 323, "0.09", align="left", bold=True)
    plane.curve(lambda p: 20 * p, 0, 0.124)
    plane.curve(lambda p: 2 * (1 - p), 0, 0.6)
    plane.curve(lambda p: 1, 0, 0.6)
    for p, cost in ((0.05, 1.0), (2 / 22, 20 * 2 / 22), (0.5, 1.0)):
        plane.point(p, cost, 6)
        sheet.line(plane.at(p, 0), plane.at(p, cost), dashed=True)
    sheet.words(plane.at(0.135, 0)[0], 84, "don't call: 20 p")
    sheet.words(plane.at(0.3, 0)[0], plane.at(0, 1.68)[1], "call: 2 (1 − p)")
    sheet.words(plane.at(0.2, 0)[0], plane.at(0, 0.84)[1], "a person reads: 1")
    sheet.words(360, 352, "p of an unhappy guest", align="center", faint=True)
    return sheet.figure()


def new_pieces(days: Mapping[str, Sequence[Any]], engine: Engine, reference: Reference) -> Figure:
    """A text of each day in pieces; those that no reference text has are thick."""
    sheet = Sheet(330, "Which pieces are new to the reference texts?", "A thick edge: no reference text has this piece")
    known = set(reference.pieces)
    for y, (name, rows) in zip((110, 190, 270), days.items(), strict=True):
        sheet.words(14, y - 18, name, bold=True)
        for row in rows:
            ids = engine.ask(row.text).ids[1:-1]
            tokens = engine.tokenizer.convert_ids_to_tokens(ids)
            new = [i for i, one in enumerate(ids) if one not in known]
            fits = sum(width_of_chip(token) + 5 for token in tokens) < 690
            if fits and len(tokens) > 5 and (bool(new) or name == "the same"):
                break
        sheet.chips(14, y, tokens, dict.fromkeys(new, "chosen"))
    return sheet.figure()


def search(cosines: Tensor, of_words: Tensor) -> Figure:
    """MaxSim: the largest of each row, added. SPLADE: the largest of each column, as a weight."""
    sheet = Sheet(360, "How do MaxSim and SPLADE score a passage?")
    passage = ("the", "mare", "ran")
    sheet.words(14, 70, "MaxSim: rows of cosines", bold=True)
    left = sheet.grid(80, 138, cosines, cell=62, digits=1, largest=1.6, rows=("where", "horse"), columns=passage)
    best = sheet.grid(left.right + 26, 138, cosines.amax(dim=1)[:, None], cell=62, digits=1, largest=1.6)
    sheet.words(best.centre[0], best.y - 13, "max", align="center")
    sheet.words(
        best.centre[0], best.bottom + 24, f"sum {number(cosines.amax(dim=1).sum().item(), 1)}", "center", bold=True
    )
    sheet.words(400, 70, "SPLADE: columns of logits", bold=True)
    words = ("horse", "mare", "tax")
    right = sheet.grid(486, 138, of_words[0], cell=70, digits=0, largest=10, rows=passage, columns=words)
    top = of_words[0].amax(dim=0)
    sheet.grid(486, right.bottom + 20, top, cell=70, digits=0, largest=10)
    sheet.words(476, right.bottom + 37, "max", align="right")
    sheet.grid(486, right.bottom + 74, torch.log1p(top.clamp_min(0)), cell=70, digits=1, largest=4)
    sheet.words(476, right.bottom + 91, "ln(1 + ReLU)", align="right", bold=True)
    return sheet.figure()


def monday(engine: Engine, monday_engine: Engine, tokenizer: BertTokenizer, sentence: str) -> Figure:
    """The pieces of a sentence, their ids in both versions, and what the model reads."""
    sheet = Sheet(360, "What does the model read on Monday?")
    old, new = (one.ask(sentence).ids for one in (engine, monday_engine))
    pieces, read = (tokenizer.convert_ids_to_tokens(ids) for ids in (old, new))
    rows = ([*pieces], [str(one) for one in old], [str(one) for one in new], [*read])
    widths = [max(width_of_chip(row[i]) for row in rows) for i in range(len(pieces))]
    names = ("pieces, the same on both days", "ids last week", "ids on Monday", "the model reads")
    changed = {i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b}
    for told, y, row in zip(names, (66, 142, 218, 294), rows, strict=True):
        sheet.words(14, y, told, faint=True)
        x = 14.0
        for i, (token, width) in enumerate(zip(row, widths, strict=True)):
            state = "chosen" if i in changed and y > 200 else "plain"
            x = sheet.chip(x, y + 18, token, state, width=width).right + 5
    return sheet.figure()


def checks() -> Figure:
    """Three mistakes, and which of three checks at the start stops each."""
    sheet = Sheet(280, "Which check stops which mistake?")
    columns = (("digest of", "each file"), ("digest of the", "vocabulary"), ("golden", "requests"))
    for i, lines in enumerate(columns):
        for k, line in enumerate(lines):
            sheet.words(370 + 135 * i, 66 + 22 * k, line, align="center", bold=True)
    rows = (
        ("vocab.txt edited after export", (True, True, True)),
        ("wrong vocabulary at export", (False, True, True)),
        ("tokenizer's code changed", (False, False, True)),
    )
    for k, (told, stops) in enumerate(rows):
        y = 112 + 56 * k
        sheet.words(14, y + 17, told)
        for i, stopped in enumerate(stops):
            word = "stops" if stopped else "passes"
            sheet.chip(370 + 135 * i - 44, y, word, "chosen" if stopped else "plain", width=88)
    return sheet.figure()

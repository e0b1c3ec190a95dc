"""The pictures of chapter 20 up to the tokenizer: languages, sampling, vocabularies and segmentations."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from bertedu.course.pictures import Plane, Sheet
from bertedu.course.pictures.sheet import number


def two_languages() -> Figure:
    """Pre-train on both, fine-tune in one, test in the other."""
    sheet = Sheet(330, "How can labels in one language serve another?")
    bert = sheet.box(276, 130, 190, 96, "one vocabulary,", "one BERT", new=True)
    for y, name in ((100, "text in A"), (216, "text in B")):
        box = sheet.box(14, y, 150, 44, name)
        sheet.arrow((box.right, box.centre[1]), (bert.x, bert.centre[1] + (y - 158) / 4))
    sheet.words(89, 284, "no translations", align="center", faint=True)
    for y, name, told in ((84, "masked words", "1. in A and B"), (156, "classifier", "2. labels in A only")):
        box = sheet.box(556, y, 150, 44, name)
        sheet.arrow((bert.right, bert.centre[1] + (y - 156) / 3), (box.x, box.centre[1]))
        sheet.words(706, y + 58, told, align="right", faint=True)
    box = sheet.box(556, 244, 150, 44, "test", new=True)
    sheet.arrow((bert.right, bert.centre[1] + 30), (box.x, box.centre[1]))
    sheet.words(706, 304, "3. in B: zero-shot", align="right", bold=True)
    return sheet.figure()


def pieces_of_words(cut: Mapping[str, tuple[float, float]]) -> Figure:
    """Fertility and share of [UNK] of the English vocabulary in eight languages."""
    sheet = Sheet(136 + 34 * len(cut), "What does an English vocabulary make of a word?")
    sheet.words(130, 66, "pieces a word", bold=True)
    sheet.words(480, 66, "share of [UNK]", bold=True)
    names = list(cut)
    sheet.bars(130, 84, [one for one, _ in cut.values()], names, longest=230, full=4.2, digits=1)
    sheet.bars(480, 84, [lost for _, lost in cut.values()], longest=150)
    sheet.words(14, 108 + 34 * len(cut), "1.0 pieces a word is perfect, or a word that is lost.", faint=True)
    return sheet.figure()


def sampling(large: int, small: int) -> Figure:
    """The share of the small language, and how much more often its sentences are read, by the exponent."""
    sheet = Sheet(
        320, "What does α do, and what does it cost?", f"{large:,} sentences of one language, {small} of another"
    )
    exponents = (1, 0.7, 0.5, 0.3, 0)
    shares = [small**a / (small**a + large**a) for a in exponents]
    times = [(large / small) ** (1 - a) for a in exponents]
    sheet.words(90, 92, "share of the small one", bold=True)
    sheet.words(400, 92, "reads of its sentences", bold=True)
    sheet.bars(90, 110, shares, [f"α = {a:g}"[0:7] for a in exponents], longest=200)
    sheet.bars(400, 110, times, longest=220, full=100, digits=0)
    sheet.words(400, 300, "for one read of the other's", faint=True)
    return sheet.figure()


def second_language(sentence: Any, ENGLISH: Any, second: Any) -> Figure:
    """One sentence in English and in the invented language: each word has one word of its own."""
    english, other = ENGLISH.say(sentence).split(), second.say(sentence).split()
    sheet = Sheet(250, "What does the second language look like?", "A word for each word, and no word in common")
    widths = [max(len(a), len(b)) * 11 + 14 for a, b in zip(english, other, strict=True)]
    x = 14.0
    for a, b, width in zip(english[:8], other[:8], widths, strict=False):
        if x + width > 706:
            break
        top = sheet.chip(x, 92, a, width=width)
        low = sheet.chip(x, 172, b, width=width)
        sheet.line((top.centre[0], top.bottom + 4), (low.centre[0], low.y - 4))
        x = top.right + 6
    sheet.words(14, 232, "-ol noun, -em adjective, -ask verb, -ia a name", faint=True)
    return sheet.figure()


def vocabulary_shared(exponents: Sequence[float], measured: Sequence[tuple[float, float]]) -> Figure:
    """Fertility of both languages by the exponent of the vocabulary."""
    sheet = Sheet(330, "Who gets the pieces of a shared vocabulary?", "Pieces a word, by the α of the vocabulary")
    plane = Plane(sheet, 70, 90, 420, 180, (-0.2, 3.2), (0, 5))
    plane.ticks(up=(1, 3, 5))
    for place, exponent in enumerate(exponents):
        sheet.words(plane.at(place, 0)[0], 290, f"α = {exponent:g}", align="center")
    for column, (name, dashed) in enumerate((("English", True), ("second", False))):
        points = [plane.at(place, row[column]) for place, row in enumerate(measured)]
        sheet.line(*points, thick=not dashed, dashed=dashed, ink="#222222")
        for point in points:
            sheet.dot(point)
        end = points[0]
        sheet.words(end[0] + 14, end[1] - 16, f"{name} {number(measured[0][column], 2)}")
    return sheet.figure()


def viterbi(probabilities: Mapping[str, float], best: Sequence[float], last: Sequence[str]) -> Figure:
    """The pieces of "unable", the best product at each position, and the way back."""
    word, cell, left = "unable", 92.0, 60.0
    sheet = Sheet(400, "Which pieces make unable most probable?", "The best product that leads to each position")
    for i, letter in enumerate(word):
        sheet.words(left + (i + 0.5) * cell, 92, letter, align="center", mono=True, bold=True)
    path, stop = set(), len(word)
    while stop:
        path.add(last[stop])
        stop -= len(last[stop])
    rows = {"un": 0, "able": 0, "una": 1, "ble": 1, "le": 2}
    for piece, row in rows.items():
        start = word.index(piece)
        place = left + start * cell + 4, 112 + 46 * row, len(piece) * cell - 8, 36
        sheet.box(*place, f"{piece} {probabilities[piece]:g}", new=piece in path)
    sheet.words(left + 4, 222, "each letter alone 0.01", faint=True)
    sheet.line((left, 262), (left + 6 * cell, 262))
    for i, product in enumerate(best):
        x = left + i * cell
        sheet.line((x, 256), (x, 268))
        told = f"{product:.6f}".rstrip("0") if i else "1"
        sheet.words(x, 288, told, align="center", bold=i in (0, 2, 6))
        if i:
            sheet.words(x, 316, last[i], align="center", mono=True, bold=last[i] in path and i in (2, 6))
    sheet.words(left, 346, "last piece: read back from the right, able, then un", faint=True)
    sheet.words(left, 378, f"un · able = 0.05 · 0.04 = {best[6]:.3f}; greedy una · ble = 0.0004", bold=True)
    return sheet.figure()

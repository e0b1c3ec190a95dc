"""The pictures of chapter 20 on transfer: what is shared, what moves, and what carries over."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from matplotlib.figure import Figure

from bertedu.course.pictures import Plane, Sheet

TOPICS = ("animals", "countries", "goods", "music", "work")


def what_is_shared(ENGLISH: Any, second: Any) -> Figure:
    """Two tables of words without a word in common, under one encoder."""
    sheet = Sheet(310, "What do the two languages share?")
    shared = sheet.box(160, 66, 400, 50, "encoder, two layers", new=True)
    middle = sheet.box(254, 150, 212, 50, "[CLS] [SEP] [MASK]", "and positions", new=True)
    for x, name, words in ((14, "English", ENGLISH.words), (506, "second language", second.words)):
        box = sheet.box(x, 220, 200, 54, name, f"{len(words)} word vectors")
        sheet.arrow((box.centre[0], box.y), (box.centre[0] + (90 if x < 200 else -90), shared.bottom))
    sheet.arrow(middle, shared)
    common = len(set(ENGLISH.words.values()) & set(second.words.values()))
    sheet.words(360, 292, f"{common} words in common", align="center", bold=True)
    return sheet.figure()


def transfer(plain: Mapping[str, tuple[float, float]], frequent_share: float) -> Figure:
    """Accuracy of the English classifier in both languages, by model."""
    sheet = Sheet(306, "Does a classifier of English read the other language?", "Share of topics that are right")
    names = ["most frequent", *plain]
    sheet.words(176, 92, "English", bold=True)
    sheet.words(460, 92, "second language", bold=True)
    english = [one for one, _ in plain.values()]
    sheet.bars(176, 144, english, longest=180)
    for i, name in enumerate(names):
        sheet.words(166, 127 + 34 * i, name, align="right")
    sheet.bars(460, 110, [frequent_share, *(other for _, other in plain.values())], longest=180, thick=[3])
    sheet.words(166, 276, "no label in the second language was used", faint=True)
    return sheet.figure()


def moved(models: Mapping, english_test: tuple, second_test: tuple, sentence_vectors: Callable) -> Figure:
    """The centers of the topics in two dimensions, in both languages."""
    sheet = Sheet(400, "Where do the topics lie in both languages?", "Centers of the sentence vectors, two dimensions")
    tests = (english_test, second_test)
    for x, name in ((20, "untrained"), (380, "bilingual")):
        vectors = torch.cat([sentence_vectors(models[name], test[0]) for test in tests])
        vectors = vectors - vectors.mean(dim=0)
        flat = vectors @ torch.linalg.svd(vectors, full_matrices=False)[2][:2].T  # [1000, 2]
        halves = flat.split(len(english_test[0]))
        centers = [
            [points[torch.tensor([one == topic for one in test[1]])].mean(dim=0).tolist() for topic in TOPICS]
            for points, test in zip(halves, tests, strict=True)
        ]
        _panel(sheet, x, name, centers)
    sheet.words(20, 360, "English: small, with its letter; second language: large. A line joins a topic.", faint=True)
    sheet.words(20, 384, ", ".join(f"{topic[0]} {topic}" for topic in TOPICS), faint=True)
    return sheet.figure()


def _panel(sheet: Sheet, x: float, name: str, centers: Sequence[Sequence[Sequence[float]]]) -> None:
    """Five lines between the centers in English and in the second language, each with the letter of its topic."""
    sheet.words(x, 88, name, bold=True)
    points = [point for language in centers for point in language]
    across, up = zip(*points, strict=True)
    margin = 0.12 * (max(across) - min(across)), 0.12 * (max(up) - min(up))
    plane = Plane(
        sheet,
        x,
        106,
        320,
        226,
        (min(across) - margin[0], max(across) + margin[0]),
        (min(up) - margin[1], max(up) + margin[1]),
    )
    lines = [(plane.at(*one), plane.at(*other), topic[0]) for topic, one, other in zip(TOPICS, *centers, strict=True)]
    taken: list[tuple[float, float]] = []
    for start, end, letter in sorted(lines, key=lambda line: line[0][1]):  # from above
        sheet.line(start, end, ink="#6b6b6b")
        sheet.dot(start, 3)
        sheet.dot(end, 6)
        x, y = start[0] + (15 if start[0] >= end[0] else -15), start[1]
        y = max([y, *(b + 22 for a, b in taken if abs(x - a) < 22)])  # below what stands there
        sheet.words(x, y, letter, align="center", bold=True)
        taken.append((x, y))


def centered(plain: Mapping[str, tuple[float, float]], after: Mapping[str, float]) -> Figure:
    """Accuracy in the second language before and after each language's mean is subtracted."""
    sheet = Sheet(250, "What does subtracting each language's mean do?", "Accuracy in the second language, no labels")
    sheet.words(176, 92, "as it is", bold=True)
    sheet.words(460, 92, "centered", bold=True)
    sheet.bars(176, 108, [plain[name][1] for name in after], longest=180)
    for i, name in enumerate(after):
        sheet.words(166, 125 + 34 * i, name, align="right")
    sheet.bars(460, 108, list(after.values()), longest=180, thick=[2])
    return sheet.figure()


def translated(right: Mapping[str, Sequence[float]]) -> Figure:
    """The share of words whose nearest neighbor is their translation, by layer."""
    sheet = Sheet(270, "How many words find their translation?", "Nearest neighbor among 141 words, by layer")
    columns = ["embeddings", "layer 1", "layer 2"]
    grid = sheet.grid(180, 130, list(right.values()), columns=columns, cell=150, digits=2, largest=0.8)
    for i, name in enumerate(right):
        sheet.words(168, grid.row(i).centre[1], name, align="right")
    return sheet.figure()


def order_and_overlap(topic: Mapping[str, Sequence[float]], words_right: Mapping[str, Sequence[float]]) -> Figure:
    """A dot for each seed of each pair of languages: the topics, and the words translated."""
    sheet = Sheet(390, "What matters more, the words or their order?", "A dot for each of five seeds")
    names = (
        ("own words,", "English order"),
        ("names shared,", "English order"),
        ("own words,", "own order"),
        ("names shared,", "own order"),
        ("English", "alone"),
    )
    for x, told, values in ((190, "topic, centered", topic), (470, "words translated", words_right)):
        wide = 220.0
        sheet.words(x, 92, told, bold=True)
        for share in (0.0, 0.5, 1.0):
            sheet.line((x + share * wide, 108), (x + share * wide, 346), dashed=True)
            sheet.words(x + share * wide, 366, f"{share:g}", align="center", faint=True)
        for row, variant in enumerate(list(values)[: len(names)]):
            for value in values[variant]:
                sheet.dot((x + value * wide, 130 + 48 * row), 6)
    for row, lines in enumerate(names):
        for half, line in enumerate(lines):
            sheet.words(176, 120 + 48 * row + 20 * half, line, align="right")
    return sheet.figure()


def who_may_choose() -> Figure:
    """Which data may choose the model that is called zero-shot, and which gives the oracle."""
    sheet = Sheet(270, "Which data may choose the model?", "Both numbers are accuracies on the target's test data.")
    for y, name, choice, number in (
        (90, "English validation", "choose", "zero-shot"),
        (176, "target validation", "choose", "oracle"),
    ):
        first = sheet.box(14, y, 200, 48, name)
        second = sheet.box(270, y, 160, 48, choice)
        third = sheet.box(486, y, 220, 48, "target test", number, new=number == "zero-shot")
        sheet.arrow(first, second)
        sheet.arrow(second, third)
    sheet.words(14, 250, "The oracle has used labels of the target language.", faint=True)
    return sheet.figure()


def lost_accents(second: Any) -> Figure:
    """A word, what is left of it without its accent, and what that word means."""
    meaning = {word: english for english, word in second.words.items()}
    sheet = Sheet(260, "What does the colleague's model read?", "Lower-casing has stripped the accents, too.")
    shown = 0
    for word, english in meaning.items():
        letters = unicodedata.normalize("NFD", word)
        bare = "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")
        if bare == word or bare not in meaning or shown == 3:
            continue
        y = 88 + 54 * shown
        sheet.chip(14, y, word, width=120)
        sheet.words(146, y + 17, english)
        after = sheet.chip(330, y, bare, "chosen", width=120)
        sheet.arrow((250, y + 17), (after.x, y + 17))
        sheet.words(462, y + 17, meaning[bare], bold=True)
        shown += 1
    return sheet.figure()

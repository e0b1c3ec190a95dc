"""The pictures of chapter 01, drawn from its vocabularies and counts."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure

from bertedu.course.pictures import Sheet, map_of_bert
from bertedu.course.pictures.sheet import CHIP_GAP, width_of_chip

Counts = dict[str, int]


def where() -> Figure:
    """The map of BERT with the tokenizer lit."""
    sheet = Sheet(190, "What stands between a text and the model?")
    map_of_bert(sheet, 50, {"tokenizer"})
    return sheet.figure()


def units(tokenizer: Any, known: set[str]) -> Figure:
    """A rare word as a word, as characters and as pieces."""
    word = "earthlings"
    sheet = Sheet(250, "Into what should a rare word be cut?")
    rows = {
        "words": ["[UNK]" if word not in known else word],
        "characters": list(word),
        "pieces": tokenizer.tokenize(word),
    }
    notes = "all is lost", "many, with little meaning", "few, with some meaning"
    for y, (name, tokens), note in zip((60, 124, 188), rows.items(), notes, strict=True):
        sheet.words(124, y + 17, name, align="right", bold=True)
        last = sheet.chips(138, y, tokens, {0: "chosen"} if tokens == ["[UNK]"] else {})[-1]
        sheet.words(last.right + 14, y + 17, note, faint=True)
    return sheet.figure()


def normalization(
    clean: Callable[[str], str], strip_accents: Callable[[str], str], words_of: Callable[[str], list[str]]
) -> Figure:
    """Four steps from a text to its words."""
    sheet = Sheet(330, "What happens to a text before it is cut?")
    text = "The CAF\u00c9\u00ad, \u00c5ngstr\u00f6m!"
    cleaned = clean(text)
    steps = (
        ("the text", text.replace("\u00ad", "\u00b7"), "\u00b7 is a mark that nobody sees"),
        ("clean", cleaned, ""),
        ("strip accents", strip_accents(cleaned), "only for uncased models"),
        ("lower", strip_accents(cleaned).lower(), "only for uncased models"),
    )
    for i, (name, shown, note) in enumerate(steps):
        y = 66 + 52 * i
        sheet.words(156, y, name, align="right", bold=True)
        sheet.words(174, y, shown, mono=True)
        sheet.words(440, y, note, faint=True)
        sheet.arrow((196, y + 10), (196, y + 42))
    sheet.words(156, 285, "split", align="right", bold=True)
    sheet.chips(174, 268, words_of(text))
    return sheet.figure()


def longest_match() -> Figure:
    """Greedy longest match of one word, step by step."""
    sheet = Sheet(330, "Which piece comes next? The longest that fits", "Pieces: un, able, ##able, ##a, ##break, ##bre")
    steps = (
        ("un", "breakable", "un: nothing else fits"),
        ("break", "able", "##break, longer than ##bre"),
        ("able", "", "##able, longer than ##a"),
    )
    found: list[str] = []
    for y, (piece, rest, why) in zip((90, 168, 246), steps, strict=True):
        done = sheet.chips(14, y, found) if found else []
        at = done[-1].right + CHIP_GAP if done else 14
        chosen = sheet.chip(at, y, ("##" if found else "") + piece, "chosen")
        if rest:
            sheet.words(chosen.right + 10, y + 17, rest, mono=True, faint=True)
        sheet.words(430, y + 17, why)
        found.append(("##" if found else "") + piece)
    return sheet.figure()


def no_way_back() -> Figure:
    """The greedy rule ends in a dead end and gives the whole word up."""
    sheet = Sheet(270, "Why does unhappier become one [UNK]?", "Pieces: un, unh, ##happy, ##app, ##y, ##er")
    row = sheet.chips(14, 90, ["unh", "##app"], {0: "chosen", 1: "chosen"})
    sheet.words(row[-1].right + 10, 107, "ier", mono=True)
    sheet.words(300, 107, "no piece fits the rest:")
    sheet.chip(540, 90, "[UNK]", "hidden")
    sheet.chips(14, 180, ["un", "##happy"])
    sheet.words(300, 197, "for unhappy this would have fitted,")
    sheet.words(300, 221, "but unh was longer than un")
    return sheet.figure()


def one_merge(counts: Counts, characters_of: Callable[[str], list[str]], merge: Callable[..., list[str]]) -> Figure:
    """A merge in three of the ten words."""
    sheet = Sheet(290, "What does a merge do?", "The pair l ##o becomes one piece, in every word")
    for y, word in zip((90, 152, 214), ("low", "lower", "lowest"), strict=True):
        pieces = characters_of(word)
        sheet.words(14, y + 17, f"{counts[word]} times", faint=True)
        before = sheet.chips(120, y, pieces, {0: "chosen", 1: "chosen"})
        after = sheet.chips(460, y, merge(pieces, ("l", "##o")), {0: "chosen"})
        sheet.arrow((before[-1].right, y + 17), (after[0].x, y + 17))
    return sheet.figure()


def first_merges(
    counts: Counts, learn: Callable[..., Iterator[tuple[str, float]]], frequency: Callable[..., float]
) -> Figure:
    """The first nine merges by frequency."""
    sheet = Sheet(420, "Which pieces come first?", "Nine merges, one after another, and how often each pair occurred")
    merged = list(learn(counts, 9, frequency))
    numbers = [value for _, value in merged]
    sheet.bars(160, 76, numbers, [token for token, _ in merged], longest=420, full=max(numbers), digits=0)
    return sheet.figure()


def criteria(counts: Counts, characters_of: Callable[[str], list[str]], wordpiece_score: Any, gain: Any) -> Figure:
    """Five pairs by three criteria."""
    single: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for word, times in counts.items():
        pieces = characters_of(word)
        for piece in pieces:
            single[piece] += times
        for pair in pairwise(pieces):
            pairs[pair] += times
    shown = [("l", "##o"), ("##s", "##t"), ("w", "##i"), ("##e", "##r"), ("a", "##x")]
    sheet = Sheet(300, "Do three criteria choose the same pair?")
    for x, name, values, digits in (
        (110, "frequency", [pairs[pair] for pair in shown], 0),
        (330, "score", [wordpiece_score(pair, single, pairs) for pair in shown], 2),
        (530, "gain", [gain(pair, single, pairs) for pair in shown], 0),
    ):
        best = max(range(5), key=lambda i: values[i])
        sheet.words(x, 76, name, bold=True)
        labels = [" ".join(pair) for pair in shown] if x < 200 else ()
        sheet.bars(x, 96, values, labels, longest=110, full=max(values), digits=digits, thick=[best])
    return sheet.figure()


def pair(batch: Any) -> Figure:
    """A padded pair with its three rows of numbers."""
    sheet = Sheet(260, "What does BERT get for two texts?")
    tokens = batch.tokens[1][:10]
    states = {i: "padding" for i, token in enumerate(tokens) if token == "[PAD]"}
    boxes = sheet.chips(148, 60, tokens, states)
    for y, name, row in (
        (122, "input_ids", batch.input_ids),
        (170, "type ids", batch.token_type_ids),
        (218, "mask", batch.attention_mask),
    ):
        sheet.words(138, y, name, align="right", bold=True)
        for box, value in zip(boxes, row[1].tolist(), strict=False):
            sheet.words(box.centre[0], y, str(value), align="center")
    return sheet.figure()


def truncation() -> Figure:
    """Longest first: which token goes next."""
    sheet = Sheet(
        290, "Which token goes, if a pair is too long?", "The last one of the longer text (dashed), one by one"
    )
    first, second = ["is", "it", "wet", "?"], ["a", "seal", "swims", "all", "day", "."]
    for y, kept in ((84, 6), (154, 5), (224, 4)):
        sheet.chips(14, y, first, {3: "random"} if kept == 4 else {})
        sheet.chips(260, y, second[:kept], {kept - 1: "random"})
    sheet.words(510, 241, "equally long: either")
    return sheet.figure()


def offsets(encoding: Any, text: str) -> Figure:
    """Where each token stands in the text."""
    sheet = Sheet(240, "Where did a token stand in the text?", "Each character has a number; a token keeps two of them")
    side, shown = 34.6, text[:20]
    visible = [character if character.isprintable() else " " for character in shown]
    places = [sheet.chip(14 + side * i, 130, character, width=side - 2) for i, character in enumerate(visible)]
    for i, (token, (start, end)) in enumerate(zip(encoding.tokens[0], encoding.offsets[0], strict=True)):
        if end > start and end <= len(shown):
            middle = (places[start].x + places[end - 1].right) / 2
            sheet.line((places[start].x + 2, 122), (places[end - 1].right - 2, 122), thick=True, ink="#222222")
            sheet.words(middle, 100 if i % 2 else 78, token.replace("[UNK]", "UNK"), align="center", mono=True)
    for i in range(0, len(shown), 5):
        sheet.words(places[i].centre[0], 188, str(i), align="center", faint=True)
    return sheet.figure()


def forgotten(capitals: list[str], broken_tokenize: Callable[..., list[str]], tokenizer: Any) -> Figure:
    """What the broken search reads of a sentence, and what it should read."""
    sheet = Sheet(200, "What does the search engine read?")
    for y, name, tokens in (
        (60, "it reads", broken_tokenize(capitals[0], tokenizer.vocab)),
        (130, "it should", tokenizer.tokenize(capitals[0])),
    ):
        sheet.words(108, y + 17, name, align="right", bold=True)
        while sum(width_of_chip(token) + CHIP_GAP for token in tokens) > 590:
            tokens = [*tokens[:-2], "\u2026"]
        sheet.chips(120, y, tokens, {i: "hidden" for i, token in enumerate(tokens) if token == "[UNK]"})
    return sheet.figure()

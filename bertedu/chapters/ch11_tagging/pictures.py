"""The pictures of chapter 11, drawn from its sentences, scores and taggers."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure

from bertedu.course.pictures import Sheet, map_of_bert
from bertedu.finetuning.spans import tag_spans

Tags = Sequence[Sequence[str]]
LONGEST = 380.0  # of a bar, in pixels


def where() -> Figure:
    """The map of BERT with the heads lit."""
    sheet = Sheet(180, "What does tagging change in BERT?")
    map_of_bert(sheet, 50, {"heads"})
    return sheet.figure()


def tagger(tokenizer: Any) -> Figure:
    """The same linear layer on each token; first pieces get a tag."""
    words, tags = ["Colbury", "is", "wet"], ["B-place", "O", "O"]
    tokens: list[str] = ["[CLS]"]
    told: dict[int, str] = {}
    for word, tag in zip(words, tags, strict=True):
        told[len(tokens)] = tag
        tokens += tokenizer.tokenize(word)
    tokens.append("[SEP]")
    sheet = Sheet(390, "Who gets a tag?", "Each token is scored; the first piece of a word speaks for it.")
    chips = sheet.chips(40, 330, tokens, {place: "chosen" for place in told}, width=100)
    bert = sheet.box(40, 252, chips[-1].right - 40, 44, "BERT")
    wide, shapes = chips[-1].right - 40, "[B, T, D] to [B, T, C]"
    linear = sheet.box(40, 156, wide, 56, "the same linear layer for each token", shapes, new=True)
    for place, chip in enumerate(chips):
        middle = chip.centre[0]
        sheet.arrow(chip, (middle, bert.bottom))
        sheet.arrow((middle, bert.y), (middle, linear.bottom))
        if place in told:
            sheet.arrow((middle, linear.y), (middle, 118))
            sheet.words(middle, 102, told[place], align="center", bold=True)
    return sheet.figure()


def bio() -> Figure:
    """A sentence with its tags: B- begins a name, I- continues it."""
    words = ["May", "Lund", "flew", "to", "Jordan", "in", "May"]
    tags = ["B-person", "I-person", "O", "O", "B-place", "O", "O"]
    sheet = Sheet(206, "How do tags mark names?", "The first May is a person, the last a month.")
    chips, x = [], 14.0
    for word, tag in zip(words, tags, strict=True):
        width = 104.0 if tag != "O" else 80.0
        chips.append(sheet.chip(x, 84, word, "chosen" if tag != "O" else "plain", width))
        sheet.words(chips[-1].centre[0], 138, tag, align="center", faint=tag == "O")
        x = chips[-1].right + 8
    for kind, start, end in tag_spans(tags):
        left, right = chips[start].x, chips[end - 1].right
        sheet.line((left, 158), (left, 164), (right, 164), (right, 158))
        sheet.words((left + right) / 2, 184, kind, align="center", bold=True)
    return sheet.figure()


def two_scores(gold: Tags, dictionary: Tags, entity_f1: Callable) -> Figure:
    """The dictionary by words and by names."""
    words = [(a, b) for tags, found in zip(gold, dictionary, strict=True) for a, b in zip(tags, found, strict=True)]
    right = sum(a == b for a, b in words) / len(words)
    sheet = Sheet(180, "How good is the dictionary?", "It depends on what is counted: words, or whole names.")
    sheet.bars(
        220, 84, [right, entity_f1(gold, dictionary)], ["words right", "F1 of names"], longest=LONGEST, thick=[1]
    )
    return sheet.figure()


def window() -> Figure:
    """How much of a sentence the linear model sees when it decides about a word, and how much BERT sees."""
    words = ["Even", "so", ",", "Kestrel", "has", "put", "up", "its", "fares"]
    sheet = Sheet(250, "What does a tagger see when it decides about Kestrel?")
    chips = sheet.chips(20, 118, words, {3: "chosen", 8: "chosen"})
    left, right = chips[1].x - 3, chips[5].right + 3
    sheet.line((left, 110), (right, 110), (right, 160), (left, 160), (left, 110), dashed=True)
    sheet.words((left + right) / 2, 84, "the linear model: two words on each side", align="center")
    sheet.line((chips[0].x, 184), (chips[0].x, 190), (chips[-1].right, 190), (chips[-1].right, 184))
    sheet.words(chips[4].centre[0], 214, "BERT: the whole sentence, and fares says airline", align="center", bold=True)
    return sheet.figure()


def pieces(tokenizer: object, tags: Sequence[str]) -> Figure:
    """Words with tags, their pieces, and the labels of these: one for each word, −100 elsewhere."""
    words, gold = ["Near", "Colbury", "it", "rained"], ["O", "B-place", "O", "O"]
    sheet = Sheet(330, "Which pieces get a label?", "The first of each word. −100 means: no loss here.")
    columns, owners = ["[CLS]"], [-1]
    for i, word in enumerate(words):
        split = tokenizer.tokenize(word)  # type: ignore[attr-defined]
        columns += split
        owners += [i] * len(split)
    columns, owners = [*columns, "[SEP]"], [*owners, -1]
    first = [owner >= 0 and owner != before for before, owner in pairwise([-1, *owners])]
    chips = sheet.chips(84, 186, columns, {i: "chosen" for i, one in enumerate(first) if one}, width=66)
    for i, word in enumerate(words):
        mine = [chip for chip, owner in zip(chips, owners, strict=True) if owner == i]
        middle = (mine[0].x + mine[-1].right) / 2
        sheet.chip(middle - 46, 84, word, width=92)
        sheet.words(middle, 136, gold[i], align="center", bold=gold[i] != "O")
        sheet.arrow((middle, 148), (mine[0].centre[0], mine[0].y))
    for chip, owner, is_first in zip(chips, owners, first, strict=True):
        label = str(tags.index(gold[owner])) if is_first else "−100"
        sheet.words(chip.centre[0], 250, label, align="center", bold=is_first, faint=not is_first)
    sheet.words(14, 203, "pieces", faint=True)
    sheet.words(14, 250, "labels", faint=True)
    sheet.words(14, 101, "words", faint=True)
    place = tags.index("B-place")
    sheet.words(84, 284, f"{len(words)} words, {len(columns)} tokens, {sum(first)} labels that count")
    sheet.words(84, 310, f"{place} is the position of B-place in the list of tags, 0 that of O.", faint=True)
    return sheet.figure()


def four_taggers(taggers: Mapping[str, Tags], gold: Tags, entity_f1: Callable) -> Figure:
    """F1 of the four taggers."""
    sheet = Sheet(250, "Which tagger finds most names?", "F1 over whole names of the validation sentences")
    scores = [entity_f1(gold, found) for found in taggers.values()]
    best = scores.index(max(scores))
    sheet.bars(180, 84, scores, list(taggers), longest=LONGEST, thick=[best])
    return sheet.figure()


def errors(taggers: Mapping[str, Tags], gold: Tags, kinds_of_errors: Callable[..., Counter]) -> Figure:
    """Right names, and three kinds of errors, of the four taggers."""
    kinds = ("right", "wrong type", "other boundaries", "missed")
    sheet = Sheet(310, "What becomes of the gold names?", "How many of them each tagger gets right, or how not")
    table = []
    for found in taggers.values():
        counts = kinds_of_errors(gold, found)
        table.append([float(counts[kind]) for kind in kinds])
    grid = sheet.grid(180, 130, table, rows=list(taggers), cell=128, row=38, largest=500)
    for j, kind in enumerate(kinds):
        kind = kind.removeprefix("other ")
        sheet.words(grid.column(j).centre[0], 106, kind, align="center", bold=not j)
    return sheet.figure()


def lora(lora_tagger: object) -> Figure:
    """A frozen matrix and the two thin ones that are trained beside it."""
    query = lora_tagger.encoder.encoder.layers[0].attention.query  # type: ignore[attr-defined]
    rank, size = query.A.shape
    sheet = Sheet(330, "What does LoRA train?", "W stays as it was; B A is added to it.")
    frozen = sheet.box(60, 100, 180, 180, "W", f"[{size}, {size}]", frozen=True)
    sheet.words(frozen.centre[0], 304, f"{size * size:,} weights, frozen", align="center", faint=True)
    sheet.words(285, frozen.centre[1], "+", align="center", bold=True)
    tall = sheet.box(330, 100, 60, 180, "B", new=True)
    sheet.words(404, 254, f"[{size}, {rank}]")
    wide = sheet.box(410, 100, 180, 48, "A", new=True)
    sheet.words(wide.right + 12, wide.centre[1], f"[{rank}, {size}]")
    sheet.words(tall.x, 304, f"{query.A.numel() + query.B.numel():,} weights, trained", bold=True)
    return sheet.figure()


def shifted(tokenizer: object) -> Figure:
    """The service reads the pieces in order; the repaired one reads first pieces."""
    words = ["Near", "Colbury", "it", "rained"]
    split = [tokenizer.tokenize(word) for word in words]  # type: ignore[attr-defined]
    flat = ["[CLS]", *[piece for one in split for piece in one], "[SEP]"]
    firsts, position = [], 1
    for one in split:
        firsts.append(position)
        position += len(one)
    sheet = Sheet(400, "Whose tag does each word get?")
    for y, name, read in ((50, "service", range(1, 1 + len(words))), (226, "repaired", firsts)):
        sheet.words(14, y + 34, name, bold=True)
        chips = sheet.chips(130, y + 16, flat, {i: "chosen" for i in read}, width=64)
        for word, place in zip(words, read, strict=True):
            middle = chips[place].centre[0]
            sheet.arrow((middle, y + 52), (middle, y + 98))
            wrong = not flat[place].startswith(word[0])
            sheet.words(middle, y + 116, word, align="center", bold=wrong)
    return sheet.figure()

"""The pictures of chapter 00, drawn from what its model answers."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Sheet, map_of_bert
from bertedu.inference import fill_mask

WORDS = ["A", "young", "[MASK]", "is", "called", "a", "kitten", "."]


def end(model: Any, tokenizer: Any, gaps: list[str]) -> Figure:
    """What stands at the end: a gap, BERT, and its most probable words."""
    sheet = Sheet(320, "Which word is missing?")
    row = sheet.chips(14, 64, WORDS, {2: "hidden"})
    bert = sheet.box(120, 160, 150, 60, "BERT", "built by you", new=True)
    for token in row:
        sheet.arrow((token.centre[0], token.bottom), (bert.centre[0] + (token.centre[0] - 240) / 6, bert.y))
    best = fill_mask(model, tokenizer, gaps[0], top=5)[0]
    bars = sheet.bars(440, 120, [p for _, p in best], [word for word, _ in best], longest=190, thick=[0])
    sheet.arrow(bert, (350, bert.centre[1]))
    sheet.words(bars[-1].x, 308, "probability", faint=True)
    return sheet.figure()


def timeline() -> Figure:
    """Six models, and what each of them reads."""
    sheet = Sheet(370, "What came before BERT?")
    models = (
        ("2013", "word2vec", "one vector for each word, in every sentence"),
        ("2014", "GloVe", "the same, by counting"),
        ("2016", "fastText", "the same, with pieces of words"),
        ("2018", "ELMo", "the sentence from both sides, with two models"),
        ("2018", "GPT", "the sentence from the left side only"),
        ("2018", "BERT", "the sentence from both sides at once"),
    )
    sheet.line((88, 62), (88, 350))
    for i, (year, name, reads) in enumerate(models):
        y = 60 + 50 * i
        sheet.words(76, y + 18, year, align="right", faint=True)
        sheet.box(104, y, 120, 36, name, new=name == "BERT")
        sheet.words(244, y + 18, reads, bold=name == "BERT")
    return sheet.figure()


def followers(followers: Mapping[str, Counter]) -> Figure:
    """How often some words follow "young" in the text."""
    sheet = Sheet(270, "Which word follows young?", "How often in the text: “is”, and the four right answers")
    words = ["is", "cat", "duck", "dog", "sheep"]
    counts = [followers["young"][word] for word in words]
    sheet.bars(130, 80, counts, words, longest=460, full=max(counts), digits=0, thick=[0])
    return sheet.figure()


def sides() -> Figure:
    """The words that three kinds of models may use for a gap."""
    sheet = Sheet(290, "Which words may a model use for the gap?", "Thick: what it sees when it fills [MASK]")
    for y, name, seen in (
        (90, "bigram model", [1]),
        (154, "left to right", [0, 1]),
        (218, "BERT", [0, 1, 3, 4, 5, 6, 7]),
    ):
        sheet.words(14, y + 17, name, bold=name == "BERT")
        sheet.chips(170, y, WORDS, {2: "hidden", **dict.fromkeys(seen, "chosen")})
    return sheet.figure()


def right(bigram: int, first: int, among_five: int, total: int) -> Figure:
    """The share of right answers of the baseline and of BERT."""
    sheet = Sheet(210, "How many of the questions are answered right?", f"{total} questions in a new wording")
    names = ["bigram model", "BERT, first word", "BERT, first five"]
    sheet.bars(210, 80, [one / total for one in (bigram, first, among_five)], names, longest=400, digits=2)
    return sheet.figure()


def attention(tokens: list[str], weights: Tensor, layer: int, head: int, gap: int) -> Figure:
    """The attention weights of [MASK] in one head."""
    sheet = Sheet(200, "From where does the gap get its information?", f"The weights of [MASK] in layer {layer + 1}, "
                  f"head {head + 1}")  # fmt: skip
    x = 14.0
    states = {"[MASK]": "hidden", "kitten": "chosen"}
    for token, weight in zip(tokens, weights[layer, head, gap].tolist(), strict=True):
        chip = sheet.chip(x, 86, token, states.get(token, "plain"), width=50)
        sheet.grid(x, 130, [weight], digits=2, largest=1.2, cell=chip.width)
        x = chip.right + 5
    sheet.words(14, 184, "They sum to 1 (rounded here).", faint=True)
    return sheet.figure()


def way(
    model: Any, tokenizer: Any, encoding: Any, tokens: list[str], hidden_states: tuple[Tensor, ...], gap: int
) -> Figure:
    """One sentence through BERT: tokens, ids, vectors, vectors in context, words for the gap."""
    sheet = Sheet(500, "What happens to a sentence in BERT?")
    labels = (
        "tokens",
        "ids: one integer each",
        "embeddings: the first 4 of D numbers",
        f"after {len(hidden_states) - 1} layers",
    )
    for y, label in zip((58, 134, 192, 290), labels, strict=True):
        sheet.words(14, y, label, faint=True)
    x = 14.0
    for i, (token, number) in enumerate(zip(tokens, encoding.input_ids[0].tolist(), strict=True)):
        chip = sheet.chip(x, 76, token, "hidden" if i == gap else "plain", width=50)
        sheet.words(chip.centre[0], 160, f"{number}", align="center", mono=True)
        for y, states in ((208, hidden_states[0]), (306, hidden_states[-1])):
            vector = sheet.grid(
                chip.centre[0] - 17, y, states[0, i, :4, None], numbers=False, cell=34, row=15, largest=2.5
            )
        x = chip.right + 5
        if i == gap:
            asked = vector
    with torch.no_grad():
        scores = model.masked_lm(hidden_states[-1])[0, gap]
    best = scores.topk(3)
    head = sheet.box(asked.centre[0] - 56, 408, 112, 44, "MLM head")
    sheet.arrow(asked, head)
    sheet.arrow(head, (400, head.centre[1]))
    for i, (score, number) in enumerate(zip(best.values.tolist(), best.indices.tolist(), strict=True)):
        word = tokenizer.convert_ids_to_tokens([number])[0]
        sheet.words(410, 402 + 30 * i, word, mono=True, bold=not i)
        sheet.words(590, 402 + 30 * i, f"score {score:.1f}", align="right", bold=not i)
    return sheet.figure()


def whole_map() -> Figure:
    """The map of BERT with the chapters in which its parts are built."""
    sheet = Sheet(220, "Where do you build which part?")
    boxes = map_of_bert(sheet, 50, ())
    chapters = {"tokenizer": "01", "embeddings": "02", "attention": "03", "feed-forward": "04", "heads": "05, 06"}
    for part, chapter in chapters.items():
        sheet.words(boxes[part].centre[0], 190, chapter, align="center", bold=True)
    return sheet.figure()


def positions(tokens: list[str]) -> Figure:
    """The position of the gap among the words, and among the tokens."""
    sheet = Sheet(260, "At which position is the gap?")
    for y, name, texts in ((70, "words", WORDS), (166, "tokens", tokens)):
        row = sheet.chips(14 if name == "tokens" else 88, y, texts, {texts.index("[MASK]"): "hidden"})
        for i, chip in enumerate(row):
            sheet.words(chip.centre[0], y + 52, f"{i}", align="center", mono=True, bold=texts[i] == "[MASK]")
        sheet.words(706, y + 17, name, align="right", bold=True)
    return sheet.figure()

"""The pictures of chapter 14 up to fastText: one vector for each word, and how it is learned."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bertedu.before.fasttext import pieces
from bertedu.before.glove import cooccurrences
from bertedu.before.words import flat
from bertedu.course.pictures import Sheet


def timeline() -> Figure:
    """Six models in the order of their years: what a word's vector depends on, and how a task uses the model."""
    sheet = Sheet(300, "What does a word's vector depend on?", "Six models in six years")
    models = (
        ("word2vec", "2013", 14, 100),
        ("GloVe", "2014", 122, 78),
        ("fastText", "2016", 208, 92),
        ("ELMo", "2018, Feb", 330, 110),
        ("GPT", "2018, June", 462, 110),
        ("BERT", "2018, Oct", 594, 112),
    )
    for name, year, x, width in models:
        box = sheet.box(x, 112, width, 44, name, new=name == "BERT")
        sheet.words(box.centre[0], 92, year, align="center", faint=True)
    for left, right, *lines in (
        (14, 300, "nothing: one vector,", "in every sentence"),
        (330, 440, "left, right,", "in two LSTMs"),
        (462, 572, "the left,", "Transformer"),
        (594, 706, "both sides,", "Transformer"),
    ):
        sheet.line((left, 164), (left, 172), (right, 172), (right, 164))
        for i, line in enumerate(lines):
            sheet.words((left + right) / 2, 192 + 22 * i, line, align="center")
    for left, right, line in ((14, 440, "used as features, mostly frozen"), (462, 706, "fine-tuned as a whole")):
        sheet.line((left, 242), (left, 250), (right, 250), (right, 242))
        sheet.words((left + right) / 2, 270, line, align="center", bold=True)
    return sheet.figure()


def one_hot_vectors(three: Tensor, V: int) -> Figure:
    """Three ids as one-hot vectors: no two have anything in common."""
    sheet = Sheet(
        250, "What does a number know about its word?", f"Nothing. One position of V = {V} is 1, all others 0."
    )
    words = ["horse", "donkey", "paris"]
    order = three.argsort().tolist()
    ids = [str(three[i].item()) for i in order]
    table = [[float(i == j) for j in order] for i in range(3)]
    sheet.words(96, 92, "id", align="center", faint=True)
    vectors = sheet.grid(240, 114, table, cell=70, largest=1.6)
    for j, one in enumerate(ids):
        sheet.words(vectors.column(j).centre[0], 92, one, align="center", faint=True)
    for i, word in enumerate(words):
        y = vectors.row(i).centre[1]
        sheet.words(14, y, word, mono=True)
        sheet.words(112, y, str(three[i].item()), align="center")
        sheet.arrow((134, y), (204, y))
        sheet.words(222, y, "…", align="center")
        sheet.words(vectors.right + 18, y, "…", align="center")
    sheet.words(500, 132, "horse · donkey = 0", mono=True)
    sheet.words(500, 166, "horse · paris  = 0", mono=True)
    sheet.words(500, 200, "equally far", bold=True)
    return sheet.figure()


def pairs_of_a_sentence() -> Figure:
    """Each word is the center once; its neighbors within the window are its contexts."""
    words = ["deer", "eat", "grass"]
    sheet = Sheet(270, "Which pairs does word2vec learn from?", "Window w = 1. The center has a thick edge.")
    for i, y in enumerate((84, 146, 208)):
        chips = sheet.chips(14, y, words, {i: "chosen"}, width=92)
        near = [j for j in (i - 1, i + 1) if 0 <= j < len(words)]
        sheet.arrow((chips[-1].right, y + 17), (370, y + 17))
        sheet.words(384, y + 17, "  ".join(f"({words[i]}, {words[j]})" for j in near), mono=True)
    return sheet.figure()


def negative_samples() -> Figure:
    """One pair and two negatives: the loss at the beginning, and with dot products as training wants them."""
    sheet = Sheet(
        336, "What does word2vec want from dot products?", "High for a pair of the text, low for random words"
    )
    rows = (("deer", "eat", 3.0, "true pair"), ("deer", "paris", -3.0, "random"), ("deer", "june", -3.0, "random"))
    sheet.words(340, 92, "at the beginning", align="center", bold=True)
    sheet.words(580, 92, "later, for example", align="center", bold=True)
    totals = [0.0, 0.0]
    for y, (one, other, aim, kind) in zip((112, 172, 232), rows, strict=True):
        sheet.chip(14, y, one, "chosen" if aim > 0 else "plain", width=72)
        sheet.chip(92, y, other, "chosen" if aim > 0 else "random", width=82)
        sheet.words(94, y + 45, kind, align="center", faint=True)
        for number, (x, dot) in enumerate(((250.0, 0.0), (490.0, aim))):
            loss = math.log(1 + math.exp(-dot if aim > 0 else dot))
            totals[number] += loss
            sheet.grid(x, y, [dot], digits=0, largest=5, cell=46)
            sheet.arrow((x + 46, y + 17), (x + 92, y + 17))
            sheet.words(x + 98, y + 17, f"loss {loss:.2f}")
    for x, total in zip((348, 588), totals, strict=True):
        sheet.words(x, 308, f"sum {total:.2f}", bold=True)
    sheet.words(14, 308, "K = 2 negatives", faint=True)
    return sheet.figure()


def nearer(vectors: Tensor, tokenizer: Any) -> Figure:
    """The cosines of four words, one-hot and after training."""
    words = ["horse", "cow", "paris", "rome"]
    rows = torch.nn.functional.normalize(vectors[[tokenizer.vocab[word] for word in words]], dim=-1)
    sheet = Sheet(310, "What do 600 steps of word2vec teach?", "The cosine of each two of four words")
    for x, name, table in ((92, "one-hot", torch.eye(4)), (440, "word2vec", rows @ rows.T)):
        sheet.words(x + 132, 92, name, align="center", bold=True)
        sheet.grid(x, 148, table, rows=words, columns=words, cell=66, digits=1, largest=1.6)
    return sheet.figure()


def counts_of_glove(short: Sequence[str], few: Any) -> Figure:
    """Two sentences become a table of weighted counts; GloVe fits vectors to its logarithms, empty cells left out."""
    words = ["deer", "horses", "eat", "grass"]
    near, counts = cooccurrences(*flat(short, few), len(few), window=10)
    table = torch.zeros(len(few), len(few))
    table[near[:, 0], near[:, 1]] = counts
    ids = [few.vocab[word] for word in words]
    table = table[ids][:, ids]
    sheet = Sheet(344, "What does GloVe learn from?", "A table: each time two words meet counts 1 / distance")
    chips = [sheet.chips(14, y, sentence.split(), width=70) for y, sentence in zip((130, 180), short, strict=True)]
    grid = sheet.grid(376, 130, table, rows=words, columns=words, cell=76, numbers=False, largest=3.2)
    sheet.arrow((chips[0][-1].right, 172), (290, 172))
    for i in range(4):
        for j in range(4):
            value = float(table[i, j])
            sheet.words(*grid.cell(i, j).centre, f"{value:.1f}" if value else "–", align="center", faint=not value)
    sheet.words(14, 296, "deer and horses never meet, but they meet the same words.", bold=True)
    sheet.words(14, 322, "w·w′ + b + b′ should become log x; a dash is left out.", faint=True)
    return sheet.figure()


def shared_pieces() -> Figure:
    """The character n-grams of a known word and of an unseen plural; those in common have a thick edge."""
    known, unseen = pieces("cow"), pieces("cows")
    sheet = Sheet(330, "How does a word get a vector that training never saw?", "fastText: the mean of its pieces")
    places = (("cow", 96, [known]), ("cows", 166, [unseen[:5], unseen[5:]]))
    for word, top, lines in places:
        sheet.chip(14, top, word, "plain" if word == "cow" else "random", width=70)
        for row, line in enumerate(lines):
            states = {i: "chosen" for i, piece in enumerate(line) if piece in known and piece in unseen}
            chips = sheet.chips(150, top + 44 * row, line, states, width=76)
            if not row:
                sheet.arrow((84, top + 17), (chips[0].x, top + 17))
    common = len(set(known) & set(unseen))
    sheet.words(14, 276, f"Thick: the {common} pieces in common, trained with cow.", bold=True)
    sheet.words(14, 302, "So cows has a vector at once, and it begins near cow.")
    return sheet.figure()

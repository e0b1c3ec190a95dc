"""The pictures of chapter 03 from its second sitting on: several heads, the mask, the whole class and its cost."""

from collections.abc import Callable
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Sheet
from bertedu.course.pictures.colours import INK, ROLES
from bertedu.model.attention import attend, padding_bias


def two_heads(x: Tensor, W_key: Tensor, W_value: Tensor) -> Figure:
    """One head mixes two nouns, two heads keep them apart."""
    sheet = Sheet(290, "How can [MASK] report on both nouns?", "What it receives: +1 is plural, \u22121 singular")
    other = x * torch.tensor([1, 1, -1, 1])
    sheet.words(346, 92, "one head", align="center", bold=True)
    sheet.words(560, 92, "two heads", align="center", bold=True)
    sheet.words(346, 114, "for both nouns", align="center", faint=True)
    sheet.words(560, 114, "early noun, late noun", align="center", faint=True)
    queries = torch.tensor([[8.0, 0, 0, 0], [8, 8, 0, 0], [8, -8, 0, 0]])
    for y, nouns, vectors in ((140, ("keys", "lamp"), x), (206, ("key", "lamps"), other)):
        weights = (queries @ (vectors @ W_key).T / 2).softmax(dim=-1)
        values = (weights @ vectors @ W_value).flatten()
        sheet.chips(30, y, [nouns[0], "…", nouns[1], "[MASK]"], {3: "hidden"})
        sheet.grid(310, y, values[:1], digits=0, largest=2, cell=72)
        sheet.grid(500, y, values[1:], digits=0, largest=2, cell=60)
    sheet.words(346, 264, "one mixture of both", align="center")
    sheet.words(560, 264, "one number for each", align="center")
    return sheet.figure()


def heads_split(heads: Tensor) -> Figure:
    """A vector is cut in two; each head gets its table of tokens."""
    sheet = Sheet(350, "How do two heads share the vectors?", "The tens digit says which token. D = 4, H = 2, d = 2")
    vectors = heads[0].transpose(0, 1).flatten(1)  # [T, D], before they were cut
    whole = sheet.grid(30, 168, vectors, "Q", "[T, D]", role="query", largest=90)
    left, right = (
        sheet.grid(284 + 90 * h, 168, vectors[:, 2 * h : 2 * h + 2], role="query", largest=90) for h in range(2)
    )
    middle = (left.x + right.right) / 2
    sheet.words(middle, 131, "unflatten", align="center", bold=True, ink=ROLES["query"])
    sheet.words(middle, 153, "[T, H, d]", align="center", faint=True)
    sheet.arrow(whole, left, "cut")
    for h, y in ((0, 96), (1, 212)):
        one = sheet.grid(556, y, heads[0, h], role="query", largest=90)
        sheet.words(one.right + 12, one.centre[1], f"head {h}")
        sheet.arrow((right.right, right.centre[1] + (20 if h else -20)), one)
    sheet.words(470, 302, "swap T and H", align="center")
    sheet.words(592, 328, "[H, T, d]", align="center", faint=True)
    return sheet.figure()


def shortcut(heads: Tensor, wrong: Tensor) -> Figure:
    """What view makes of the heads, beside what they should be."""
    sheet = Sheet(256, "What do the heads get by the shortcut?", "Both have the shape [B, H, T, d].")
    for x, name, tensor in ((40, "unflatten, transpose", heads), (420, "view", wrong)):
        sheet.words(x, 92, name, bold=True)
        for h in range(2):
            one = sheet.grid(x + 130 * h, 118, tensor[0, h], largest=90)
            sheet.words(one.x, one.bottom + 16, f"head {h}", faint=True)
    return sheet.figure()


def padding(q: Tensor, k: Tensor, v: Tensor, attention_mask: Tensor) -> Figure:
    """The weights of one token, with padding attended to and not."""
    sheet = Sheet(
        262,
        "Who gets attention when a text is padded?",
        "The weights of the first token, from random vectors",
    )
    tokens = ["[CLS]", "keys", "[SEP]", "[PAD]", "[PAD]"]
    sheet.chips(220, 82, tokens, {3: "padding", 4: "padding"}, width=86)
    for y, name, bias in (
        (132, "without the mask", None),
        (196, "with the mask", padding_bias(attention_mask, q.dtype)),
    ):
        weights = attend(q, k, v, bias)[1][0, 0, 0]
        sheet.words(200, y + 17, name, align="right", bold=True)
        sheet.grid(220, y, weights, digits=2, largest=1.2, cell=90.5)
    return sheet.figure()


def mask_axes(attention_mask: Tensor) -> Figure:
    """One mask for every query: it hides columns of the scores."""
    sheet = Sheet(366, "Which scores does the mask hide?", "It goes along the keys, so it hides columns.")
    mask = sheet.grid(40, 130, attention_mask[0], "attention_mask", "[B, T]", cell=46)
    added = attention_mask[0] - 1.0
    bias = sheet.grid(40, 250, added, "attention bias", "[B, 1, 1, T]", numbers=False, cell=46, largest=1.2)
    scores = sheet.grid(
        390, 152, added.expand(5, 5), "added to the scores", "[B, H, T, T]", numbers=False, cell=46, largest=1.2
    )
    for table in (bias, scores):
        for i in range(table.rows):
            for j in range(5):
                hidden = not attention_mask[0, j]
                text, ink = ("low", "#ffffff") if hidden else ("0", INK)
                sheet.words(*table.cell(i, j).centre, text, align="center", ink=ink)
    sheet.arrow((mask.centre[0], mask.bottom), (mask.centre[0], 204))
    sheet.arrow(bias, scores)
    sheet.words(bias.x, bias.bottom + 24, "one row for all queries and heads")
    sheet.words(scores.centre[0], 342, "keys", align="center", faint=True)
    sheet.words(scores.right + 10, scores.centre[1], "queries", faint=True)
    return sheet.figure()


def whole_class() -> Figure:
    """The way of the hidden states through multi-head self-attention."""
    sheet = Sheet(336, "What happens to the hidden states, step by step?")
    start = sheet.box(14, 170, 96, 56, "hidden", "states")
    sheet.words(62, 244, "[B, T, D]", align="center", faint=True)
    middle = sheet.box(416, 166, 130, 64, "attend", "in each head")
    sheet.words(481, 248, "[B, H, T, d]", align="center", faint=True)
    sheet.arrow(sheet.box(416, 66, 130, 58, "padding bias", "[B, 1, 1, T]"), middle)
    for name, y in (("query", 104), ("key", 176), ("value", 248)):
        projection = sheet.box(146, y, 80, 44, name)
        split = sheet.box(266, y, 122, 44, "split heads")
        sheet.arrow(start, projection)
        sheet.arrow(projection, split)
        sheet.arrow(split, middle)
    sheet.words(186, 312, "Linear", align="center", faint=True)
    sheet.words(327, 312, "[B, H, T, d]", align="center", faint=True)
    merged = sheet.box(572, 104, 134, 44, "merge heads")
    out = sheet.box(572, 248, 134, 44, "output", new=True)
    sheet.arrow(middle, (merged.x, merged.centre[1]))
    sheet.arrow(merged, out)
    sheet.words(632, 216, "[B, T, D]", align="right", faint=True)
    sheet.words(640, 312, "Linear, [B, T, D]", align="center", faint=True)
    return sheet.figure()


def learned(model: Any, ids: Callable[[list[list[str]]], Tensor]) -> Figure:
    """What [MASK] attends to in two sentences of the same words, after training."""
    sheet = Sheet(340, "What does [MASK] attend to, once it is trained?", "The weights of its row: they sum to 1.")
    for y, phrase, subject in ((84, "the keys near the old lamp", 2), (194, "the old lamp near the keys", 3)):
        text = f"[CLS] {phrase} [MASK] wet . [SEP]".split()
        mask = text.index("[MASK]")
        with torch.no_grad():
            answer = model(ids([text])).argmax().item()
        chips = sheet.chips(14, y, text, {subject: "chosen", mask: "hidden"}, width=50)
        for chip, weight in zip(chips, model.weights[0, 0, mask].tolist(), strict=True):
            sheet.grid(chip.x, y + 36, [weight], digits=2, largest=1.2, cell=chip.width)
        sheet.words(chips[mask].centre[0], y + 88, f"it answers {('is', 'are')[answer]}", align="center", bold=True)
    sheet.words(14, 316, "Only the answer was trained: some weight may go elsewhere.", faint=True)
    return sheet.figure()


def cost() -> Figure:
    """The share of the multiplications that grows with T², for BERT-Base."""
    sheet = Sheet(240, "How much of the work is quadratic in T?", "Share of a layer's multiplications, in BERT-Base")
    lengths = [128, 512, 2048, 4608]
    shares = [length / (length + 6 * 768) for length in lengths]
    bars = sheet.bars(150, 76, shares, [f"T = {length}" for length in lengths], longest=420, digits=2, thick=[1])
    sheet.words(bars[1].right + 16, bars[1].centre[1], "BERT's longest input", faint=True)
    return sheet.figure()


def rows_or_columns() -> Figure:
    """The bias of the lab hides rows, the repaired one columns."""
    sheet = Sheet(330, "What did the colleague's mask hide?", "Scores of a text of 3 tokens and 2 of padding")
    for x, name, shape, columns in (
        (90, "the colleague's", "[B, 1, T, 1]", False),
        (430, "repaired", "[B, 1, 1, T]", True),
    ):
        table = torch.zeros(5, 5)
        table[(slice(None), slice(3, 5)) if columns else slice(3, 5)] = -1
        box = sheet.grid(x, 116, table, name, shape, numbers=False, largest=1.2, cell=40)
        sheet.words(box.right + 10, box.centre[1], "queries", faint=True)
        sheet.words(box.centre[0], box.bottom + 20, "keys", align="center", faint=True)
    return sheet.figure()

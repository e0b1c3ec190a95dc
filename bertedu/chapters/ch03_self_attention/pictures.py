"""The pictures of chapter 03, drawn from its tensors."""

from collections.abc import Callable
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Sheet, map_of_bert
from bertedu.course.pictures.colours import INK, ROLES
from bertedu.model.attention import attend, padding_bias


def where() -> Figure:
    """The map of BERT with attention lit."""
    sheet = Sheet(180, "Where in BERT do tokens learn from each other?")
    map_of_bert(sheet, 50, {"attention"})
    return sheet.figure()


def question() -> Figure:
    """The sentence of the chapter, and the two words that [MASK] may stand for."""
    sheet = Sheet(230, "Is or are? One of two nouns decides")
    tokens = ["the", "keys", "near", "the", "old", "lamp", "[MASK]", "wet", "."]
    chips = sheet.chips(90, 120, tokens, {1: "chosen", 5: "chosen", 6: "hidden"})
    for noun, number, height in ((1, "plural: are", 78), (5, "singular: is", 78)):
        x = chips[noun].centre[0]
        sheet.words(x, height, number, align="center")
        sheet.line((x, height + 14), (x, chips[noun].y - 5))
    sheet.words(chips[6].centre[0], 190, "is or are?", align="center", bold=True)
    return sheet.figure()


def average() -> Figure:
    """Two sentences of the same words have the same mean."""
    sheet = Sheet(250, "Why can the average not decide?")
    mean = sheet.box(530, 98, 176, 56, "the same mean", "of all vectors", new=True)
    for words, subject, verb, y in (
        ("the keys near the old lamp [MASK]", 1, "are", 60),
        ("the old lamp near the keys [MASK]", 2, "is", 160),
    ):
        row = sheet.chips(20, y, words.split(), {subject: "chosen", 6: "hidden"})
        sheet.arrow((row[-1].right, row[-1].centre[1]), (mean.x, mean.centre[1] + (y - 110) / 5))
        sheet.words(row[-1].centre[0], y + 48, f"needs {verb}", align="center")
    sheet.words(706, 216, "one answer for both", align="right", bold=True)
    sheet.arrow(mean, (mean.centre[0], 206))
    return sheet.figure()


def picked(x: Tensor, W_query: Tensor) -> Figure:
    """The vector of [MASK] picks a row of W_query."""
    sheet = Sheet(270, "How does [MASK] get its query?", "Its vector has a single 1, so it picks one row of W_query.")
    entries = ["noun", "early", "plural", "mask"]
    vector = sheet.grid(90, 176, x[2], "x", "[D]", rows=["[MASK]"], cell=40)
    weights = sheet.grid(350, 112, W_query, "W_query", "[D, d]", role="query", rows=entries, cell=38)
    answer = sheet.grid(560, 176, x[2] @ W_query, "query", "[d]", role="query", cell=36)
    sheet.words(268, vector.centre[1], "×", align="center")
    sheet.arrow((weights.right, answer.centre[1]), answer)
    sheet.words(630, 228, "a noun, early", align="center")
    return sheet.figure()


def three_vectors(x: Tensor, W_query: Tensor, W_key: Tensor, W_value: Tensor, tokens: list[str]) -> Figure:
    """Query, key and value of three tokens."""
    sheet = Sheet(500, "Which three vectors does each token get?")
    vectors = sheet.grid(90, 236, x, "x", "[T, D]", rows=tokens, largest=3.2)
    asks = "what it looks for", "what it offers", "what it hands over"
    for i, (role, matrix, shape) in enumerate((("query", W_query, "d"), ("key", W_key, "d"), ("value", W_value, "1"))):
        y = 100 + 136 * i
        projection = sheet.box(306, y + 29, 110, 44, f"× W_{role}")
        sheet.arrow(vectors, projection)
        answer = sheet.grid(476, y, x @ matrix, role=role, largest=3.2)
        sheet.arrow(projection, answer)
        sheet.words(answer.x, y - 16, f"{'QKV'[i]}: {asks[i]}", bold=True, ink=ROLES[role])
        sheet.words(answer.right + 10, answer.centre[1], f"[T, {shape}]", faint=True)
    return sheet.figure()


def by_hand(x: Tensor, W_query: Tensor, W_key: Tensor, W_value: Tensor, tokens: list[str]) -> Figure:
    """One token attends: scores, weights, weighted sum."""
    query, key, value = x[2] @ W_query, x @ W_key, x @ W_value
    scores = key @ query / key.size(-1) ** 0.5
    weights = scores.softmax(dim=-1)
    sheet = Sheet(340, "What does [MASK] learn from the other tokens?", "Its query fits the key of keys best.")
    top = sheet.grid(96, 118, query, "query", "[d]", role="query", rows=["[MASK]"], largest=3.2)
    keys = sheet.grid(96, 214, key, "keys", "[T, d]", role="key", rows=tokens, largest=3.2)
    fits = sheet.grid(290, 214, scores[:, None], "scores", "q·k / √d", largest=3.2)
    sheet.arrow(top, fits)
    sheet.arrow(keys, fits)
    sheet.words(484, 178, "weights", align="center", bold=True)
    bars = sheet.bars(434, 214, weights.tolist(), longest=76)
    sheet.arrow((fits.right, fits.centre[1]), (bars[0].x, fits.centre[1]), "softmax")
    values = sheet.grid(570, 214, value, "values", "[T, 1]", role="value", largest=3.2)
    sheet.words(556, fits.centre[1], "×", align="center")
    sheet.arrow(values, sheet.grid(654, 248, (weights @ value)[None], "output", largest=3.2), "add")
    sheet.words(680, 300, "plural", align="center")
    return sheet.figure()


def all_tokens(x: Tensor, W_query: Tensor, W_key: Tensor, W_value: Tensor, tokens: list[str]) -> Figure:
    """The same for all tokens, as matrices."""
    query, key, value = x @ W_query, x @ W_key, x @ W_value
    scores = query @ key.T / key.size(-1) ** 0.5
    weights = scores.softmax(dim=-1)
    sheet = Sheet(300, "And all tokens at once?", "Two matrix products. Each row belongs to the token that attends.")
    fits = sheet.grid(90, 150, scores, "Q·Kᵀ / √d", "scores [T, T]", rows=tokens, cell=56, largest=3.2)
    shares = sheet.grid(340, 150, weights, "weights", "[T, T]", cell=56, digits=2, largest=1.2)
    values = sheet.grid(552, 150, value, "V", "[T, 1]", role="value", largest=3.2)
    out = sheet.grid(646, 150, weights @ value, "output", "[T, 1]", digits=2, largest=3.2, cell=56)
    sheet.arrow(fits, shares, "softmax")
    sheet.words(530, shares.centre[1], "×", align="center")
    sheet.arrow(values, out)
    sheet.words(shares.centre[0], 272, "each row sums to 1", align="center", faint=True)
    return sheet.figure()


def too_sure(raw: Tensor) -> Figure:
    """Weights of one query for its 16 keys, without and with the division."""
    size = 1024
    sheet = Sheet(300, "What does softmax make of large scores?", f"One query and its 16 keys, d = {size}")
    for x, name, scores in ((40, "scores as they are", raw[0]), (400, "divided by √d", raw[0] / size**0.5)):
        weights = scores.softmax(dim=-1)
        sheet.words(x, 86, name, bold=True)
        base = 250.0
        sheet.line((x, base), (x + 270, base))
        for i, weight in enumerate(weights.tolist()):
            sheet.column(x + 4 + 17 * i, base, 130 * weight, 12)
        sheet.words(x, 274, f"largest weight {weights.max():.2f}")
    return sheet.figure()


def two_heads(x: Tensor, W_key: Tensor, W_value: Tensor) -> Figure:
    """One head mixes two nouns, two heads keep them apart."""
    sheet = Sheet(
        290, "What can two heads say that one cannot?", "What [MASK] receives: +1 is plural, \u22121 singular"
    )
    other = x * torch.tensor([1, 1, -1, 1])
    sheet.words(346, 92, "one head", align="center", bold=True)
    sheet.words(560, 92, "two heads", align="center", bold=True)
    sheet.words(346, 114, "any noun", align="center", faint=True)
    sheet.words(560, 114, "early noun, late noun", align="center", faint=True)
    queries = torch.tensor([[8.0, 0, 0, 0], [8, 8, 0, 0], [8, -8, 0, 0]])
    for y, nouns, vectors in ((140, ("keys", "lamp"), x), (206, ("key", "lamps"), other)):
        weights = (queries @ (vectors @ W_key).T / 2).softmax(dim=-1)
        values = (weights @ vectors @ W_value).flatten()
        sheet.chips(30, y, [nouns[0], "…", nouns[1], "[MASK]"], {3: "hidden"})
        sheet.grid(310, y, values[:1], digits=0, largest=2, cell=72)
        sheet.grid(500, y, values[1:], digits=0, largest=2, cell=60)
    sheet.words(346, 264, "the same twice", align="center")
    sheet.words(560, 264, "not the same", align="center")
    return sheet.figure()


def heads_split(heads: Tensor) -> Figure:
    """A vector is cut in two; each head gets its table of tokens."""
    sheet = Sheet(330, "How do two heads share the vectors?", "Tens: the token. 3 tokens, D = 4, H = 2, d = 2")
    vectors = heads[0].transpose(0, 1).flatten(1)  # [T, D], before they were cut
    whole = sheet.grid(30, 168, vectors, "Q", "[T, D]", role="query", largest=90)
    middle = whole.column(1).right
    sheet.line((middle, whole.y - 4), (middle, whole.bottom + 14), dashed=True)
    sheet.words(whole.centre[0], whole.bottom + 28, "cut", align="center")
    cut = sheet.grid(280, 168, vectors, "unflatten", "[T, H, d]", role="query", largest=90)
    sheet.line((cut.column(1).right, cut.y - 2), (cut.column(1).right, cut.bottom + 2))
    sheet.arrow(whole, cut)
    for h, y in ((0, 100), (1, 216)):
        one = sheet.grid(540, y, heads[0, h], role="query", largest=90)
        sheet.words(one.right + 12, one.centre[1], f"head {h}")
        sheet.arrow((cut.right, cut.centre[1] + (20 if h else -20)), one)
    sheet.words(cut.centre[0], whole.bottom + 28, "swap T and H", align="center")
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
    sheet = Sheet(250, "Who gets attention when a text is padded?", "The weights of the first token, in one head")
    tokens = ["[CLS]", "keys", "[SEP]", "[PAD]", "[PAD]"]
    sheet.chips(220, 72, tokens, {3: "padding", 4: "padding"}, width=86)
    for y, name, bias in (
        (120, "no mask", None),
        (184, "mask added", padding_bias(attention_mask, q.dtype)),
    ):
        weights = attend(q, k, v, bias)[1][0, 0, 0]
        sheet.words(200, y + 17, name, align="right", bold=True)
        sheet.grid(220, y, weights, digits=2, largest=1.2, cell=90.5)
    return sheet.figure()


def mask_axes(attention_mask: Tensor) -> Figure:
    """One mask for every query: it hides columns of the scores."""
    sheet = Sheet(360, "Which scores does the mask hide?", "It goes along the keys, so it hides columns.")
    mask = sheet.grid(40, 200, attention_mask[0], "attention_mask", "[B, T]", cell=40)
    added = (attention_mask[0] - 1.0).expand(5, 5)
    scores = sheet.grid(380, 140, added, "added to the scores", "[B, 1, 1, T]", numbers=False, cell=46, largest=1.2)
    for i in range(5):
        for j in range(5):
            hidden = not attention_mask[0, j]
            text, ink = ("low", "#ffffff") if hidden else ("0", INK)
            sheet.words(*scores.cell(i, j).centre, text, align="center", ink=ink)
    sheet.arrow(mask, scores)
    sheet.words(mask.x, mask.bottom + 28, "the same row for each query")
    sheet.words(scores.centre[0], 328, "keys", align="center", faint=True)
    sheet.words(scores.right + 10, scores.centre[1], "queries", faint=True)
    return sheet.figure()


def whole_class() -> Figure:
    """The way of the hidden states through multi-head self-attention."""
    sheet = Sheet(330, "What happens to the hidden states, step by step?")
    start = sheet.box(14, 150, 96, 56, "hidden", "states")
    sheet.words(62, 224, "[B, T, D]", align="center", faint=True)
    middle = sheet.box(416, 146, 130, 64, "attend", "in each head")
    for name, y in (("query", 84), ("key", 156), ("value", 228)):
        projection = sheet.box(146, y, 80, 44, name)
        split = sheet.box(266, y, 122, 44, "split heads")
        sheet.arrow(start, projection)
        sheet.arrow(projection, split)
        sheet.arrow(split, middle)
    sheet.words(186, 292, "Linear", align="center", faint=True)
    sheet.words(327, 292, "[B, H, T, d]", align="center", faint=True)
    merged = sheet.box(572, 84, 134, 44, "merge heads")
    out = sheet.box(572, 228, 134, 44, "output", new=True)
    sheet.arrow(middle, (merged.x, merged.centre[1]))
    sheet.arrow(merged, out)
    sheet.words(640, 292, "Linear", align="center", faint=True)
    return sheet.figure()


def learned(model: Any, ids: Callable[[list[list[str]]], Tensor]) -> Figure:
    """What [MASK] attends to in two sentences of the same words, after training."""
    sheet = Sheet(270, "What does [MASK] attend to, once it is trained?", "The weights of its row: they sum to 1.")
    for y, phrase, subject in ((84, "the keys near the old lamp", 1), (180, "the old lamp near the keys", 2)):
        text = f"{phrase} [MASK] wet .".split()
        with torch.no_grad():
            answer = model(ids([["[CLS]", *text, "[SEP]"]])).argmax().item()
        weights = model.weights[0, 0, 1 + text.index("[MASK]"), 1:-1]
        sheet.chips(14, y, text, {subject: "chosen", 6: "hidden"}, width=62)
        x = 14.0
        for token, weight in zip(text, weights.tolist(), strict=True):
            width = max(62.0, 0.61 * 16 * len(token) + 14)
            sheet.grid(x, y + 36, [weight], digits=2, largest=1.2, cell=width)
            x += width + 5
        sheet.words(x + 8, y + 16, ("is", "are")[answer], bold=True)
    return sheet.figure()


def cost() -> Figure:
    """The share of the multiplications that grows with T², for BERT-Base."""
    sheet = Sheet(240, "What share of the work grows with T²?", "Multiplications of a layer of BERT-Base, D = 768")
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

"""The pictures of chapter 02, drawn from its tensors."""

from collections.abc import Callable
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor
from torch.nn.functional import one_hot

from bertedu.course.pictures import Sheet, map_of_bert


def where() -> Figure:
    """The map of BERT with the embeddings lit."""
    sheet = Sheet(190, "Where do ids become vectors?")
    map_of_bert(sheet, 50, {"embeddings"})
    return sheet.figure()


def names(words: list[str], animals: list[str]) -> Figure:
    """The twenty words by their ids; animals are filled."""
    sheet = Sheet(
        180, "Where would you cut, to separate animals from colors?", "Ids in alphabetical order; gold: an animal"
    )
    flags = torch.tensor([[float(word in animals) for word in words]])
    row = sheet.grid(14, 96, flags, numbers=False, cell=34.5, largest=1.4)
    for i, align in ((0, "left"), (6, "center"), (9, "center"), (19, "right")):
        sheet.words(row.cell(0, i).centre[0], 148, f"{words[i]} {i}", align=align)
    return sheet.figure()


LOOKED_UP = [2, 4, 2]  # the ids of the chapter's first look-up


def look_up(table: Tensor) -> Figure:
    """Ids select rows of the table."""
    sheet = Sheet(340, "What does an embedding layer do with ids?", "It copies rows. Nothing is multiplied.")
    rows = sheet.grid(290, 132, table, "table", "[V, D]", rows=["0", "1", "2", "3", "4"])
    answer = sheet.grid(560, 166, table[LOOKED_UP], "vectors", "[T, D]")
    sheet.words(82, 122, "ids", align="center", bold=True)
    for i, id in enumerate(LOOKED_UP):
        chip = sheet.chip(60, 148 + 56 * i, str(id), width=44)
        sheet.arrow((chip.right, chip.centre[1]), (rows.x - 24, rows.row(id).centre[1]))
        sheet.arrow((rows.right, rows.row(id).centre[1]), (answer.x, answer.row(i).centre[1]))
    return sheet.figure()


def product(table: Tensor) -> Figure:
    """The same as a product with one-hot vectors."""
    sheet = Sheet(340, "Can a matrix product pick rows?")
    flags = sheet.grid(40, 166, one_hot(torch.tensor(LOOKED_UP), 5), "one-hot", "[T, V]", largest=1.6)
    sheet.words(246, flags.centre[1], "×", align="center")
    rows = sheet.grid(300, 132, table, "table", "[V, D]")
    sheet.words(436, flags.centre[1], "=", align="center")
    sheet.grid(470, 166, table[LOOKED_UP], "vectors", "[T, D]")
    sheet.words(rows.centre[0], 324, "a 1 in column 2 picks row 2", align="center", faint=True)
    return sheet.figure()


def gradients(gradient_of_rows: list[int]) -> Figure:
    """Which rows of the table get a gradient from the look-up."""
    sheet = Sheet(290, "Which rows does the loss reach?", "Looked up: 2, 4, 2 and 0, which is [PAD]")
    rows = sheet.grid(150, 90, torch.tensor(gradient_of_rows)[:, None], rows=["0 [PAD]", "1", "2", "3", "4"], cell=60)
    for i, text in enumerate(
        ("looked up, but it is padding", "not looked up", "looked up twice", "not looked up", "looked up once")
    ):
        sheet.words(rows.right + 16, rows.row(i).centre[1], text, faint=not gradient_of_rows[i])
    sheet.words(rows.centre[0], 276, "gradient", align="center", bold=True)
    return sheet.figure()


def same_vectors() -> Figure:
    """Two orders of the same words come out of attention alike."""
    sheet = Sheet(250, "Who bites whom, if nothing tells the order?")
    for y, text in ((64, "dog bites man"), (164, "man bites dog")):
        words = text.split()
        row = sheet.chips(20, y, words, {words.index("dog"): "chosen"})
        middle = sheet.box(290, y - 8, 150, 50, "self-attention")
        sheet.arrow((row[-1].right, row[-1].centre[1]), (middle.x, row[-1].centre[1]))
        sheet.arrow((middle.right, middle.centre[1]), (520, 118 + (y - 64) * 0.3))
    sheet.words(530, 122, "one vector of dog,", bold=True)
    sheet.words(530, 146, "twice the same", bold=True)
    return sheet.figure()


def three_rows(pair: Any) -> Figure:
    """Token, segment and position of the first tokens of a pair."""
    sheet = Sheet(270, "Which three rows are added for each token?")
    shown = range(8)
    tokens = pair.tokens[0][:8]
    letters = ["AB"[pair.token_type_ids[0, i]] for i in shown]
    wide = 68.0
    for y, name, entries in (
        (66, "token", tokens),
        (142, "segment", letters),
        (218, "position", [str(i) for i in shown]),
    ):
        sheet.words(14, y + 17, name, bold=True)
        boxes = sheet.chips(116, y, entries, width=wide)
        if y < 200:
            for box in boxes:
                sheet.words(box.centre[0], y + 54, "+", align="center")
    return sheet.figure()


def sum_of_three() -> Figure:
    """The sum of three rows with four numbers each."""
    sheet = Sheet(260, "What goes in for the word “the”?", "Row 5 of tokens, row 0 of segments, row 3 of positions")
    rows = torch.tensor([[3, 0, -1, 2], [1, 1, 0, 0], [0, -2, 1, 0]])
    three = sheet.grid(170, 96, rows, rows=["token 5", "segment 0", "position 3"], largest=5)
    total = sheet.grid(480, 130, rows.sum(dim=0), "sum", "[D]", largest=5)
    sheet.arrow(three, total, "add")
    return sheet.figure()


def concatenated() -> Figure:
    """A linear map of a concatenation is a sum of three linear maps."""
    sheet = Sheet(250, "Is a concatenation more than a sum?")
    parts = ("token", "segment", "position")
    sheet.words(14, 96, "one matrix, [D, 3·D]", faint=True)
    for i, part in enumerate(parts):
        sheet.box(14 + 76 * i, 112, 76, 56, f"W{i + 1}")
        sheet.box(290, 86 + 36 * i, 110, 36, part)
        sheet.words(474, 104 + 36 * i, ("+ " if i else "= ") + f"W{i + 1}·{part}", bold=True)
    sheet.words(266, 140, "×", align="center")
    sheet.words(290, 216, "one vector, [3·D]", faint=True)
    sheet.words(474, 216, "three vectors, [D] each", faint=True)
    return sheet.figure()


def normalization(x: Tensor) -> Figure:
    """LayerNorm of one token, step by step."""
    sheet = Sheet(330, "How does LayerNorm change one token?")
    centred = x - x.mean()
    normal = centred / centred.square().mean().sqrt()
    for y, values, name in ((64, x, "x"), (164, centred, "minus the mean"), (264, normal, "divided by √variance")):
        sheet.grid(250, y, values, cell=56, largest=7, digits=1 if y > 200 else 0)
        sheet.words(234, y + 17, name, align="right", bold=True)
    sheet.arrow((390, 98), (390, 164))
    sheet.words(404, 131, f"mean {x.mean():.0f}")
    sheet.arrow((390, 198), (390, 264))
    sheet.words(404, 231, f"variance {centred.square().mean():.0f}, root {centred.square().mean().sqrt():.0f}")
    return sheet.figure()


def clocks(sinusoids: Callable[[int, int], Tensor]) -> Figure:
    """Rows of sinusoids: fast columns on the left, slow ones on the right."""
    sheet = Sheet(466, "What do computed positions look like?", "Sine and cosine: gold is 1, purple \u22121")
    rows = sinusoids(10, 8)
    positions, names = [str(i) for i in range(10)], ["sin", "cos"] * 4
    table = sheet.grid(150, 120, rows, rows=positions, columns=names, cell=44, largest=1.2, numbers=False)
    for pair in range(4):
        sheet.words(table.x + 44 + 88 * pair, 86, f"pair {pair}", align="center", bold=True)
    sheet.words(60, table.centre[1], "position", align="center", bold=True)
    sheet.words(table.right + 14, 130, "Each pair is a clock.")
    sheet.words(table.right + 14, 170, "pair 0: fast,")
    sheet.words(table.right + 14, 194, "a turn in 6.3 tokens")
    sheet.words(table.right + 14, 234, "pair 3: slow,")
    sheet.words(table.right + 14, 258, "hardly moved yet")
    return sheet.figure()


def padding(batch: Any, vectors: Tensor) -> Figure:
    """The norms of the vectors of a padded text."""
    sheet = Sheet(380, "Can you tell padding by its vector?", "Norms of the vectors that enter the encoder")
    sheet.bars(110, 72, vectors[1].norm(dim=-1).tolist(), batch.tokens[1], longest=380, full=6.0)
    return sheet.figure()


def left_padding() -> Figure:
    """Positions of a text padded on the left, counted wrongly and rightly."""
    sheet = Sheet(240, "Which positions does a text padded on the left get?")
    tokens = ["[PAD]", "[PAD]", "[CLS]", "who", "sleeps", "[SEP]"]
    boxes = sheet.chips(150, 60, tokens, {0: "padding", 1: "padding"}, width=84)
    mask = torch.tensor([0, 0, 1, 1, 1, 1])
    counted = (mask.cumsum(dim=0) - 1).clamp(min=0)
    for y, name, numbers in ((124, "from the left", range(6)), (170, "by the mask", counted.tolist())):
        sheet.words(136, y, name, align="right", bold=y > 150)
        for box, number, real in zip(boxes, numbers, mask.tolist(), strict=True):
            sheet.words(box.centre[0], y, str(number), align="center", faint=not real)
    sheet.words(boxes[2].x, 214, "the first real token is 0, as in training")
    return sheet.figure()

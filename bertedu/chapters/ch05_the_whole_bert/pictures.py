"""The pictures of chapter 05, drawn from its models. Those of sizes and memory are in `pictures_of_sizes.py`."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from bertedu.config import BertConfig
from bertedu.course.pictures import Box, Sheet, map_of_bert


def where() -> Figure:
    """The map of BERT, and what makes a model of its parts."""
    sheet = Sheet(330, "What makes one model of the parts?")
    boxes = map_of_bert(sheet, 50, {"heads"})
    config = sheet.box(113, 240, 190, 64, "config", "how large is it?", new=True)
    checkpoint = sheet.box(333, 240, 220, 64, "checkpoint", "which numbers?", new=True)
    pooler = sheet.box(583, 240, 123, 64, "pooler", "one vector", new=True)
    for box, part in ((config, "embeddings"), (checkpoint, "attention")):
        sheet.arrow((box.centre[0], box.y), (box.centre[0], 176))
        sheet.line((boxes[part].x, 172), (boxes[part].right, 172))
    sheet.line((boxes["embeddings"].x, 172), (boxes["feed-forward"].right, 172))
    sheet.arrow(pooler, (pooler.centre[0] + 27, boxes["heads"].bottom + 44))
    return sheet.figure()


def folder(tensors: dict[str, Tensor], config: BertConfig) -> Figure:
    """What the two files of a small BERT hold."""
    sheet = Sheet(350, "What is in the folder of a BERT?")
    sheet.words(14, 66, "config.json", bold=True, mono=True)
    kept = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    for i, field in enumerate(kept):
        sheet.words(14, 100 + 28 * i, field, mono=True)
        sheet.words(266, 100 + 28 * i, f"{getattr(config, field)}", align="right", bold=True)
    sheet.line((288, 56), (288, 330))
    sheet.words(306, 66, "model.safetensors", bold=True, mono=True)
    shown = ("embeddings.word_embeddings.weight", "embeddings.LayerNorm.bias", "pooler.dense.weight")
    for i, name in enumerate(shown):
        where = 100 + 76 * i
        sheet.words(306, where, name, mono=True)
        shape = "[" + ", ".join(map(str, tensors[name].shape)) + "]"
        cells = sheet.grid(306, where + 14, tensors[name].flatten()[:4], digits=2)
        sheet.words(cells.right + 10, cells.centre[1], f"…   {shape}", faint=True)
    sheet.words(306, 326, f"and so on: {len(tensors)} tensors")
    return sheet.figure()


def no_match(parts: nn.ModuleDict, tensors: dict[str, Tensor]) -> Figure:
    """Our names and theirs: none is on both sides."""
    ours = set(parts.state_dict())
    sheet = Sheet(290, "Which names are on both sides?", f"Ours: {len(ours)}. Theirs: {len(tensors)}. On both sides: "
                  f"{len(ours & set(tensors))}")  # fmt: skip
    pairs = (
        ("…token.weight", "…word_embeddings.weight"),
        ("…norm.weight", "…LayerNorm.weight"),
        ("…attention.query.bias", "…attention.self.query.bias"),
        ("", "pooler.dense.weight"),
    )
    sheet.words(14, 92, "our parts", bold=True)
    sheet.words(706, 92, "the file", align="right", bold=True)
    for i, (one, other) in enumerate(pairs):
        if one:
            assert any(name.endswith(one[1:]) for name in ours), one
            sheet.words(14, 132 + 36 * i, one, mono=True)
        assert any(name.endswith(other.lstrip("…")) for name in tensors), other
        sheet.words(706, 132 + 36 * i, other, align="right", mono=True)
        sheet.words(350, 132 + 36 * i, "\u2260", align="center", bold=True)
    return sheet.figure()


def pooler(three_tokens: Tensor, dense: nn.Linear) -> Figure:
    """One vector of a text: the first token's, through a linear layer and tanh."""
    sheet = Sheet(260, "How does a text become one vector?", "Of the three vectors, the pooler reads the first.")
    vectors = three_tokens[0]
    given = sheet.grid(100, 120, vectors, "hidden states", "[T, D]", rows=["[CLS]", "token", "token"], largest=16)
    with torch.no_grad():
        linear = dense(vectors[0])
    first = given.row(0)
    layer = sheet.box(250, first.y - 8, 90, 50, "Linear")
    middle = sheet.grid(390, first.y, linear, digits=1, largest=3.2)
    squash = sheet.box(514, first.y - 8, 70, 50, "tanh")
    out = sheet.grid(610, first.y, linear.tanh(), "pooled", "[D]", digits=2, largest=3.2, cell=50)
    for one, following in pairwise((Box(first.x, first.y, first.width, first.height), layer, middle, squash, out)):
        sheet.arrow(one, following)
    sheet.words(given.right + 16, given.row(1).bottom + 6, "not read", faint=True)
    for i, (row, bias) in enumerate(zip(dense.weight.tolist(), dense.bias.tolist(), strict=True)):
        products = " + ".join(
            f"{w:g} · {x:g}" if x > 0 else f"{w:g} · ({x:g})" for w, x in zip(row, vectors[0].tolist(), strict=True)
        )
        told = f"{products} + {bias:g} = {linear[i]:g}".replace("-", "\u2212")
        sheet.words(300, 194 + 26 * i, told, mono=True)
    return sheet.figure()


def forward(input_ids: Tensor, config: BertConfig) -> Figure:
    """The way of a batch through the class."""
    B, T = input_ids.shape
    D = config.hidden_size
    sheet = Sheet(380, "What happens in forward?", f"Two texts of {T} tokens, D = {D}")
    ids = sheet.box(14, 84, 150, 46, "input_ids")
    types = sheet.box(14, 156, 150, 46, "token_type_ids")
    mask = sheet.box(14, 300, 150, 46, "attention_mask")
    embeddings = sheet.box(216, 120, 130, 46, "embeddings")
    bias = sheet.box(216, 300, 130, 46, "padding_bias")
    encoder = sheet.box(400, 120, 110, 46, "encoder")
    pooling = sheet.box(400, 300, 110, 46, "pooler", new=True)
    for one, following in ((ids, embeddings), (types, embeddings), (mask, bias), (embeddings, encoder)):
        sheet.arrow(one, following)
    sheet.arrow((bias.right + 4, bias.y), (encoder.x - 2, encoder.bottom + 8))
    sheet.arrow(encoder, pooling)
    for box, shape, text in ((encoder, f"[{B}, {T}, {D}]", "hidden states"), (pooling, f"[{B}, {D}]", "pooled")):
        sheet.arrow(box, (546, box.centre[1]))
        sheet.words(552, box.centre[1] - 11, text, bold=True)
        sheet.words(552, box.centre[1] + 13, shape, faint=True)
    sheet.words(89, 144, f"[{B}, {T}]", align="center", faint=True)
    sheet.words(89, 362, f"[{B}, {T}]", align="center", faint=True)
    sheet.words(281, 184, f"[{B}, {T}, {D}]", align="center", faint=True)
    sheet.words(281, 362, f"[{B}, 1, 1, {T}]", align="center", faint=True)
    return sheet.figure()


def reaches(input_ids: Tensor) -> Figure:
    """A changed word reaches the pooler through [CLS]."""
    sheet = Sheet(300, "How does the last word reach the pooler?")
    tokens = ["[CLS]", *map(str, input_ids[0, 1:5].tolist()), "[SEP]"]
    pooling = sheet.box(14, 58, 100, 44, "pooler")
    above = sheet.chips(30, 140, tokens, {0: "chosen"}, width=68)
    below = sheet.chips(30, 244, tokens, {4: "chosen"}, width=68)
    for token in below:
        sheet.arrow((token.centre[0], token.y), (above[0].centre[0] + 4, above[0].bottom))
    sheet.arrow((above[0].centre[0], above[0].y), (above[0].centre[0], pooling.bottom))
    sheet.words(above[-1].right + 18, above[0].centre[1], "after a layer", faint=True)
    sheet.words(below[-1].right + 18, below[0].centre[1], "before it", faint=True)
    sheet.words(490, 210, "through attention", bold=True)
    return sheet.figure()


def last_token(input_ids: Tensor) -> Figure:
    """What stands at the first and at the last position, alone and padded."""
    sheet = Sheet(270, "Which token is at position \u22121?", "The second text, alone and in the batch")
    words = ["[CLS]", *map(str, input_ids[1, 1:3].tolist()), "[SEP]", "[PAD]", "[PAD]"]
    for y, name, tokens, states in (
        (96, "alone", words[:4], {0: "chosen"}),
        (180, "in the batch", words, {0: "chosen", 4: "padding", 5: "padding"}),
    ):
        sheet.words(14, y + 17, name, bold=True)
        row = sheet.chips(150, y, tokens, states, width=76)
        sheet.words(row[0].centre[0], y + 52, "0", align="center", mono=True)
        sheet.words(row[-1].centre[0], y + 52, "\u22121", align="center", mono=True)
    return sheet.figure()


def hook() -> Figure:
    """When a forward hook is called, and with what."""
    sheet = Sheet(
        270, "What does a forward hook get?", "After each forward, PyTorch calls hook(module, inputs, output)"
    )
    module = sheet.box(290, 90, 140, 50, "module")
    watcher = sheet.box(200, 200, 320, 50, "hook", new=True)
    sheet.words(120, 115, "inputs", align="right")
    sheet.arrow((124, 115), module)
    sheet.arrow(module, (594, 115))
    sheet.words(600, 115, "output")
    for x, name in ((210, "inputs"), (360, "module"), (500, "output")):
        sheet.arrow((x, 115 if x != 360 else module.bottom - 4), (x, watcher.y))
        sheet.words(x + 8, 170, name, faint=True)
    return sheet.figure()


def their_names() -> Figure:
    """The parts of a layer with the names that transformers gives them."""
    sheet = Sheet(376, "What does transformers call the parts of a layer?", "Bold: names that are easily mixed up")
    rows = (
        ("query, key, value", "attention.self", False),
        ("output projection", "attention.output.dense", True),
        ("norm", "attention.output.LayerNorm", False),
        ("expand", "intermediate.dense", False),
        ("shrink", "output.dense", True),
        ("norm", "output.LayerNorm", False),
    )
    boxes = []
    for i, (part, name, twice) in enumerate(rows):
        boxes.append(sheet.box(20, 82 + 48 * i, 180, 34, part))
        sheet.words(400, boxes[-1].centre[1], name, mono=True, bold=twice)
    for one, following in pairwise(boxes):
        sheet.arrow((one.centre[0], one.bottom - 4), (one.centre[0], following.y + 4))
    for start, end, name in ((0, 2, "attention"), (3, 5, "feed-forward")):
        top, bottom = boxes[start].y + 4, boxes[end].bottom - 4
        sheet.line((216, top), (226, top), (226, bottom), (216, bottom))
        sheet.words(236, (top + bottom) / 2, name, faint=True)
    return sheet.figure()


def same_numbers(mine_out: tuple[Tensor, Tensor], ours_out: Any, reference: Any) -> Figure:
    """The same four numbers by three programs."""
    sheet = Sheet(250, "Do three programs compute the same?", "The vector of [CLS]: its first four numbers")
    table = [mine_out[0][0, 0, :4], ours_out.last_hidden_state[0, 0, :4], reference.last_hidden_state[0, 0, :4]]
    rows = ["your class", "the package", "transformers"]
    sheet.grid(190, 100, torch.stack(table), rows=rows, digits=4, cell=110, row=42)
    return sheet.figure()


def two_phases(models: dict[str, Any], count: Callable[[nn.Module], int]) -> Figure:
    """Pre-training and fine-tuning side by side."""
    sheet = Sheet(430, "What stays, and what is new in fine-tuning?")
    kept = f"{count(models['base']) / 1e6:.1f} million numbers"
    for top, bottom in ((52, 208), (330, 416)):
        sheet.line((366, top), (366, bottom), dashed=True)
    bodies = []
    for x, title, tokens, states in (
        (14, "1. Pre-training", ["the", "bank", "[MASK]", "the", "river"], {2: "hidden"}),
        (386, "2. Fine-tuning", ["a", "lovely", "little", "film"], {}),
    ):
        sheet.words(x, 66, title, bold=True)
        row = sheet.chips(x, 356, tokens, states)
        middle = (row[0].x + row[-1].right) / 2
        bodies.append(sheet.box(x + 20, 246, 280, 62, "BERT", kept))
        sheet.arrow((middle, row[0].y), (middle, bodies[-1].bottom))
    first, second = bodies
    sheet.words(14, 408, "text without labels, any amount", faint=True)
    sheet.words(386, 408, "your texts with labels, few", faint=True)
    for x, lines, says, wide in ((24, ("MLM head",), "of", 130), (194, ("NSP head",), "B follows A", 130)):
        head = sheet.box(x, 154, wide, 44, *lines)
        sheet.arrow((head.centre[0], first.y), head)
        sheet.arrow((head.centre[0], head.y), (head.centre[0], 124))
        sheet.words(head.centre[0], 110, says, align="center", mono=True)
    head = sheet.box(446, 154, 200, 44, "your head", new=True)
    sheet.arrow((head.centre[0], second.y), head)
    sheet.arrow((head.centre[0], head.y), (head.centre[0], 124))
    sheet.words(head.centre[0], 110, "positive", align="center", mono=True)
    sheet.arrow(first, second)
    sheet.words(366, 226, "copied", align="center", bold=True)
    return sheet.figure()


def heads(mine_out: tuple[Tensor, Tensor]) -> Figure:
    """What the heads for three kinds of tasks read."""
    sheet = Sheet(400, "Which vectors does a head read?", "The last hidden states of one text, [T, D]")
    row = sheet.chips(14, 80, ["[CLS]", "a", "lovely", "little", "film", "[SEP]"], width=69)
    vectors = [
        sheet.grid(token.centre[0] - 20, 126, vector[:3, None], numbers=False, cell=40, row=18)
        for token, vector in zip(row, mine_out[0][0], strict=False)
    ]
    pooler = sheet.box(row[0].x, 204, row[0].width, 44, "pooler")
    sheet.arrow(vectors[0], pooler)
    text = sheet.box(row[2].x, 204, row[-1].right - row[2].x, 44, "Linear(D, 3)", new=True)
    sheet.arrow(pooler, text)
    for y, layer in ((270, "Linear(D, 9)"), (336, "Linear(D, 2)")):
        sheet.box(row[0].x, y, row[-1].right - row[0].x, 44, layer, new=True)
    for y, name, out in (
        (204, "a text:", "3 scores"),
        (270, "each token:", "9 scores for each"),
        (336, "an answer:", "start and end for each"),
    ):
        sheet.words(496, y + 10, name, bold=True)
        sheet.words(496, y + 34, out)
    return sheet.figure()


def tied(my_bert: Any) -> Figure:
    """One table at both ends of BERT."""
    table_of_tokens = my_bert.embeddings.token.weight.detach()[5:11, :6]
    sheet = Sheet(300, "Where does the MLM head get its V × D matrix?", "From the embeddings: one table, used twice")
    table = sheet.grid(286, 112, table_of_tokens, numbers=False, cell=24, row=24)
    sheet.words(table.centre[0], table.bottom + 22, "token embeddings [V, D]", align="center", bold=True)
    at_input = sheet.box(20, 100, 130, 44, "input")
    sheet.words(20, 166, "an id picks a row", faint=True)
    sheet.arrow(at_input, (table.x, at_input.centre[1]))
    at_output = sheet.box(560, 200, 140, 44, "MLM head")
    sheet.arrow((table.right, at_output.centre[1]), at_output)
    sheet.words(706, 166, "a vector times all rows", align="right", faint=True)
    sheet.words(706, 266, "V scores", align="right", faint=True)
    return sheet.figure()


def suspect(cosines: dict[str, float]) -> Figure:
    """How alike the loaded model and the original are after each layer."""
    sheet = Sheet(220, "How alike are the loaded model and the original?", "Cosine of the vectors of the same token")
    sheet.bars(150, 84, list(cosines.values()), list(cosines), longest=400, digits=2)
    return sheet.figure()


def squares() -> Figure:
    """A kernel that does not fit, and a square one that fits both ways."""
    sheet = Sheet(310, "Which kernels look right as they are?", "TensorFlow stores [in, out], PyTorch [out, in].")
    wide = torch.arange(1.0, 9.0).view(2, 4)
    square = torch.arange(1.0, 5.0).view(2, 2)
    for x, kernel, note, fits in (
        (30, wide, "does not fit: transposed", False),
        (440, square, "fits: left as it is", True),
    ):
        given = sheet.grid(x, 130, kernel, "kernel", largest=20)
        used = kernel if fits else kernel.T
        sheet.grid(given.right + 70, 130, used, "loaded", largest=20)
        sheet.arrow(given, (given.right + 70, given.centre[1]))
        sheet.words(x, 290, note, bold=fits)
    return sheet.figure()

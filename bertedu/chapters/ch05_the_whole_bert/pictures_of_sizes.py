"""The pictures of chapter 05 that say how large BERT is, and what its training keeps in memory."""

from collections.abc import Callable
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from bertedu.course.pictures import Sheet, map_of_bert

Count = Callable[[nn.Module], int]


def cut(tensors: dict[str, Tensor], query: str) -> Figure:
    """The outputs of one projection, cut for two heads and for four."""
    sheet = Sheet(330, "What do more heads change?", "A query projection with D = 8: a column for each output")
    for x, heads in ((30, 2), (390, 4)):
        size = 8 // heads
        sheet.words(x, 92, f"H = {heads}, d = {size}", bold=True)
        weights = sheet.grid(x, 112, tensors[query][:8, :8].T, numbers=False, cell=36, row=20)
        for head in range(1, heads):
            across = weights.column(head * size).x
            sheet.line((across, weights.y - 6), (across, weights.bottom + 6), thick=True, ink="#222222")
        sheet.words(x, weights.bottom + 28, "8 · 8 weights, as before")
    return sheet.figure()


def widths(steps: list[tuple[str, Tensor]]) -> Figure:
    """How many numbers each kind of module gives for a token."""
    sheet = Sheet(394, "How wide is a token on its way?", "Numbers for each token, as the hooks saw them")
    seen = dict(steps)
    layer = "encoder.layers.0."
    names = {
        "embeddings.norm": "embeddings",
        f"{layer}attention.query": "query",
        f"{layer}attention.key": "key",
        f"{layer}attention.value": "value",
        f"{layer}attention.output": "output",
        f"{layer}feed_forward.expand": "expand",
        f"{layer}feed_forward.shrink": "shrink",
        "pooler.dense": "pooler",
    }
    sizes = [seen[name].size(-1) for name in names]
    full = max(sizes)
    bars = sheet.bars(150, 80, sizes, list(names.values()), longest=400, full=full, digits=0, thick=[5])
    sheet.words(bars[-1].right + 16, bars[-1].centre[1], "for the whole text", faint=True)
    return sheet.figure()


def toy(bert: Any) -> Figure:
    """The embeddings of the toy BERT, and a linear layer, as rectangles of numbers."""
    sheet = Sheet(370, "What is counted?", "Every cell is a number that BERT learns. Here D = 4.")
    tables = (
        ("token", bert.embeddings.token.weight, 30),
        ("position", bert.embeddings.position.weight, 150),
        ("type", bert.embeddings.token_type.weight, 270),
    )
    for name, weight, x in tables:
        sheet.grid(x, 140, weight.detach(), name, "×".join(map(str, weight.shape)), numbers=False, cell=21,
                   row=21)  # fmt: skip
    norm = bert.embeddings.norm
    scale_and_shift = torch.stack([norm.weight, norm.bias]).detach()
    sheet.grid(270, 250, scale_and_shift, "norm", "2×4", cell=21, row=21)
    sheet.line((400, 84), (400, 350))
    sheet.words(424, 96, "a linear layer from 4 to 4", bold=True)
    linear = bert.encoder.layers[0].attention.query
    sheet.grid(440, 170, linear.weight.detach(), "weight", "4×4", numbers=False, cell=21, row=21)
    sheet.grid(570, 170, linear.bias.detach()[:, None], "bias", "4", cell=24, row=21)
    return sheet.figure()


def twelve(bert: Any, count: Count) -> Figure:
    """The matrices of one layer, drawn to scale."""
    layer = bert.encoder.layers[0]
    sheet = Sheet(350, "Where do the 12 · D² weights of a layer come from?", "To scale, D = 4: a square has 16 weights")
    cell = 17
    for i, name in enumerate(("query", "key", "value", "output")):
        weight = getattr(layer.attention, name).weight.detach()
        sheet.grid(20 + 84 * i, 110, weight, name, numbers=False, cell=cell, row=cell)
    sheet.words(20, 206, f"attention: 4 · D², with biases {count(layer.attention)}", bold=True)
    sheet.grid(20, 252, layer.feed_forward.expand.weight.detach().T, "expand", numbers=False, cell=cell, row=cell)
    sheet.words(20, 340 - 4, f"feed-forward: 8 · D², with biases {count(layer.feed_forward)}", bold=True)
    sheet.grid(400, 110, layer.feed_forward.shrink.weight.detach().T, "shrink", numbers=False, cell=cell, row=cell - 4)
    sheet.line((14, 224), (374, 224), (374, 84), dashed=True)
    return sheet.figure()


def shares(models: dict[str, Any], shares: Callable[[Any], list[float]]) -> Figure:
    """The share of three kinds of parameters in six sizes."""
    sheet = Sheet(330, "Where are the parameters of a BERT?", "Shares of all parameters")
    rows = [f"{name} {sum(p.numel() for p in model.parameters()) / 1e6:.1f} M" for name, model in models.items()]
    table = [shares(model) for model in models.values()]
    columns = ["embeddings", "attention", "feed-forward"]
    sheet.grid(170, 104, table, rows=rows, columns=columns, digits=2, cell=170, largest=1.2)
    return sheet.figure()


def sixteen(bytes_of: list[int], bert: Any, count: Count, models: dict[str, Any]) -> Figure:
    """What training keeps for each parameter."""
    sheet = Sheet(230, "What does training keep for each parameter?")
    whole = count(models["base"]) * sum(bytes_of) / count(bert) / 1e9
    one = f"{bytes_of[0] / count(bert):.0f} bytes"
    x = 14.0
    for lines in (("weight", one), ("gradient", one), ("mean of gradients", one), ("mean of squares", one)):
        wide = 124 if len(lines[0]) < 10 else 202
        x = sheet.box(x, 70, wide, 62, *lines).right + 12
    sheet.words(296, 156, "Adam's two means", faint=True)
    total = f"{sum(bytes_of) / count(bert):.0f} bytes for each parameter: {whole:.2f} GB for BERT-Base"
    sheet.words(14, 200, total, bold=True)
    return sheet.figure()


def activations(activations: dict[int, float], models: dict[str, Any], count: Count) -> Figure:
    """Memory of training by the length of the texts."""
    sheet = Sheet(270, "What fills the memory when texts get longer?", "Training BERT-Base on 32 texts, in GB")
    fixed = 16 * count(models["base"]) / 1e9
    names = ["parameters", *(f"T = {length}" for length in activations)]
    values = [fixed, *activations.values()]
    bars = sheet.bars(150, 84, values, names, longest=400, full=max(values), digits=1)
    sheet.words(bars[0].right + 16, bars[0].centre[1], "weights, gradients, means", faint=True)
    sheet.words(bars[1].right + 16, bars[1].centre[1], "activations", faint=True)
    return sheet.figure()


def first_answer(first: dict[str, Any]) -> Figure:
    """The largest probabilities of an untrained model, for both initializations."""
    sheet = Sheet(300, "What does an untrained BERT answer?", "The 12 largest of 30,522 probabilities, for one token")
    for x, (name, output) in zip((40, 400), first.items(), strict=True):
        probabilities = output.prediction_logits[0].softmax(dim=-1).topk(12).values
        sheet.words(x, 92, name, bold=True)
        base = 240.0
        sheet.line((x, base), (x + 270, base))
        for i, value in enumerate(probabilities.tolist()):
            sheet.column(x + 6 + 22 * i, base, 120 * value, 14)
        largest = probabilities[0].item()
        sheet.words(x, 268, f"largest: {largest:.5f}" if largest < 0.01 else f"largest: {largest:.2f}")
    return sheet.figure()


def summary(models: dict[str, Any], count: Count) -> Figure:
    """Where the parameters of BERT-Base are, on the map."""
    sheet = Sheet(240, f"Where are the {count(models['base']) / 1e6:.1f} million parameters of BERT-Base?")
    boxes = map_of_bert(sheet, 50, {"tokenizer", "embeddings", "attention", "feed-forward", "heads"}, "12")
    base = models["base"]
    layers = base.encoder.layers
    millions = {
        "tokenizer": 0,
        "embeddings": count(base.embeddings),
        "attention": sum(count(one.attention) + count(one.attention_norm) for one in layers),
        "feed-forward": sum(count(one.feed_forward) + count(one.feed_forward_norm) for one in layers),
        "heads": count(base.pooler),
    }
    for part, number in millions.items():
        sheet.words(
            boxes[part].centre[0], 184, f"{number / 1e6:.1f} M" if number else "none", align="center", bold=True
        )
    sheet.words(463, 214, "each with its LayerNorm", align="center", faint=True)
    sheet.words(706, 214, "pooler", align="right", faint=True)
    return sheet.figure()

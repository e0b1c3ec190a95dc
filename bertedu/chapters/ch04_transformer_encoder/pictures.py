"""The pictures of chapter 04, drawn from its tensors."""

import math
from itertools import pairwise

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from bertedu.course.pictures import Box, Sheet, map_of_bert


def where() -> Figure:
    """The map of BERT with the second half of a layer lit."""
    sheet = Sheet(190, "What turns attention into a layer?")
    map_of_bert(sheet, 50, {"feed-forward"})
    return sheet.figure()


def layer() -> Figure:
    """The inside of an encoder layer, from left to right."""
    sheet = Sheet(230, "What does one layer do?", "The lines above lead around a part: what goes in is added again")
    y = 130.0
    names = (
        ("attention", 112, False),
        ("+", 34, True),
        ("norm", 78, True),
        ("feed-forward", 146, True),
        ("+", 34, True),
        ("norm", 78, True),
    )
    boxes: list[Box] = []
    x = 62.0
    sheet.words(18, y + 25, "x", bold=True)
    for name, width, new in names:
        boxes.append(sheet.box(x, y, width, 50, name, new=new))
        x += width + 26
    for one, following in pairwise(boxes):
        sheet.arrow(one, following)
    sheet.arrow((32, y + 25), boxes[0])
    sheet.arrow((boxes[-1].right, y + 25), (714, y + 25))
    for start, plus in ((44.0, boxes[1]), (boxes[2].right + 12, boxes[4])):
        sheet.line((start, y + 25), (start, y - 32), (plus.centre[0], y - 32))
        sheet.arrow((plus.centre[0], y - 36), plus)
    sheet.words(18, 212, "[B, T, D] at every arrow", faint=True)
    return sheet.figure()


def collapse(attentions: nn.ModuleList, tokens: Tensor) -> Figure:
    """The cosine of each pair of tokens after some layers of attention alone."""
    return _cosines("How alike do eight tokens become?", attentions, tokens, keep=0.0)


def kept(attentions: nn.ModuleList, tokens: Tensor) -> Figure:
    """The same where the output of attention is added."""
    return _cosines("And if attention only adds to the tokens?", attentions, tokens, keep=1.0)


def _cosines(title: str, attentions: nn.ModuleList, tokens: Tensor, keep: float) -> Figure:
    sheet = Sheet(260, title, "Cosine of each pair: gold is 1, white 0, purple below 0")
    states = [tokens]
    with torch.no_grad():
        for attention in attentions:
            states.append(keep * states[-1] + attention(states[-1])[0])
    for i, depth in enumerate((0, 1, 2, 12)):
        units = states[depth][0] / states[depth][0].norm(dim=-1, keepdim=True)
        sheet.grid(14 + 178 * i, 80, units @ units.T, numbers=False, cell=17, row=17, largest=1.1)
        sheet.words(14 + 178 * i, 238, "1 layer" if depth == 1 else f"{depth} layers", faint=True)
    return sheet.figure()


def residual() -> Figure:
    """The derivative through ten layers of one number, replaced and added."""
    sheet = Sheet(270, "How much of a gradient arrives after ten layers?", "Each layer computes f(x) = 0.1·x")
    for y, name, factor, total in (
        (92, "x becomes f(x)", "0.1", f"{0.1**10:.0e}"),
        (190, "x becomes x + f(x)", "1.1", f"{1.1**10:.1f}"),
    ):
        sheet.words(14, y, name, bold=True)
        x = 14.0
        for _ in range(5):
            box = sheet.box(x, y + 18, 68, 38, "× " + factor)
            x = box.right + 18
        sheet.words(x, y + 37, "…  ten times:")
        sheet.words(x + 138, y + 37, total, bold=True)
    return sheet.figure()


def growth() -> Figure:
    """The standard deviation of a sum of independent updates."""
    sheet = Sheet(270, "How fast does the residual stream grow?", "24 updates of standard deviation 1 are added to it")
    steps = [0, 6, 12, 18, 24]
    names = [f"{step} added" for step in steps]
    sheet.words(150, 86, "without LayerNorm", bold=True)
    sheet.bars(130, 100, [math.sqrt(1 + step) for step in steps], names, longest=190, full=5.0, digits=1)
    sheet.words(480, 86, "with LayerNorm", bold=True)
    sheet.bars(480, 100, [1.0] * 5, longest=190, full=5.0, digits=1)
    return sheet.figure()


def which_numbers() -> Figure:
    """What a norm computes its mean over: a row or a column."""
    sheet = Sheet(330, "Over which numbers is the mean taken?", "Each row is a token, each column one of its D numbers")
    for x, name, chosen in (
        (60, "LayerNorm: one token", (slice(1, 2), slice(None))),
        (420, "BatchNorm: one column", (slice(None), slice(2, 3))),
    ):
        table = torch.zeros(5, 6)
        table[chosen] = 1.0
        sheet.words(x, 100, name, bold=True)
        sheet.grid(x, 120, table, numbers=False, largest=1.6, cell=40)
    return sheet.figure()


def orders() -> Figure:
    """Post-norm and pre-norm with the numbers 1 and 3."""
    sheet = Sheet(330, "Where does the norm stand?", "The sublayer doubles its input; the token is [1, 3]")
    for y, name, steps in (
        (112, "post-norm", (("x", [1, 3]), ("2·x", [2, 6]), ("added", [3, 9]), ("norm", [-1, 1]))),
        (236, "pre-norm", (("x", [1, 3]), ("norm", [-1, 1]), ("2·norm", [-2, 2]), ("added", [-1, 5]))),
    ):
        sheet.words(14, y + 37, name, bold=True)
        boxes = []
        for i, (step, values) in enumerate(steps):
            sheet.words(180 + 140 * i, y, step, align="center", faint=i < 3, bold=i == 3)
            boxes.append(sheet.grid(142 + 140 * i, y + 20, values, largest=14, cell=38))
        for one, following in pairwise(boxes):
            sheet.arrow(one, following)
    return sheet.figure()


def warm_up() -> Figure:
    """The learning rate over the steps, with warm-up and without."""
    sheet = Sheet(260, "What is a warm-up?", "The learning rate during the 100 steps of the next cell")
    left, right, base, top = 90.0, 560.0, 220.0, 100.0
    sheet.line((left, top - 16), (left, base), (right, base))
    sheet.words(left - 8, top, "0.005", align="right")
    sheet.words(left - 8, base, "0", align="right")
    sheet.line((left, top), (right, top), dashed=True, ink="#6b6b6b")
    sheet.line((left, base), (left + 0.8 * (right - left), top), (right, top), thick=True, ink="#222222")
    sheet.words(left + 14, top - 14, "without")
    sheet.words(left + 190, 186, "80 steps of warm-up", bold=True)
    sheet.words(left + 0.8 * (right - left), base + 18, "step 80", align="center", faint=True)
    return sheet.figure()


def exclusive_or(features: Tensor, inner: Tensor, shrink: Tensor) -> Figure:
    """How two linear layers with relu between them answer exclusive or."""
    sheet = Sheet(320, "How does a network answer: exactly one of the two?")
    given = sheet.grid(60, 130, features, "x", "[T, D]", columns=["a", "b"], cell=44)
    middle = sheet.grid(270, 130, inner, "relu", "[T, inner]", columns=["a+b", "a+b\u22121"], cell=70)
    answer = sheet.grid(560, 130, inner @ shrink, "answer", "[T, 1]", cell=60)
    sheet.arrow(given, middle, "expand")
    sheet.arrow(middle, answer, "shrink")
    sheet.words(middle.centre[0], 292, "first \u2212 2 · second", align="center", faint=True)
    return sheet.figure()


def who_changes() -> Figure:
    """Which output vectors change when one input vector changes."""
    sheet = Sheet(280, "Token 3 changes. Whose output changes?")
    for x, name, changed in ((14, "feed-forward", {3: "chosen"}), (380, "attention", {i: "chosen" for i in range(8)})):
        before = sheet.chips(x, 70, [str(i) for i in range(8)], {3: "chosen"}, width=36)
        middle = sheet.box(x, 136, 323, 44, name)
        after = sheet.chips(x, 216, [str(i) for i in range(8)], changed, width=36)
        for i in range(8):
            sheet.arrow(before[i], (before[i].centre[0], middle.y))
            sheet.arrow((before[i].centre[0], middle.bottom), after[i])
    return sheet.figure()


def shares(base: nn.Module, whole: int) -> Figure:
    """Where the weights of a layer of BERT-Base are."""
    sheet = Sheet(230, "Where are the weights of a layer?", f"BERT-Base: {whole:,} weights in each layer")
    parts = {name: sum(p.numel() for p in part.parameters()) for name, part in base.named_children()}
    kinds = {"attention": parts["attention"], "feed-forward": parts["feed_forward"]}
    kinds["two norms"] = parts["attention_norm"] + parts["feed_forward_norm"]
    sheet.bars(170, 86, [count / whole for count in kinds.values()], list(kinds), longest=440)
    return sheet.figure()


def gelu() -> Figure:
    """GELU as a product: x and the share of normal numbers below it."""
    sheet = Sheet(
        290, "How much of x does GELU let through?", "The share \u03a6(x) of normal numbers that are smaller than x"
    )
    x = torch.tensor([-3.0, -1.0, 0.0, 1.0, 3.0])
    share = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    for y, name, values, digits in (
        (92, "x", x, 0),
        (156, "\u03a6(x)", share, 2),
        (220, "x · \u03a6(x)", x * share, 2),
    ):
        sheet.words(146, y + 17, name, align="right", bold=True)
        sheet.grid(166, y, values, cell=92, digits=digits, largest=4.5)
    sheet.words(138, 140, "×", align="right")
    sheet.words(138, 204, "=", align="right")
    return sheet.figure()


def dropped() -> Figure:
    """Ten ones before dropout, in training and in evaluation."""
    kept = torch.ones(10)
    kept[3] = 0.0  # one of ten, the expected number
    sheet = Sheet(
        260, "What does dropout do to ten ones?", "In training about one in ten becomes 0, the others 1 / 0.9"
    )
    for y, name, values, digits in (
        (84, "before", torch.ones(10), 0),
        (140, "training", kept / 0.9, 2),
        (196, "evaluation", torch.ones(10), 0),
    ):
        sheet.words(136, y + 17, name, align="right", bold=True)
        sheet.grid(150, y, values, cell=55, digits=digits, largest=2.4)
    return sheet.figure()


def three_stacks() -> Figure:
    """L layers in a plain list, the same layer L times, and L layers in a ModuleList."""
    sheet = Sheet(290, "Which layers does torch train?", "Thick: the weights that torch finds")
    for y, name, found in ((80, "a plain list", 0), (150, "[layer] * L", 1), (220, "L layers", 4)):
        sheet.words(14, y + 22, name, bold=True)
        for i in range(4):
            label = "layer 1" if found == 1 else f"layer {i + 1}"
            sheet.box(170 + 108 * i, y, 94, 44, label, new=i < found, frozen=not found)
        sheet.words(608, y + 22, {0: "none", 1: "one layer", 4: "all L"}[found])
    return sheet.figure()


def who_sees_whom() -> Figure:
    """The pairs of tokens that an encoder and a decoder connect."""
    sheet = Sheet(330, "Who may attend to whom?", "A row attends to the gold columns")
    words = ["the", "bank", "of", "the", "river"]
    for x, name, table in ((90, "encoder", torch.ones(5, 5)), (440, "decoder: causal mask", torch.ones(5, 5).tril())):
        sheet.words(x, 86, name, bold=True)
        sheet.grid(x, 128, table, rows=words if x < 100 else (), columns=words, numbers=False, largest=1.5, cell=54)
    return sheet.figure()

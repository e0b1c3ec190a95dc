"""The pictures of chapter 16 for ALBERT: where the weights are, and what sharing saves."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Plane, Sheet

EMBEDDINGS, FACTORS, LAYER = 23_837_184, 4_005_120, 7_087_872  # parameters, with D = 768
PUBLISHED = {  # parameters in millions (Lan et al. 2020, table 1), L, D
    "BERT-Base": (108, 12, 768),
    "BERT-large": (334, 24, 1024),
    "ALBERT-base": (12, 12, 768),
    "ALBERT-large": (18, 24, 1024),
    "ALBERT-xlarge": (60, 24, 2048),
    "ALBERT-xxlarge": (235, 12, 4096),
}


def three_sizes() -> Figure:
    """BERT-Base, ALBERT-base and DistilBERT as stacks, to scale: embeddings below, layers above."""
    sheet = Sheet(
        420, "What do the two small models leave out?", "Heights: parameters. Dark: embeddings. Light: layers."
    )
    base, scale = 372.0, 2.3e-6
    copied = (0, 2, 4, 7, 9, 11)
    for x, name, embeddings, layers, told in (
        (60, "BERT-Base", EMBEDDINGS, range(12), ""),
        (300, "ALBERT-base", FACTORS, range(1), "run 12 times"),
        (540, "DistilBERT", EMBEDDINGS, copied, "6 copied layers"),
    ):
        top = base - embeddings * scale
        sheet.column(x, base, embeddings * scale, 110)
        for layer in layers:
            sheet.box(x, top - LAYER * scale, 110, LAYER * scale, new=name != "BERT-Base" or layer in copied)
            top -= LAYER * scale
        total = (embeddings + len(layers) * LAYER) / 1e6
        sheet.words(x + 55, top - 16, f"{total:.0f} million", align="center")
        sheet.words(x + 55, 396, name, align="center", bold=True)
        sheet.words(x + 55, top - 40, told, align="center")
    sheet.words(180, 180, "thick: copied", faint=True)
    sheet.words(180, 204, "by DistilBERT", faint=True)
    return sheet.figure()


def fewer_layers(kept: Mapping[tuple[int, ...], float], frequent: float) -> Figure:
    """Masked accuracy of a trained BERT that runs other layers than it was trained with."""
    sheet = Sheet(290, "Can a trained BERT run fewer layers?", "Masked accuracy by the layers that run, in percent")
    for i, (numbers, share) in enumerate(kept.items()):
        y = 80 + 40 * i
        sheet.chips(14, y, [str(n) for n in numbers], width=34)
        sheet.bars(190, y, [100 * share], longest=400, full=50, digits=0)
    sheet.words(14, 257, "one constant word", faint=True)
    sheet.bars(190, 240, [100 * float(frequent)], longest=400, full=50, digits=0)
    return sheet.figure()


def factorized(short: Tensor, mapping: Tensor, whole: Tensor) -> Figure:
    """A table of words as the product of two small matrices."""
    sheet = Sheet(320, "How does ALBERT store its words?", "A short vector for each word, and one matrix for all")
    words = [f"word {i}" for i in range(len(short))]
    table = sheet.grid(96, 136, short, "looked up", "[V, E]", rows=words, largest=6)
    both = sheet.grid(260, 170, mapping, "mapping", "[E, D]", largest=6)
    product = sheet.grid(560, 136, whole, "the table", "[V, D]", largest=6)
    sheet.words(214, table.centre[1], "×", align="center")
    sheet.arrow(both, (product.x, both.centre[1]))
    sheet.words(14, 300, "V·E + E·D numbers instead of V·D", bold=True)
    return sheet.figure()


def one_layer() -> Figure:
    """Twelve layers, each with weights of its own, beside one that is run twelve times."""
    sheet = Sheet(250, "What does ALBERT store, and what does it compute?")
    for y, name, weights in ((62, "BERT", ("1", "2", "3", "12")), (140, "ALBERT", ("1", "1", "1", "1"))):
        sheet.words(14, y + 22, name, bold=True)
        boxes = []
        for i, number in enumerate(weights):
            x = 110 + 130 * i + (40 if i == 3 else 0)
            boxes.append(sheet.box(x, y, 100, 44, f"layer {number}", new=name == "ALBERT" and not i))
        for one, following in pairwise(boxes):
            sheet.arrow(one, following)
        sheet.words(505, y + 8, "…", align="center")
    sheet.words(14, 224, "Stored: 12 layers, or 1. Computed: 12 layers, and 12.", bold=True)
    return sheet.figure()


def size_and_work() -> Figure:
    """A point for each model: its parameters, and its multiplications for a token, both logarithmic."""
    sheet = Sheet(410, "Is a small model a fast one?", "Million multiplications for a token, by million parameters")
    plane = Plane(sheet, 80, 80, 560, 280, (math.log(8), math.log(600)), (math.log(50), math.log(4000)))
    for name, (millions, layers, width) in PUBLISHED.items():
        work = 12 * layers * width**2 / 1e6
        x, y = plane.point(math.log(millions), math.log(work), 7 if name.startswith("ALBERT") else 5)
        left = name in ("BERT-large", "ALBERT-xxlarge")
        sheet.words(
            x - 12 if left else x + 12, y - 14, name, align="right" if left else "left", bold=name.startswith("ALBERT")
        )
    for number in (12, 60, 108, 235):
        sheet.words(plane.at(math.log(number), 0)[0], 380, str(number), align="center")
    for number in (85, 302, 1208, 2416):
        sheet.words(70, plane.at(0, math.log(number))[1], f"{number:,}", align="right")
    return sheet.figure()


def weights_and_activations(costs: Mapping[str, Sequence[float]]) -> Figure:
    """Megabytes of weights and of activations for two models of eight layers."""
    sheet = Sheet(300, "Which memory does sharing save?", "Megabytes, eight layers with D = 256, 8 texts of 128 tokens")
    for y, place, name in ((86, 0, "weights"), (192, 1, "activations")):
        sheet.words(14, y + 34, name, bold=True)
        values = [line[place] for line in costs.values()]
        sheet.bars(250, y, values, list(costs), longest=380, full=140, digits=0, thick=[1])
    return sheet.figure()


def shared_gradient() -> Figure:
    """The gradient of a weight that is used twice, beside those of two copies."""
    sheet = Sheet(300, "Which gradient does a shared weight get?", "w = 3, used twice: x = 2 becomes 6, then 18")
    for y, name, weights, told in (
        (92, "two copies", ("w₁ = 3", "w₂ = 3"), "w₂·x = 6,  w₁·x = 6"),
        (196, "shared", ("w = 3", "w = 3"), "6 + 6 = 12"),
    ):
        sheet.words(14, y + 22, name, bold=True)
        start = sheet.grid(150, y + 5, [2], cell=40, largest=30)
        first = sheet.box(230, y, 90, 44, weights[0], new=name == "shared")
        middle = sheet.grid(360, y + 5, [6], cell=40, largest=30)
        second = sheet.box(440, y, 90, 44, weights[1], new=name == "shared")
        end = sheet.grid(570, y + 5, [18], cell=40, largest=30)
        for one, following in pairwise((start, first, middle, second, end)):
            sheet.arrow(one, following)
        sheet.words(380, y + 68, f"gradient: {told}", align="center")
    return sheet.figure()


def sentence_order() -> Figure:
    """The pairs of BERT's next-sentence task, and of ALBERT's sentence order."""
    sheet = Sheet(330, "Why is sentence order the harder task?", "A1, A2: neighbors in one document. B: another one.")
    for x, name, right, wrong, told in (
        (14, "next sentence", ("A1", "A2"), ("A1", "B7"), ("another topic:", "word overlap 0.75")),
        (380, "sentence order", ("A1", "A2"), ("A2", "A1"), ("the same words:", "word overlap 0.50")),
    ):
        sheet.words(x, 96, name, bold=True)
        for y, pair, label in ((120, right, "as it was"), (180, wrong, "wrong")):
            sheet.chips(
                x, y, pair, {} if y == 120 else {0: "random", 1: "random"} if x > 100 else {1: "random"}, width=80
            )
            sheet.words(x + 185, y + 17, label)
        for i, line in enumerate(told):
            sheet.words(x, 254 + 26 * i, line, bold=bool(i))
    return sheet.figure()

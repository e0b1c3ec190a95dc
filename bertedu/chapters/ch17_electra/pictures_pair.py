"""The pictures of chapter 17 from the pair on: what is shared, how both learn, and what it is worth."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from matplotlib.figure import Figure

from bertedu.course.pictures import Plane, Sheet


def shared(reach: Mapping[str, tuple[int, int]], V: int) -> Figure:
    """One table of embeddings under two models, and which loss changes how much of it."""
    sheet = Sheet(350, "What do the two models share?", "Token, position and segment embeddings, and their LayerNorm")
    table = sheet.box(210, 250, 300, 52, "one table of embeddings", f"{V} words", new=True)
    generator = sheet.box(14, 150, 220, 52, "generator", "a quarter as wide")
    detector = sheet.box(486, 150, 220, 52, "discriminator")
    sheet.arrow((290, table.y), (180, generator.bottom + 2))
    sheet.arrow((430, table.y), (540, detector.bottom + 2))
    for x, name, told in ((14, "MLM", "MLM loss"), (486, "detection", "detection loss")):
        sheet.words(x, 90, told, bold=True)
        sheet.words(x, 116, f"changes {reach[name][0]} words")
    if not reach["detection"][1]:
        sheet.words(360, 326, "The detection loss reaches no layer of the generator.", align="center", bold=True)
    return sheet.figure()


def whole_pair() -> Figure:
    """One step of the pair, with the shapes."""
    sheet = Sheet(350, "How does one batch pass through the pair?")
    top = [
        sheet.box(14, 64, 130, 54, "masked text", "[B, T]"),
        sheet.box(190, 64, 156, 54, "generator", new=True),
        sheet.box(392, 64, 130, 54, "scores", "[N, V]"),
        sheet.box(568, 64, 138, 54, "MLM loss", "labels: words"),
    ]
    low = [
        sheet.box(392, 196, 130, 54, "seen", "[B, T]"),
        sheet.box(190, 196, 156, 54, "discriminator", new=True),
        sheet.box(14, 196, 130, 54, "logits", "[B, T]"),
    ]
    for row in (top, low):
        for one, following in pairwise(row):
            sheet.arrow(one, following)
    sheet.arrow(top[2], low[0], "sample one word for each")
    sheet.box(14, 286, 160, 46, "detection loss")
    sheet.arrow(low[2], (low[2].centre[0], 284))
    sheet.words(190, 310, "replaced or not, at every real token", faint=True)
    return sheet.figure()


def curves(history: Sequence[Mapping[str, float]]) -> Figure:
    """Generator and discriminator over the steps of the run."""
    sheet = Sheet(330, "How do the two learn, side by side?", "Measured on new sentences, over the steps")
    last = history[-1]["step"]
    panels = (
        (60, "generator", {"generator right": "right", "replaced": "replaced"}),
        (400, "discriminator", {"precision": "precision", "recall": "recall"}),
    )
    for x, title, names in panels:
        sheet.words(x, 86, title, bold=True)
        plane = Plane(sheet, x, 106, 200, 170, (0, last), (0, 1))
        plane.ticks((0, last // 2, last), (0, 0.5, 1))
        for dashed, (name, told) in enumerate(names.items()):
            points = [plane.at(row["step"], row[name]) for row in history]
            sheet.line(*points, thick=not dashed, dashed=bool(dashed), ink="#222222")
            sheet.words(points[-1][0] + 8, points[-1][1], told)
    return sheet.figure()


def early() -> Figure:
    """The paper's table 1, small models: ELECTRA after an eighth of its training, and in the end."""
    sheet = Sheet(210, "What did the paper's small models reach?", "GLUE score, the same computation in a full run")
    names = ["BERT-Small", "ELECTRA, 1/8 of it", "ELECTRA-Small"]
    sheet.bars(240, 84, [75.1, 76.0, 79.9], names, longest=380, full=100, digits=1, thick=[2])
    return sheet.figure()


def five_models(accuracies: Mapping[str, Sequence[float]]) -> Figure:
    """The probe's accuracy for each of the five models, a dot for each seed."""
    sheet = Sheet(100 + 40 * len(accuracies) + 46, "Whose vectors tell what kind of word it is?", "A dot for each seed")
    left, wide = 220.0, 470.0
    bottom = 84 + 40 * len(accuracies)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        sheet.line((left + share * wide, 80), (left + share * wide, bottom), dashed=True)
        sheet.words(left + share * wide, bottom + 20, f"{share:g}", align="center", faint=True)
    for row, (name, values) in enumerate(accuracies.items()):
        y = 100 + 40 * row
        sheet.words(left - 12, y, name, align="right")
        for value in values:
            sheet.dot((left + value * wide, y), 6)
    sheet.words(left + wide / 2, bottom + 44, "accuracy of the probe", align="center", faint=True)
    return sheet.figure()

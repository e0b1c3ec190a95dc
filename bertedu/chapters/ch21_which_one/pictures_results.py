"""The pictures of chapter 21 on figures and decisions: losses per token, the front, and a fair comparison."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from bertedu.chapters.ch21_which_one.family_pictures import TITLES
from bertedu.course.pictures import Plane, Sheet


def per_token() -> Figure:
    """One word, whole and in three pieces: the same loss in all, and another one for a token."""
    sheet = Sheet(330, "Is a lower loss for a token a better model?", "A number: the loss in nats")
    for y, tokens, losses in ((88, ["embankment"], [6.0]), (196, ["em", "##bank", "##ment"], [3.0, 2.0, 1.0])):
        chips = sheet.chips(14, y, tokens, width=0 if len(tokens) > 1 else 250)
        for chip, loss in zip(chips, losses, strict=True):
            sheet.words(chip.centre[0], y + 54, f"{loss:g}", align="center")
        sheet.words(330, y + 17, f"the word: {' + '.join(f'{loss:g}' for loss in losses)}" + " = 6" * (len(losses) > 1))
        sheet.words(330, y + 54, f"a token: {sum(losses) / len(losses):g}", bold=True)
    sheet.words(14, 298, "The same probability for the word, and a third of the loss for a token.")
    return sheet.figure()


def bits_and_loss(rows: Sequence[tuple]) -> Figure:
    """The members by their loss for a token, and beside it their bits per character."""
    order = sorted(rows)
    sheet = Sheet(112 + 34 * len(order), "Does the loss of a token rank them rightly?", "Sorted by the left column")
    for x, told in ((210, "loss of a token"), (470, "bits per character")):
        sheet.words(x, 88, told, bold=True)
    for i, row in enumerate(order):
        sheet.words(200, 121 + 34 * i, TITLES[row[-1]], align="right")
    best = min(range(len(order)), key=lambda i: order[i][3])
    sheet.bars(210, 104, [row[0] for row in order], longest=170, full=5.5, thick=[0])
    sheet.bars(470, 104, [row[3] for row in order], longest=160, full=2.3, digits=3, thick=[best])
    return sheet.figure()


def dominates(points: Mapping[str, tuple[float, float]]) -> Figure:
    """What one member dominates: all that costs no less and scores no more."""
    sheet = Sheet(370, "Which members does RoBERTa dominate?", "All in the corner: not cheaper, and not better")
    plane = Plane(sheet, 70, 80, 600, 210, (1.2, 3.5), (0.385, 0.465))
    plane.ticks((1.5, 2, 2.5, 3), (0.4, 0.42, 0.44, 0.46))
    cost, score = points["roberta"]
    corner = plane.at(cost, score)
    sheet.line((corner[0], 290), corner, (670, corner[1]), thick=True, ink="#222222")
    beaten = [n for n, (c, s) in points.items() if c >= cost and s <= score and n != "roberta"]
    for name, point in points.items():
        plane.point(*point, 7 if name == "roberta" else 5)
    sheet.words(corner[0] - 8, corner[1] - 18, "RoBERTa", bold=True)
    if "bert" in beaten:
        at = plane.at(*points["bert"])
        sheet.words(at[0] + 12, at[1] + 8, "BERT")
    for name in ("deberta", "distilbert-taught"):
        at = plane.at(*points[name])
        sheet.words(at[0] - 10, at[1] - 4, TITLES[name], align="right")
    sheet.words(640, 274, f"{len(beaten)} members are dominated", align="right", bold=True)
    sheet.words(370, 334, "ms a text; up: mean of the tasks", align="center", faint=True)
    return sheet.figure()


def two_sides() -> Figure:
    """What the colleague's function does with each side, and what a fair one does."""
    sheet = Sheet(346, "What does each side get to choose from?")
    columns = ("tries", "chosen by", "scored on")
    for x, told in zip((210, 370, 560), columns, strict=True):
        sheet.words(x, 70, told, bold=True)
    for y, told, sides in (
        (112, "colleague's", (("1 rate", "nobody", "test rows"), ("6 rates a seed", "", "the same test rows"))),
        (258, "fair", (("6 rates", "validation", "test rows"), ("6 rates", "validation", "test rows"))),
    ):
        sheet.words(14, y - 20, told, bold=True)
        for i, (name, side) in enumerate(zip(("baseline", "candidate"), sides, strict=True)):
            at = y + 48 * i + 12
            sheet.words(30, at, name)
            unfair = told != "fair" and i == 1
            first = sheet.box(150, at - 19, 190, 38, side[0], new=unfair)
            if side[1]:
                second = sheet.box(366, at - 19, 130, 38, side[1])
                third = sheet.box(526, at - 19, 180, 38, side[2])
                sheet.arrow(first, second)
                sheet.arrow(second, third)
            else:
                sheet.arrow(first, sheet.box(366, at - 19, 340, 38, "the best on the test rows", new=True))
    return sheet.figure()


def claims_of_both(claims: Mapping[str, Sequence[float]]) -> Figure:
    """How many standard errors a model gains over itself, test by test."""
    sheet = Sheet(260, "How much better is a model than itself?", "A/A tests: a dot for each, in standard errors")
    left, wide = 150.0, 500.0
    for errors in range(-1, 6):
        x = left + wide * (errors + 1) / 6
        sheet.line((x, 84), (x, 196), dashed=True)
        sheet.words(x, 216, f"{errors}".replace("-", "\N{MINUS SIGN}"), align="center", faint=True)
    zero = left + wide / 6
    sheet.line((zero, 84), (zero, 196), thick=True)
    for y, (name, found) in zip((112, 168), claims.items(), strict=True):
        sheet.words(left - 14, y, name, align="right", bold=True)
        for one in found:
            sheet.dot((left + wide * (one + 1) / 6, y), 7)
    sheet.words(zero, 242, "no gain", align="center", faint=True)
    return sheet.figure()


def choosing(members: Mapping[str, Any]) -> Figure:
    """Four questions in their order, and the models that each leads to."""
    sheet = Sheet(
        380, "Which questions decide?", f"Not a name from a table of {len(members)}: a short list, then your own rows"
    )
    questions = (
        ("Is a bag of words enough?", "logistic regression"),
        ("Text to write?", "a decoder"),
        ("Many languages?", "XLM-R or newer"),
        ("Long texts, or many?", "ModernBERT"),
        ("Too slow?", "a distilled model"),
    )
    for i, (question, answer) in enumerate(questions):
        y = 82 + 48 * i
        asked = sheet.box(14, y, 300, 36, question)
        given = sheet.box(430, y, 276, 36, answer, new=True)
        sheet.arrow(asked, given, "yes")
        if i < len(questions) - 1:
            sheet.line((60, asked.bottom), (60, asked.bottom + 12))
    last = sheet.box(14, 82 + 48 * 5, 692, 40, "else: DeBERTaV3 and RoBERTa, three seeds each", new=True)
    sheet.line((60, last.y - 12), (60, last.y))
    return sheet.figure()

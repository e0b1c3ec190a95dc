"""The pictures of chapter 15 for SpanBERT, and of its lab."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from torch import Tensor

from bertedu.course.pictures import Plane, Sheet


def longer_spans(accuracies: Mapping[int, float]) -> Figure:
    """How many masked tokens are predicted, by how many neighbors are masked together."""
    sheet = Sheet(
        290, "How much do the neighbors give away?", "Predicted masked tokens, in percent, by the length of the gap"
    )
    base = 236.0
    for i, (n, share) in enumerate(accuracies.items()):
        bar = sheet.column(60 + 108 * i, base, 130 * share, 60)
        sheet.words(bar.centre[0], bar.y - 14, f"{100 * share:.0f}", align="center")
        sheet.words(bar.centre[0], 256, f"n = {n}", align="center")
    sheet.line((40, base), (690, base))
    return sheet.figure()


def lengths_of_spans(excluded: Tensor) -> Figure:
    """The geometric distribution of a span's length in words, up to ten."""
    sheet = Sheet(270, "How many words has a span?", "Probability in percent; each word is the last with p = 0.2")
    base = 210.0
    for i, share in enumerate(excluded.tolist()):
        bar = sheet.column(50 + 64 * i, base, 480 * share, 40)
        sheet.words(bar.centre[0], bar.y - 13, f"{100 * share:.0f}", align="center")
        sheet.words(bar.centre[0], 230, str(i + 1), align="center")
    sheet.line((40, base), (680, base))
    mean = sum((i + 1) * share for i, share in enumerate(excluded.tolist()))
    sheet.words(680, 76, f"mean {mean:.1f} words", align="right", bold=True)
    sheet.words(360, 254, "words", align="center", faint=True)
    return sheet.figure()


def whole_spans() -> Figure:
    """One span is treated as a whole: masked, replaced by random tokens, or kept."""
    words = ["the", "dog", "came", "home", "wet", "again"]
    sheet = Sheet(280, "What becomes of a span's tokens?", "The same for all of them, drawn once for each span")
    for y, share, state, tokens in (
        (84, "80 %", "hidden", ["[MASK]"] * 3),
        (146, "10 %", "random", ["lilac", "two", "bread"]),
        (208, "10 %", "chosen", words[2:5]),
    ):
        sheet.words(14, y + 17, share, bold=True)
        sheet.chips(90, y, [*words[:2], *tokens, words[5]], {2: state, 3: state, 4: state}, width=66)
    sheet.words(706, 262, "all are to be predicted, the kept ones too", align="right", faint=True)
    return sheet.figure()


def boundary_objective() -> Figure:
    """A token inside a span is predicted from the two visible tokens around it and its number."""
    tokens = ["[CLS]", "the", "dog", "[MASK]", "[MASK]", "[MASK]", "again", "[SEP]"]
    states = {2: "chosen", 6: "chosen", 3: "hidden", 4: "hidden", 5: "hidden"}
    sheet = Sheet(380, "What must the two ends of a span know?", "Which word is number 3 of the span?")
    chips = sheet.chips(14, 312, tokens, states, width=82)
    sheet.box(14, 244, chips[-1].right - 14, 38, "encoder")
    head = sheet.box(280, 96, 190, 46, "boundary head", new=True)
    left = sheet.box(chips[2].x, 180, 82, 36, "x before")
    right = sheet.box(chips[6].x, 180, 82, 36, "x after")
    number = sheet.box(354, 180, 60, 36, "p, 3")
    for chip in (chips[2], chips[6]):
        sheet.arrow((chip.centre[0], 244), (chip.centre[0], 216))
    for box in (left, right, number):
        sheet.arrow((box.centre[0], box.y), (375 + (box.centre[0] - 375) / 4, head.bottom))
    sheet.arrow((head.right, head.centre[1]), (560, head.centre[1]))
    sheet.chip(565, head.centre[1] - 17, "wet", "chosen", width=64)
    for i, chip in enumerate(chips):
        sheet.words(chip.centre[0], 362, str(i), align="center", faint=True)
    return sheet.figure()


def heads_by_length(hits: Mapping[int, Sequence[Sequence[bool]]]) -> Figure:
    """The share of right predictions of three methods, by the length of the span."""
    sheet = Sheet(
        350, "What do the two ends know, and what all tokens?", "Right predictions in percent, by tokens in the span"
    )
    plane = Plane(sheet, 70, 90, 420, 200, (0.8, 6.2), (0, 100))
    plane.ticks(up=(0, 50, 100))
    ends = []
    for column, name, dashed in ((2, "MLM head", False), (1, "boundary head", False), (0, "table of counts", True)):
        shares = {n: 100 * sum(row[column] for row in hits[n]) / len(hits[n]) for n in sorted(hits)}
        places = [plane.point(n, share) for n, share in shares.items()]
        sheet.line(*places, thick=not dashed, dashed=dashed, ink="#444444")
        ends.append((places[-1][1], name))
    for n in sorted(hits):
        sheet.words(plane.at(n, 0)[0], 308, str(n) if n < 6 else "6 or more", align="center")
    below = 0.0
    for y, name in sorted(ends):
        below = max(y, below + 24)
        sheet.words(500, below, name, bold=name == "MLM head")
    return sheet.figure()


def shifted_positions() -> Figure:
    """The same sentence alone and in a batch: the colleague's positions shift with the padding."""
    sheet = Sheet(
        350, "Why does a vector depend on the other texts?", "One sentence, alone and padded on the left in a batch"
    )
    words = ["<s>", "It", "rains", "</s>"]
    for y, name, tokens in ((90, "alone", words), (210, "in a batch", ["<pad>", "<pad>", *words])):
        sheet.words(14, y + 17, name, bold=True)
        chips = sheet.chips(
            150, y, tokens, {i: "padding" for i, token in enumerate(tokens) if token == "<pad>"}, width=66
        )
        gap = len(tokens) - len(words)
        for line, who, first in ((54, "colleague's", 2 + gap), (80, "right", 2)):
            sheet.words(140, y + line, who, align="right", bold=who == "right")
            for i, chip in enumerate(chips[gap:]):
                sheet.words(chip.centre[0], y + line, str(first + i), align="center", bold=who == "right")
    sheet.words(14, 326, "Other positions, other vectors: nothing else has changed.")
    return sheet.figure()

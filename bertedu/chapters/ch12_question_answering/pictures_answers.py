"""The pictures of chapter 12 from the training on: what was learned, when to abstain, and long texts."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure

from bertedu.course.pictures import Plane, Sheet
from bertedu.finetuning.windows import label_of, windows


def learned(rules: Mapping[str, Mapping[str, float]], practised: Mapping, answering: Mapping) -> Figure:
    """F1 on the questions that have an answer: the rule, after the practice, after the real questions."""
    sheet = Sheet(204, "What did each training bring?", "F1 on the validation questions that have an answer")
    rule = rules["sentence most like the question"]["has_answer_f1"]
    values = [rule, practised["f1"], answering["f1"]]
    sheet.bars(250, 84, values, ["word overlap", "practice", "real questions"], longest=360, thick=[2])
    return sheet.figure()


def null_score() -> Figure:
    """No answer is one more span, and its score is compared with the best span's."""
    sheet = Sheet(330, "When does the model say that there is no answer?", "Two questions to the same text")
    for y, question, null, best in ((84, "Who won?", 0.6, 10.0), (196, "Where?", 4.4, 3.1)):
        sheet.words(14, y + 17, question, bold=True)
        sheet.bars(330, y, [null, best], ["[CLS], no answer", "best span"], longest=220, full=11, digits=1)
        difference = null - best
        verdict = "above 0: abstain" if difference > 0 else "below 0: answer"
        told = f"no-answer score {null:.1f} − {best:.1f} = {difference:+.1f}, {verdict}".replace("-", "−")
        sheet.words(330, y + 86, told.replace("no−answer", "no-answer"), align="center", bold=difference > 0)
    return sheet.figure()


def two_kinds(validation: Sequence[Any], answered: Sequence[Any]) -> Figure:
    """How often which no-answer score comes out, for questions with an answer and for those without."""
    sheet = Sheet(330, "Can one threshold separate the two kinds?", "Validation questions by their no-answer score")
    scores = [one.no_answer_score for one in answered]
    edges = [-9, -7, -5, -3, -1, 1, 3, 5, 7]
    for base, name, wanted in ((170.0, "with an answer", True), (284.0, "without", False)):
        chosen = [s for s, row in zip(scores, validation, strict=True) if bool(row.answers) is wanted]
        sheet.words(14, base - 40, name, bold=True)
        counts = [0] * (len(edges) + 1)
        for score in chosen:
            counts[sum(score >= edge for edge in edges)] += 1
        for i, count in enumerate(counts):
            share = count / len(chosen)
            sheet.column(190 + i * 52, base, 160 * share, 46)
            if share >= 0.02:
                sheet.words(213 + i * 52, base - 160 * share - 14, f"{share:.0%}", align="center")
        sheet.line((190, base), (710, base))
    for i, edge in enumerate(edges):
        sheet.words(188 + (i + 1) * 52 - 2, 306, f"{edge}".replace("-", "−"), align="center", faint=True)
    return sheet.figure()


def sweep(curve: Mapping[str, Sequence[float]], threshold: float, best_f1: float) -> Figure:
    """F1 for each threshold: of all questions, and of both kinds."""
    sheet = Sheet(370, "What does a threshold do?", "F1 on validation; left nothing is answered, right everything")
    limits = curve["threshold"]
    low, high = limits[0], limits[-1]
    inside = min(max(threshold, low), high)
    plane = Plane(sheet, 70, 84, 430, 230, (low, high), (0.0, 1.0))
    for name, thick, dashed in (("all", True, False), ("with", False, False), ("without", False, True)):
        points = [*zip(limits, curve[name], strict=True), *([(inside, best_f1)] if name == "all" else [])]
        sheet.line(*(plane.at(a, b) for a, b in sorted(points)), thick=thick, dashed=dashed, ink="#222222")
    ends = [(curve[name][-1], name) for name in ("all", "with", "without")]
    texts = {"all": "all questions", "with": "with an answer", "without": "without an answer"}
    above = 0.0
    for value, name in sorted(ends, reverse=True):
        y = max(plane.at(high, value)[1], above + 22)
        sheet.words(512, y, texts[name], bold=name == "all")
        above = y
    plane.point(inside, best_f1)
    plane.ticks(tuple(x for x in (-8.0, -4.0, 0.0, 4.0, 8.0) if low <= x <= high), (0.0, 0.5, 1.0))
    sheet.words(285, 350, "threshold; the dot: the best one", align="center", faint=True)
    return sheet.figure()


def report(chosen_figures: Mapping[str, float], never: Mapping[str, float]) -> Figure:
    """What is reported on the test: all, both parts, and what never answering gets."""
    sheet = Sheet(280, "How good is it on the test?", "F1 with the threshold that validation chose")
    values = [chosen_figures["f1"], chosen_figures["has_answer_f1"], chosen_figures["no_answer_f1"], never["f1"]]
    labels = ["all questions", "with an answer", "without", "never answering"]
    sheet.bars(230, 92, values, labels, longest=360, thick=[0])
    sheet.words(230, 258, "the last bar answers nothing, and is the one to beat", faint=True)
    return sheet.figure()


def windowed(tokenizer: Any, long: Sequence[Any]) -> Figure:
    """One long text and its windows: which of them holds the answer."""
    row = next(row for row in long if row.answers[0].start > 0.55 * len(row.context))
    answer = (row.answers[0].start, row.answers[0].start + len(row.answers[0].text))
    found = windows(tokenizer, row.question, row.context, 128, 48)
    sheet = Sheet(
        152 + 44 * len(found), "Which windows see the answer?", "The question stands in front of each window."
    )
    left, scale = 14.0, 520 / len(row.context)
    sheet.line((left, 92), (left + 520, 92), thick=True)
    sheet.column(left + answer[0] * scale, 100, 16, max(5.0, (answer[1] - answer[0]) * scale), thick=True)
    sheet.words(550, 92, "the text", faint=True)
    for number, window in enumerate(found):
        y = 118 + 44 * number
        first, last = window.offsets[0][0], window.offsets[-1][1]
        holds = label_of(window, answer) != (0, 0)
        sheet.box(left + first * scale, y, (last - first) * scale, 30, new=holds)
        sheet.words(550, y + 15, "has the answer" if holds else "label: [CLS]", bold=holds)
    sheet.words(
        14,
        136 + 44 * len(found),
        "Drawn in characters; the stride counts tokens. Black: the answer.",
        faint=True,
    )
    return sheet.figure()


def cut_in_two() -> Figure:
    """An answer at a border: whole in one window only where windows share enough tokens."""
    words = ["open", "from", "nine", "to", "half", "past", "four", "today"]
    sheet = Sheet(300, "How many tokens must two windows share?", "The answer has six tokens: from nine … four.")
    chips = sheet.chips(20, 84, words, {i: "chosen" for i in range(1, 7)}, width=79)
    for y, shared, first, second in ((140, 0, (0, 4), (4, 8)), (226, 5, (0, 6), (1, 8))):
        for offset, (a, b) in zip((0, 22), (first, second), strict=True):
            sheet.line((chips[a].x, y + offset), (chips[b - 1].right, y + offset), thick=True, ink="#444444")
        whole = any(a <= 1 and b >= 7 for a, b in (first, second))
        told = "the second window has all of it" if whole else "no window has all of it"
        sheet.words(20, y + 52, f"sharing {shared} tokens: {told}", bold=whole)
    return sheet.figure()


def whose_answer() -> Figure:
    """Three windows of one text, each with its best span and its null score: the question of the lab."""
    sheet = Sheet(286, "Three windows, three opinions: what is the answer?", "When does the shop close?")
    rows = [("1", "nine", 2.0, 6.0), ("2", "half past four", 9.0, 1.5), ("3", "the cat", 1.0, 7.5)]
    for x, name in ((14, "window"), (130, "best span"), (340, "its score"), (500, "null score")):
        sheet.words(x, 96, name, faint=True)
    for i, (number, span, score, null) in enumerate(rows):
        y = 132 + 44 * i
        sheet.words(40, y, number)
        sheet.chip(120, y - 17, span, width=190)
        sheet.words(380, y, f"{score:.1f}", align="center")
        sheet.words(540, y, f"{null:.1f}", align="center")
    sheet.words(14, 264, "One text, one answer: which of them is it?", bold=True)
    return sheet.figure()


def pooled(window_logits: Any, CLASSES: Sequence[str]) -> Figure:
    """Three windows of a long review, their scores for three classes, and the mean."""
    sheet = Sheet(320, "Which label does a text of three windows get?", "Scores of each window, and their mean")
    grid = sheet.grid(190, 130, window_logits, cell=150, digits=1, largest=6, columns=list(CLASSES))
    for i in range(len(window_logits)):
        sheet.words(178, grid.row(i).centre[1], f"window {i + 1}", align="right")
    mean = window_logits.mean(dim=0)
    below = sheet.grid(190, 256, mean[None], cell=150, digits=1, largest=6)
    sheet.words(178, below.centre[1], "mean", align="right", bold=True)
    for j in range(len(CLASSES)):
        x = grid.column(j).centre[0]
        sheet.arrow((x, grid.bottom), (x, below.y))
    return sheet.figure()


def way_of_an_answer() -> Figure:
    """The whole way in one picture."""
    sheet = Sheet(330, "From a question to an answer, or to none")
    steps = (
        ("question and context", "in windows, the question first"),
        ("BERT and one linear layer", "two scores for each token"),
        ("the best allowed span", "start before end, in the context, not too long"),
        ("no-answer score", "null score minus the best span's"),
        ("threshold from validation", "answer, or abstain"),
    )
    boxes = []
    for i, (name, what) in enumerate(steps):
        boxes.append(sheet.box(20, 48 + 54 * i, 270, 36, name, new=i in (1, 2, 3)))
        sheet.words(310, boxes[-1].centre[1], what)
    for one, following in pairwise(boxes):
        sheet.arrow(one, following)
    return sheet.figure()

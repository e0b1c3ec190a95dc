"""Exercises of chapter 12: question answering, when to keep silent."""

import numpy as np
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.finetuning.windows import Window, best_over_windows


def sweep(doubts: list[float], gains: list[float], possible: list[bool]) -> dict[float, float]:
    """For each threshold what it earns: the gain of each answered question, and 1 for each right silence."""
    places = [min(doubts) - 1.0, *doubts]
    return {
        place: sum(
            (gain if can else 0.0) if doubt <= place else float(not can)
            for doubt, gain, can in zip(doubts, gains, possible, strict=True)
        )
        for place in places
    }


@exercise(
    "12.4",
    "The best threshold",
    difficulty=3,
    minutes=12,
    hints=(
        "Only the doubts themselves matter as thresholds, and one below them all (never answer). Try each.",
        "At a threshold t a question earns f1 if it has an answer and doubt <= t; 1 if it has none and doubt > t; else "
        "nothing.",
    ),
)
def threshold(case: Case) -> None:
    """Hand-made cases, then random ones; any threshold that earns the most is right."""
    cases = [
        (
            "four questions that the threshold 0.5 divides without a mistake",
            [-2.0, 0.5, 1.0, 3.0],
            [1.0, 1.0, 0.0, 0.0],
            [1, 1, 0, 0],
        ),
        ("four questions, none with an answer", [-2.0, -1.0, 1.0, 3.0], [0.0] * 4, [0] * 4),
        ("four questions, all with an answer", [-2.0, -1.0, 1.0, 3.0], [1.0, 1.0, 0.5, 0.5], [1] * 4),
        ("confident answers that are wrong", [-3.0, -2.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [1, 1, 1, 0]),
    ]
    for _ in range(20):
        doubts = [round(float(x), 3) for x in case.randn(8)]
        possible = [int(x) for x in case.randint(0, 2, (8,))]
        gains = [float(x) / 2 * can for x, can in zip(case.randint(0, 3, (8,)), possible, strict=True)]
        cases.append(("eight random questions", doubts, gains, possible))
    for tried, doubts, gains, possible in cases:
        flags = [bool(can) for can in possible]
        got = case.call(list(doubts), list(gains), list(flags), tried=tried)
        if isinstance(got, tuple):
            got = got[0]
        case.is_a("the threshold", got, int | float | Tensor | np.floating, "a number")
        earned = sweep(doubts, gains, flags)
        place = max((place for place in earned if place <= float(got)), default=min(earned))
        best, worst = max(earned.values()), earned[place]
        if worst < best - 1e-9:
            turned = sweep([-doubt for doubt in doubts], gains, flags)
            told = f"But your threshold of {float(got):.2f} earns {worst:.1f} of {len(doubts)}; {best:.1f} can be had."
            mirrored = max((key for key in turned if key <= -float(got)), default=min(turned))
            if not any(flags):
                case.fail(told, "Where no question has an answer, silence is best: a threshold below every doubt.")
            if all(flags):
                case.fail(told, "Where all questions have one, answering costs nothing: the largest doubt or more.")
            if abs(turned[mirrored] - max(turned.values())) < 1e-9 and float(got) != 0:
                case.fail(told, "Is the comparison turned round? Doubts up to the threshold are answered.")
            if float(got) == 0:
                case.fail(told, "0 is where the model was trained to draw the line. Try the other places, too.")
            case.fail(told, "Count both: F1 of what is answered, and 1 for each right silence.")


def windows_of(case: Case, logits: list[tuple[dict[int, float], dict[int, float]]]) -> list[tuple]:
    """Windows of three tokens of "ab cd ef gh ij" in steps of one, with logits that are raised at places."""
    offsets = [(0, 2), (3, 5), (6, 8), (9, 11), (12, 14)]
    found = []
    for number, (starts, ends) in enumerate(logits):
        window = Window([0] * 7, 3, offsets[number : number + 3])
        rows = [np.full(7, -5.0) for _ in range(2)]
        for row, raised in zip(rows, (starts, ends), strict=True):
            for place, value in raised.items():
                row[place] = value
        found.append((window, *rows))
    return found


CONTEXT = "ab cd ef gh ij"
NONE = ({0: 5.0}, {0: 5.0})  # a window that is sure of no answer
ANSWER = ({4: 4.0}, {4: 4.0})  # a window with an answer
READ_ALL_CASES = (  # what was tried, the logits of its windows, the threshold, advice
    (
        "three windows, the answer in the last",
        [NONE, NONE, ANSWER],
        0.0,
        "One window that sees the answer is enough, however sure the others are that they do not.",
    ),
    (
        "three windows, the answer in the first",
        [ANSWER, NONE, NONE],
        0.0,
        "Does a later window wipe out what an earlier one found?",
    ),
    (
        "three windows, the answer in the middle one",
        [NONE, ANSWER, NONE],
        0.0,
        "Here it is neither the first nor the last window that knows.",
    ),
    (
        "three windows, a weak answer in the last and a strong one in the first",
        [ANSWER, NONE, ({4: 2.0}, {4: 2.0})],
        0.0,
        "Two windows have an answer. Which scores more?",
    ),
    (
        "a strong answer in a window that is surer of no answer, and a window that is less sure of it",
        [({3: 4.0, 0: 6.0}, {3: 4.0, 0: 6.0}), ({}, {}), NONE],
        0.0,
        "The span comes from the window where it scores most, and no answer from the one least sure of it. "
        "These may be two windows.",
    ),
    (
        "an answer in the first, and two windows that are very sure of none",
        [ANSWER, ({0: 15.0}, {0: 15.0}), ({0: 15.0}, {0: 15.0})],
        0.0,
        "Windows are no voters: the lowest score of no answer counts, not the mean.",
    ),
    ("three windows without an answer", [NONE, NONE, NONE], 0.0, "Where every window says none, there is none."),
    (
        "a window that is hardly sure of no answer, with the threshold -20",
        [ANSWER, NONE, NONE],
        -20.0,
        "No answer wins where its score minus the span's is above the threshold.",
    ),
    (
        "no window with an answer, threshold 30",
        [NONE, NONE, NONE],
        30.0,
        "A large threshold answers all.",
    ),
)


@exercise(
    "12.5",
    "One answer for all windows",
    difficulty=3,
    minutes=10,
    hints=(
        "Two things have to outlive the loop: the best span of any window, and the lowest score of no answer of any.",
        "`best_spans(window, starts, ends)` gives a window's spans, the best first, as characters with a score. The "
        "score of no answer is starts[0] + ends[0]. Decide once, behind the loop.",
    ),
)
def read_all(case: Case) -> None:
    """The answer in the first, the middle, the last window, in none; two answers; a threshold."""
    for tried, logits, limit, advice in READ_ALL_CASES:
        found = windows_of(case, logits)
        got = case.call(found, CONTEXT, limit, tried=tried)
        candidates, none = best_over_windows(found)
        right = "" if none - candidates[0].score > limit else CONTEXT[candidates[0].start : candidates[0].end]
        case.equal("the answer", got, right, advice)

"""Exercise 12.4: The best threshold."""

import numpy as np
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

ROUNDED = 1e-5  # a score that went through a tensor of 32 bits may come back a little smaller


Questions = tuple[list[float], list[float], list[int]]  # no-answer scores, F1 of the best spans, 1 where answerable


def points(no_answer_scores: list[float], f1s: list[float], answerable: list[bool]) -> dict[float, float]:
    """The points that each threshold earns: F1 for each answered question, and 1 for each right abstention."""
    return {
        threshold: sum(
            (f1 if possible else 0.0) if score <= threshold else float(not possible)
            for score, f1, possible in zip(no_answer_scores, f1s, answerable, strict=True)
        )
        for threshold in [min(no_answer_scores) - 1.0, *no_answer_scores]
    }


def points_of_answers(limit: float, scores: list[float], f1s: list[float], answerable: list[bool]) -> float:
    """The F1 of the answered questions alone, without the 1 for each right abstention."""
    answered = zip(scores, f1s, answerable, strict=True)
    return sum(f1 for score, f1, possible in answered if possible and score <= limit)


def points_below(limit: float, scores: list[float], f1s: list[float], answerable: list[bool]) -> float:
    """The points where only scores below the threshold are answered."""
    return sum(
        (f1 if possible else 0.0) if score < limit else float(not possible)
        for score, f1, possible in zip(scores, f1s, answerable, strict=True)
    )


# The first two tell mistakes apart: an inverted comparison, with any candidates, fails at the first; F1 alone passes
# that one and fails at the second.
BY_HAND: tuple[tuple[str, Questions], ...] = (
    (
        "four questions of which the two with the lowest scores have no answer",
        ([-3.0, -1.0, 1.5, 2.0], [0.0, 0.0, 1.0, 1.0], [0, 0, 1, 1]),
    ),
    (
        "four questions where answering more gains half a point and loses a right abstention",
        ([-2.0, -1.0, 0.4, 1.0], [1.0, 0.0, 0.5, 0.0], [1, 0, 1, 0]),
    ),
    (
        "four questions that the threshold 0.5 separates without a mistake",
        ([-2.0, 0.5, 1.2, 3.0], [1.0, 1.0, 0.0, 0.0], [1, 1, 0, 0]),
    ),
    ("four questions without an answer", ([-2.0, -1.0, 1.5, 3.0], [0.0] * 4, [0] * 4)),
    ("four questions that all have an answer", ([-2.0, -1.0, 1.0, 3.0], [1.0, 1.0, 0.5, 0.5], [1] * 4)),
    ("questions of which the most confident are answered wrongly", ([-3.0, -2.0, 0, 1], [0.0, 0, 1, 0], [1, 1, 1, 0])),
)


# A sweep that compares totals between two equal scores counts a gain that no threshold can have.
TIES: tuple[tuple[str, Questions], ...] = (
    ("three questions with the same score, one of them answerable", ([0.0] * 3, [1.0, 0.0, 0.0], [1, 0, 0])),
    ("the same three questions in another order", ([0.0] * 3, [0.0, 0.0, 1.0], [0, 0, 1])),
    (
        "five questions, of which three have the same score",
        ([1.0, 2.0, 2.0, 2.0, 3.0], [1.0, 0.0, 1.0, 0.0, 0.0], [1, 0, 1, 0, 0]),
    ),
)


def random_questions(case: Case, digits: int) -> Questions:
    """Eight questions; rounded to 0 digits, several have the same score."""
    scores = [round(float(x), digits) for x in case.randn(8)]
    answerable = [int(x) for x in case.randint(0, 2, (8,))]
    f1s = [float(x) / 2 * possible for x, possible in zip(case.randint(0, 3, (8,)), answerable, strict=True)]
    return scores, f1s, answerable


@exercise(
    "12.4",
    "The best threshold",
    difficulty=3,
    minutes=20,
    hints=(
        "Only the no-answer scores themselves matter as thresholds, and one below all of them (never answer). Try each "
        "of them, and count the points with <=.",
        "With the threshold t, a question earns its F1 if it is answerable and its score is <= t. It earns 1 if it is "
        "not answerable and its score is > t. Otherwise it earns 0.",
    ),
)
def threshold(case: Case) -> None:
    """Cases by hand, random ones, then questions with equal scores; any threshold that earns the most is right."""
    random = [("eight random questions", random_questions(case, digits=3)) for _ in range(20)]
    equal = [("eight random questions, some with equal scores", random_questions(case, digits=0)) for _ in range(20)]
    for tried, (scores, f1s, possible) in [*BY_HAND, *random, *TIES, *equal]:
        answerable = list(map(bool, possible))
        got = case.call(list(scores), list(f1s), list(answerable), tried=tried)
        if isinstance(got, tuple):
            got = got[0]
        case.is_a("the threshold", got, int | float | Tensor | np.floating, "a number")
        case.expect(not isinstance(got, Tensor) or got.numel() == 1, "But the threshold is not one number.")
        examine_threshold(case, float(got), scores, f1s, answerable)


def examine_threshold(case: Case, got: float, scores: list[float], f1s: list[float], answerable: list[bool]) -> None:
    """Not yet, unless no threshold earns more."""
    earned = points(scores, f1s, answerable)
    best = max(earned.values())
    reached = [max((one for one in earned if one <= limit), default=min(earned)) for limit in (got, got + ROUNDED)]
    came = max(earned[one] for one in reached)
    if came >= best - 1e-9:
        return
    told = f"But your threshold of {got:.2f} earns {came:.1f} of {len(scores)} points; {best:.1f} are possible."
    if got not in scores and min(abs(got - best), abs(got - best / len(scores))) < 1e-9:
        case.fail(told, "You returned the points, or their mean. Return the threshold that earns them.")
    if not any(answerable):
        case.fail(told, "Where no question has an answer, never answer: take a threshold below every score.")
    if all(answerable):
        case.fail(told, "Where every question has an answer, answering costs nothing: the largest score, or more.")
    if len(set(scores)) < len(scores):
        case.fail(
            told,
            "Some scores are equal here. No threshold separates questions with equal scores: all of them are answered, "
            "or none. Count all of them before you compare totals.",
        )
    if abs(points_below(got, scores, f1s, answerable) - best) < 1e-9:
        case.fail(told, "Questions with a score of exactly the threshold are answered too: compare with <=.")
    without_abstaining = points_of_answers(got, scores, f1s, answerable)
    if without_abstaining >= points_of_answers(max(scores), scores, f1s, answerable) - 1e-9:
        case.fail(
            told,
            "You don't count the 1 for each right abstention. Without it, answering more never costs anything.",
        )
    if got < min(scores):
        case.fail(
            told,
            "A threshold below every score never answers. Each answerable question then earns 0: do you count that?",
        )
    inverted = points([-score for score in scores], f1s, answerable)
    mirrored = inverted[max((one for one in inverted if one <= -got), default=min(inverted))]
    if abs(mirrored - max(inverted.values())) < 1e-9 and got != 0:
        case.fail(told, "Is the comparison inverted? Questions with a score of at most the threshold are answered.")
    if got == 0:
        case.fail(told, "At 0 the model itself has no preference. Try the other thresholds, too.")
    case.fail(told, "Count both: the F1 of the answered questions, and 1 for each right abstention.")

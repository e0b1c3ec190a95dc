"""Exercises 12.4 and 12.5: when to abstain, and one answer for several windows."""

import numpy as np
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.finetuning.windows import Window, best_over_windows

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


def points_below(limit: float, scores: list[float], f1s: list[float], answerable: list[bool]) -> float:
    """The points where only scores below the threshold are answered."""
    return sum(
        (f1 if possible else 0.0) if score < limit else float(not possible)
        for score, f1, possible in zip(scores, f1s, answerable, strict=True)
    )


BY_HAND: tuple[tuple[str, Questions], ...] = (
    (
        "four questions that the threshold 0.5 separates without a mistake",
        ([-2.0, 0.5, 1.0, 3.0], [1.0, 1.0, 0.0, 0.0], [1, 1, 0, 0]),
    ),
    ("four questions without an answer", ([-2.0, -1.0, 1.0, 3.0], [0.0] * 4, [0] * 4)),
    ("four questions that all have an answer", ([-2.0, -1.0, 1.0, 3.0], [1.0, 1.0, 0.5, 0.5], [1] * 4)),
    ("questions of which the most confident are answered wrongly", ([-3.0, -2.0, 0, 1], [0.0, 0, 1, 1], [1, 1, 1, 0])),
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
    came = earned[max((one for one in earned if one <= got), default=min(earned))]
    best = max(earned.values())
    if came >= best - 1e-9:
        return
    told = f"But your threshold of {got:.2f} earns {came:.1f} of {len(scores)} points; {best:.1f} are possible."
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
    inverted = points([-score for score in scores], f1s, answerable)
    mirrored = inverted[max((one for one in inverted if one <= -got), default=min(inverted))]
    if abs(mirrored - max(inverted.values())) < 1e-9 and got != 0:
        case.fail(told, "Is the comparison inverted? Questions with a score of at most the threshold are answered.")
    if got == 0:
        case.fail(told, "At 0 the model itself has no preference. Try the other thresholds, too.")
    case.fail(told, "Count both: the F1 of the answered questions, and 1 for each right abstention.")


def windows_of(words: int, width: int, logits: list[tuple[dict[int, float], dict[int, float]]]) -> list[tuple]:
    """Windows of some words of two letters, each one word further on, with the logits that are raised.

    Three tokens, [CLS], a question of one token and [SEP], come before the words.
    """
    offsets = [(3 * number, 3 * number + 2) for number in range(words)]
    found = []
    for number, raised in enumerate(logits):
        window = Window([0] * (width + 4), 3, offsets[number : number + width])
        starts, ends = (np.full(width + 4, -5.0) for _ in range(2))
        for scores, values in zip((starts, ends), raised, strict=True):
            for position, value in values.items():
                scores[position] = value
        found.append((window, starts, ends))
    return found


LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORT = 5, 3  # words of the context, words in a window
LONG = 52, 50
NONE = ({0: 5.0}, {0: 5.0})  # a window that is sure that it has no answer
ANSWER = ({4: 4.0}, {4: 4.0})  # a window with an answer
VERY_SURE = ({0: 15.0}, {0: 15.0})
# Its 20 best starts come after its 20 best ends: best_spans returns [].
NO_SPAN = ({0: 5.0} | {3 + i: -9 + 0.01 * i for i in range(50)}, {0: 5.0} | {3 + i: -9 - 0.01 * i for i in range(50)})
READ_ALL_CASES: tuple[tuple, ...] = (  # what was tried, words and width, the logits of its windows, threshold, advice
    (
        "three windows, the answer in the last",
        SHORT,
        [NONE, NONE, ANSWER],
        0.0,
        "One window that contains the answer is enough, however sure the others are that they don't.",
    ),
    (
        "three windows, the answer in the first",
        SHORT,
        [ANSWER, NONE, NONE],
        0.0,
        "Does a later window overwrite what an earlier one found?",
    ),
    (
        "three windows, the answer in the middle one",
        SHORT,
        [NONE, ANSWER, NONE],
        0.0,
        "Here neither the first nor the last window contains the answer.",
    ),
    (
        "three windows, a weak answer in the last and a strong one in the first",
        SHORT,
        [ANSWER, NONE, ({4: 2.0}, {4: 2.0})],
        0.0,
        "Two windows have an answer. Which one scores higher?",
    ),
    (
        "a strong answer in a window with a high null score, and a window with a low null score",
        SHORT,
        [({3: 4.0, 0: 6.0}, {3: 4.0, 0: 6.0}), ({}, {}), NONE],
        0.0,
        "The best span may come from one window and the lowest null score from another. Keep them apart until the end.",
    ),
    (
        "an answer in the first, and two windows that are very sure that they have none",
        SHORT,
        [ANSWER, VERY_SURE, VERY_SURE],
        0.0,
        "Windows don't vote: the lowest null score counts, not the mean.",
    ),
    (
        "three windows without an answer",
        SHORT,
        [NONE, NONE, NONE],
        0.0,
        "Where every window says that there is no answer, there is none.",
    ),
    (
        "an answer whose no-answer score is -18, with the threshold -20",
        SHORT,
        [ANSWER, NONE, NONE],
        -20.0,
        "Abstain where the null score minus the best span's score is above the threshold.",
    ),
    (
        "windows with a weak span in the middle one, and the threshold 30",
        SHORT,
        [NONE, ({0: 5.0, 4: -3.0}, {0: 5.0, 4: -3.0}), NONE],
        30.0,
        "With a large threshold every question is answered.",
    ),
    (
        "a window whose highest scores are 11 tokens apart",
        LONG,
        [({3: 9.0, 20: 4.0}, {13: 9.0, 20: 4.0}), NONE],
        0.0,
        "An answer has at most 10 tokens here. read_long passes longest=10 to best_spans.",
    ),
    (
        "a window with an answer of 10 tokens",
        LONG,
        [({3: 9.0, 20: 4.0}, {12: 9.0, 20: 4.0}), NONE],
        0.0,
        "An answer of exactly 10 tokens is allowed.",
    ),
    (
        "a window for which best_spans returns an empty list, and one with an answer",
        LONG,
        [NO_SPAN, ANSWER],
        0.0,
        "A window without a span has no candidate, but the other windows count as usual.",
    ),
    (
        "windows for which best_spans returns only empty lists",
        LONG,
        [NO_SPAN, NO_SPAN],
        0.0,
        "Where no window has a span, there is nothing to answer with: return the empty string.",
    ),
)


@exercise(
    "12.5",
    "One answer for all windows",
    difficulty=3,
    minutes=20,
    hints=(
        "Keep two things over all windows: the best span of any window, and the lowest null score of any window.",
        "spans = [span for window, starts, ends in found for span in best_spans(window, starts, ends, longest=10)]. "
        'The null score of a window is starts[0] + ends[0]. Decide once, after the loop; without spans, return "".',
    ),
)
def read_all(case: Case) -> None:
    """Answers in any window, in two, in none; thresholds; spans that are too long; windows without a span."""
    case.causes |= dict.fromkeys(
        ("list index out of range", "is an empty sequence", "arg is empty", "object has no attribute", "subscriptable"),
        "`best_spans` returns an empty list where none of the 20 best starts fits one of the 20 best ends. Such a "
        "window has no candidate, and without any candidate the answer is the empty string.",
    )
    for tried, (words, width), logits, limit, advice in READ_ALL_CASES:
        found = windows_of(words, width, logits)
        context = " ".join(LETTERS[number // 26] + LETTERS[number % 26] for number in range(words))
        got = case.call(found, context, limit, tried=tried)
        spans, null_score = best_over_windows(found, longest=10)
        abstains = not spans or null_score - spans[0].score > limit
        case.equal("the answer", got, "" if abstains else context[spans[0].start : spans[0].end], advice)

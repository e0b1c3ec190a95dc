"""Exercise 12.5: One answer for all windows."""

import numpy as np

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.finetuning.windows import Window, best_over_windows


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
        "one window, with an answer and the no-answer score -18",
        SHORT,
        [ANSWER],
        0.0,
        "-18 is below the threshold 0, so the model answers. Is your comparison inverted?",
    ),
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
        "two windows with null scores of 4 and a best span of 2",
        SHORT,
        [({0: 5.0, 4: 1.0}, {0: -1.0, 4: 1.0}), ({0: -1.0}, {0: 5.0})],
        0.0,
        "A window's null score is its own starts[0] + ends[0]. Add in each window, then take the lowest of these sums, "
        "and nothing else.",
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
        "The no-answer score is 16 here. That is not above the threshold 30, so the model answers.",
    ),
    (
        "a window whose highest scores make a span of 11 tokens",
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
    runs="with package",
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
        case.is_a("the answer", got, str, "a text, cut out of the context, or the empty string")
        spans, null_score = best_over_windows(found, longest=10)
        abstains = not spans or null_score - spans[0].score > limit
        case.equal("the answer", got, "" if abstains else context[spans[0].start : spans[0].end], advice)

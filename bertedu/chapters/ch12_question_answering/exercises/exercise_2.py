"""Exercise 12.2: The best valid span."""

import numpy as np
import torch
from torch import Tensor

from bertedu.chapters.ch12_question_answering.exercises.shared import whole_number
from bertedu.course.case import Case
from bertedu.course.exercise import exercise


def all_spans(starts: Tensor, ends: Tensor, first: int, length: int, longest: int) -> list[tuple[float, int, int]]:
    """All valid spans with their scores, the best first."""
    spans = [
        (float(starts[i] + ends[j]), i, j)
        for i in range(first, first + length)
        for j in range(i, min(first + length, i + longest))
    ]
    return sorted(spans, key=lambda span: -span[0])


def what_is_wrong(
    start: int, end: int, most: float, wanted: tuple[int, int], first: int, length: int, longest: int
) -> str:
    """Which rule a span breaks; `most` is the score of the right one."""
    inside = first <= start <= end < first + length and end - start < longest
    if most < 0 and not inside:
        return (
            "All valid spans have scores below 0 here, and yours is not valid. Forbidden entries need minus infinity, "
            "not 0. A search in a loop begins with minus infinity, too."
        )
    if (start + first, end + first) == wanted:
        return "That is the right span, but counted from the first token of the context. Count from [CLS]: add `first`."
    if (start, end) == (wanted[0], wanted[1] + 1):
        return "The end of the right span is one token earlier: the end is the last token of the span itself."
    if end < start:
        return "Your span ends before it starts. Start and end have to be chosen together."
    if start == 0:
        return "Token 0 is [CLS]. It stands for no answer and is not a span of the context, which begins at `first`."
    if start < first:
        return "Your span begins in the question, or at its [SEP]. The context begins at `first`."
    if end >= first + length:
        return "Your span leaves the context, which has `length` tokens. [SEP] and padding follow it."
    if end - start + 1 > longest:
        return f"Your span has {end - start + 1} tokens, and at most `longest` = {longest} are allowed."
    if wanted[1] - wanted[0] + 1 == longest > end - start + 1:
        return "The right one has exactly `longest` tokens, and that is allowed: end - start + 1 = longest."
    return "Your span is valid, but another one has a higher score. Do you compare all pairs? Two plain loops do."


@exercise(
    "12.2",
    "The best valid span",
    difficulty=2,
    minutes=15,
    hints=(
        "scores = start_logits[:, None] + end_logits[None, :] contains all pairs, [T, T]. Which of them are allowed?",
        "Build a mask with torch.arange(T): in the context, start <= end, end < start + longest. Fill the rest with "
        "-inf. argmax() numbers the entries row by row, so divmod(scores.argmax().item(), T) gives start and end.",
    ),
)
def best_span(case: Case) -> None:
    """Planted traps first, then forty random cases."""
    case.causes |= {
        "out of bounds": "`first` and `length` count tokens: the last token of the context is first + length - 1.",
        "out of range": "`first` and `length` count tokens: the last token of the context is first + length - 1.",
    }
    traps = []
    for tried, (first, length, longest), *raised in SPAN_TRAPS:
        starts, ends = 0.1 * case.randn(9), 0.1 * case.randn(9)
        for logits, numbers in zip((starts, ends), raised, strict=True):
            for position, number in numbers.items():
                logits[position] = number
        traps.append((tried, (starts, ends, first, length, longest)))
    for _ in range(40):
        length, longest = int(case.randint(1, 7, (1,))), int(case.randint(1, 6, (1,)))
        traps.append(("random logits", (case.randn(9), case.randn(9), 2, length, longest)))
    for tried, inputs in traps:
        got = case.parts(case.call(*inputs, tried=tried), "start", "end", "score")
        for name, position in zip(("the start", "the end"), got[:2], strict=True):
            whole_number(case, name, position)
        case.is_a("the score", got[2], int | float | Tensor | np.number, "a number")
        case.expect(torch.as_tensor(got[2]).numel() == 1, "But the score is not one number.")
        start, end, score = int(got[0]), int(got[1]), float(got[2])
        most, *wanted = all_spans(*inputs)[0]
        advice = what_is_wrong(start, end, most, (wanted[0], wanted[1]), *inputs[2:])
        if tried == LATE and (start, end) == (4, 4):  # the best one before token 5, which is `length`
            advice = "Your loops stop at token `length`. The context ends at `first + length`."
        case.expect(
            [start, end] == wanted,
            f"With first = {inputs[2]}, length = {inputs[3]} and longest = {inputs[4]} "
            f"you chose the tokens {start} to {end}, and {wanted[0]} to {wanted[1]} is right.",
            advice,
        )
        case.expect(
            abs(score - most) < 1e-4,
            f"But the score is {score:.2f}, and start logit plus end logit is {most:.2f}.",
            "The span is right. Its score is a sum of two logits.",
        )


LATE = "logits that are highest near the end of the context"


# What was tried; first, length, longest; the start and the end logits that are set, by their positions.
SPAN_TRAPS: tuple[tuple, ...] = (
    (LATE, (3, 5, 5), {6: 9.0, 4: 2.0}, {7: 9.0, 4: 2.0}),
    ("logits whose best start comes after the best end", (3, 5, 5), {6: 9.0, 4: 2.0}, {4: 9.0, 7: 1.0}),
    ("the same logits with a higher end at token 7", (3, 5, 5), {6: 9.0, 4: 1.0}, {4: 9.0, 7: 4.0}),
    ("logits that are highest at [CLS]", (4, 4, 4), {0: 9.0, 5: 2.0}, {0: 9.0, 6: 2.0}),
    ("logits that are highest in the question", (4, 4, 4), {1: 9.0, 4: 2.0}, {2: 9.0, 6: 2.0}),
    ("logits that are highest at the last [SEP]", (3, 5, 5), {8: 9.0, 4: 2.0}, {8: 9.0, 5: 2.0}),
    ("a high-scoring span of four tokens, with longest = 3", (3, 5, 3), {3: 6.0, 5: 1.0}, {6: 6.0}),
    ("a high-scoring span of three tokens, with longest = 3", (3, 5, 3), {3: 6.0}, {5: 6.0}),
)

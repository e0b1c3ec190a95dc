"""Exercises 12.1 to 12.3: from scores to spans. 12.4 is in chapter_12_no_answer.py, 12.5 in chapter_12_windows.py."""

import numpy as np
import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "12.1",
    "Which span wins?",
    difficulty=1,
    minutes=5,
    kind="value",
    hints=(
        "Six spans of the context end where they start, or later. Write them down. Only these can be the answer.",
        "old 2.0 + 3.5, old Mr 2.0 + 1.0, old Mr Fox 2.0 + 2.0, Mr 3.0 + 1.0, Mr Fox 3.0 + 2.0, Fox 0.0 + 2.0.",
    ),
)
def winning_span(case: Case) -> None:
    """5.5."""
    case.predicted(
        5.5,
        otherwise="For each of the six valid spans of the context, add the start score of its first token and the end "
        "score of its last. Which sum is the largest?",
        mistakes=[
            (9, "9 is the score of Who, a word of the question. The answer must be in the context."),
            (
                6.5,
                "6.5 adds the best start of the context (Mr) and the best end (old). That span ends before it starts.",
            ),
            (7.5, "7.5 starts at Who, in the question, and ends at old. The whole answer must be in the context."),
            (8, "8 starts at Mr and ends at Who, in the question. The whole answer must be in the context."),
            (5, "5 is Mr Fox, the second best. Check the spans of a single word again."),
            (4, "4 is old Mr Fox, or Mr alone. One of the six scores higher."),
            (2, "2 is Fox alone, or [CLS], which stands for no answer. Another of the six spans scores higher."),
        ],
    )


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
        case.expect(
            [start, end] == wanted,
            f"With first = {inputs[2]}, length = {inputs[3]} and longest = {inputs[4]} "
            f"you chose the tokens {start} to {end}, and {wanted[0]} to {wanted[1]} is right.",
            what_is_wrong(start, end, most, (wanted[0], wanted[1]), *inputs[2:]),
        )
        case.expect(
            abs(score - most) < 1e-4,
            f"But the score is {score:.2f}, and start logit plus end logit is {most:.2f}.",
            "The span is right. Its score is a sum of two logits.",
        )


def whole_number(case: Case, name: str, position: object) -> None:
    """Not yet, unless it is one whole number, the position of a token."""
    if isinstance(position, float):
        case.fail(f"But {name} is the float {position}, and a position is a whole number: int({position}).")
    case.is_a(name, position, int | Tensor | np.integer, "a whole number, the position of a token")
    case.expect(torch.as_tensor(position).numel() == 1, f"But {name} is not one number.")


# What was tried; first, length, longest; the start and the end logits that are set, by their positions.
SPAN_TRAPS: tuple[tuple, ...] = (
    ("logits whose best start comes after the best end", (3, 5, 5), {6: 9.0, 4: 2.0}, {4: 9.0, 7: 1.0}),
    ("the same logits with a higher end at token 7", (3, 5, 5), {6: 9.0, 4: 1.0}, {4: 9.0, 7: 4.0}),
    ("logits that are highest at [CLS]", (4, 4, 4), {0: 9.0, 5: 2.0}, {0: 9.0, 6: 2.0}),
    ("logits that are highest in the question", (4, 4, 4), {1: 9.0, 4: 2.0}, {2: 9.0, 6: 2.0}),
    ("logits that are highest at the last [SEP]", (3, 5, 5), {8: 9.0, 4: 2.0}, {8: 9.0, 5: 2.0}),
    ("a high-scoring span of four tokens, with longest = 3", (3, 5, 3), {3: 6.0, 5: 1.0}, {6: 6.0}),
    ("a high-scoring span of three tokens, with longest = 3", (3, 5, 3), {3: 6.0}, {5: 6.0}),
)


@exercise(
    "12.3",
    "From characters to tokens",
    difficulty=2,
    minutes=10,
    hints=(
        "Go through the offsets with enumerate. Which tokens share at least one character with the answer?",
        "A token (s, e) shares a character with the answer if s < end and e > start. Return the first and the last "
        "of these tokens.",
    ),
)
def token_span(case: Case) -> None:
    """One token, several, both ends of a text, answers that cut a token, and answers with spaces at their ends."""
    case.causes |= {
        "is not in list": "You look for a token that begins or ends exactly there, and there is none. Compare with < "
        "and >: which tokens share a character with the answer?",
        "list index out of range": "Your list of tokens is empty here. Which tokens share a character with the answer?",
    }
    for tried, start, end, advice in LABELS:
        got = case.call(OFFSETS, start, end, tried=tried)
        if isinstance(got, tuple | list) and len(got) == 1:
            case.fail("But it returned 1 thing, and 2 are asked for: `return first, last`.")
        first, last = case.parts(got, "first", "last")
        for name, position in (("the first token", first), ("the last token", last)):
            whole_number(case, name, position)
        shared = [number for number, (s, e) in enumerate(OFFSETS) if s < end and e > start]
        case.equal(
            "the label",
            (int(first), int(last)),
            (shared[0], shared[-1]),
            advice,
            mistakes=[
                (
                    (shared[0], shared[-1] + 1),
                    "Your last token is one too far: the label is the last token that shares a character with the "
                    "answer, not the one after it.",
                ),
                (
                    (shared[0] + 1, shared[-1] + 1),
                    "Both positions are one too high. Count in `offsets`, from 0: [CLS] is not in this list.",
                ),
                (
                    (shared[0], len(shared)),
                    "Your second number is how many tokens the answer has. Return the position of the last one.",
                ),
                ((shared[0], shared[0]), "You returned the first token twice. Where does the answer end?"),
                ((start, end), "These are positions of characters. The model needs positions of tokens."),
            ],
        )


OFFSETS = [(0, 4), (5, 9), (10, 14), (14, 15), (16, 17), (18, 23), (23, 24)]
LABELS = (
    ("an answer of one word", 5, 9, "Which token contains the characters 5 to 8?"),
    ("a word that is followed by a full stop", 10, 14, "The full stop shares no character with the answer."),
    ("an answer of three tokens", 5, 15, "An answer may have several tokens. Return the first and the last of them."),
    ("the first word of the text", 0, 4, "The first token is number 0."),
    ("the last word of the text", 18, 24, "The last token ends where the text ends."),
    (
        "an answer that is only a part of a token",
        19,
        22,
        "No token begins at character 19, but one contains it. Which tokens share a character with the answer?",
    ),
    (
        "an answer that begins in one token and ends in another",
        7,
        12,
        "A token belongs to the answer if they share at least one character, even if the answer contains only a part "
        "of the token.",
    ),
    (
        "an answer that begins with a space",
        4,
        9,
        "Character 4 is a space, and no token contains it. The first token that shares a character comes after it.",
    ),
    (
        "an answer that ends with a space",
        5,
        10,
        "Character 9 is a space, and no token contains it. The last token that shares a character comes before it.",
    ),
)

"""Exercises of chapter 12: question answering, from scores to spans."""

import numpy as np
import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.finetuning.windows import Window, label_of


@exercise(
    "12.1",
    "Which span wins?",
    difficulty=1,
    minutes=4,
    kind="value",
    hints=(
        "Write down the six spans of the context that end where they start or later. Nothing else may be the answer.",
        "old 2.0 + 3.5, old mr 2.0 + 1.0, old mr fox 2.0 + 2.0, mr 3.0 + 1.0, mr fox 3.0 + 2.0, fox 0.0 + 2.0.",
    ),
)
def winning_span(case: Case) -> None:
    """5.5."""
    case.predicted(
        5.5,
        otherwise="Add the start's number and the end's for each of the six valid spans of the context: which sum is "
        "largest?",
        mistakes=[
            (9, "9 is the question's own word, who. The answer has to stand in the context."),
            (
                6.5,
                "6.5 takes the best start of the context (mr) and the best end (old). That span ends before it starts.",
            ),
            (5, "5 is mr fox, the second best. Look once more at the spans of a single word."),
            (4, "4 is old mr fox, or mr alone. There are better ones among the six."),
            (2, "2 is [CLS], no answer. Some span of the context has more."),
        ],
    )


def slow_best(starts: Tensor, ends: Tensor, first: int, length: int, longest: int) -> list[tuple[float, int, int]]:
    """All valid spans, the best first."""
    spans = [
        (float(starts[i] + ends[j]), i, j)
        for i in range(first, first + length)
        for j in range(i, min(first + length, i + longest))
    ]
    return sorted(spans, key=lambda span: -span[0])


def what_is_wrong(start: int, end: int, wanted: tuple[int, int], first: int, length: int, longest: int) -> str:
    """Which rule a span breaks."""
    if (start + first, end + first) == wanted:
        return "That is the right span, counted from the beginning of the context. Count in the whole row: add `first`."
    if (start, end) == (wanted[0], wanted[1] + 1):
        return "The right span has its end one token earlier. The end is the last token, not the one behind it."
    if end < start:
        return "Your span ends before it starts. Start and end have to be chosen together."
    if start == 0:
        return "Token 0 is [CLS]. It stands for no answer and is no span of the context, which begins at `first`."
    if start < first:
        return "Your span begins in the question. The context begins at `first`."
    if end >= first + length:
        return "Your span goes beyond the context, which has `length` tokens. Behind them stand [SEP] and padding."
    if end - start + 1 > longest:
        return f"Your span has {end - start + 1} tokens, and at most `longest` = {longest} are allowed."
    if wanted[1] - wanted[0] + 1 == longest:
        return "The right one has exactly `longest` tokens, and that is allowed: end - start + 1 = longest."
    return "Your span is valid, but another one scores more. Were all pairs compared? Two plain loops will tell."


@exercise(
    "12.2",
    "The best valid span",
    difficulty=2,
    minutes=10,
    hints=(
        "scores = start_logits[:, None] + end_logits[None, :] holds all pairs, [T, T]. Which of them are allowed?",
        "Build a mask with torch.arange(T): context, start <= end, end < start + longest. Fill the rest with -inf; "
        "argmax() counts through the rows: divmod(place, T).",
    ),
)
def best_span(case: Case) -> None:
    """Planted traps first, then forty random cases."""
    traps = []
    for tried, (first, length, longest), *raised in SPAN_TRAPS:
        starts, ends = 0.1 * case.randn(9), 0.1 * case.randn(9)
        for logits, numbers in zip((starts, ends), raised, strict=True):
            for place, number in numbers.items():
                logits[place] = number
        traps.append((tried, (starts, ends, first, length, longest)))
    for _ in range(40):
        length, longest = int(case.randint(1, 7, (1,))), int(case.randint(1, 6, (1,)))
        traps.append(("random logits", (case.randn(9), case.randn(9), 2, length, longest)))
    for tried, inputs in traps:
        got = case.parts(case.call(*inputs, tried=tried), "start", "end", "score")
        for name, place in zip(("the start", "the end"), got[:2], strict=True):
            case.is_a(name, place, int | Tensor | np.integer, "a whole number, the place of a token")
            case.expect(torch.as_tensor(place).numel() == 1, f"But {name} is not one number.")
        case.is_a("the score", got[2], int | float | Tensor | np.number, "a number")
        case.expect(torch.as_tensor(got[2]).numel() == 1, "But the score is not one number.")
        start, end, score = int(got[0]), int(got[1]), float(got[2])
        most, *wanted = slow_best(*inputs)[0]
        case.expect(
            [start, end] == wanted,
            f"With first = {inputs[2]}, length = {inputs[3]} and longest = {inputs[4]} "
            f"you chose the tokens {start} to {end}, and {wanted[0]} to {wanted[1]} is right.",
            what_is_wrong(start, end, (wanted[0], wanted[1]), *inputs[2:]),
        )
        case.expect(
            abs(score - most) < 1e-4,
            f"But the score is {score:.2f}, and start logit plus end logit is {most:.2f}.",
            "The span is right. Its score is a sum of two logits.",
        )


# What was tried; first, length, longest; the start and the end logits that are set, by their places.
SPAN_TRAPS: tuple[tuple, ...] = (
    ("a best start that stands behind the best end", (3, 5, 5), {6: 9.0, 4: 2.0}, {4: 9.0, 7: 1.0}),
    ("the highest logits at [CLS]", (4, 4, 4), {0: 9.0, 5: 2.0}, {0: 9.0, 6: 2.0}),
    ("the highest logits in the question", (4, 4, 4), {1: 9.0, 4: 2.0}, {2: 9.0, 6: 2.0}),
    ("the highest logits at the last [SEP]", (3, 5, 5), {8: 9.0, 4: 2.0}, {8: 9.0, 5: 2.0}),
    ("a high start and a high end with four tokens, longest = 3", (3, 5, 3), {3: 6.0, 5: 1.0}, {6: 6.0}),
    ("a high start and a high end with three tokens, longest = 3", (3, 5, 3), {3: 6.0}, {5: 6.0}),
)


@exercise(
    "12.3",
    "From characters to tokens",
    difficulty=2,
    minutes=8,
    hints=(
        "Go through the offsets with enumerate. Which tokens share at least one character with the answer?",
        "A token (s, e) shares a character with the answer if s < end and e > start. First and last of these.",
    ),
)
def token_span(case: Case) -> None:
    """One token, several, the ends of a text, and answers that cut a token."""
    offsets = [(0, 4), (5, 9), (10, 14), (14, 15), (16, 17), (18, 23), (23, 24)]
    for tried, start, end, advice in LABELS:
        got = case.call(offsets, start, end, tried=tried)
        first, last = case.parts(got, "first", "last")
        wanted = label_of(Window([0] * 8, 0, offsets), (start, end))
        case.equal(
            "the label",
            (int(first), int(last)),
            wanted,
            advice,
            mistakes=[
                (
                    (wanted[0], wanted[1] + 1),
                    "Your last token is one too far. The label is the last token of the answer, not the one behind it.",
                ),
                ((wanted[0], wanted[0]), "You found the first token twice. Where does the answer end?"),
                ((start, end), "These are characters still. The model counts in tokens."),
            ],
        )


LABELS = (
    ("an answer of one word", 5, 9, "Which token has the characters 5 to 8?"),
    ("a word with a full stop behind it", 10, 14, "The full stop shares no character with the answer."),
    ("an answer of three tokens", 5, 15, "The answer may have several tokens: the first and the last are asked for."),
    ("the first word of the text", 0, 4, "The first token is number 0."),
    ("the last word of the text", 18, 24, "The last token ends where the text ends."),
    (
        "an answer that is only a part of a token",
        19,
        22,
        "No token begins at character 19, but one holds it. A token belongs to the answer if they share a character.",
    ),
    (
        "an answer that begins in one token and ends in another",
        7,
        12,
        "A token belongs to the answer if they share at least one character, also where the answer cuts through it.",
    ),
)

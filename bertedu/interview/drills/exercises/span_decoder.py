"""The drill of the span decoder: from the logits of a question-answering head to the best valid span."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from bertedu.course.case import Case, plain
from bertedu.course.explaining import compare
from bertedu.interview.drills.drill import Drill

TASK = """
Write `decode_span(start_logits, end_logits, in_passage, longest, threshold)`: a question-answering head has read one
sequence of T tokens, [CLS] question [SEP] passage [SEP], and you find the answer.

    start_logits, end_logits   [T], floats
    in_passage                 [T], bool: True for the tokens of the passage
    longest                    an int: the most tokens that an answer may have
    threshold                  a float: how far the null score has to be above the best span

Return (start, end): the first and the last token of the best span, counted from [CLS], as whole numbers. The score of a
span is its start logit plus its end logit. Both of its ends lie in the passage, start <= end, and it has at most
`longest` tokens. The null score is start_logits[0] + end_logits[0]. Where it is greater than the score of the best span
plus the threshold, there is no answer: return (0, 0). At least one span is valid.

Allowed: anything; loops are fine if you can say what they cost.
"""

STUB = """
import torch


def decode_span(start_logits, end_logits, in_passage, longest, threshold):
    raise NotImplementedError
"""

SOLUTION = """
import torch


def decode_span(start_logits, end_logits, in_passage, longest, threshold):
    length = len(start_logits)
    start, end = torch.arange(length)[:, None], torch.arange(length)[None, :]
    valid = in_passage[:, None] & in_passage[None, :] & (start <= end) & (end - start < longest)
    scores = start_logits[:, None] + end_logits[None, :]  # [T, T]
    scores = scores.masked_fill(~valid, float("-inf"))
    if start_logits[0] + end_logits[0] > scores.max() + threshold:
        return 0, 0
    return divmod(int(scores.argmax()), length)
"""

INFINITY = float("inf")
Decision = Callable[[Tensor, Tensor, float, float], bool]  # start logits, end logits, best score, threshold


def above(starts: Tensor, ends: Tensor, best: float, threshold: float) -> bool:
    """The right decision: no answer, where the null score is above the best score by more than the threshold."""
    return float(starts[0] + ends[0]) > best + threshold


def decoder(
    decide: Decision = above, filled: float = -INFINITY, anywhere: bool = False, more: int = 0, least: int = 0
) -> Callable:
    """A decoder that decides in another way, fills invalid pairs with another number, takes the whole sequence for
    the passage, allows some more tokens, or pairs whose end comes before the start."""

    def run(starts: Tensor, ends: Tensor, inside: Tensor, longest: int, threshold: float) -> tuple[int, int]:
        position = torch.arange(len(starts))
        distance = position[None, :] - position[:, None]
        valid = (distance >= least) & (distance < longest + more)
        if not anywhere:
            valid = valid & inside[:, None] & inside[None, :]
        scores = (starts[:, None] + ends[None, :]).masked_fill(~valid, filled)
        if decide(starts, ends, float(scores.max()), threshold):
            return 0, 0
        return divmod(int(scores.argmax()), len(starts))

    return run


RIGHT = decoder()


def one_at_a_time(order: str) -> Callable:
    """A decoder that chooses the start alone, the end alone, or both ("start", "end", "both", "swapped")."""

    def run(starts: Tensor, ends: Tensor, inside: Tensor, longest: int, threshold: float) -> tuple[int, int]:
        s, e = (x.masked_fill(~inside, -INFINITY) for x in (starts, ends))
        position, start, end = torch.arange(len(s)), int(s.argmax()), int(e.argmax())
        if order == "start":
            end = int(e.masked_fill((position < start) | (position >= start + longest), -INFINITY).argmax())
        elif order == "end":
            start = int(s.masked_fill((position > end) | (position <= end - longest), -INFINITY).argmax())
        elif order == "swapped":
            start, end = min(start, end), max(start, end)
        return (0, 0) if above(starts, ends, float(starts[start] + ends[end]), threshold) else (start, end)

    return run


def moved(by_start: int, by_end: int) -> Callable:
    """The right span with its numbers moved; by_start = -1: counted from the first token of the passage."""

    def run(starts: Tensor, ends: Tensor, inside: Tensor, longest: int, threshold: float) -> tuple[int, int]:
        start, end = RIGHT(starts, ends, inside, longest, threshold)
        if (start, end) == (0, 0):
            return 0, 0
        first = int(inside.nonzero()[0]) if by_start < 0 else 0
        return start - first, end - first + by_end

    return run


def of_probabilities(starts: Tensor, ends: Tensor, inside: Tensor, longest: int, threshold: float) -> tuple[int, int]:
    """Probabilities in place of logits."""
    return RIGHT(starts.softmax(0), ends.softmax(0), inside, longest, threshold)


def crossed(starts: Tensor, ends: Tensor, inside: Tensor, longest: int, threshold: float) -> tuple[int, int]:
    """Starts and ends swapped."""
    return RIGHT(ends, starts, inside, longest, threshold)


SUM_OF_PROBABILITIES = (
    "You add probabilities. The probability of a span is a product, so add logits (or log-probabilities): that also "
    "gives the threshold its meaning."
)
MISTAKES: dict[str, Callable] = {
    "The best start and the best end are chosen alone, so the span may end before it starts or be too long. Score the "
    "pairs, and choose among the valid ones.": one_at_a_time("both"),
    "You swap start and end where they are the wrong way round. That span was never scored: choose among the pairs "
    "with start <= end.": one_at_a_time("swapped"),
    "You fix the best start first, then look for an end. A weaker start may have a far higher end: score all pairs.": (
        one_at_a_time("start")
    ),
    "You fix the best end first, then look for a start. A weaker end may have a far higher start: score all pairs.": (
        one_at_a_time("end")
    ),
    "Your spans may end before they start. Only pairs with start <= end are valid.": decoder(least=-1000),
    "Your spans may end before they start, and may be too long. Use start <= end, and `longest`.": (
        decoder(least=-1000, more=1000)
    ),
    "Spans outside of the passage compete: the question, [CLS] and [SEP] are no answers. Use in_passage for both "
    "ends.": decoder(anywhere=True),
    "There is no limit on the length. A span may have at most `longest` tokens.": decoder(more=1000),
    "Your spans may have one token too many: a span from i to j has j - i + 1 tokens.": decoder(more=1),
    "Your spans are one token too short: a span from i to j has j - i + 1 tokens, and `longest` is allowed.": (
        decoder(more=-1)
    ),
    "Invalid pairs get 0, and all valid scores are below 0 here. They need minus infinity.": decoder(filled=0.0),
    "You never abstain. Compare the null score, start_logits[0] + end_logits[0], with the best span.": decoder(
        decide=lambda *_: False
    ),
    "The threshold is not used: abstain if the null score exceeds the best score by more than the threshold.": decoder(
        decide=lambda s, e, best, _: float(s[0] + e[0]) > best
    ),
    "The threshold is on the wrong side: it makes answering easier, so it is added to the best score.": decoder(
        decide=lambda s, e, best, threshold: float(s[0] + e[0]) + threshold > best
    ),
    "The decision is inverted: a null score far above the best span means that there is no answer.": decoder(
        decide=lambda s, e, best, threshold: not above(s, e, best, threshold)
    ),
    "You compare the null score with the threshold alone. It means something only relative to the best span.": decoder(
        decide=lambda s, e, _, threshold: float(s[0] + e[0]) > threshold
    ),
    "Your null score is start_logits[0] alone. [CLS] is start and end of the null span: add end_logits[0].": decoder(
        decide=lambda s, _, best, threshold: float(s[0]) > best + threshold
    ),
    "Start and end logits are mixed up: the start logit belongs to the first token of a span, the end logit to its "
    "last. If rows are starts, it is start_logits[:, None] + end_logits[None, :].": crossed,
    SUM_OF_PROBABILITIES: of_probabilities,
    "Your positions count from the first token of the passage. Count from [CLS].": moved(-1, 0),
    "Your end is the token after the span. Return the last token of the span itself.": moved(0, 1),
}


def shown_none(answer: Callable) -> Callable:
    """The answer, with an empty tuple for None: a case would take that for a missing `return`."""

    @wraps(answer)
    def run(*inputs: Any) -> Any:
        got = answer(*inputs)
        return () if got is None else got

    return run


def pair(case: Case, got: Any, *_: Any) -> tuple[int, int]:
    """Start and end as whole numbers."""
    if got == ():
        case.fail("But it returned None. Return two numbers on every path: (0, 0) means that there is no answer.")
    start, end = (plain(part) for part in case.parts(plain(got), "start", "end"))
    for name, position in (("the start", start), ("the end", end)):
        case.is_a(name, position, int, "a whole number, the position of a token")
    return start, end


def logits(case: Case, set_starts: dict[int, float], set_ends: dict[int, float]) -> tuple[Tensor, Tensor]:
    """Small random logits, of which some are set."""
    both = 0.1 * case.randn(10), 0.1 * case.randn(10)
    for given, numbers in zip(both, (set_starts, set_ends), strict=True):
        for position, value in numbers.items():
            given[position] = value
    return both


def tries(case: Case) -> list[tuple]:
    """Planted traps, then random logits. Tokens 3 to 8 are the passage; 0 is [CLS]."""
    inside = torch.tensor([0, 0, 0, 1, 1, 1, 1, 1, 1, 0]).bool()
    traps: list[tuple[str, int, float, dict, dict]] = [
        ("logits whose best start comes after the best end", 5, 0.0, {7: 9, 4: 2}, {4: 9, 8: 4}),
        ("logits whose best start has only weak ends", 2, 0.0, {3: 5, 6: 4}, {7: 5}),
        ("logits whose best end has only weak starts", 2, 0.0, {3: 5}, {8: 5, 4: 4}),
        ("logits that are highest in the question", 4, 0.0, {1: 9, 4: 2}, {2: 9, 6: 2}),
        ("a high score for six tokens, with longest = 3", 3, 0.0, {3: 6, 5: 1}, {8: 6}),
        ("a high score for four tokens, with longest = 3", 3, 0.0, {3: 6, 5: 1}, {6: 6}),
        ("a high score for three tokens, with longest = 3", 3, 0.0, {3: 6}, {5: 6}),
        ("a null score above the best span", 5, 1.0, {0: 5, 4: 2}, {0: 5, 6: 2}),
        ("a null score 1 above the best span, with threshold = 2", 5, 2.0, {0: 3, 4: 2.5}, {0: 3, 6: 2.5}),
        ("a null score 1 below the best span, with threshold = -2", 5, -2.0, {0: 3, 4: 3.5}, {0: 3, 6: 3.5}),
    ]
    made: list[tuple] = [(tried, *logits(case, s, e), inside, longest, limit) for tried, longest, limit, s, e in traps]
    for scale, shift, tried in ((1.0, 0.0, "random logits"), (1.0, -5.0, "random logits, all of them below 0")):
        for _ in range(15):
            longest, threshold = int(case.randint(1, 6, (1,))), float(case.randint(-2, 3, (1,)))
            made.append((tried, *(scale * case.randn(10) + shift for _ in "se"), inside, longest, threshold))
    return made


def examine(case: Case) -> None:
    """Planted traps, then thirty random sequences."""
    case.causes |= {
        "out of bounds": "Which positions does your loop reach? The last token is T - 1.",
        "out of range": "Which positions does your loop reach? The last token is T - 1.",
        "Boolean value of Tensor": "A condition on whole tensors needs `&` and a mask, not `and` and `if`.",
    }
    advice = "That is not the best valid span. Score all pairs in two loops, and compare."
    compare(
        case, tries(case), RIGHT, MISTAKES, advice, names=("(start, end)",), read=pair, function=shown_none(case.answer)
    )
    case.close_with("Say the cost: T² pairs, or T · longest if you look only where a span may end.")


DRILL = Drill(
    name="span-decoder",
    title="Decode an answer span",
    minutes=10,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="12",
    section="From two scores to an answer",
    hints=(
        "Start and end have to be chosen together. How many pairs are there, and which of them are valid?",
        "scores = start_logits[:, None] + end_logits[None, :], minus infinity where a pair is invalid; then one argmax "
        "over all pairs. The null score comes into play only after that.",
    ),
    examine=examine,
)

"""Variants of chapter 12: the best span where each token costs something, and a program that joins windows."""

from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import Row, compare
from bertedu.course.variant import COPIED, Draws, Variant

Span = tuple[int, int]  # the first and the last token
FORMS: dict[str, Callable[[float, int, int], tuple]] = {
    "its score, the position of its first token, and the number of its tokens": lambda s, i, j: (s, i, j - i + 1),
    "the position of its first token, the position **after** its last token, and its score": lambda s, i, j: (
        i,
        j + 1,
        s,
    ),
    "the number of its tokens, the position of its last token, and its score": lambda s, i, j: (j - i + 1, j, s),
}


def span_rows(case: Case) -> list[Row]:
    """Inputs of 9 tokens, with logits that differ by less than the cost of a token, and by more."""
    rows = []
    for at in range(60):
        length, longest = int(case.randint(1, 7, (1,))), int(case.randint(1, 5, (1,)))
        starts, ends = (1.0 + 2.0 * (at % 3)) * case.randn(2, 9)
        if at % 2:  # a span of any length that has a high score, allowed or not
            planted = int(case.randint(2, 2 + length, (1,)))
            starts[planted] += 12
            ends[min(8, planted + int(case.randint(0, 5, (1,))))] += 12
        rows.append(("random logits", starts, ends, 2, length, longest))
    return rows


def allowed(first: int, length: int, longest: int) -> list[Span]:
    """The spans of the context that are not too long."""
    return [(i, j) for i in range(first, first + length) for j in range(i, min(first + length, i + longest))]


def span_program(
    told: Callable[[float, int, int], tuple],
    charged: float,  # for each token when spans are compared
    subtracted: float,  # for each token from the score that is returned
    spans: Callable[[int, int, int], list[Span]] = allowed,
    free: int = 0,  # tokens of a span that cost nothing
) -> Callable[..., tuple]:
    """A program that finds the best of some spans, with a cost for each token."""

    def answer(starts: Tensor, ends: Tensor, *limits: int) -> tuple:
        def score(span: Span, cost: float) -> float:
            return float(starts[span[0]] + ends[span[1]]) - cost * (span[1] - span[0] + 1 - free)

        best = max(spans(*limits), key=lambda span: score(span, charged))
        return told(score(best, subtracted), *best)

    return answer


def span_mistakes(cost: float, form: str) -> dict[str, Callable[..., tuple]]:
    """What is said to a known mistake, and a program that makes it."""

    def wrong(**changes: Any) -> Callable[..., tuple]:
        parts: dict[str, Any] = {"told": FORMS[form], "charged": cost, "subtracted": cost}
        return span_program(**parts | changes)

    return {
        COPIED.format(number="12.2") + f" Each token costs {cost:g}.": wrong(
            charged=0, subtracted=0, told=lambda s, i, j: (i, j, s)
        ),
        "The numbers are right, but they are not returned as the text says.": wrong(told=lambda s, i, j: (i, j, s)),
        f"The cost is missing: subtract {cost:g} for each token of the span.": wrong(charged=0, subtracted=0),
        "You subtracted the cost after the choice. It has to decide which span is the best.": wrong(charged=0),
        "The span is right. Its score should be the one with the cost subtracted.": wrong(subtracted=0),
        "A span of one token costs something too: it has end - start + 1 tokens.": wrong(free=1),
        "You added the cost, so that long spans win. Subtract it.": wrong(charged=-cost, subtracted=-cost),
        "Your span ends before it starts.": wrong(
            spans=lambda f, n, m: [(i, j) for i in range(f, f + n) for j in range(f, f + n) if j < i + m]
        ),
        "Your span begins in the question. The context begins at `first`.": wrong(
            spans=lambda f, n, m: allowed(0, f + n, m)
        ),
        "Your span leaves the context, which has `length` tokens.": wrong(spans=lambda f, n, m: allowed(f, 9 - f, m)),
        "`longest` is the number of tokens that a span may have, and your spans can be one longer.": wrong(
            spans=lambda f, n, m: allowed(f, n, m + 1)
        ),
        "A span may have exactly `longest` tokens, and yours stop one before.": wrong(
            spans=lambda f, n, m: allowed(f, n, max(1, m - 1))
        ),
        "Your spans may be of any length. At most `longest` tokens are allowed.": wrong(
            spans=lambda f, n, m: allowed(f, n, n)
        ),
    }


def costly_span(draws: Draws) -> Variant:
    """The best span where each token costs something, and the result is returned in another form."""
    cost, form = draws.pick((0.25, 0.5, 1.0, 2.0)), draws.pick(tuple(FORMS))

    def examine(case: Case) -> None:
        case.causes["out of"] = "`length` counts tokens: the last token of the context is first + length - 1."
        advice = f"Compare all valid spans by start + end - {cost:g} · tokens."
        right = span_program(FORMS[form], cost, cost)
        compare(case, span_rows(case), right, span_mistakes(cost, form), advice)

    text = (
        "Write `best_span(start_logits, end_logits, first, length, longest)` for logits `[T]` of a whole input, from "
        "[CLS] to padding. The context begins at token `first` and has `length` tokens. A span lies in the context and "
        "has at most `longest` tokens. To prefer short answers, **each token of a span costs "
        f"{cost:g}**: the score of a span is the start logit of its first token plus the end logit of its last token, "
        f"minus {cost:g} times the number of its tokens. Return three numbers about the span with the highest score: "
        f"{form}. Positions are counted from [CLS]."
    )
    hints = (
        "Write the score of one span first, then compare all of them. How many tokens does a span of one token have?",
        f"Two loops over i and j with j < min(first + length, i + longest), and {cost:g} * (j - i + 1) to subtract.",
    )
    exercise = Exercise("12.11", "Each token costs something", 2, 12, hints, examine)
    return Variant(exercise, text, "def best_span(start_logits, end_logits, first, length, longest):")


PROGRAM = """\
def final_answer(windows, threshold):  # a window: (shift, null score, [(score, first, last), ...])
    found, nulls = {{}}, []
    for shift, null_score, spans in windows:
        nulls.append(null_score)
        for score, first, last in spans:
            span = ({first}, {last})
            {keep}
    if not found:
        return -1, -1
    totals = {{span: {total} for span, scores in found.items()}}
    best = max(totals, key=totals.get)
    if {abstains}:
        return -1, -1
    return best"""
REPAIRED = {
    "first": "first + shift",
    "last": "last + shift",
    "keep": "found.setdefault(span, []).append(score)",
    "abstains": "min(nulls) - totals[best] > threshold",
}
TOTALS = {
    "the highest of these scores": "max(scores)",
    "the mean of these scores": "sum(scores) / len(scores)",
    "the sum of these scores": "sum(scores)",
}
# What is planted, and what is said to somebody who leaves it.
BUGS_OF_SPANS = (
    ({"keep": "found[span] = [score]"}, "A span's score from a later window replaces the one from an earlier window."),
    ({"first": "first", "last": "last"}, "Each window counts its own tokens from 0. Add the window's shift."),
    ({"last": "last"}, "The shift of the window is added to one end of the span only."),
)
BUGS_OF_ABSTAINING = (
    ({"abstains": "max(nulls) - totals[best] > threshold"}, "The lowest null score counts, and not the highest."),
    ({"abstains": "null_score - totals[best] > threshold"}, "The null score is the last window's. All windows count."),
    ({"abstains": "totals[best] - min(nulls) > threshold"}, "The difference has the wrong sign."),
    ({"abstains": "min(nulls) > threshold"}, "The null score is compared alone. Subtract the score of the best span."),
)


def window_rows(case: Case) -> Iterator[Row]:
    """Windows that share spans, windows without spans, and a question exactly at the threshold."""
    for _ in range(40):
        windows = []
        for shift in (0, 3, 6):
            places = [(6, 7), (7, 9), (8, 8), (shift, shift + 1)]
            kept = [place for place, yes in zip(places, case.randint(0, 3, (4,)).tolist(), strict=True) if yes]
            scores = [round(2 * float(score), 4) for score in case.randn(len(kept))]
            spans = [(s, i - shift, j - shift) for s, (i, j) in zip(scores, kept, strict=True)]
            windows.append((shift, round(2 * float(case.randn(1)) + 1, 2), spans))
        yield "three windows of a text", windows, float(case.randint(-2, 3, (1,)))
    yield "windows without a span", [(0, 1.0, []), (3, -2.0, [])], 0.0
    yield "a no-answer score that equals the threshold", [(0, 3.0, [(2.0, 1, 2)]), (2, 4.0, [])], 1.0


def joining(draws: Draws) -> Variant:
    """A program that joins the spans of all windows, with two planted bugs."""
    rule, after, limit = draws.pick(tuple(TOTALS)), draws.pick((True, False)), draws.pick((">", ">="))
    bugs = draws.pick(BUGS_OF_SPANS), draws.pick(BUGS_OF_ABSTAINING)

    def code(*changes: dict[str, str], after: bool = after, limit: str = limit) -> str:
        parts = {"total": TOTALS[rule], **REPAIRED}
        for change in changes:
            parts |= change
        parts["last"] += " + 1" if after else ""
        parts["abstains"] = parts["abstains"].replace(">", limit)
        return PROGRAM.format(**parts)

    def program(*changes: dict[str, str], after: bool = after, limit: str = limit) -> Callable:
        names: dict = {}
        exec(code(*changes, after=after, limit=limit), names)
        return names["final_answer"]

    last = "the position **after** its last token" if after else "the position of its **last** token"
    mistakes = {"That is what the program gives as it was.": program(bugs[0][0], bugs[1][0])}
    mistakes |= {
        f"One of the two bugs is left. {said}" if (change, said) in bugs else said: program(change)
        for change, said in (*BUGS_OF_SPANS, *BUGS_OF_ABSTAINING)
    }
    mistakes |= {
        f"You took {name}. The total of a span is {rule}.": program({"total": total}) for name, total in TOTALS.items()
    }
    mistakes[f"The second number is {last}."] = program(after=not after)
    equal = "abstains" if limit == ">=" else "answers"
    other = program(limit=">" if limit == ">=" else ">=")
    mistakes[f"Where the difference equals the threshold, the program {equal}."] = other
    mistakes["It never abstains."] = program({"abstains": "False"})

    def examine(case: Case) -> None:
        advice = "Follow the three steps by hand for these windows."
        compare(case, list(window_rows(case)), program(), mistakes, advice, names=("the answer",))

    text = (
        "The program above should give one answer for a text that was read in overlapping windows. Each window is "
        "`(shift, null_score, spans)`: its token 0 is token `shift` of the text, and `spans` is a list of `(score, "
        "first, last)`, with positions in the window. It has **two bugs**. Write it again, repaired, as "
        "`final_answer_repaired(windows, threshold)`:\n\n"
        f"1. The same span of the text can be found in several windows, each with a score. Its total is **{rule}**.\n"
        "2. The span with the highest total is the candidate. The null score of the text is the **lowest** of all "
        "windows, also of those without a span.\n"
        "3. Return `(-1, -1)` if there is no span, or if the null score minus the total of the candidate is "
        f"**{'above' if limit == '>' else 'at least'}** the threshold. Otherwise return two "
        f"positions in the text: the position of the candidate's first token, and {last}."
    )
    hints = (
        "Try two windows that find the same span of the text. What should come, and what comes?",
        "One bug is where a span is put into the dictionary, the other in the condition of the last `if`.",
    )
    exercise = Exercise("12.12", "Two bugs between windows", 3, 15, hints, examine)
    given = code(bugs[0][0], bugs[1][0])
    return Variant(exercise, text, "def final_answer_repaired(windows, threshold):", given)


MAKERS = {"12.11": costly_span, "12.12": joining}

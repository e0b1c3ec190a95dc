"""Exercise 6.4: Spans."""

import random
from itertools import groupby

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise


def runs_of_true(row: list[bool]) -> int:
    """How many unbroken runs of True there are."""
    return sum(1 for value, _ in groupby(row) if value)


def longest_run(row: list[bool]) -> int:
    """The length of the longest unbroken run of True."""
    return max((len(list(group)) for value, group in groupby(row) if value), default=0)


@exercise(
    "6.4",
    "Spans",
    difficulty=3,
    minutes=20,
    hints=(
        "Start with all False. While fewer than `number` are True: draw a length, cut it to what is still missing, "
        "draw a start, and set that span to True.",
        "A span of n tokens can start at 0 to length - n, both included: rng.randrange(length - n + 1). "
        "Spans may overlap, so count the True entries again in each round.",
    ),
)
def choose_spans(case: Case) -> None:
    """The exact number, every position, and spans of all lengths."""
    length, number = 60, 9
    rows = []
    for seed in range(300):
        tried = f"{length} tokens, {number} of them to be chosen"
        got = plain(case.call(length, number, random.Random(seed), tried=tried, keeps_inputs=False))
        case.is_a("the result", got, list, "a list of booleans, or such a tensor")
        if len(got) != length:
            case.fail(f"But it has {len(got)} entries. One for each of the {length} tokens is expected: True or False.")
        row = [bool(value) for value in got]
        if sum(row) != number:
            more = "more" if sum(row) > number else "fewer"
            case.fail(
                f"But {sum(row)} tokens are chosen, {more} than {number}.",
                "Cut the last span to what is still missing."
                if more == "more"
                else "Spans can overlap: count how many entries are True before you stop.",
            )
        rows.append(row)
    mean = sum(map(runs_of_true, rows)) / len(rows)
    if len({tuple(row) for row in rows}) == 1:
        case.fail("But I passed 300 generators with different seeds, and all results were the same: draw from rng.")
    if mean > 5:
        case.fail(
            f"But the {number} tokens form {mean:.1f} separate spans on average: nearly all are single tokens.",
            "Draw a length with span_length(rng), and choose that many neighboring tokens.",
        )
    if mean < 1.3:
        case.fail(
            f"But all {number} tokens form one span, nearly always.",
            "span_length(rng) gives 3.8 on average: several spans are needed to reach the number.",
        )
    long = sum(longest_run(row) >= 5 for row in rows) / len(rows)
    if not 0.45 < long < 0.85:
        case.fail(
            f"But a span of 5 or more tokens occurs in {long:.0%} of 300 results, and should in about 70 %.",
            "Do the lengths come from span_length(rng), a new one for each span?",
        )
    for place, name in ((0, "first"), (length - 1, "last")):
        if not any(row[place] for row in rows):
            case.fail(
                f"But in 300 results the {name} token was never chosen.",
                "A span of n tokens can start anywhere from 0 to length - n, both included.",
            )
    same = [
        plain(case.call(length, number, random.Random(5), tried="the same seed twice", keeps_inputs=False))
        for _ in "12"
    ]
    if same[0] != same[1]:
        case.almost(
            "The spans are right, but two generators with the same seed gave different results.",
            "Draw every number from rng: with another source of randomness no run can be repeated.",
        )
    got = plain(case.call(4, 4, random.Random(0), tried="4 tokens, all of them to be chosen", keeps_inputs=False))
    case.equal("the result", [bool(value) for value in got], [True] * 4, "All four should be chosen.")

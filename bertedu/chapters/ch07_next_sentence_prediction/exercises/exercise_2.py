"""Exercise 7.2: Truncate a pair."""

import random

from bertedu.chapters.ch07_next_sentence_prediction.exercises.shared import NOT_A_NUMBER, USE_RNG
from bertedu.course.case import Case
from bertedu.course.exercise import exercise


def cut_once(case: Case, first: list, second: list, max_tokens: int, seed: int) -> tuple[list, list]:
    """What the answer makes of two lists, as two lists."""
    result = case.protected(case.answer, list(first), list(second), max_tokens, random.Random(seed))
    parts = case.parts(result, "first", "second")
    for name, part in zip(("first", "second"), parts, strict=True):
        case.is_a(name, part, (list, tuple), "a list of tokens")
    return list(parts[0]), list(parts[1])


def is_stretch(got: list, given: list) -> bool:
    """Whether tokens are neighbors in the given list, in the same order."""
    return any(given[start : start + len(got)] == got for start in range(len(given) - len(got) + 1))


def stretches(case: Case, first: tuple[list, list], second: tuple[list, list]) -> None:
    """Both segments, (what came, what was given), lost tokens at their ends only."""
    for name, (got, given) in (("first", first), ("second", second)):
        if not is_stretch(got, given):
            case.fail(
                f"But the {name} segment became {got[:8]}, and these tokens are not next to each other in it.",
                "Remove tokens only at the front or at the end, and return the segments in their order.",
            )


def right_lengths(case: Case, long: int, short: int, max_tokens: int, one: list, other: list) -> None:
    """The lengths of both, against those of the known mistakes; `long` and `short` tokens were given."""
    came = f"But {len(one)} and {len(other)} tokens came back"
    together, least = len(one) + len(other), min(long, short)
    if together != min(max_tokens, long + short):
        stop = "Stop as soon as both together are short enough, and not before."
        special = "Did you leave room for [CLS] and [SEP]? max_tokens is for the tokens of the segments alone."
        wanted = f"{came}, {together} together, and {min(max_tokens, long + short)} are expected."
        case.fail(wanted, special if together == max_tokens - 3 else stop)
    kept = min(least, max_tokens // 2)
    if long + short <= max_tokens or sorted((len(one), len(other))) == [kept, max_tokens - kept]:
        return
    for which, whole in (("second", len(one) == long), ("first", len(other) == short)):
        if whole:
            anew = "Which segment is longer? After some tokens it may be the other one, so compare again each time."
            by_tokens = "The other one is longer. Compare lengths: `max(first, second)` alone compares the tokens."
            was_longer = (long > short) == (which == "first")
            case.fail(f"{came}: tokens were removed from the {which} segment only.", anew if was_longer else by_tokens)
    right = (max_tokens - kept, kept) if long > short else (kept, max_tokens - kept)
    case.fail(f"{came}, and {right[0]} and {right[1]} are expected: remove a token from the longer one each time.")


def same_seed(case: Case) -> None:
    """The same seed cuts the same tokens: no other source of randomness."""
    case.begin("I called cut twice with the same lists and the same seed.", "the same seed twice")
    for seed in range(5):
        one, other = (cut_once(case, list(range(40)), [100], 21, seed) for _ in range(2))
        case.expect(one == other, "But it removed other tokens the second time.", USE_RNG)


def both_ends(case: Case) -> None:
    """Ten tokens too many, 200 times: how many are removed at the front?"""
    case.begin("I called cut 200 times on 20 tokens and 1, with max_tokens = 11.", "200 calls with ten tokens too many")
    fronts = [cut_once(case, list(range(20)), [100], 11, seed)[0][0] for seed in range(200)]
    if set(fronts) in ({0}, {10}):
        end = "front" if fronts[0] else "end"
        case.fail(f"But the ten tokens were always removed at the {end}. What does the coin decide?")
    if set(fronts) == {0, 10}:
        case.fail("But all ten tokens are removed at the same end: you toss once for a pair. Toss for each token.")
    if len(set(fronts)) == 1:
        case.almost(f"But always {fronts[0]} of the ten tokens were removed at the front. {USE_RNG}")
    share = sum(fronts) / 2000
    came = f"But {share:.0%} of the tokens were removed at the front, and about half should be."
    case.expect(0.44 < share < 0.56, came)


@exercise(
    "7.2",
    "Truncate a pair",
    difficulty=2,
    minutes=12,
    hints=(
        "Remove one token at a time, in a loop that runs while both together are too long. Which list is longer now?",
        "A list loses its first token with .pop(0) and its last one with .pop(-1); a slice such as longer[1:] leaves "
        "`first` and `second` as they are. Toss the coin inside the loop.",
    ),
)
def cut(case: Case) -> None:
    """Lengths first, then which segment, then which end, then where the randomness comes from."""
    case.causes = {"instances of 'Random'": NOT_A_NUMBER, "'Random' object is not callable": NOT_A_NUMBER}
    for long, short, max_tokens in ((4, 3, 7), (6, 5, 7), (5, 6, 7), (3, 8, 7), (10, 10, 7), (30, 1, 2)):
        tried = f"{long} and {short} tokens, with max_tokens = {max_tokens}"
        case.begin(f"I called cut on {tried}.", "six pairs of lengths")
        first, second = list(range(long)), list(range(100, 100 + short))
        one, other = cut_once(case, first, second, max_tokens, seed=1)
        stretches(case, (one, first), (other, second))
        right_lengths(case, long, short, max_tokens, one, other)
    repeated = [5, 7, 8, 9, 7, 6, 8]
    case.begin(f"I called cut on {repeated} and [1], with max_tokens = 5.", "a segment with repeated tokens")
    for seed in range(8):
        one, other = cut_once(case, repeated, [1], 5, seed)
        stretches(case, (one, repeated), (other, [1]))
    both_ends(case)
    same_seed(case)

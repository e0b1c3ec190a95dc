"""Exercise 15.2: Split by rank."""

from bertedu.course.case import Case, plain
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise
from bertedu.tokenization.byte_pair import Merge, merge_word

EAST = [("e", "a"), ("Ġ", "ea"), ("s", "t"), ("Ġea", "st"), ("Ġ", "s"), ("Ġea", "t")]  # learned in the chapter


@exercise(
    "15.2",
    "Split by rank",
    difficulty=3,
    minutes=12,
    without=("merge_word",),
    hints=(
        "Start with list(word). In each round, find the neighboring pairs that are in merges, and merge the one that "
        "stands first in merges. When no pair is left, return the pieces.",
        "known = [pair for pair in pairwise(pieces) if pair in merges], and the best one is "
        "min(known, key=merges.index).",
    ),
)
def split(case: Case) -> None:
    """Words where the longest match, the order from the left and a single pass give something else."""
    case.causes["empty"] = "When no neighboring pair has a merge, the word is finished: return its pieces."
    case.causes["is not in list"] = "Ask for the rank only of pairs that are in merges."
    case.causes["list index out of range"] = "The last piece has no right neighbor. `pairwise` stops in time."
    tried_with = "the six merges of the chapter"
    compare(
        case,
        "Ġeast",
        EAST,
        f"'Ġeast' and {tried_with}",
        mistakes=[
            ("Ġeast", "That is one string. Return a list of pieces: ['Ġeast']."),
            (list("Ġeast"), "Nothing was merged. Which neighbors are in merges?"),
            (["Ġ", "ea", "st"], "After each merge there are new neighbors: look again, until no pair has a merge."),
            (["Ġ", "ea", "s", "t"], "One merge is not enough: look again, until no pair has a merge."),
            (["Ġea", "st"], "Ġea and st are neighbors now and have a merge: go on until no pair has one."),
        ],
    )
    compare(
        case,
        "Ġsteam",
        EAST,
        f"'Ġsteam' and {tried_with}",
        mistakes=[
            (
                ["Ġs", "t", "ea", "m"],
                "Ġ s was merged before s t, although s t was learned earlier. Among all pairs that can be merged, "
                "the one that stands first in merges comes first: not the leftmost one, and not the longest piece.",
            ),
            (
                ["Ġst", "ea", "m"],
                "Ġ and st were never merged: Ġ s is another pair. Compare whole pieces; str.replace also finds the "
                "beginning of a piece.",
            ),
        ],
    )
    low = [("a", "b"), ("b", "c"), ("ab", "c"), ("c", "ab")]
    compare(
        case, "abcabc", low, "'abcabc' and the merges a b, b c, ab c, c ab", advice="a b is merged everywhere first."
    )
    runs = [("a", "a"), ("aa", "aa"), ("aa", "b")]
    for word in ("aaaaab", "aaab", "aaaaaaaa"):
        compare(
            case,
            word,
            runs,
            f"{word!r} and the merges a a, aa aa, aa b",
            advice="A pair is merged wherever it stands, from left to right, and each piece only once.",
            mistakes=[
                (["aaa", "aab"], "A piece was used twice: after a merge, go on with the piece that follows both.")
            ],
        )
    for word, tried in (
        ("", "an empty word"),
        ("x", "a single character"),
        ("xyz", "a word of which no pair has a merge"),
    ):
        compare(case, word, EAST, tried, advice="Where nothing can be merged, return the characters.")


def compare(
    case: Case, word: str, merges: list[Merge], tried: str, advice: str = "", mistakes: list[tuple] | None = None
) -> None:
    """What came for a word, against the package's splitting."""
    got = plain(case.call(word, list(merges), tried=tried))
    if not isinstance(got, list) and not isinstance(got, str):
        case.fail(f"But the result should be a list of pieces, and it is {said(got)}.")
    expected = merge_word(word, {pair: rank for rank, pair in enumerate(merges)})
    if isinstance(got, list) and any(not isinstance(piece, str) for piece in got):
        case.fail(f"But the pieces should be strings, and the result is {said(got)}.")
    if isinstance(got, list) and "".join(got) != word:
        case.fail(
            f"But the pieces {said(got)} spell {''.join(got)!r}, and the word is {word!r}.",
            "Each character belongs to exactly one piece. Is the last piece kept, if it has no partner?",
        )
    advice = advice or "The pair that stands first in merges is merged first."
    case.equal("the result", got, expected, advice, mistakes=mistakes or ())

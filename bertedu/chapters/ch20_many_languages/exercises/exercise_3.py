"""Exercise 20.3: The best segmentation."""

import math

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


def best_sum(word: str, log_probabilities: dict[str, float]) -> list[str] | None:
    """The segmentation with the highest sum, by trying all of them."""
    ways: list[tuple[float, list[str]]] = []

    def cut(start: int, score: float, pieces: list[str]) -> None:
        if start == len(word):
            ways.append((score, pieces))
        for stop in range(start + 1, len(word) + 1):
            if (piece := word[start:stop]) in log_probabilities:
                cut(stop, score + log_probabilities[piece], [*pieces, piece])

    cut(0, 0.0, [])
    return max(ways)[1] if ways else None


def longest_first(word: str, pieces: dict[str, float]) -> list[str] | None:
    """WordPiece's way, without ##."""
    found, start = [], 0
    while start < len(word):
        stop = next((stop for stop in range(len(word), start, -1) if word[start:stop] in pieces), None)
        if stop is None:
            return None
        found.append(word[start:stop])
        start = stop
    return found


def logs(**probabilities: float) -> dict[str, float]:
    """Logarithms of probabilities."""
    return {piece: math.log(probability) for piece, probability in probabilities.items()}


UNABLE = logs(u=0.01, n=0.01, a=0.01, b=0.01, l=0.01, e=0.01, un=0.05, una=0.02, able=0.04, ble=0.02, le=0.03)


# The fewest pieces (abc, d) are not the best, and going for the best next piece (ab) leads astray.
FEW = logs(a=0.2, b=0.2, c=0.2, d=0.3, ab=0.5, abc=0.0001, cd=0.001, bc=0.3, bcd=0.002)


STUCK = logs(a=0.1, ab=0.5, bc=0.2)


@exercise(
    "20.3",
    "The best segmentation",
    difficulty=3,
    minutes=15,
    hints=(
        "Keep two lists, one entry for each position 0 to len(word): the best sum that leads there, and the last piece "
        "on that way. best[0] is 0.",
        "For each stop, try every start before it: best[start] + log_probabilities[word[start:stop]], if that piece "
        "exists. In the end follow the last pieces back from len(word) to 0, and reverse.",
    ),
)
def best_segmentation(case: Case) -> None:
    """The pencil example, one where greedy and short are wrong, one that needs a detour, none, and the empty word."""
    case.causes = {
        "list index out of range": "There are len(word) + 1 positions, from 0 before the first letter to the end.",
        "not supported between": "A position that can't be reached needs a number too: float('-inf').",
        "NoneType": "A position that can't be reached has no last piece. Ask for that before you walk back.",
        "recursion": "Does every call move on by at least one letter?",
    }
    parts = {word[start:stop] for word in ("unable", "abcd") for stop in range(len(word) + 1) for start in range(stop)}
    lookup = "Not every part of the word is a piece: test it with `in` before you look its logarithm up."
    case.causes |= {repr(part): lookup for part in parts}  # what a KeyError says
    case.begin(f'I called {case.name} on "unable" with the pieces of the text.', '"unable" with the pieces of the text')
    result = case.protected(case.answer, "unable", dict(UNABLE))
    if result is None:
        case.fail(
            "But it returned None, which means: there is no way to build this word.",
            "Is the `return` missing? Or is a sum compared with 0? Logarithms of probabilities are negative: a "
            "position that is not reached yet begins at float('-inf').",
        )
    check_pieces(case, "unable", UNABLE, result)
    check_pieces(case, "abcd", FEW, case.call("abcd", FEW, tried='"abcd" with nine pieces'))
    detour = "The longest piece at the beginning, ab, leaves c, which is no piece. a + bc works: keep all ways open."
    case.begin(f'I called {case.name} on "abc" with the pieces a, ab, bc.', '"abc" with three pieces')
    result = case.protected(case.answer, "abc", dict(STUCK))
    if plain_list(result) != ["a", "bc"]:
        case.fail(f"But it returned {result!r}, and there is exactly one way: a + bc.", detour)
    check_hopeless(case)
    result = case.protected(case.answer, "", dict(STUCK))
    if plain_list(result) != []:
        case.begin("I called it on the empty word.", "the empty word")
        case.almost(f"It returned {result!r}. There is exactly one way to build it, with no piece at all: []")
    long = {"a": -12.0, "aa": -22.0}  # sums far below what stands for "can't be reached" if it is finite, such as -100
    slow = "To try all its segmentations would take years: keep the best way to each position only."
    case.begin(f"I called {case.name} on a word of 60 letters. {slow}", "a word of 60 letters")
    result = case.protected(case.answer, "a" * 60, dict(long))
    if plain_list(result) != best_of_two(60, long):
        case.fail(
            "But the pieces are not the best ones: 30 times aa, with the sum -660, is better than 60 times a.",
            "Is a number such as -100 your sign for \"can't be reached\"? Long sums fall below it: take float('-inf').",
        )


def best_of_two(length: int, pieces: dict[str, float]) -> list[str]:
    """For the letter a: the better of the pieces a and aa."""
    return ["a"] * length if 2 * pieces["a"] > pieces["aa"] else ["aa"] * (length // 2)


def plain_list(result: object) -> object:
    """A tuple as a list."""
    return list(result) if isinstance(result, tuple) else result


def check_pieces(case: Case, word: str, pieces: dict[str, float], result: object) -> None:
    """Not yet, unless the result is the best list of pieces."""
    got = plain_list(result)
    if isinstance(got, str):
        case.fail(f"But it returned the text {got!r}, and a list of pieces is asked for.")
    if isinstance(got, list) and len(got) == 2 and isinstance(got[0], int | float) and not isinstance(got[1], str):
        case.fail("But it returned a score and something else. Return the list of the pieces alone.")
    case.is_a("the result", got, list, "a list of pieces")
    assert isinstance(got, list)
    if not all(isinstance(piece, str) for piece in got):
        case.fail(f"But it returned {got!r}, and the pieces should be strings.")
    right = best_sum(word, pieces)
    if got == right:
        return
    if "".join(got[::-1]) == word and got[::-1] == right:
        case.almost("The right pieces in the wrong order: you walked from the end to the beginning. Reverse the list.")
    if "".join(got) != word:
        case.fail(f"But its pieces {got} make {''.join(got)!r} together, and the word is {word!r}.")
    if unknown := [piece for piece in got if piece not in pieces]:
        zero = "Does a missing piece get the number 0? As a logarithm that is the probability 1: leave it out."
        case.fail(f"But it returned {got}, and {unknown[0]!r} is no piece of the vocabulary.", zero)
    score, best = sum(map(pieces.__getitem__, got)), sum(map(pieces.__getitem__, right or []))
    line = f"But it returned {got} with the sum {score:.2f}, and there is a segmentation with {best:.2f}."
    if got == longest_first(word, pieces):
        case.fail(line, "The longest piece first, WordPiece's way? Or the fewest pieces? The sum decides.")
    if all(len(piece) == 1 for piece in got):
        case.fail(line, "Single letters only: is a longer piece ever compared? The largest sum is the best.")
    if score == min(score_of(way, pieces) for way in all_ways(word, pieces)):
        case.fail(line, "That is the worst one. Logarithms of probabilities are negative: the largest is the best.")
    fewest = min(len(way) for way in all_ways(word, pieces))
    if len(got) == fewest:
        case.fail(line, "Are you taking the fewest pieces? The sum decides, not the number of pieces.")
    case.fail(line, "Is the sum of the whole way compared, or only the next piece?")


def score_of(way: list[str], pieces: dict[str, float]) -> float:
    """The sum of the pieces' logarithms."""
    return sum(map(pieces.__getitem__, way))


def all_ways(word: str, pieces: dict[str, float]) -> list[list[str]]:
    """Every segmentation of a short word."""
    if not word:
        return [[]]
    cuts = (stop for stop in range(1, len(word) + 1) if word[:stop] in pieces)
    return [[word[:stop], *rest] for stop in cuts for rest in all_ways(word[stop:], pieces)]


def check_hopeless(case: Case) -> None:
    """A word that can't be built gives None, which `case.call` would take for a forgotten return."""
    case.begin(f'I called {case.name} on "abx" with the pieces a, ab, bc: there is no x.', "a word that can't be built")
    result = case.protected(case.answer, "abx", dict(STUCK))
    if result is not None:
        case.fail(f"But it returned {result!r}. There is no way to build this word, so it should return None.")

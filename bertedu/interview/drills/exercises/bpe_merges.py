"""Whiteboard drill: learn the merges of byte-pair encoding."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from bertedu.course.case import Case, plain
from bertedu.course.explaining import compare
from bertedu.interview.drills.drill import Drill

TASK = """
Write `learn_merges(word_counts, num_merges)`: the training of byte-pair encoding, on characters.

    word_counts   a dict from words to how often each occurs, such as {"low": 5, "lower": 2}
    num_merges    an int

At first each word is a sequence of its characters. Then again and again: count every pair of neighbouring symbols
inside the words ("aaa" holds (a, a) twice), each as often as its word occurs; take the most frequent pair; replace it
by one symbol wherever it occurs, from left to right. Of pairs that are equally frequent take the first in the alphabet,
as Python orders tuples of strings. Words get no end mark.

Return the merges in their order: a list of num_merges pairs (left symbol, right symbol), fewer where no pair is left.

Allowed: the standard library. Speed does not matter here; say how you would make it fast.
"""

STUB = """
from collections import Counter


def learn_merges(word_counts, num_merges):
    raise NotImplementedError
"""

SOLUTION = """
from collections import Counter


def learn_merges(word_counts, num_merges):
    words = {word: list(word) for word in word_counts}
    merges = []
    for _ in range(num_merges):
        pairs = Counter()
        for word, symbols in words.items():
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] += word_counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        for word, symbols in words.items():
            merged, i = [], 0
            while i < len(symbols):
                if tuple(symbols[i : i + 2]) == best:
                    merged.append(symbols[i] + symbols[i + 1])
                    i += 2
                else:
                    merged.append(symbols[i])
                    i += 1
            words[word] = merged
    return merges
"""

Pair = tuple[str, str]
Symbols = list[str]


def merged(symbols: Symbols, pair: Pair) -> Symbols:
    """The symbols with the pair replaced wherever it occurs, from left to right."""
    found, i = [], 0
    while i < len(symbols):
        step = 2 if tuple(symbols[i : i + 2]) == pair else 1
        found.append("".join(symbols[i : i + step]))
        i += step
    return found


def merged_once(symbols: Symbols, pair: Pair) -> Symbols:
    """The same, but only the first one in the word."""
    for i in range(len(symbols) - 1):
        if tuple(symbols[i : i + 2]) == pair:
            return [*symbols[:i], "".join(pair), *symbols[i + 2 :]]
    return symbols


def merged_as_text(symbols: Symbols, pair: Pair) -> Symbols:
    """The same by replacing text, which also joins the ends of longer symbols."""
    return " ".join(symbols).replace(" ".join(pair), "".join(pair)).split()


def counted(symbols: Symbols) -> Counter[Pair]:
    """Every pair of neighbours."""
    return Counter(pairwise(symbols))


def counted_apart(symbols: Symbols) -> Counter[Pair]:
    """Pairs that do not overlap: "aaa" holds one."""
    pairs: Counter[Pair] = Counter()
    for pair in counted(symbols):
        pairs[pair] = len(symbols) - len(merged(symbols, pair))
    return pairs


def first(pairs: Counter[Pair]) -> Pair:
    """The most frequent pair, the first in the alphabet of several."""
    return min(pairs, key=lambda pair: (-pairs[pair], pair))


def learner(
    count: Callable[[Symbols], Counter[Pair]] = counted,
    choose: Callable[[Counter[Pair]], Pair] = first,
    merge: Callable[[Symbols, Pair], Symbols] = merged,
    weighted: bool = True,
    least: int = 1,
    mark: str = "",
) -> Callable[[dict[str, int], int], list[Pair]]:
    """A training that counts, chooses or merges in another way, ignores how often words occur, stops at rare pairs, or
    ends words with a mark."""

    def run(word_counts: dict[str, int], number: int) -> list[Pair]:
        words = {word: [*word, mark] if mark else list(word) for word in word_counts}
        found: list[Pair] = []
        while len(found) < number:
            pairs: Counter[Pair] = Counter()
            for word, symbols in words.items():
                for pair, times in count(symbols).items():
                    pairs[pair] += times * (word_counts[word] if weighted else 1)
            if not pairs or max(pairs.values()) < least:
                break
            found.append(choose(pairs))
            words = {word: merge(symbols, found[-1]) for word, symbols in words.items()}
        return found

    return run


def without_counting_again(word_counts: dict[str, int], number: int) -> list[Pair]:
    """The most frequent pairs of characters."""
    pairs: Counter[Pair] = Counter()
    for word, times in word_counts.items():
        for pair, inside in counted(list(word)).items():
            pairs[pair] += inside * times
    return sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:number]


def across_words(word_counts: dict[str, int], number: int) -> list[Pair]:
    """The words joined to one text."""
    return learner()({"".join(word * times for word, times in word_counts.items()): 1}, number)


def right(word_counts: dict[str, int], number: int) -> list[list[str]]:
    """The merges as lists, as they are shown."""
    return [list(pair) for pair in RIGHT(word_counts, number)]


RIGHT = learner()
MISTAKES: dict[str, Callable] = {
    "You take each word once. A pair counts as often as its word occurs.": learner(weighted=False),
    "You count a pair once for each word that holds it. A word can hold a pair several times.": learner(
        count=lambda symbols: Counter(set(counted(symbols)))
    ),
    "You count pairs that do not overlap. The task counts every two neighbours: (a, a) twice in aaa.": learner(
        count=counted_apart
    ),
    "Where several pairs are equally frequent, you take the one that was met first. Take the first in the alphabet: "
    "min with the key (-count, pair).": learner(choose=lambda pairs: max(pairs, key=pairs.__getitem__)),
    "Where several pairs are equally frequent, you take the last in the alphabet. max with the key (count, pair) does "
    "that; min with (-count, pair) takes the first.": learner(
        choose=lambda pairs: max(pairs, key=lambda pair: (pairs[pair], pair))
    ),
    "Where several pairs are equally frequent, you take the one that was met last.": learner(
        choose=lambda pairs: max(reversed(list(pairs)), key=pairs.__getitem__)
    ),
    "You take the rarest pair. Take the most frequent one.": learner(
        choose=lambda pairs: min(pairs, key=lambda pair: (pairs[pair], pair))
    ),
    "Those are the most frequent pairs of the first count. Each merge changes the counts: count again after each.": (
        without_counting_again
    ),
    "You merge by replacing text, so the pair (a, b) is found in xa b, too. Compare whole symbols.": learner(
        merge=merged_as_text
    ),
    "You merge only the first occurrence in each word. Go on to its end.": learner(merge=merged_once),
    "The words are not merged after a pair was chosen, so the same one wins again.": learner(
        merge=lambda symbols, _: symbols
    ),
    "You stop where the best pair occurs once. Go on as long as there is a pair.": learner(least=2),
    "Your pairs go over the ends of words. Count inside each word only.": across_words,
    "You added an end mark to the words. Here they have none.": learner(mark="</w>"),
    "One merge too many: return at most num_merges.": lambda counts, number: RIGHT(counts, number + 1),
    "One merge is missing: return num_merges, unless no pair is left.": lambda counts, number: RIGHT(
        counts, number - 1
    ),
    "The order is inverted: the first merge comes first.": lambda counts, number: RIGHT(counts, number)[::-1],
}


def pairs_of(case: Case, got: Any, *_: Any) -> list[list[str]]:
    """The merges as a list of pairs."""
    got = plain(got)
    if isinstance(got, dict):
        got = plain(list(got))
    case.is_a("the result", got, list, "a list of pairs")
    for entry in got:
        if isinstance(entry, str):
            case.fail(
                f"But the list holds the text {entry!r}. Return pairs (left, right): from the joined symbol alone "
                "nobody can tell where it was split."
            )
        if not isinstance(entry, list) or len(entry) != 2 or not all(isinstance(part, str) for part in entry):
            case.fail(f"But the list holds {entry!r}, and a merge is a pair of two strings.")
    return got


def tries(case: Case) -> list[tuple]:
    """Examples by hand, then random words of few letters, which have many ties and overlaps."""
    made: list[tuple] = [
        ("five words, 3 merges", {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, 3),
        ("a pair that is frequent because its word is", {"ab": 9, "cd": 1, "cde": 1, "cdf": 1}, 1),
        ("banana and bandana", {"banana": 2, "bandana": 1}, 5),
        ("a word with a pair twice", {"abxab": 2, "cd": 3}, 2),
        ("pairs of the same count", {"zy": 2, "ab": 2, "mn": 2}, 3),
        ("the word xxabyab beside ab", {"ab": 1, "xxa": 8, "xxab": 3}, 5),
        ("words of one letter repeated", {"aaaaa": 3, "aab": 2}, 4),
        ("more merges than there are pairs", {"no": 1, "on": 2}, 10),
    ]
    for _ in range(10):
        words: dict[str, int] = {}
        for _ in range(5):
            length = int(case.randint(1, 8, (1,)))
            letters = case.randint(0, 3, (length,)).tolist()
            words["".join("abc"[letter] for letter in letters)] = int(case.randint(1, 5, (1,)))
        made.append((f"{words} with 6 merges", words, 6))
    return made


def examine(case: Case) -> None:
    """By hand and at random, then words of one character and no words."""
    nothing_left = "At some point there is no pair left: what does your loop do then?"
    case.causes |= {
        "iterable argument is empty": nothing_left,
        "arg is an empty sequence": nothing_left,
        "list index out of range": "A list that becomes shorter inside a loop over its old length: build a new list.",
        "changed size during iteration": "Build a new dict instead of changing the one that you go through.",
    }
    advice = (
        "Do it by hand: split the words, count the pairs, merge, and count again. Which merge is the first to differ?"
    )
    compare(case, tries(case), right, MISTAKES, advice, names=("the list of merges",), read=pairs_of)
    empty: tuple[tuple[str, dict[str, int], int], ...] = (
        ("words of one character", {"a": 3, "b": 1}, 4),
        ("no words at all", {}, 2),
        ("0 merges", {"ab": 1}, 0),
    )
    for tried, words, number in empty:
        case.equal("the list of merges", pairs_of(case, case.call(words, number, tried=tried)), [], nothing_left)
    case.close_with(
        "Say how to be fast: keep for each pair its words, and update only the counts that a merge changes."
    )


DRILL = Drill(
    name="bpe-merges",
    title="Train byte-pair encoding",
    minutes=15,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="15",
    section="Byte-level BPE",
    hints=(
        "Keep each word as a list of symbols beside its count. One round is: count pairs, choose one, and rewrite "
        "every word.",
        "Count with Counter, pairs[pair] += count of the word; choose min(pairs, key=lambda p: (-pairs[p], p)); "
        "rewrite each word with an index that moves by 2 after a merge and by 1 otherwise.",
    ),
    examine=examine,
)

"""Variants of chapter 7: a pair truncated by other rules, and pairs made from a document by other rules."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bertedu.chapters.ch07_next_sentence_prediction.exercises.exercise_2 import is_stretch
from bertedu.chapters.ch07_next_sentence_prediction.exercises.shared import NOT_A_NUMBER, USE_RNG
from bertedu.course.case import Case, plain, same
from bertedu.course.comparing import said
from bertedu.course.exercise import Exercise
from bertedu.course.variant import COPIED, Draws, Variant

LAYOUTS = (
    (2, "first [SEP] second [SEP]"),
    (3, "[CLS] first [SEP] second [SEP]"),
    (4, "<s> first </s> </s> second </s>"),
)
LENGTHS = ((9, 9, 11), (9, 9, 12), (4, 3, 11), (14, 6, 12), (6, 14, 11), (3, 20, 12), (20, 3, 11), (30, 1, 12))


def shortened(long: int, short: int, room: int, tie: str) -> tuple[int, int]:
    """The lengths that are left if a token is removed from the longer segment each time."""
    while long + short > room:
        if long > short or (long == short and tie == "first"):
            long -= 1
        else:
            short -= 1
    return long, short


def cut_once(case: Case, first: list, second: list, most: int, seed: int, tried: str) -> tuple[list, list]:
    """What the answer makes of two lists: two lists, each a stretch of what was given."""
    result = case.call(first, second, most, random.Random(seed), tried=tried, keeps_inputs=False)
    parts = case.parts(result, "first", "second")
    for name, part, given in zip(("first", "second"), parts, (range(len(first)), second), strict=True):
        case.is_a(f"the {name} segment", part, list | tuple, "a list of tokens")
        if not is_stretch(list(part), list(given)):
            advice = "Remove tokens only at the front or at the end, and return the segments in their order."
            case.fail(f"But the {name} segment became {list(part)[:8]}, which is no stretch of it.", advice)
    return list(parts[0]), list(parts[1])


def fronts(case: Case) -> list[int]:
    """How many tokens were removed at the front of 29 in each of 100 calls."""
    tried = "a segment of 29 tokens, 100 times"
    return [(cut_once(case, list(range(29)), [100], 11, seed, tried)[0] or [0])[0] for seed in range(100)]


def lengths(case: Case, special: int, tie: str) -> None:
    """How many tokens of each segment are left."""
    for long, short, most in LENGTHS:
        tried = f"{long} and {short} tokens, with max_length = {most}"
        parts = cut_once(case, list(range(long)), list(range(100, 100 + short)), most, seed=long, tried=tried)
        one, other = map(len, parts)
        wanted = shortened(long, short, most - special, tie)
        if (one, other) == wanted:
            continue
        came, room = (
            f"But {one} and {other} tokens came back, and {wanted[0]} and {wanted[1]} are expected.",
            sum(wanted),
        )
        if one + other == min(most, long + short) > room:
            called, fair = case.doing, abs(sum(fronts(case)) / 1900 - 0.5) < 0.04
            case.doing = called  # the calls that tell whether the coin is fair aren't what went wrong
            copied = [COPIED.format(number="7.2")] if fair else []
            case.fail(came, *copied, f"Leave room for the {special} special tokens: max_length counts them.")
        if one + other == room - 1:
            case.fail(came, f"One too few: stop as soon as the pair fits, with its {special} special tokens.")
        if one + other != room:
            case.fail(came, f"Both together may have {most} - {special} = {most - special} tokens.")
        if (one, other) == shortened(long, short, room, "first" if tie == "second" else "second"):
            case.fail(came, f"Of two equally long segments, shorten the {tie}.")
        case.fail(came, "Which segment is longer may change: compare their lengths before each token.")


def ends(case: Case, special: int, share: float) -> None:
    """At which end tokens are removed, how often, and whether rng decides."""
    begins, removed = fronts(case), 19 + special
    if set(begins) in ({0}, {removed}):
        case.fail(f"But tokens are always removed at the {'front' if begins[0] else 'end'}. Where is the draw?")
    if set(begins) == {0, removed}:
        case.fail("But all tokens are removed at the same end: you draw once for a pair. Draw for each token.")
    came = sum(begins) / len(begins) / removed
    told = f"But {came:.0%} of the tokens were removed at the front, and about {share:.0%} should be."
    if abs(came - 0.5) < 0.04:
        case.fail(told, "That is the fair coin of the chapter.")
    if abs(came - 1 + share) < 0.04:
        case.fail(told, "Front and end are swapped.")
    case.expect(abs(came - share) < 0.04, told)
    for seed in range(12):
        twice = [cut_once(case, list(range(40)), [100], 11, seed, "the same lists twice") for _ in range(2)]
        case.expect(twice[0] == twice[1], "But it removed other tokens the second time.", USE_RNG)


def truncating(draws: Draws) -> Variant:
    """Truncation with other special tokens in the count, another share at the front, and a drawn tie."""
    special, layout = draws.pick(LAYOUTS)
    share, tie = draws.pick((0.2, 0.3, 0.7, 0.8)), draws.pick(("first", "second"))

    def examine(case: Case) -> None:
        case.causes = {"instances of 'Random'": NOT_A_NUMBER, "'Random' object is not callable": NOT_A_NUMBER}
        lengths(case, special, tie)
        ends(case, special, share)

    text = (
        f"Write `cut_pair(first, second, max_length, rng)` for two lists of tokens. The sequence will be "
        f"`{layout}`, and `max_length` counts its **{special}** special tokens too (return the segments without "
        f"them). While the pair is too long, remove one token from the longer segment. Of two equally long segments, "
        f"shorten the **{tie}**. Each token is removed at the front with probability **{share:g}**, otherwise at the "
        "end, and only `rng`, a `random.Random`, decides. Return the two lists."
    )
    hints = (
        "A loop that runs while both segments and the special tokens are longer than max_length. What is drawn in it?",
        f"rng.random() < {share:g} means: the first token, .pop(0). Compare the two lengths anew for each token.",
    )
    exercise = Exercise("7.11", "Truncate a pair by other rules", 2, 12, hints, examine)
    return Variant(exercise, text, "def cut_pair(first, second, max_length, rng):")


Sentences = Sequence[list[str]]


@dataclass(frozen=True)
class Rules:
    """How pairs are made. The last five are as they stand here in every right answer."""

    at_most: bool
    split: str
    labels: tuple[int, int]
    lonely: bool
    put_back: bool = True
    spares_coin: bool = True
    goes_on: bool = True
    ends: bool = True
    coin: str = "heads"

    def chunk_end(self, document: Sentences, start: int, target: int) -> int:
        """The first sentence after the chunk."""
        stop = start + 1
        while stop < len(document):
            length = sum(map(len, document[start:stop]))
            if length + len(document[stop]) > target if self.at_most else length >= target:
                break
            stop += 1
        return stop

    def pairs(self, document: Sentences, strangers: Sentences, coins: Sequence[str], target: int) -> list[list]:
        """All pairs of a document: [first, second, label]."""
        return list(self.made(document, strangers, coins, target))

    def made(self, document: Sentences, strangers: Sentences, coins: Sequence[str], target: int) -> Iterator[list]:
        """One pair after another."""
        toss, used, start = iter(coins), 0, 0
        while start < len(document):
            stop = self.chunk_end(document, start, target)
            alone = stop == start + 1
            if not self.ends and stop == len(document):
                return
            size = {"after its first": 1, "before its last": stop - start - 1, "in the middle": (stop - start) // 2}
            middle = stop if alone else start + size[self.split]
            follows = not (alone and self.spares_coin) and next(toss) == self.coin and not alone
            if follows or not alone or self.lonely:
                second = flat(document[middle:stop]) if follows else strangers[used]
                yield [flat(document[start:middle]), second, self.labels[not follows]]
                used += not follows and self.goes_on
            start = stop if follows or not self.put_back else middle


def flat(sentences: Sentences) -> list[str]:
    """One list of all tokens."""
    return [token for sentence in sentences for token in sentence]


def first_wrong(got: list, wanted: list) -> str:
    """The first pair that is not as expected, or how many there are."""
    for number, (one, right) in enumerate(zip(got, wanted, strict=False), start=1):
        if one != right:
            return f"But pair number {number} is {said(tuple(one))}, and should be {said(tuple(right))}."
    return f"But {len(got)} pairs came back, and {len(wanted)} are expected: up to there they agree."


SPLITS = {
    "after its first": "after its first sentence",
    "before its last": "before its last sentence",
    "in the middle": "in the middle (of n sentences the first n // 2 are the first segment)",
}


def drawn_document(case: Case, lengths: Sequence[int]) -> tuple[list[list[str]], list[list[str]], list[str]]:
    """A document with sentences of these lengths, segments of other documents, and coins, enough of both."""
    document = [[f"{number}.{at}" for at in range(length)] for number, length in enumerate(lengths)]
    strangers = [[f"other {number}"] * (1 + number % 3) for number in range(3 * len(lengths))]
    coins = [("heads", "tails")[coin] for coin in case.randint(0, 2, (3 * len(lengths),)).tolist()]
    return document, strangers, coins


DOCUMENTS = (  # the lengths of the sentences, and the target
    ((3, 2, 4, 1, 2, 14, 3, 2, 2, 1, 3, 5, 13, 2, 1, 2, 4, 3, 1, 2, 2, 3, 4, 1, 2, 15), 10),
    ((2, 2, 2, 2), 8),
    ((11,), 10),
    ((4, 6, 4, 6, 3), 14),
)


def wrong_rules(rules: Rules) -> list[tuple[str, Rules]]:
    """The rules of each wrong answer, and the sentence about it."""
    lone = "a chunk of one sentence gives a NotNext pair" if rules.lonely else "a chunk of one sentence gives none"
    limit = "at most `target` tokens" if rules.at_most else "at least `target` tokens"
    return [
        ("The second part of the chunk is lost after tails. Put it back.", replace(rules, put_back=False)),
        (f"The labels are swapped: IsNext is {rules.labels[0]}.", replace(rules, labels=rules.labels[::-1])),
        (f"A chunk has {limit} here (or ends with the document).", replace(rules, at_most=not rules.at_most)),
        (f"Here {lone}.", replace(rules, lonely=not rules.lonely)),
        ("A chunk of one sentence uses no coin.", replace(rules, spares_coin=False)),
        ("Every NotNext pair takes the next of `strangers`.", replace(rules, goes_on=False)),
        ("The last chunk is missing. The document's end ends it too.", replace(rules, ends=False)),
        ("After heads the pair is IsNext, after tails NotNext.", replace(rules, coin="tails")),
        *((f"The chunk is split {SPLITS[rules.split]}.", replace(rules, split=split)) for split in SPLITS),
    ]


def examine_form(case: Case, got: object, labels: tuple[int, int]) -> list[list]:
    """A list of (first, second, label), each segment a list of tokens."""
    case.is_a("the result", got, list | tuple, "a list of (first, second, label)")
    pairs = plain(got)
    for pair in pairs:
        first, second, label = case.parts(pair, "first", "second", "label")
        for name, segment in (("first", first), ("second", second)):
            case.is_a(f"the {name} segment", segment, list, "a list of tokens")
            nested = any(not isinstance(token, str) for token in segment)
            case.expect(not nested, "But a segment holds lists: join its sentences to one list of tokens.")
        known = isinstance(label, int) and label in labels
        case.expect(known, f"But a label is {said(label)}: IsNext is {labels[0]}, NotNext {labels[1]}.")
    return pairs


def pairing(draws: Draws) -> Variant:
    """Pairs of a document: another end of a chunk, another split, other labels, another fate of a lone sentence."""
    at_most, split = draws.pick((True, False)), draws.pick(list(SPLITS))
    rules = Rules(at_most, split, draws.pick(((1, 0), (0, 1), (1, -1))), draws.pick((True, False)))

    def examine(case: Case) -> None:
        for sizes, target in DOCUMENTS:
            given = *drawn_document(case, sizes), target
            tried = f"a document of {len(sizes)} sentence{'s' * (len(sizes) > 1)}, with target = {target}"
            got = examine_form(case, case.call(*given, tried=tried), rules.labels)
            wanted = rules.pairs(*given)
            if not same(got, wanted):
                wrong = [words for words, one in wrong_rules(rules) if same(got, one.pairs(*given))]
                case.fail(first_wrong(got, wanted), *(wrong[:1] or ["Do this chunk by hand, and compare."]))

    ending = (
        "has as many sentences as fit into `target` tokens, and always at least one"
        if rules.at_most
        else "is full as soon as it has at least `target` tokens; the document's end ends it too"
    )
    alone = "always gives a NotNext pair" if rules.lonely else "gives no pair"
    text = (
        "Write `pairs_of(document, strangers, coins, target)`. `document` is a list of sentences, each a list of "
        "tokens. Collect sentences to a chunk in their order. A chunk "
        f'**{ending}**. Split the chunk **{SPLITS[rules.split]}**, and take the next of `coins`. After `"heads"`, '
        f'the two parts are the pair, and its label is **{rules.labels[0]}** (IsNext). After `"tails"`, the second '
        f"segment is the next of `strangers`, the label is **{rules.labels[1]}** (NotNext), and the second part of "
        f"the chunk is put back: the next chunk begins with it. A chunk of one sentence **{alone}**, and uses no "
        "coin. Return a list of `(first, second, label)`, each segment as one list of tokens."
    )
    hints = (
        "Keep the number of the first sentence of the chunk. Where does the next chunk begin after heads and after "
        "tails?",
        "One loop makes chunks. Inside: find the end, treat a chunk of one sentence, split, take a coin. iter(coins) "
        "and next(…) give one coin after another.",
    )
    exercise = Exercise("7.12", "Pairs from a document", 3, 15, hints, examine)
    return Variant(exercise, text, "def pairs_of(document, strangers, coins, target):")


MAKERS = {"7.11": truncating, "7.12": pairing}

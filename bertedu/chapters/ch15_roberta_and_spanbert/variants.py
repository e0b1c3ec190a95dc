"""Variants of chapter 15: positions counted in another way, and byte-pair merges learned by other rules."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import Row, compare
from bertedu.course.variant import COPIED, Draws, Variant


def positions(
    ids: Tensor,
    padding: int,
    *,
    start: int,  # of the first token that is counted
    for_padding: int | None,  # None: the number `padding`
    from_right: bool,
    count_padding: bool = False,
    dim: int = 1,
) -> Tensor:
    """Positions of the real tokens, and a fixed number for padding, [B, T]."""
    real = ids.ne(padding)
    counted = torch.ones_like(real) if count_padding else real
    number = counted.flip(dim).cumsum(dim).flip(dim) if from_right else counted.cumsum(dim)
    return torch.where(real, number + start - 1, padding if for_padding is None else for_padding)


def running(ids: Tensor, padding: int, start: int, from_right: bool) -> Tensor:
    """How far the count is at each token, padding too."""
    real = ids.ne(padding)
    return (real.flip(1).cumsum(1).flip(1) if from_right else real.cumsum(1)) + start - 1


def batches(case: Case) -> list[Row]:
    """Ids that are padded on the left, on the right, in between and not at all, with several ids of padding."""
    rows: list[Row] = []
    for padding in (1, 0, 3, 9):
        ids = case.randint(10, 50, (4, 6))
        ids[0, :2] = padding
        ids[1, 3:] = padding
        ids[2, 2] = ids[2, 5] = padding
        ids[3, 1] = ids[1, 0] = 0 if padding == 1 else 1  # an ordinary token here
        rows.append((f"four texts, with padding {padding}", ids, padding))
    rows.append(("a text that is all padding", torch.full((1, 3), 2), 2))
    return rows


def counting(draws: Draws) -> Variant:
    """Positions from another number on, from the left or the right, and another position for padding."""
    start, fixed, from_right = draws.pick((3, 5, 10)), draws.pick((-1, 0)), draws.pick((True, False))
    wrong = partial(positions, start=start, for_padding=fixed, from_right=from_right)
    side, other = ("right", "left") if from_right else ("left", "right")
    mistakes: dict[str, Callable] = {
        COPIED.format(number="15.5"): lambda ids, padding: positions(
            ids, padding, start=padding + 1, for_padding=None, from_right=False
        ),
        "You count from 0, whatever the token is: that is BERT's rule.": lambda ids, _: torch.arange(
            ids.size(1)
        ).expand(ids.shape),
        f"You count from the {other}. Count from the {side}.": partial(wrong, from_right=not from_right),
        "Padding has its position, but it is counted as well: count the real tokens only.": partial(
            wrong, count_padding=True
        ),
        f"The first real token has {start + 1} now. The running sum begins with 1 already.": partial(
            wrong, start=start + 1
        ),
        f"You count from 1. The first token that is counted gets {start}.": partial(wrong, start=1),
        f"You count from 0. The first token that is counted gets {start}.": partial(wrong, start=0),
        f"Padding has the position `padding` now, as in the chapter. Here it gets {fixed}.": partial(
            wrong, for_padding=None
        ),
        f"Padding should get {fixed}.": partial(wrong, for_padding=-1 - fixed),
        f"Padding should get {fixed}, and yours has the number that was reached so far.": lambda ids, padding: (
            torch.where(ids.ne(padding), wrong(ids, padding), running(ids, padding, start, from_right))
        ),
        "You take 1 for padding. Use the argument `padding`.": lambda ids, _: wrong(ids, 1),
        "You count down the batch, from text to text. The tokens of one text lie along dim=1.": partial(wrong, dim=0),
    }

    def examine(case: Case) -> None:
        advice = f"Count the real tokens of each text from the {side}, and begin with {start}."
        compare(case, batches(case), wrong, mistakes, advice)

    text = (
        "Write `position_ids(input_ids, padding)` without a loop over tokens. It takes ids `[B, T]` and the id of "
        f"padding, and returns integers `[B, T]`. The real tokens of a text are counted from the **{side}**: the "
        f"{'last' if from_right else 'first'} one gets **{start}**, the next one to the {other} {start + 1} and so on. "
        f"Padding is not counted, wherever it is, and gets **{fixed}**."
    )
    hints = (
        "Which tokens are real? The running sum of True and False counts them.",
        "real.cumsum(1) counts from the left; flip before and after it to count from the right. Then torch.where.",
    )
    exercise = Exercise("15.11", "Positions counted in another way", 2, 8, hints, examine)
    return Variant(exercise, text, "def position_ids(input_ids, padding):")


SIGN = "_"
Pair = tuple[str, str]


def merged(pieces: list[str], pair: Pair) -> list[str]:
    """The pieces with a pair joined wherever it occurs, from left to right."""
    joined: list[str] = []
    for piece in pieces:
        if joined and (joined[-1], piece) == pair:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def learned(
    counts: dict[str, int],
    number: int,
    *,
    first: bool,  # the sign stands before a word, else after it
    last_wins: bool,  # of equal counts the alphabetically last pair
    least: int,
    sign: str = SIGN,
    weighted: bool = True,  # a word counts as often as it occurs
    again: bool = True,  # pairs are counted again after each merge
    tie: Callable[[list[Pair]], Pair] | None = None,
    told: Callable[[Pair, int], object] = lambda pair, count: pair,
) -> list:
    """The merges that byte-pair encoding learns from words."""
    words = {word: [sign, *word] if first else [*word, sign] for word in counts}
    if not sign:
        words = {word: list(word) for word in counts}
    merges: list = []
    pairs: Counter[Pair] = Counter()
    for _ in range(number):
        if again or not merges:
            pairs = Counter()
            for word, pieces in words.items():
                for pair in pairwise(pieces):
                    pairs[pair] += counts[word] if weighted else 1
        if not pairs or max(pairs.values()) < least:
            break
        equal = [pair for pair in pairs if pairs[pair] == max(pairs.values())]
        best = tie(equal) if tie else (max if last_wins else min)(equal)
        words = {word: merged(pieces, best) for word, pieces in words.items()}
        merges.append(told(best, pairs.pop(best)))
    return merges


def word_lists(case: Case) -> list[Row]:
    """Small lists of words of three letters with many equal counts, and odd ones."""
    rows: list[Row] = []
    for at in range(30):
        counts: dict[str, int] = {}
        for size in case.randint(1, 6, (4,)).tolist():
            counts["".join("abc"[one] for one in case.randint(0, 3, (size,)).tolist())] = int(case.randint(1, 4, (1,)))
        rows.append(("a few words", counts, 2 + at % 7))
    return [*rows, ("a word of equal letters", {"aaaa": 5}, 3), ("no words", {}, 3)]


def learning(draws: Draws) -> Variant:
    """Merges with a sign before or after a word, a rule for equal counts, and a smallest count."""
    first, last_wins, least = draws.pick((True, False)), draws.pick((True, False)), draws.pick((2, 3, 4))
    wrong = partial(learned, first=first, last_wins=last_wins, least=least)
    place, other = ("before", "after") if first else ("after", "before")
    order = "last" if last_wins else "first"
    mistakes: dict[str, Callable] = {
        "This is the chapter's program. Here a sign is added, equal counts have a rule, it can stop earlier, and the "
        "pairs are returned without their counts.": partial(
            wrong, sign="", tie=lambda equal: equal[0], least=1, told=lambda pair, count: (pair, count)
        ),
        "Return the pairs alone, without their counts.": partial(wrong, told=lambda pair, count: (pair, count)),
        "Those are joined pieces. Return the pairs, as tuples of two strings.": partial(
            wrong, told=lambda pair, count: "".join(pair)
        ),
        f"The sign {SIGN} is missing: it is a piece {place} each word.": partial(wrong, sign=""),
        f"The sign {SIGN} is {other} the word. It belongs {place} it.": partial(wrong, first=not first),
        "You count each word once. A pair occurs as often as its word does.": partial(wrong, weighted=False),
        f"Of equally frequent pairs the alphabetically {order} is merged.": partial(wrong, last_wins=not last_wins),
        f"You take the pair that was counted first. Of equal ones the alphabetically {order} is merged.": partial(
            wrong, tie=lambda equal: equal[0]
        ),
        "Pairs have to be counted again after each merge: the neighbors are new.": partial(wrong, again=False),
        f"A pair that occurs fewer than {least} times must not be merged: stop there.": partial(wrong, least=1),
        f"A pair that occurs exactly {least} times is still merged.": partial(wrong, least=least + 1),
        f"It stops below {least}, and yours goes one count further.": partial(wrong, least=least - 1),
    }  # fmt: skip

    def examine(case: Case) -> None:
        case.causes["empty"] = "When no word has two pieces left, there is no pair: return the merges so far."
        advice = "Do the first two merges with a pencil: count all pairs, merge one, and count again."
        compare(case, word_lists(case), wrong, mistakes, advice)

    text = (
        "Write `learn(counts, number)`, which learns the merges of byte-pair encoding. `counts` says how often each "
        f'word occurs, for example `{{"low": 5, "lower": 2}}`. At first the pieces of a word are its characters, with '
        f"the piece `{SIGN}` **{place}** them. In each round count the pairs of neighboring pieces in all words (each "
        "two neighbors count, so `aaa` has the pair a a twice; pairs never reach from word to word). Merge the most "
        f"frequent pair in all words, from left to right. Of equally frequent pairs take the alphabetically "
        f"**{order}** one, as Python compares tuples. Stop after `number` merges, or when no pair occurs at least "
        f"**{least}** times. Return the list of the merged pairs, tuples of two strings, in order."
    )
    hints = (
        "Keep the list of pieces of each word. A Counter for the pairs gets counts[word] for each pair of a word.",
        f"{'max' if last_wins else 'min'} over the pairs whose count is the highest, then a merge in each word's list.",
    )
    exercise = Exercise("15.12", "Merges by other rules", 3, 15, hints, examine)
    return Variant(exercise, text, "def learn(counts, number):")


MAKERS = {"15.11": counting, "15.12": learning}

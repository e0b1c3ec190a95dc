"""Variants of chapter 20: sampling languages by another rule, and the best segmentation with marked pieces."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from bertedu.chapters.ch20_many_languages.exercises.exercise_1 import SIZES, check_numbers, powers, shares
from bertedu.course.case import Case, plain
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import compare
from bertedu.course.variant import COPIED, Draws, Variant

UNKNOWN = "[UNK]"
MARKS = {
    "##": "Every piece that does not begin the word has **`##`** before it",
    "▁": "The piece that begins the word has **`▁`** before it",
    "@@": "Every piece that does not end the word has **`@@`** after it",
}


@dataclass(frozen=True)
class Sampling:
    """How languages are sampled: amounts up to a cap, raised to a power, mixed with equal shares."""

    by_temperature: bool
    cap: float = float("inf")
    mixed: float = 0.0

    def chances(self, sizes: Mapping[str, float], number: float) -> dict[str, float]:
        """The probability of each language."""
        capped = {name: min(size, self.cap) for name, size in sizes.items()}
        return self.mix(shares(powers(capped, 1 / number if self.by_temperature else number)))

    def mix(self, chances: dict[str, float]) -> dict[str, float]:
        """With a part of it shared equally by the languages that have text."""
        languages = sum(chance > 0 for chance in chances.values())
        return {
            name: (1 - self.mixed) * chance + self.mixed / languages * (chance > 0) for name, chance in chances.items()
        }


def wrong_chances(one: Sampling, sizes: Mapping[str, float], number: float) -> list[tuple[dict[str, float], str]]:
    """What known mistakes give, each with its sentence."""
    exponent = 1 / number if one.by_temperature and number else number
    bare = Sampling(one.by_temperature)
    least = Sampling(by_temperature=False).chances(sizes, number)
    meaning = "1 divided by the temperature" if one.by_temperature else "the exponent itself"
    mistakes = [
        (least, COPIED.format(number="20.1")),
        (replace(one, by_temperature=not one.by_temperature).chances(sizes, number or 1), f"The power is {meaning}."),
        ({name: size / sum(sizes.values()) for name, size in sizes.items()}, "Those are the shares without a power."),
    ]
    if one.mixed:
        even = one.mixed / len(sizes)
        mistakes += [
            (bare.chances(sizes, number), f"Mix in equal shares: they have the weight {one.mixed:g}."),
            (replace(one, mixed=1 - one.mixed).chances(sizes, number), "The two weights are swapped."),
            (shares(powers(one.mix(shares(sizes)), exponent)), "You mixed before the power. Mix the probabilities."),
            (
                {name: (1 - one.mixed) * p + even for name, p in bare.chances(sizes, number).items()},
                "A language without text gets a share in your result. Only those with text share equally.",
            ),
            (
                {name: p + one.mixed / len(sizes) for name, p in bare.chances(sizes, number).items()},
                f"These sum to more than 1: the first probability counts {1 - one.mixed:g} times.",
            ),
        ]
    else:
        late = {name: min(power, one.cap) for name, power in powers(sizes, exponent).items()}
        capped = {name: min(size, one.cap) for name, size in sizes.items()}
        mistakes += [
            (bare.chances(sizes, number), f"No amount counts more than {one.cap:g}."),
            (shares(late), "You capped the powers. Cap the amounts first."),
            (powers(capped, exponent), "Those are the powers. Divide by their sum."),
            (shares(capped), "The power is missing."),
        ]
    return mistakes


def sampling(draws: Draws) -> Variant:
    """Sampling with a temperature or an exponent, and a cap or a mixture."""
    by_temperature, cap, mixed = draws.pick((True, False)), draws.pick((50, 200, 500)), draws.pick((0.1, 0.2, 0.4))
    one = Sampling(by_temperature, mixed=mixed) if draws.pick((True, False)) else Sampling(by_temperature, cap=cap)
    name = "temperature" if by_temperature else "exponent"

    def examine(case: Case) -> None:
        case.causes = {
            "unsupported operand": "`sizes` is a dictionary: its values are the amounts, its keys are the languages.",
            "division by zero": "Is the sum of the powers 0, or does no language have text in your count?",
        }
        empty = {"English": 90, "Sumerian": 0, "Korean": 30}
        numbers = (2.0, 4.0, 5.0) if by_temperature else (0.5, 0.3, 0)
        for sizes, number in zip((SIZES, empty, empty), numbers, strict=True):
            got = plain(case.call(dict(sizes), number, tried=f"the amounts {sizes} and the {name} {number:g}"))
            right = one.chances(sizes, number)
            advice = "Work out the probability of the smallest language by hand."
            check_numbers(case, got, right, wrong_chances(one, sizes, number), advice)

    power = (
        "The second argument is a **temperature** τ > 0: raise each amount to the power of 1/τ"
        if by_temperature
        else "Raise each amount to the power of the **exponent**"
    )
    extra = (
        f" Then **mix**: the result is {1 - mixed:g} times this probability plus **{mixed:g}** divided by the number "
        "of languages that have text."
        if one.mixed
        else f" Before all this, every amount **above {cap}** counts as {cap}."
    )
    text = (
        f"Write `sampling_probabilities(sizes, {name})`. `sizes` is a dictionary from languages to amounts of text. "
        f"{power}, and divide by the sum of these powers.{extra} Return a dictionary with the same languages. A "
        "language without any text gets 0, and at least one has some."
    )
    hints = (
        "Three steps, each with a dictionary of its own. Which comes first, and which sums to 1?",
        "0**0 is 1 in Python, and a language without text must get 0 in every step.",
    )
    exercise = Exercise("20.11", "Another way to sample languages", 2, 10, hints, examine)
    return Variant(exercise, text, f"def sampling_probabilities(sizes, {name}):")


def marked(part: str, begins: bool, ends: bool, mark: str) -> str:
    """A piece as the vocabulary has it; without a mark, the part itself."""
    if (mark == "##" and not begins) or (mark == "▁" and begins):
        return mark + part
    return part + mark if mark == "@@" and not ends else part


@dataclass(frozen=True)
class Segmenting:
    """How a word is cut. sign: 1 where the largest sum is the best, -1 where the smallest is."""

    mark: str
    sign: int
    unknown: float | None  # the number of a letter that is no piece

    def options(self, word: str, start: int, stop: int, numbers: dict[str, float]) -> list[tuple[float, str]]:
        """The number and the piece for a part of the word; none where it is no piece."""
        piece = marked(word[start:stop], start == 0, stop == len(word), self.mark)
        if piece in numbers:
            return [(numbers[piece], piece)]
        return [(self.unknown, UNKNOWN)] if stop == start + 1 and self.unknown is not None else []

    def best(self, word: str, numbers: dict[str, float]) -> list[str] | None:
        """The pieces with the best sum."""
        ways: list[tuple[float, list[str]] | None] = [(0.0, [])]
        for stop in range(1, len(word) + 1):
            found = [
                (way[0] + number, [*way[1], piece])
                for start in range(stop)
                if (way := ways[start]) is not None
                for number, piece in self.options(word, start, stop, numbers)
            ]
            ways.append(max(found, key=lambda way: self.sign * way[0], default=None))
        return None if (last := ways[-1]) is None else last[1]

    def greedy(self, word: str, numbers: dict[str, float]) -> list[str] | None:
        """The longest piece first."""
        pieces, start = [], 0
        while start < len(word):
            tries = ((stop, self.options(word, start, stop, numbers)) for stop in range(len(word), start, -1))
            stop, option = next(((stop, option) for stop, option in tries if option), (0, []))
            if not option:
                return None
            pieces.append(option[0][1])
            start = stop
        return pieces


def vocabulary(case: Case, sign: int, mark: str) -> dict[str, float]:
    """Parts of words of a, b, c and d up to three letters, with and without the mark; d alone is no piece."""
    letters, numbers = "abcd", {}
    for part in [*"abc", *(x + y for x in letters for y in letters), "abc", "bcd", "cab", "dda", "bad", "add", "cca"]:
        for piece in dict.fromkeys((part, marked(part, mark == "▁", False, mark))):
            kept, amount = torch.rand(2, generator=case.generator).tolist()
            if len(part) != 2 or kept < 0.7:
                numbers[piece] = round(-sign * len(part) * (2 + 4 * amount), 3)
    return numbers


def close_calls(sign: int, mark: str) -> dict[str, float]:
    """Pieces of two letters that cost more than an unknown letter, or less: it depends on what that costs."""
    costs = {"ad": 12.5, "bd": 15.5, "cd": 7.0}
    whole = {marked(part, True, True, mark): -sign * cost for part, cost in costs.items()}
    return whole | {marked(letter, True, False, mark): -sign * 2.0 for letter in "abc"}


def wrong_segments(one: Segmenting) -> dict[str, Callable[..., Any]]:
    """Known mistakes, by the sentence that explains each."""
    convention = MARKS[one.mark].replace("*", "")

    def without_marks(word: str, numbers: dict[str, float]) -> Any:
        return [piece.replace(one.mark, "") for piece in one.best(word, numbers) or []]

    best, letter = "largest" if one.sign > 0 else "smallest", f"An unknown letter has the number {one.unknown:g}"
    mistakes: dict[str, Callable[..., Any]] = {
        COPIED.format(number="20.3"): lambda word, numbers: Segmenting("", 1, None).best(word, numbers) or [UNKNOWN],
        f"The {best} sum is the best.": replace(one, sign=-one.sign).best,
        f"You looked the pieces up without their marks. {convention}.": replace(one, mark="").best,
        "The pieces are right. Return them with their marks, as the dictionary has them.": without_marks,
        "You took the longest piece first. The sum decides.": one.greedy,
        f"{letter}: in your sums it is 0, or has the other sign.": replace(one, unknown=0).best,
        f"{letter}, and in your sums it has the other sign.": replace(one, unknown=-(one.unknown or 0)).best,
        "One unknown letter does not make the whole word unknown.": lambda word, numbers: (
            one.best(word, numbers) if "d" not in word else [UNKNOWN]
        ),
    }
    for other in MARKS:
        if other != one.mark:
            mistakes[f"You expect {other}, and that is another convention. {convention}."] = replace(
                one, mark=other
            ).best
    return mistakes


def segmenting(draws: Draws) -> Variant:
    """The best segmentation with marked pieces, logarithms or costs, and a number for unknown letters."""
    mark, sign, amount = draws.pick(tuple(MARKS)), draws.pick((1, -1)), draws.pick((9, 12, 15))
    one = Segmenting(mark, sign, -sign * amount)

    def examine(case: Case) -> None:
        case.causes = {
            "list index out of range": "There are len(word) + 1 positions, from 0 before the first letter to the end.",
            "NoneType": "Every position can be reached here: a letter that is no piece becomes [UNK].",
        }
        numbers = vocabulary(case, sign, mark)
        case.begin(f'I called {case.name} on "cdd", where the letter d is no piece.', "a word with an unknown letter")
        if case.protected(case.answer, "cdd", dict(numbers)) is None:
            case.fail(f"But it returned None. There always is a way: a letter that is no piece becomes {UNKNOWN}.")
        letters = case.randint(0, 4, (12, 6)).tolist()
        words = ["abcabc", "cabbad", "ddabad", *("".join("abcd"[at] for at in word) for word in letters), "d"]
        rows = [(f"{word!r} and {len(numbers)} pieces", word, numbers) for word in [*words, "abcd" * 12]]
        few = close_calls(sign, mark)
        rows += [(f"{word!r} and the pieces {few}", word, few) for word in ("ad", "bd", "cd", "dd")]
        advice = "Keep the best sum for each position in the word, and the last piece on the way there."
        compare(case, rows, one.best, wrong_segments(one), advice)

    meaning = (
        "**logarithms** of probabilities: they are added, and the largest sum is the best"
        if sign > 0
        else "**costs**: they are added, and the smallest sum is the best"
    )
    text = (
        "Write `best_segmentation(word, numbers)`. `numbers` is a dictionary from pieces to "
        f"{meaning}. {MARKS[mark]}, in the dictionary and in your result; the others have no mark. A single letter "
        "that is not in the dictionary in the form that it needs there becomes `[UNK]`, with the number "
        f"**{-sign * amount}**. Return the list of the pieces with the best sum. Words are not empty, and may be "
        "long: don't try all ways."
    )
    hints = (
        "As in the chapter, keep the best sum for each position. In which form is word[start:stop] in the dictionary?",
        "Whether a piece begins the word is start == 0; whether it ends the word is stop == len(word).",
    )
    exercise = Exercise("20.12", "The best segmentation with marks", 3, 15, hints, examine)
    return Variant(exercise, text, "def best_segmentation(word, numbers):")


MAKERS = {"20.11": sampling, "20.12": segmenting}

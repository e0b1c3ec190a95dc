"""Exercise 20.1: Sampling probabilities."""

import math
from collections.abc import Mapping

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

SIZES = {"English": 1000, "Korean": 100, "Icelandic": 1}


def powers(sizes: Mapping[str, float], exponent: float) -> dict[str, float]:
    """Each size to the power of the exponent; an empty language has 0."""
    return {name: size**exponent if size else 0.0 for name, size in sizes.items()}


def shares(sizes: Mapping[str, float]) -> dict[str, float]:
    """The sizes divided by their sum."""
    total = sum(sizes.values())
    return {name: size / total for name, size in sizes.items()}


def same_numbers(got: dict, expected: dict) -> bool:
    """Whether two dictionaries have the same keys and nearly the same numbers."""
    return got.keys() == expected.keys() and all(abs(float(got[name]) - expected[name]) < 1e-5 for name in expected)


def rounded(numbers: dict) -> str:
    """The numbers of a dictionary as they are shown to a person."""
    return ", ".join(f"{name} {float(number):.3f}" for name, number in numbers.items())


def check_numbers(case: Case, got: dict, expected: dict, mistakes: list[tuple[dict, str]], otherwise: str) -> None:
    """Not yet, unless the dictionary has the languages and the numbers of the expected one."""
    case.is_a("the result", got, dict, 'a dictionary such as {"English": 0.9, "Korean": 0.1}')
    if set(got) != set(expected):
        case.fail(f"But its keys are {list(got)}, and they should be the languages {list(expected)}.")
    for name, number in got.items():
        if not isinstance(number, int | float) and getattr(number, "numel", int)() != 1:
            case.fail(f"But the probability of {name} is {number!r}, and it should be one number.")
    if same_numbers(got, expected):
        return
    known = [sentence for wrong, sentence in mistakes if same_numbers(got, wrong)]
    if not known and all(abs(float(got[name]) - expected[name]) < 0.006 for name in expected):
        known = ["That is nearly right, but the numbers are rounded. Return them as they are."]
    if not known and abs((total := sum(map(float, got.values()))) - 1) > 1e-5:
        known = [f"They sum to {total:.3f}, and probabilities sum to 1. Divide by the sum of the *powers*."]
    case.fail(f"But it returned {rounded(got)}.", *(known[:1] or [otherwise]))


@exercise(
    "20.1",
    "Sampling probabilities",
    difficulty=2,
    minutes=8,
    hints=(
        "Raise each amount to the power of the exponent. Then divide each of these powers by the sum of the powers.",
        "powers = {name: size**exponent for name, size in sizes.items()}. What is 0**0 in Python? An empty language "
        "needs a case of its own.",
    ),
)
def sampling_probabilities(case: Case) -> None:
    """Three languages, then one without text, then a single one."""
    case.causes = {
        "division by zero": "Is the sum of the powers 0? An exponent of 0 makes every power of a positive number 1.",
        "unsupported operand": "`sizes` is a dictionary: its values are the amounts, its keys are the languages.",
    }
    result = case.call(SIZES, 0.5, tried="1000, 100 and 1 sentences with the exponent 0.5")
    right = shares(powers(SIZES, 0.5))
    sharpened = shares(powers(SIZES, 2.0))
    mistakes = [
        (shares(SIZES), "Those are the shares without any exponent: each language as often as it occurs."),
        (powers(SIZES, 0.5), "Those are the powers. Probabilities sum to 1: divide by the sum of the powers."),
        (powers(shares(SIZES), 0.5), "You raised the shares to the power, and they no longer sum to 1: divide again."),
        (
            {name: size**0.5 / sum(SIZES.values()) for name, size in SIZES.items()},
            "You divided by the sum of the amounts. Divide by the sum of the *powers*, so that the result sums to 1.",
        ),
        ({name: sum(SIZES.values()) ** 0.5 / 3 for name in SIZES}, "Each language has a power of its own."),
        (shares({name: size * 0.5 for name, size in SIZES.items()}), "You multiplied by the exponent: use ** ."),
        (
            {name: 100 * share for name, share in right.items()},
            "The right idea, but in percent: probabilities sum to 1, not to 100.",
        ),
        (
            sharpened,
            "The large language is favored here. An exponent below 1 helps the small ones: is it 1/α?",
        ),
        (
            shares({name: math.exp(0.5 * s / 1101) for name, s in SIZES.items()}),
            "A softmax. Use size**exponent.",
        ),
    ]
    check_numbers(case, result, right, mistakes, "Each probability is size**exponent, divided by the sum of all those.")
    result = case.call(SIZES, 0, tried="the same sizes with the exponent 0")
    check_numbers(case, result, shares(powers(SIZES, 0)), [], "With 0 every language comes equally often.")
    empty = {"English": 90, "Sumerian": 0}
    result = case.call(empty, 0, tried="90 sentences of English and none of Sumerian, with the exponent 0")
    zero = "0**0 is 1 in Python, so Sumerian would be sampled half of the time, and there is nothing to sample."
    missing = "Every language that is in `sizes` should be in the result."
    if isinstance(result, dict) and "Sumerian" not in result:
        case.fail("But Sumerian is missing in the result.", missing + " Its probability is 0.")
    check_numbers(case, result, {"English": 1.0, "Sumerian": 0.0}, [({"English": 0.5, "Sumerian": 0.5}, zero)], zero)

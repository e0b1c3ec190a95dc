"""Guesses at a value: what kind they are, whether they are near enough, and whether they are only rounded."""

from math import isfinite
from typing import Any


def type_of_guess(guess: Any) -> Any:
    """What kind of thing a guess is: a truth, a number, a text, or a list."""
    return "number" if type(guess) in (int, float) else type(guess)


def example(expected: Any) -> str:
    """Something of the same kind that gives nothing away."""
    if isinstance(expected, list):
        return f"[{', '.join(example(item) for item in expected)}]"
    if isinstance(expected, dict):
        return "{" + ", ".join(f"{key!r}: {example(item)}" for key, item in expected.items()) + "}"
    return {bool: "True", int: "1", float: "0.5", str: '"a word"'}.get(type(expected), "…")


def same_guess(guess: Any, expected: Any, tolerance: float) -> bool:
    """Whether two plain values agree, numbers within the tolerance."""
    if type_of_guess(guess) != type_of_guess(expected):
        return False
    if isinstance(expected, list):
        return len(guess) == len(expected) and all(same_guess(g, e, tolerance) for g, e in zip(guess, expected))  # noqa: B905
    if type_of_guess(expected) == "number":
        return abs(guess - expected) <= tolerance * max(1.0, abs(expected))
    return guess == expected


def shortened_to(guess: Any, expected: Any, tolerance: float) -> bool:
    """Whether a guess is the expected value, rounded to one or two decimals; in a list some entries are, and the others
    are right."""
    if isinstance(expected, list) and isinstance(guess, list):
        wrong = [pair for pair in zip(guess, expected, strict=False) if not same_guess(*pair, tolerance)]
        return len(guess) == len(expected) and all(shortened_to(*pair, tolerance) for pair in wrong)
    if type(guess) is not float or type(expected) is not float or not isfinite(guess) or guess == round(guess):
        return False
    digits = 1 if guess == round(guess, 1) else 2
    return expected != round(expected, digits) and abs(guess - expected) <= 0.5 * 10**-digits + 1e-9

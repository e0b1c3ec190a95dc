"""Exercise 9.4: Random control labels."""

import builtins
from typing import Any
from unittest.mock import patch

import numpy as np
from torch import Tensor

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise

SENTENCE = "The old judge will judge the old man , and the man will hope that hope is not lost"


MANY = [f"word{number}" for number in range(600)]


def as_labels(case: Case, got: Any, words: list[str], number: int) -> list[int]:
    """The labels as a list of integers, one for each word. A NumPy array or a tensor does as well as a list."""
    case.is_a("the result", got, (list, tuple, np.ndarray, Tensor), "a list of numbers")
    labels = plain(got)
    case.is_a("the result", labels, list, "a list of numbers")
    case.expect(
        len(labels) == len(words),
        f"But it has {len(labels)} labels for {len(words)} words. Return one label for each word of the list.",
    )
    case.expect(all(type(label) is int for label in labels), "But not all labels are whole numbers (int).")
    outside = sorted({label for label in labels if not 0 <= label < number})
    case.expect(not outside, f"But there are labels {outside}: with {number} labels they go from 0 to {number - 1}.")
    return labels


def hash_after_a_restart(value: Any, now: Any = builtins.hash) -> int:
    """What `hash` may give after a restart of Python, which then salts the hashes of strings anew."""
    parts = value if isinstance(value, tuple) else (value,)
    return now(("salt", value)) if any(isinstance(part, str | bytes) for part in parts) else now(value)


def one_label_for_each_type(case: Case) -> None:
    """The same label at every position of a word, upper and lower case alike, whatever other words there are."""
    words = SENTENCE.split()
    got = case.call(words, 4, 0, tried=f"{len(words)} words, some of them twice, with 4 labels")
    labels = as_labels(case, got, words, 4)
    by_type: dict[str, set[int]] = {}
    for word, label in zip(words, labels, strict=True):
        by_type.setdefault(word, set()).add(label)
    several = [word for word, found in by_type.items() if len(found) > 1]
    case.expect(
        not several,
        f"But {several[0] if several else ''!r} got different labels at different positions.",
        "If you draw a label for each token, no probe could memorize them, and every probe would look selective.",
    )
    case.expect(
        len(set(labels)) > 1, f"But every word gets the same label, {labels[0]}. Draw a label for each type of its own."
    )
    case.expect(by_type["The"] == by_type["the"], "But 'The' and 'the' got different labels. They are one type.")


@exercise(
    "9.4",
    "Random control labels",
    difficulty=2,
    minutes=10,
    without=("control_labels",),
    hints=(
        "Seed a random generator with the word itself, in lower case, and with `seed`. Then the label cannot depend on "
        "the other words.",
        'random.Random(f"{seed} {word.lower()}").randrange(number_of_labels), for each word of the list.',
    ),
)
def my_control_labels(case: Case) -> None:
    """One label for each type, at random, from 0, the same in any list."""
    case.causes = {
        "supported seed types": "Make one string of the word and the seed, for instance with an f-string.",
        "can only concatenate str": "Make one string of the word and the seed, for instance with an f-string.",
        "non-negative integer": "NumPy takes no negative seeds. random.Random takes any number or string.",
    }
    one_label_for_each_type(case)
    got = as_labels(case, case.call(MANY, 3, 0, tried="600 different words with 3 labels"), MANY, 3)
    counts = [got.count(label) for label in range(3)]
    case.expect(
        min(counts) > 150 and max(counts) < 250,
        f"But the labels 0, 1, 2 came {counts} times. All labels should be equally probable.",
    )
    again, other = (as_labels(case, case.protected(case.answer, [*MANY], 3, seed), MANY, 3) for seed in (0, 1))
    case.expect(again == got, "But the second call with the same seed gave other labels. Use the seed.")
    case.expect(
        other != got,
        "But seed 1 gave the same labels as seed 0. Is the seed used? Or do labels stay from the call before, in a "
        "dictionary outside the function?",
    )
    shared = sum(a == b for a, b in zip(got, other, strict=True)) / len(MANY)
    case.expect(
        0.2 < shared < 0.5,
        f"But seed 0 and seed 1 agree on {shared:.0%} of the words. Independent draws of 3 labels agree on a third.",
        "Are the labels drawn at random, or counted? Is the seed only added to them?",
    )
    some = MANY[:99:-7]
    got_again = as_labels(case, case.call(some, 3, 0, tried="some of these words in another order"), some, 3)
    differ = sum(a != b for a, b in zip(got_again, got[:99:-7], strict=True))
    case.expect(
        not differ,
        f"But {differ} of {len(some)} words have another label than before, with the same seed.",
        "So a word's label depends on the other words of the list, and on their order. A probe is trained on one list "
        "of words and tested on another: how can the label depend on the word and the seed alone?",
    )
    with patch("builtins.hash", hash_after_a_restart):
        restarted = case.protected(case.answer, [*MANY], 3, 0)
    if as_labels(case, restarted, MANY, 3) != got:
        case.begin("I called it with the hashes that strings may have after a restart of Python.", "another hash")
        case.almost(
            "Then the words have other labels, with the same seed. Python salts the `hash` of strings anew whenever it "
            "starts: today's probe would be tested on other labels tomorrow.",
            "What else could seed the generator, so that it draws the same after a restart?",
        )

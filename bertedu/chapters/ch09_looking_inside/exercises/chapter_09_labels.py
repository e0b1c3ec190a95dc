"""Exercises 9.4 and 9.5: labels for a control task, and the mean of a text's vectors."""

import builtins
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise

SENTENCE = "The old judge will judge the old man , and the man will hope that hope is not lost"
MANY = [f"word{number}" for number in range(600)]
DTYPE = (
    "The mask or the divisor is float32. Convert both to the dtype of the states. (A sum of whole numbers plus 1e-9 is "
    "float32, too: clamp_min(1) keeps the type.)"
)


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
            "random.Random takes a string itself as its seed, and draws the same after a restart.",
        )


def mean_mistakes(states: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """What wrong means return, by the sentence that explains them."""
    real = mask[:, :, None].float()
    total, count = (states * real).sum(dim=1), real.sum(dim=1)
    others = states.sum(dim=1) - total
    later = real.clone()
    later[:, 0] = 0
    return {
        "The 50s of the padding are in your mean. Multiply by the mask first.": states.mean(dim=1),
        "The padding adds nothing now, but you still divide by T. How many real tokens does a short text have?": (
            total / states.size(1)
        ),
        "That is the sum of the real tokens. A mean divides by their number.": total,
        "You divide by the number of real tokens in the whole batch. Each text has its own number.": total / real.sum(),
        "That is the vector of the first token, [CLS]. Compute the mean over all real tokens.": states[:, 0],
        "You divide by the number of entries that are not 0. A real token may have a 0: count with the mask.": (
            total / (states * real != 0).sum(dim=1).clamp_min(1)
        ),
        "The padding is in the sum, and only the divisor uses the mask.": states.sum(dim=1) / count,
        "That is the mean of the padding: the mask is 1 for real tokens and 0 for padding.": (
            others / (states.size(1) - count).clamp_min(1)
        ),
        "−∞ is in your sum. It hides tokens in a softmax; in a sum, 0 hides them.": states.masked_fill(
            mask[:, :, None] == 0, -torch.inf
        ).mean(dim=1),
        "Your divisor is a little too large. clamp_min(1) also avoids a division by 0, and changes no other number.": (
            total / (count + 0.01)
        ),
        "Your divisor is one too many. To avoid a division by 0, use clamp_min(1) instead of + 1.": total / (count + 1),
        "The first token is missing. It is a real token too.": (
            (states * later).sum(dim=1) / later.sum(dim=1).clamp_min(1)
        ),
    }


def mean_advice(got: Any, states: Tensor) -> str:
    """What is said of a result of the wrong shape."""
    if isinstance(got, Tensor) and got.ndim == 1:
        return "That mixes the tokens of all texts. Return one vector for each text."
    if isinstance(got, Tensor) and list(got.shape) == list(states.shape[:2]):
        return "That is one number for each token. Which axis holds the tokens? Average over that one."
    return "Return one vector for each text."


@exercise(
    "9.5",
    "A mean of real tokens",
    difficulty=3,
    minutes=12,
    hints=(
        "Multiply the states by the mask, [B, T, 1], before you sum. By how many tokens do you divide for each text?",
        "(states * mask).sum(dim=1) / mask.sum(dim=1).clamp_min(1), with the mask in the dtype of the states.",
    ),
)
def masked_mean(case: Case) -> None:
    """Padding full of large numbers, a text of padding only, half precision, gradients."""
    case.causes = {
        "must match the size of tensor": "The states are [B, T, D] and the mask is [B, T]: attention_mask[:, :, None] "
        "has the shape [B, T, 1]. The sums over the tokens are [B, D], so the divisor should be [B, 1].",
        "is invalid for input of size": "The texts have different numbers of real tokens, so their tokens alone do not "
        "fit into one tensor. Keep all tokens and multiply by the mask.",
        "with a bool tensor": "The mask may hold True and False, too. Convert it first, or use attention_mask == 0.",
        "boolean": "The mask holds the numbers 1 and 0 here. attention_mask == 1 makes booleans of them.",
    }
    states, mask = case.randn(3, 6, 4), torch.tensor([[1] * 6, [1] * 4 + [0] * 2, [1] + [0] * 5])
    states = torch.where(mask[:, :, None] == 1, states, torch.tensor(50.0))
    states[0, 2, 1] = 0  # an entry of a real token
    got = case.call(states, mask, tried="3 texts of 6, 4 and 1 tokens, with 50s on the padding")
    case.same_shape("the result", got, [3, 4], mean_advice(got, states))
    weights = mask[:, :, None].float()
    expected = (states * weights).sum(dim=1) / weights.sum(dim=1)
    advice = "Compare the text with one token: its mean should be that token's vector."
    case.close("the result", got, expected, advice, mistakes=mean_mistakes(states, mask))
    booleans = case.call(states, mask.bool(), tried="the same with a mask of booleans")
    case.close("the result", booleans, expected, "A mask of True and False should work as well as 1 and 0.")
    empty = case.call(states[:1], torch.zeros(1, 6, dtype=torch.long), tried="a text that is all padding")
    if isinstance(empty, Tensor) and empty.isnan().any():
        case.almost("All padding gave NaN, 0 divided by 0. Make the divisor at least 1, or return zeros there.")
    case.close("the result", empty, torch.zeros(1, 4), "Return zeros for a text without tokens.")
    half = case.call(states.half(), mask, tried="states in float16")
    case.dtype("the result", half, torch.float16, DTYPE)
    answer, case.answer = case.answer, lambda x: case.protected(answer, x, mask.clone())  # its parameters may be named
    case.gradient_flows(states, names=("states",), tried="3 texts")  # otherwise than in the exercise
    case.answer = answer

"""The drill of Viterbi's algorithm: the best tag sequence, and its score."""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertedu.chapters.ch11_tagging.exercises.exercise_4 import TWO_THINGS, VITERBI_MISTAKES, Largest, best_sequence
from bertedu.course.case import Case, plain
from bertedu.course.explaining import compare, one_number
from bertedu.interview.drills.drill import Drill

TASK = """
Write `viterbi(emissions, transitions)`: the best tag sequence of one sentence of T words, for a tagger with a CRF and C
tags.

    emissions     [T, C]   the score of each tag for each word
    transitions   [C, C]   transitions[a, b] is the score of tag b directly after tag a, and minus infinity where b
                           may not follow a

All scores are logarithms. The score of a tag sequence is the sum of its T emissions and its T - 1 transitions; there
are none for start and end. Return (tags, score): the sequence with the highest score, T whole numbers, and its score.

Allowed: tensor operations, numpy, loops over the words. Not allowed: trying all sequences.
"""

STUB = """
import torch


def viterbi(emissions, transitions):
    raise NotImplementedError
"""

SOLUTION = """
import torch


def viterbi(emissions, transitions):
    best = emissions[0]  # [C], the score of the best path to each tag
    origins = []
    for emission in emissions[1:]:
        scores, origin = (best[:, None] + transitions).max(dim=0)  # row: the tag before; column: the tag now
        best = scores + emission
        origins.append(origin)
    tags = [int(best.argmax())]
    for origin in reversed(origins):
        tags.append(int(origin[tags[-1]]))
    return tags[::-1], float(best.max())
"""


MOST_SECONDS = 0.1  # for what takes milliseconds


def right_tags(emissions: Tensor, transitions: Tensor) -> list[int]:
    """The tags of the best sequence."""
    return best_sequence(emissions, transitions)


def right_score(emissions: Tensor, transitions: Tensor) -> float:
    """The score of these tags."""
    tags = best_sequence(emissions, transitions)
    said = sum(float(emissions[word, tag]) for word, tag in enumerate(tags))
    return said + sum(float(transitions[a, b]) for a, b in pairwise(tags))


def sum_of_paths(emissions: Tensor, transitions: Tensor) -> float:
    """log Z of a CRF."""
    total = emissions[0]
    for emission in emissions[1:]:
        total = (total[:, None] + transitions).logsumexp(dim=0) + emission
    return float(total.logsumexp(dim=0))


def partly(emitted: bool, first: bool, moved: bool) -> Callable[[Tensor, Tensor], float]:
    """The score of the right tags without a part of it."""

    def run(emissions: Tensor, transitions: Tensor) -> float:
        tags = right_tags(emissions, transitions)
        said = sum(float(emissions[word, tag]) for word, tag in enumerate(tags) if first or word) * emitted
        return said + sum(float(transitions[a, b]) for a, b in pairwise(tags)) * moved

    return run


def early(emissions: Tensor, transitions: Tensor) -> list[int]:
    """A transition before the first word, too."""
    return best_sequence(torch.cat([emissions[:1] + transitions.amax(dim=0), emissions[1:]]), transitions)


TAG_MISTAKES: dict[str, Callable] = {
    **VITERBI_MISTAKES,
    "You apply a transition before the first word. T words have T - 1 of them: begin with best = emissions[0].": early,
}
SCORE_MISTAKES: dict[str, Callable] = {
    "That is the score of all paths together, log Z. The score of one path is a maximum, never a `logsumexp`.": (
        sum_of_paths
    ),
    "Those are the emissions of the best tags. Its transitions belong to the score of a sequence, too.": (
        partly(emitted=True, first=True, moved=False)
    ),
    "Those are the transitions of the best tags. Its emissions belong to the score of a sequence, too.": (
        partly(emitted=False, first=True, moved=True)
    ),
    "The emission of the first word is missing in the score.": partly(emitted=True, first=False, moved=True),
    "That is the exponential of the score. Return the sum of logarithms as it is.": (
        lambda emissions, transitions: float(torch.tensor(right_score(emissions, transitions)).exp())
    ),
    "That is a mean over the words. The score of a sequence is a sum.": (
        lambda emissions, transitions: right_score(emissions, transitions) / len(emissions)
    ),
    "The sign is wrong: return the score itself, not the loss.": (
        lambda emissions, transitions: -right_score(emissions, transitions)
    ),
}


def both_parts(case: Case, got: Any) -> tuple[Any, Any]:
    """Tags and score, in this order."""
    tags, score = case.parts(got, "tags", "score")
    if isinstance(tags, float) or (isinstance(tags, Tensor) and tags.ndim == 0 and tags.is_floating_point()):
        case.fail("But the first part is one number. Return the tags first, then their score.")
    return tags, score


def score_of(case: Case, got: Any, *_: Any) -> float:
    """The score as a number."""
    return one_number(case, "the score", both_parts(case, got)[1])


def tags_of(case: Case, got: Any, emissions: Tensor, _: Tensor) -> list[int]:
    """The tag sequence as a list of whole numbers, one for each word."""
    tags = plain(both_parts(case, got)[0])
    case.is_a("the tag sequence", tags, list, "a list of tag numbers")
    if len(tags) == 1 and isinstance(tags[0], list):
        case.fail("But the tags have one axis too many: return one flat list.")
    case.expect(
        len(tags) == len(emissions),
        f"But there are {len(tags)} tags for {len(emissions)} words.",
        "Follow the origins from the last word back to the first: one tag for each word.",
    )
    for tag in tags:
        case.is_a("an entry of the tags", tag, int | float | np.number, "a tag number")
    return [int(tag) for tag in tags]


def refuse_brute_force(case: Case, words: int, tags: int = 4) -> None:
    """Almost, where all tags ** words sequences seem to be tried: by the time or by the size of a tensor."""
    emissions, transitions = case.randn(words, tags), 2 * case.randn(tags, tags)
    began, largest = time.thread_time(), Largest()
    with largest:
        case.call(emissions, transitions, tried=f"{words} words and {tags} tags")
    seconds, sequences = time.thread_time() - began, tags**words
    if largest.entries >= sequences or seconds >= MOST_SECONDS:
        case.almost(
            f"The tags are right. But do you try all {tags}^{words} = {sequences:,} sequences? For a sentence of 20 "
            "words there are more than a trillion.",
            f"Viterbi keeps the best path to each tag: about {words} · {tags}² = {words * tags**2} additions.",
        )


def examine(case: Case) -> None:
    """Random scores, a forbidden transition, one word; then sentences for which trying everything takes too long."""
    case.causes |= {
        "too many values to unpack": TWO_THINGS,
        "0-dim tensor": TWO_THINGS,
        "return_types.max": "Take both results: `scores, origin = (…).max(dim=0)`.",
        "concatenate tuple": "Take both results: `scores, origin = (…).max(dim=0)`.",
    }
    tries = [
        (f"{words} words and {tags} tags", case.randn(words, tags), 2 * case.randn(tags, tags))
        for words, tags in ((4, 3), (5, 3), (6, 2)) * 3
    ]
    for _ in range(4):
        transitions = case.randn(3, 3)
        transitions[0, 2] = -torch.inf
        tries.append(("5 words and the tags O, B and I, where I may not follow O", case.randn(5, 3), transitions))
    tries.append(("a single word", case.randn(1, 4), case.randn(4, 4)))
    advice = "Compute the scores of both sequences, emissions plus transitions: in which step do they part?"
    compare(case, tries, right_tags, TAG_MISTAKES, advice, names=("the tag sequence",), read=tags_of)
    advice = "The tags are right. Add up the emissions and transitions along them: that is the score."
    compare(case, tries, right_score, SCORE_MISTAKES, advice, names=("the score",), read=score_of)
    refuse_brute_force(case, words=6)
    refuse_brute_force(case, words=9)
    case.close_with("Say the cost: T · C² additions, in place of C^T sequences.")


DRILL = Drill(
    name="viterbi",
    title="Viterbi for a tagger",
    minutes=15,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="11",
    section="A score for the whole tag sequence",
    hints=(
        "Keep a number for each tag: the score of the best path that ends with it. What else do you have to keep to "
        "find this path again?",
        "scores, origin = (best[:, None] + transitions).max(dim=0); best = scores + emission. At the end take "
        "best.argmax() and follow the origins from the last word back to the first.",
    ),
    examine=examine,
)

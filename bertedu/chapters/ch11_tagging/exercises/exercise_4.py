"""Exercise 11.4: From the sum to the best."""

import time

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

MOST_SECONDS = 0.2  # for what takes milliseconds


TWO_THINGS = "`max(dim=0)` gives two things: the maxima, and where they are. `logsumexp` gives only one."


def best_sequence(
    emissions: Tensor,
    transitions: Tensor,
    emitted: bool = True,
    sums: bool = False,
    dim: int = 0,
    swapped: bool = False,
    forward: bool = False,
) -> list[int]:
    """The tag sequence with the highest score by Viterbi's algorithm, and ways in which it goes wrong.

    emitted: later emissions are added; sums: paths are still summed; dim: the axis of the maximum; swapped:
    best[None, :] for best[:, None]; forward: the origins are followed from the first word on.
    """
    best, origins = emissions[0], []
    for emission in emissions[1:]:
        paths = (best[None, :] if swapped else best[:, None]) + transitions
        origins.append(paths.argmax(dim=dim))
        best = (paths.logsumexp(dim=dim) if sums else paths.amax(dim=dim)) + emission * emitted
    sequence = [int(best.argmax())]
    for origin in origins if forward else origins[::-1]:
        sequence.append(int(origin[sequence[-1]]))
    return sequence[::-1]


def each_alone(emissions: Tensor, transitions: Tensor) -> list[int]:
    """Each word's own best tag."""
    return emissions.argmax(dim=1).tolist()


def greedy(emissions: Tensor, transitions: Tensor) -> list[int]:
    """From left to right, the best next tag."""
    sequence = [int(emissions[0].argmax())]
    for emission in emissions[1:]:
        sequence.append(int((emission + transitions[sequence[-1]]).argmax()))
    return sequence


def without_origins(emissions: Tensor, transitions: Tensor) -> list[int]:
    """The tag with the best path to each word, as if all of these paths were one."""
    best = emissions[0]
    sequence = [int(best.argmax())]
    for emission in emissions[1:]:
        best = (best[:, None] + transitions).amax(dim=0) + emission
        sequence.append(int(best.argmax()))
    return sequence


def emission_before_the_maximum(emissions: Tensor, transitions: Tensor) -> list[int]:
    """The emission of the next word is added along the rows, to the tag that a path comes from."""
    best, origins = emissions[0], []
    for emission in emissions[1:]:
        best, origin = (best[:, None] + transitions + emission[:, None]).max(dim=0)
        origins.append(origin)
    sequence = [int(best.argmax())]
    for origin in origins[::-1]:
        sequence.append(int(origin[sequence[-1]]))
    return sequence[::-1]


def multiplied(emissions: Tensor, transitions: Tensor) -> list[int]:
    """Products, as if the scores were no logarithms."""
    best, origins = emissions[0], []
    for emission in emissions[1:]:
        scores, origin = (best[:, None] * transitions).max(dim=0)
        best = scores * emission
        origins.append(origin)
    sequence = [int(best.argmax())]
    for origin in origins[::-1]:
        sequence.append(int(origin[sequence[-1]]))
    return sequence[::-1]


VITERBI_MISTAKES = {
    "The tags are right, but in reverse order. The origins lead from the last word back to the first.": (
        lambda emissions, transitions: best_sequence(emissions, transitions)[::-1]
    ),
    "These are the best tags of each word alone. The transitions have scores too.": each_alone,
    "That is greedy decoding: you take the best next tag and never change it. Keep the best path to EACH tag.": (
        greedy
    ),
    "You take the tag with the best path at each word. But these paths need not be parts of one sequence: "
    "start at the last word, and follow the origins back.": without_origins,
    "Your transitions go from column to row. Here they go from the row to the column.": (
        lambda emissions, transitions: best_sequence(emissions, transitions.T)
    ),
    "Your numbers are still sums over all paths, as `logsumexp` gives them. The best path needs the maximum instead: "
    "`max` in place of `logsumexp`, in each step.": (
        lambda emissions, transitions: best_sequence(emissions, transitions, sums=True)
    ),
    "It looks like `max(dim=1)`. Dim 1 runs over the tags that you go TO. For each of these you need the best tag to "
    "come FROM, and those are the rows: dim 0.": lambda emissions, transitions: best_sequence(
        emissions, transitions, dim=1
    ),
    "Is it `best[None, :]`, or `best + transitions`? Then each score is added to the column, the tag that you go to. "
    "It belongs to the row, the tag that you come from: `best[:, None]`.": (
        lambda emissions, transitions: best_sequence(emissions, transitions, swapped=True)
    ),
    "Is it `emission[:, None]`? Then the emission of the next word is added to the tag that you come FROM. It belongs "
    "to the tag that you go TO: `emission` alone, after the maximum.": emission_before_the_maximum,
    "Did you take `exp` of the scores? They are logarithms, and they are added as they are.": (
        lambda emissions, transitions: best_sequence(emissions.exp(), transitions.exp())
    ),
    "The emissions count for the first word only. Add those of each later word to its scores.": (
        lambda emissions, transitions: best_sequence(emissions, transitions, emitted=False)
    ),
    "You multiply. The inputs are logarithms, so add them.": multiplied,
    "You follow the origins from the first word to the last. They lead back: begin with those of the last word.": (
        lambda emissions, transitions: best_sequence(emissions, transitions, forward=True)
    ),
}


class Largest(TorchFunctionMode):
    """Remembers how many entries the largest tensor has that is made while it is on."""

    entries = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor):
            self.entries = max(self.entries, result.numel())
        return result


@exercise(
    "11.4",
    "From the sum to the best",
    difficulty=3,
    minutes=20,
    runs="with package",
    hints=(
        "The forward algorithm keeps, for each tag, the sum of all paths that end with it. Keep the score of the best "
        "path instead, and the tag that it came from.",
        "scores, origin = (best[:, None] + transitions).max(dim=0); best = scores + emission. At the end take "
        "best.argmax() and follow the origins from the last word back to the first.",
    ),
)
def viterbi(case: Case) -> None:
    """The pencil's example, random scores, one word, and a sentence for which trying all sequences takes too long."""
    case.causes = {
        "too many values to unpack": TWO_THINGS,
        "0-dim tensor": TWO_THINGS,
        "return_types.max": "Take both results: `scores, origin = (…).max(dim=0)`.",
        "concatenate tuple": "Take both results: `scores, origin = (…).max(dim=0)`.",
    }
    example = (torch.tensor([[1.0, 4], [3, 2], [5, 1]]).log(), torch.tensor([[2.0, 1], [3, 4]]).log())
    tries = [("the pencil's example", *example)]
    for words, tags in ((4, 3), (5, 3), (6, 2)):
        for _ in range(4):
            scores = case.randn(words, tags), 2 * case.randn(tags, tags)
            tries.append((f"{words} words and {tags} tags", *scores))
    tries.append(("a single word", case.randn(1, 4), case.randn(4, 4)))
    compare_sequences(case, tries)
    refuse_brute_force(case, words=6)
    refuse_brute_force(case, words=10)


def compare_sequences(case: Case, tries: list[tuple[str, Tensor, Tensor]]) -> None:
    """All answers against Viterbi; a mistake is named if it explains every one of them."""
    answers = [tag_numbers(case, emissions, transitions, tried) for tried, emissions, transitions in tries]
    known = [
        sentence
        for sentence, wrong in VITERBI_MISTAKES.items()
        if all(got == wrong(*scores) for got, (_, *scores) in zip(answers, tries, strict=True))
    ]
    for got, (tried, emissions, transitions) in zip(answers, tries, strict=True):
        right = best_sequence(emissions, transitions)
        if got != right:
            case.begin(f"I called {case.name} on {tried}.", tried)
            advice = "Compute the scores of both sequences, emissions plus transitions: in which step do they part?"
            case.equal(
                "the sequence", got, right, values_of(got, right, emissions, transitions) + (known or [advice])[0]
            )


def values_of(got: list[int], right: list[int], emissions: Tensor, transitions: Tensor) -> str:
    """With the pencil's numbers: the value of a sequence and of the best one."""
    if len(emissions) != 3 or not all(0 <= tag < emissions.size(1) for tag in got):
        return ""
    mine, best = (score_of(tags, emissions, transitions).exp().item() for tags in (got, right))
    return f"Your sequence has the value {mine:.0f}, the best one {best:.0f}. "


def score_of(tags: list[int], emissions: Tensor, transitions: Tensor) -> Tensor:
    """The sum of the emissions and the transitions of a sequence."""
    return emissions[range(len(tags)), tags].sum() + transitions[tags[:-1], tags[1:]].sum()


def tag_numbers(case: Case, emissions: Tensor, transitions: Tensor, tried: str) -> list[int]:
    """The answer's tag sequence as a list of as many numbers as there are words."""
    got = case.call(emissions, transitions, tried=tried)
    if isinstance(got, tuple) and len(got) == 2 and any(isinstance(part, list | tuple) for part in got):
        case.fail("But it returned two things. Return the tag sequence only.")
    got = got.tolist() if hasattr(got, "tolist") else got
    case.is_a("the result", got, list | tuple, "a list of tag numbers")
    case.expect(
        len(got) == len(emissions),
        f"But there are {len(got)} tags for {len(emissions)} words.",
        "Follow the origins from the last word back to the first: one tag for each word.",
    )
    for tag in got:
        case.is_a("an entry of the list", tag, int | float | Tensor | np.number, "a tag number")
    return [int(tag) for tag in got]


def refuse_brute_force(case: Case, words: int, tags: int = 4) -> None:
    """Almost, where all tags ** words sequences seem to be tried: by the time or by the size of a tensor."""
    emissions, transitions = case.randn(words, tags), 2 * case.randn(tags, tags)
    began, largest = time.thread_time(), Largest()
    with largest:
        got = tag_numbers(case, emissions, transitions, f"{words} words and {tags} tags")
    seconds = time.thread_time() - began
    case.equal("the sequence", got, best_sequence(emissions, transitions), "In which step do the two part?")
    all_of_them = tags**words
    if largest.entries < all_of_them and seconds < MOST_SECONDS:
        return
    came = "many times as long as Viterbi" if seconds >= MOST_SECONDS else f"a tensor of {largest.entries:,} entries"
    case.almost(
        f"The sequence is right, but it took {came}: do you try all {tags}^{words} = {all_of_them:,} sequences? For a "
        "sentence of 20 words there are more than a trillion.",
        f"Viterbi keeps the best path to each tag and needs about {words} · {tags}² = {words * tags**2} additions.",
    )

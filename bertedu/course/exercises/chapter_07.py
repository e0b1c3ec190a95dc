"""Exercises of chapter 7: next sentence prediction."""

import random

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "7.1",
    "Tails",
    difficulty=1,
    minutes=2,
    kind="value",
    hints=(
        "Which of the three sentences ended up in the pair?",
        "The second segment came from another document. What happens to the sentences that were not used?",
    ),
)
def tails(case: Case) -> None:
    """1: what was not used is put back."""
    case.predicted(
        1,
        otherwise="Which sentences of this document are in the pair now? The first that is not begins the next chunk.",
        mistakes=[
            (3, "So it would be after heads. After tails sentences 1 and 2 are in no pair: would you throw them away?"),
            (0, "Sentence 0 is the first segment of this pair already. It is not used twice."),
            (2, "Sentence 1 would be lost then: the split is after sentence 0. Which part of the chunk was used?"),
        ],
    )


def cut_once(case: Case, first: list, second: list, most: int, seed: int) -> tuple[list, list]:
    """What the answer makes of two lists, as two lists."""
    result = case.protected(case.answer, list(first), list(second), most, random.Random(seed))
    parts = case.parts(result, "first", "second")
    for name, part in zip(("first", "second"), parts, strict=True):
        case.is_a(name, part, (list, tuple), "a list of tokens")
    return list(parts[0]), list(parts[1])


def is_stretch(got: list, given: list) -> bool:
    """Whether tokens are a stretch of the given ones, in their order."""
    return any(given[start : start + len(got)] == got for start in range(len(given) - len(got) + 1))


def right_lengths(case: Case, long: int, short: int, most: int, one: list, other: list) -> None:
    """The lengths of both, against those of the known mistakes; `long` and `short` tokens went in."""
    came = f"But {len(one)} and {len(other)} tokens came back"
    together, least = len(one) + len(other), min(long, short)
    if together != min(most, long + short):
        stop = "Stop as soon as both together fit, and not before."
        special = "Are [CLS] and [SEP] counted? `most` is for the tokens of the segments alone."
        wanted = f"{came}, {together} together, and {min(most, long + short)} are expected."
        case.fail(wanted, special if together == most - 3 else stop)
    kept = min(least, most // 2)
    if long + short <= most or sorted((len(one), len(other))) == [kept, most - kept]:
        return
    for which, whole in (("second", len(one) == long), ("first", len(other) == short)):
        if whole:
            anew = "Which one is the longer? After some tokens it may be the other. Decide anew for each token."
            case.fail(f"{came}: all was cut from the {which} segment.", anew)
    case.fail(f"{came}, and {most - kept} and {kept} are expected: each time the longer one loses a token.")


def both_ends(case: Case) -> None:
    """Ten tokens too many, 200 times: how many go at the front?"""
    case.begin("I called cut 200 times on 20 tokens and 1, with most = 11.", "200 calls with ten tokens too many")
    fronts = [cut_once(case, list(range(20)), [100], 11, seed)[0][0] for seed in range(200)]
    if set(fronts) in ({0}, {10}):
        end = "front" if fronts[0] else "end"
        case.fail(f"But the ten tokens always went at the {end}. What does the coin decide?")
    if set(fronts) == {0, 10}:
        case.almost("All ten tokens go at one end each time: you toss once for a pair. Toss for each token.")
    if len(set(fronts)) == 1:
        case.almost(f"Always {fronts[0]} of the ten tokens go at the front. A coin is not so regular: use rng.")
    share = sum(fronts) / 2000
    about = f"But {share:.0%} of the tokens that were cut were cut at the front, and about half should be."
    case.expect(0.44 < share < 0.56, about)


@exercise(
    "7.2",
    "Cut to length",
    difficulty=2,
    minutes=10,
    hints=(
        "Take one token at a time, in a loop that runs while both are too long together. Which list is longer now?",
        "A list loses its first token with .pop(0) and its last with .pop(-1). Toss the coin inside the loop.",
    ),
)
def cut(case: Case) -> None:
    """Lengths first, then which segment, then which end."""
    for long, short, most in ((4, 3, 7), (6, 5, 7), (5, 6, 7), (3, 8, 7), (10, 10, 7), (30, 1, 2)):
        tried = f"{long} and {short} tokens, with most = {most}"
        case.begin(f"I called cut on {tried}.", "six pairs of lengths")
        first, second = list(range(long)), list(range(100, 100 + short))
        one, other = cut_once(case, first, second, most, seed=1)
        for name, got, given in (("first", one, first), ("second", other, second)):
            if not is_stretch(got, given):
                case.fail(
                    f"But the {name} segment became {got[:8]}, which is not one stretch of its tokens.",
                    "Tokens go at the front or at the end, never from the middle, and each segment stays in its place.",
                )
        right_lengths(case, long, short, most, one, other)
    both_ends(case)


@exercise(
    "7.3",
    "Two sentences",
    difficulty=2,
    minutes=4,
    kind="value",
    hints=(
        "Write down all pairs that one document gives after heads, and all that it gives after tails.",
        "Out of a thousand documents, 500 fall heads. How many pairs are there in all, and how many are NotNext?",
    ),
)
def two_sentences(case: Case) -> None:
    """2/3: a second pair exists only after tails."""
    case.predicted(
        2 / 3,
        otherwise="Take 1000 documents. How many pairs do the 500 with heads give, and how many the 500 with tails?",
        mistakes=[
            (0.5, "That is the coin alone. After tails one sentence is put back: what becomes of it?"),
            (
                0.75,
                "That is the mean of 50 % and 100 %. But a second pair exists only after tails.",
            ),
            (1 / 3, "That is the share of IsNext."),
            (1.0, "After heads the pair is IsNext, and the document is used up."),
        ],
        tolerance=0.01,
    )


@exercise(
    "7.4",
    "Which came first?",
    difficulty=2,
    minutes=6,
    hints=(
        "There are two results only: (first, second, 0) and (second, first, 1).",
        "rng.random() < 0.5 is the coin. Exchange the segments, not the tokens inside.",
    ),
)
def order_pair(case: Case) -> None:
    """400 calls: what comes out, whether the label fits, how often."""
    first, second, rng, labels = [11, 12, 13], [21, 22], random.Random(5), []
    case.begin("I called order_pair 400 times on [11, 12, 13] and [21, 22].", "400 calls")
    for _ in range(400):
        result = case.protected(case.answer, list(first), list(second), rng)
        one, other, label = case.parts(result, "one", "other", "label")
        for name, part in (("one", one), ("other", other)):
            case.is_a(name, part, (list, tuple), "a list of tokens")
        came = f"But it returned {list(one)}, {list(other)}, {label}."
        if list(one) in (first[::-1], second[::-1]):
            case.fail(came, "The tokens are in the wrong order. Exchange the segments and leave each as it is.")
        if [list(one), list(other)] not in ([first, second], [second, first]):
            case.fail(came, "The pair should hold both segments, unchanged, in one of the two orders.")
        exchanged = int(list(one) == second)
        if bool(label) != bool(exchanged):
            as_bert = "Here 1 means exchanged, as 1 means NotNext in BERT."
            case.fail(came, f"The segments are {'exchanged' if exchanged else 'as they came'}. {as_bert}")
        labels.append(exchanged)
    share = sum(labels) / len(labels)
    if share in (0, 1):
        case.fail(f"But the segments were {'always' if share else 'never'} exchanged. Where is the coin?")
    case.expect(0.4 < share < 0.6, f"But {share:.0%} of the pairs were exchanged, and about half should be.")


def losses(words: Tensor, labels: Tensor, pairs: Tensor, follows: Tensor) -> tuple[Tensor, Tensor]:
    """Both losses as they should be."""
    return cross_entropy(words, labels, ignore_index=0), cross_entropy(pairs, follows)


@exercise(
    "7.5",
    "Repair the losses",
    difficulty=3,
    minutes=8,
    hints=(
        "Write down what the number 0 means as a label of a word, and what it means as a label of a pair.",
        "Words: cross_entropy with ignore_index=0, as before. Pairs: every pair counts, so no index is to be ignored.",
    ),
)
def repaired_losses(case: Case) -> None:
    """Each loss against its mistakes; then a batch of one kind of pairs."""
    words, pairs = case.randn(9, 30), case.randn(6, 2)
    labels, follows = torch.tensor([0, 4, 0, 0, 17, 0, 29, 0, 1]), torch.tensor([0, 1, 1, 0, 1, 0])
    right = losses(words, labels, pairs, follows)
    result = case.call(words, labels, pairs, follows, tried="9 words, of which 4 have a label, and 6 pairs")
    masked, following = case.parts(result, "masked_words", "next_sentence")
    case.close(
        "the loss of the masked words",
        masked,
        right[0],
        "It was right in the colleague's version.",
        mistakes={
            "Words with the label 0 count now. For words 0 still means: nothing to predict here.": cross_entropy(
                words, labels
            ),
            "That is the sum over the words. The published loss is the mean.": 4 * right[0],
            "That is divided by all words. The mean is over those with a label.": 4 / 9 * right[0],
        },
    )
    case.close(
        "the loss of the pairs",
        following,
        right[1],
        "It should be the mean of −ln p(label) over all pairs.",
        mistakes={
            "Pairs with the label 0, IsNext, still do not count.": cross_entropy(pairs, follows, ignore_index=0),
            "Now pairs with the label 1, NotNext, do not count.": cross_entropy(pairs, follows, ignore_index=1),
            "Labels are turned round: in BERT 0 is IsNext, and the first score belongs to it.": cross_entropy(
                pairs, 1 - follows
            ),
            "That is the sum over the pairs. The published loss is the mean.": 6 * right[1],
        },
    )
    same = torch.zeros(6, dtype=torch.long)
    _, following = case.call(words, labels, pairs, same, tried="a batch in which all pairs are IsNext")
    case.close("the loss of the pairs", following, losses(words, labels, pairs, same)[1], "All pairs should count.")
    leaf = pairs.clone().requires_grad_()
    _, following = case.protected(case.answer, words, labels, leaf, follows)
    cut_off = "But the loss of the pairs is cut off from its scores: is there an `.item()` or a `.detach()`?"
    case.expect(isinstance(following, Tensor) and following.requires_grad, cut_off)

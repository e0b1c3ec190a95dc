"""Exercises of chapter 7: next sentence prediction."""

import random
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise

PERCENT = "Give a number between 0 and 1, not a percentage."
NOT_A_NUMBER = "rng makes random numbers, and is none itself: rng.random() draws one."
SCORES_FIRST = "cross_entropy gets scores first, and then the labels. argmax gives no scores."
USE_RNG = "All randomness has to come from `rng`: draw with rng.random()."


@exercise(
    "7.1",
    "After tails",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "Which of the three sentences are in the pair now?",
        "The second segment came from another document. What happens to the sentences that were not used?",
    ),
)
def tails(case: Case) -> None:
    """1: what was not used is put back."""
    case.predicted(
        1,
        otherwise="Which sentences of this document are in the pair? The next chunk begins with the first other one.",
        mistakes=[
            (3, "That is right after heads. After tails, sentences 1 and 2 are in no pair yet. Are they thrown away?"),
            (0, "Sentence 0 is the first segment of this pair, so it is used up. What is left?"),
            (2, "Then sentence 1 would be lost: the chunk is split after sentence 0, and 1 is in no pair yet."),
        ],
    )


def cut_once(case: Case, first: list, second: list, max_tokens: int, seed: int) -> tuple[list, list]:
    """What the answer makes of two lists, as two lists."""
    result = case.protected(case.answer, list(first), list(second), max_tokens, random.Random(seed))
    parts = case.parts(result, "first", "second")
    for name, part in zip(("first", "second"), parts, strict=True):
        case.is_a(name, part, (list, tuple), "a list of tokens")
    return list(parts[0]), list(parts[1])


def is_stretch(got: list, given: list) -> bool:
    """Whether tokens are neighbors in the given list, in the same order."""
    return any(given[start : start + len(got)] == got for start in range(len(given) - len(got) + 1))


def stretches(case: Case, first: tuple[list, list], second: tuple[list, list]) -> None:
    """Both segments, (what came, what was given), lost tokens at their ends only."""
    for name, (got, given) in (("first", first), ("second", second)):
        if not is_stretch(got, given):
            case.fail(
                f"But the {name} segment became {got[:8]}, and these tokens are not next to each other in it.",
                "Remove tokens only at the front or at the end, and return the segments in their order.",
            )


def right_lengths(case: Case, long: int, short: int, max_tokens: int, one: list, other: list) -> None:
    """The lengths of both, against those of the known mistakes; `long` and `short` tokens were given."""
    came = f"But {len(one)} and {len(other)} tokens came back"
    together, least = len(one) + len(other), min(long, short)
    if together != min(max_tokens, long + short):
        stop = "Stop as soon as both together are short enough, and not before."
        special = "Did you leave room for [CLS] and [SEP]? max_tokens is for the tokens of the segments alone."
        wanted = f"{came}, {together} together, and {min(max_tokens, long + short)} are expected."
        case.fail(wanted, special if together == max_tokens - 3 else stop)
    kept = min(least, max_tokens // 2)
    if long + short <= max_tokens or sorted((len(one), len(other))) == [kept, max_tokens - kept]:
        return
    for which, whole in (("second", len(one) == long), ("first", len(other) == short)):
        if whole:
            anew = "Which segment is longer? After some tokens it may be the other one, so compare again each time."
            by_tokens = "The other one is longer. Compare lengths: `max(first, second)` alone compares the tokens."
            was_longer = (long > short) == (which == "first")
            case.fail(f"{came}: tokens were removed from the {which} segment only.", anew if was_longer else by_tokens)
    right = (max_tokens - kept, kept) if long > short else (kept, max_tokens - kept)
    case.fail(f"{came}, and {right[0]} and {right[1]} are expected: remove a token from the longer one each time.")


def same_seed(case: Case) -> None:
    """The same seed cuts the same tokens: no other source of randomness."""
    case.begin("I called cut twice with the same lists and the same seed.", "the same seed twice")
    for seed in range(5):
        one, other = (cut_once(case, list(range(40)), [100], 21, seed) for _ in range(2))
        case.expect(one == other, "But it removed other tokens the second time.", USE_RNG)


def both_ends(case: Case) -> None:
    """Ten tokens too many, 200 times: how many are removed at the front?"""
    case.begin("I called cut 200 times on 20 tokens and 1, with max_tokens = 11.", "200 calls with ten tokens too many")
    fronts = [cut_once(case, list(range(20)), [100], 11, seed)[0][0] for seed in range(200)]
    if set(fronts) in ({0}, {10}):
        end = "front" if fronts[0] else "end"
        case.fail(f"But the ten tokens were always removed at the {end}. What does the coin decide?")
    if set(fronts) == {0, 10}:
        case.almost("But all ten tokens are removed at the same end: you toss once for a pair. Toss for each token.")
    if len(set(fronts)) == 1:
        case.almost(f"But always {fronts[0]} of the ten tokens were removed at the front. {USE_RNG}")
    share = sum(fronts) / 2000
    came = f"But {share:.0%} of the tokens were removed at the front, and about half should be."
    case.expect(0.44 < share < 0.56, came)


@exercise(
    "7.2",
    "Truncate a pair",
    difficulty=2,
    minutes=12,
    hints=(
        "Remove one token at a time, in a loop that runs while both together are too long. Which list is longer now?",
        "A list loses its first token with .pop(0) and its last one with .pop(-1); a slice such as longer[1:] leaves "
        "`first` and `second` as they are. Toss the coin inside the loop.",
    ),
)
def cut(case: Case) -> None:
    """Lengths first, then which segment, then which end, then where the randomness comes from."""
    case.causes = {"instances of 'Random'": NOT_A_NUMBER, "'Random' object is not callable": NOT_A_NUMBER}
    for long, short, max_tokens in ((4, 3, 7), (6, 5, 7), (5, 6, 7), (3, 8, 7), (10, 10, 7), (30, 1, 2)):
        tried = f"{long} and {short} tokens, with max_tokens = {max_tokens}"
        case.begin(f"I called cut on {tried}.", "six pairs of lengths")
        first, second = list(range(long)), list(range(100, 100 + short))
        one, other = cut_once(case, first, second, max_tokens, seed=1)
        stretches(case, (one, first), (other, second))
        right_lengths(case, long, short, max_tokens, one, other)
    repeated = [5, 7, 8, 9, 7, 6, 8]
    case.begin(f"I called cut on {repeated} and [1], with max_tokens = 5.", "a segment with repeated tokens")
    for seed in range(8):
        one, other = cut_once(case, repeated, [1], 5, seed)
        stretches(case, (one, repeated), (other, [1]))
    both_ends(case)
    same_seed(case)


@exercise(
    "7.3",
    "Two sentences",
    difficulty=2,
    minutes=6,
    kind="value",
    hints=(
        "Write down all pairs that one document gives after heads, and all that it gives after tails.",
        "Take 1000 documents; 500 of them get heads. How many pairs are there in all, and how many are NotNext?",
    ),
)
def two_sentences(case: Case) -> None:
    """2/3: a second pair exists only after tails."""
    case.predicted(
        2 / 3,
        otherwise="Take 1000 documents. How many pairs do the 500 with heads give, and how many the 500 with tails?",
        mistakes=[
            (0.5, "That is the coin alone. After tails one sentence is put back. What becomes of it?"),
            (0.75, "That is the mean of 50 % and 100 %. But a second pair exists only after tails."),
            (1 / 3, "That is the share of IsNext."),
            (1.0, "After heads the pair is IsNext, and the document is used up."),
            (0.61, "That is the share in our text. Here every document has two sentences."),
            (200 / 3, PERCENT),
            (67, PERCENT),
        ],
        tolerance=0.01,
    )


def order_once(case: Case, seed_or_rng: int | random.Random) -> int:
    """One pair from the answer, examined: 1 where the segments came back swapped."""
    first, second = [11, 12, 13], [21, 22]
    rng = random.Random(seed_or_rng) if isinstance(seed_or_rng, int) else seed_or_rng
    result = case.protected(case.answer, list(first), list(second), rng)
    one, other, label = case.parts(result, "one", "other", "label")
    for name, part in (("one", one), ("other", other)):
        case.is_a(name, part, (list, tuple), "a list of tokens")
    came = f"But it returned {list(one)}, {list(other)}, {label}."
    if list(one) in (first[::-1], second[::-1]):
        case.fail(came, "The tokens are in reversed order. Swap the segments, and leave each of them as it is.")
    if [list(one), list(other)] not in ([first, second], [second, first]):
        case.fail(came, "The pair should hold both segments, unchanged, in one of the two orders.")
    case.is_a("the label", plain(label), int, "0 or 1")
    swapped = int(list(one) == second)
    if bool(label) != bool(swapped):
        as_bert = "Here 1 means swapped, as 1 means NotNext in BERT."
        case.fail(came, f"The segments are {'swapped' if swapped else 'as they came'}. {as_bert}")
    return swapped


@exercise(
    "7.4",
    "Which came first?",
    difficulty=2,
    minutes=7,
    hints=(
        "There are only two results: (first, second, 0) and (second, first, 1).",
        "rng.random() < 0.5 is the coin. Swap the segments, not the tokens inside them.",
    ),
)
def order_pair(case: Case) -> None:
    """What comes out, whether the label fits, how often it is swapped, and whether rng decides."""
    rng = random.Random(5)
    case.causes = {"instances of 'Random'": NOT_A_NUMBER, "'Random' object is not callable": NOT_A_NUMBER}
    case.begin("I called order_pair 400 times on [11, 12, 13] and [21, 22].", "400 calls")
    labels = [order_once(case, rng) for _ in range(400)]
    share = sum(labels) / len(labels)
    if share in (0, 1):
        case.fail(f"But the segments were {'always' if share else 'never'} swapped. Where is the coin?")
    if all(one != following for one, following in pairwise(labels)):
        turns = "But every second pair was swapped, in strict alternation. That is half of them, but it isn't random."
        case.fail(turns, USE_RNG)
    case.begin("I called order_pair again with the same seeds.", "the same seeds again")
    before = {seed: order_once(case, seed) for seed in range(30)}
    again = {seed: order_once(case, seed) for seed in random.Random(1).sample(range(30), 30)}
    case.expect(before == again, "But with the same seed it didn't return the same order.", USE_RNG)
    case.begin("I called order_pair 400 times on [11, 12, 13] and [21, 22].", "400 calls")
    case.expect(0.4 < share < 0.6, f"But {share:.0%} of the pairs were swapped, and about half should be.")


def losses(words: Tensor, labels: Tensor, pairs: Tensor, pair_labels: Tensor) -> tuple[Tensor, Tensor]:
    """Both losses as they should be."""
    return cross_entropy(words, labels, ignore_index=0), cross_entropy(pairs, pair_labels)


@exercise(
    "7.5",
    "Repair the losses",
    difficulty=3,
    minutes=10,
    hints=(
        "Write down what the number 0 means as a label of a word, and what it means as a label of a pair.",
        "Words: cross_entropy with ignore_index=0, as before. Pairs: every pair counts, so nothing is ignored.",
    ),
)
def repaired_losses(case: Case) -> None:
    """Each loss against its mistakes; then a batch with one kind of pairs."""
    words, pairs = case.randn(9, 30), case.randn(6, 2)
    labels, pair_labels = torch.tensor([0, 4, 0, 0, 17, 0, 29, 0, 1]), torch.tensor([0, 1, 1, 0, 1, 0])
    right = losses(words, labels, pairs, pair_labels)
    case.causes = {
        "is out of bounds": "Pairs have two classes, and their labels are 0 and 1. Leave the labels as they are.",
        "Expected floating point": SCORES_FIRST,
        "not implemented for 'Long'": SCORES_FIRST,
        "expected target dtype": "The labels are whole numbers. Leave them as they are.",
    }
    result = case.call(words, labels, pairs, pair_labels, tried="9 words, 4 of them with a label, and 6 pairs")
    masked, following = case.parts(result, "masked_words", "next_sentence")
    case.close(
        "the loss of the masked words",
        masked,
        right[0],
        "It was right in the colleague's version.",
        mistakes={
            "Words with the label 0 count now. For words, 0 still means: nothing to predict here.": cross_entropy(
                words, labels
            ),
            "That is the loss of the pairs. Return the loss of the words first.": right[1],
            "That is the sum over the words. BERT's loss is the mean.": 4 * right[0],
            "That is divided by all words. The mean is over those with a label.": 4 / 9 * right[0],
        },
    )
    case.close(
        "the loss of the pairs",
        following,
        right[1],
        "It should be the mean of −ln p(label) over all pairs.",
        mistakes={
            "Pairs with the label 0, IsNext, are still not counted.": cross_entropy(pairs, pair_labels, ignore_index=0),
            "Now pairs with the label 1, NotNext, are not counted.": cross_entropy(pairs, pair_labels, ignore_index=1),
            "The labels are reversed: in BERT 0 is IsNext, and the first score belongs to it.": cross_entropy(
                pairs, 1 - pair_labels
            ),
            "cross_entropy applies softmax itself. Give it the scores.": cross_entropy(pairs.softmax(-1), pair_labels),
            "That is the sum over the pairs. BERT's loss is the mean.": 6 * right[1],
        },
    )
    same = torch.zeros(6, dtype=torch.long)
    _, following = case.call(words, labels, pairs, same, tried="a batch in which all pairs are IsNext")
    case.close("the loss of the pairs", following, losses(words, labels, pairs, same)[1], "All pairs should count.")
    leaves = words.clone().requires_grad_(), pairs.clone().requires_grad_()
    result = case.protected(case.answer, leaves[0], labels, leaves[1], pair_labels)
    for name, loss in zip(("masked words", "pairs"), result, strict=True):
        cut_off = f"But the loss of the {name} is cut off from its scores: is there an `.item()` or a `.detach()`?"
        case.expect(isinstance(loss, Tensor) and loss.requires_grad, cut_off)

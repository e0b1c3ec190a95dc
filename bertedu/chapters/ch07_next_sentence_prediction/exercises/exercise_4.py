"""Exercise 7.4: Which came first?"""

import random
from itertools import pairwise

from bertedu.chapters.ch07_next_sentence_prediction.exercises.shared import NOT_A_NUMBER, USE_RNG
from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise


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

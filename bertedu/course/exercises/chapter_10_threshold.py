"""Exercise 10.4: the threshold with the best F1."""

from collections.abc import Sequence

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise

ROWS: list[tuple[list[float], list[int], str]] = [
    ([0.7, 0.9, 0.4, 0.2], [1, 1, 0, 0], "four texts, the first two right"),
    ([0.30, 0.10, 0.25, 0.05], [1, 0, 1, 0], "a rare label that never reaches one half"),
    ([0.2, 0.8, 0.6, 0.5, 0.1], [0, 1, 0, 1, 0], "five texts in mixed order"),
    ([0.9, 0.6, 0.5], [1, 0, 0], "three texts, one of them right"),
    ([0.95, 0.7, 0.6, 0.5, 0.4, 0.2], [1, 0, 1, 1, 1, 0], "six texts, one wrong among those with high probability"),
    ([0.8, 0.6, 0.3], [1, 0, 1], "three texts, the last with a low probability and right"),
    ([0.9, 0.8, 0.5, 0.4, 0.3, 0.2], [1, 1, 0, 0, 1, 0], "six texts, a right one with a low probability"),
    ([0.9, 0.4, 0.4, 0.4, 0.4], [1, 1, 0, 0, 0], "four texts with the same probability"),
    ([0.9, 0.4, 0.4, 0.4, 0.4], [1, 0, 0, 0, 1], "four texts with the same probability, in another order"),
]


def f1(probabilities: Sequence[float], right: Sequence[int], threshold: float) -> float:
    """F1 of choosing from the threshold on."""
    chosen = [one >= threshold for one in probabilities]
    hits = sum(yes for yes, truth in zip(chosen, right, strict=True) if truth)
    return 2 * hits / (sum(chosen) + sum(right))


def best_by_f1(probabilities: Sequence[float], right: Sequence[int]) -> float:
    """The reference: of equally good thresholds the largest."""
    return max(probabilities, key=lambda threshold: (f1(probabilities, right, threshold), threshold))


def best_by_accuracy(probabilities: Sequence[float], right: Sequence[int]) -> float:
    """What a learner gets who counts right decisions instead."""

    def score(threshold: float) -> tuple[float, float]:
        return sum((p >= threshold) == bool(r) for p, r in zip(probabilities, right, strict=True)), threshold

    return max(probabilities, key=score)


@exercise(
    "10.4",
    "The best threshold",
    difficulty=3,
    minutes=15,
    hints=(
        "Write f1(threshold) first, then try every probability as the threshold.",
        "max(probabilities, key=lambda threshold: (f1(threshold), threshold)) takes the larger threshold where F1 is "
        "equal.",
    ),
)
def threshold(case: Case) -> None:
    for probabilities, right, tried in ROWS:
        got = answer_of(case, probabilities, right, tried)
        best = best_by_f1(probabilities, right)
        if not abs(got - best) <= 1e-6:
            came = f"But the threshold {got:g} came for probabilities {probabilities} and truths {right}."
            case.fail(came, advice(got, probabilities, right))
    for probabilities, right, tried in (
        ([0.9, 0.8, 0.6, 0.5], [1, 0, 0, 1], "two thresholds with the same F1"),
        ([0.5, 0.6, 0.8, 0.9], [1, 0, 0, 1], "two thresholds with the same F1, the smaller one first"),
    ):
        got = answer_of(case, probabilities, right, tried)
        case.expect(
            abs(got - 0.9) < 1e-6,
            "But two thresholds have the same F1 here, 0.9 and 0.5, and the smaller one came. Return the larger.",
        )


def answer_of(case: Case, probabilities: Sequence[float], right: Sequence[int], tried: str) -> float:
    """The threshold that the answer returns."""
    got = plain(case.call(list(probabilities), list(right), tried=tried))
    case.is_a("the result", got, int | float, "one number, the threshold")
    return got


def advice(got: float, probabilities: Sequence[float], right: Sequence[int]) -> str:
    """What a wrong threshold looks like."""

    def is_it(value: float) -> bool:
        return abs(got - value) < 1e-6

    best = best_by_f1(probabilities, right)
    if is_it(0.5):
        return "One half is only a start. Which threshold gives the highest F1?"
    if not any(map(is_it, probabilities)):
        if is_it(f1(probabilities, right, best)):
            return "That is the best F1 itself. Return the threshold that reaches it."
        if is_it(list(probabilities).index(best)):
            return "That is the index of the best threshold. Return the probability that stands there."
        return "It is none of the probabilities. Try each of them as the threshold."
    if sum(map(is_it, probabilities)) > 1:
        return (
            f"Several texts have the probability {got:g}. A threshold chooses all of them or none, "
            "but your count seems to stop between them."
        )
    if best_by_accuracy(probabilities, right) != best and is_it(best_by_accuracy(probabilities, right)):
        return "That one has the highest accuracy. F1 ignores the texts that are rightly left out."
    if is_it(max(probabilities)):
        return "That is the highest probability, best for precision alone. F1 needs recall too."
    if is_it(min(p for p, truth in zip(probabilities, right, strict=True) if truth)) and got > min(probabilities):
        return "From there on no right text is missing, but F1 also counts the wrong ones that are chosen."
    if is_it(min(probabilities)):
        return "That is the lowest probability, best for recall alone. F1 needs precision too."
    return (
        f"{best:g} has a higher F1, or the same F1 and is larger. "
        "Is a text chosen where its probability is at least the threshold, and not only above it?"
    )

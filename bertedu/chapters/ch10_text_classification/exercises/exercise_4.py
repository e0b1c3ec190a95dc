"""Exercise 10.4: The best threshold."""

from collections.abc import Sequence

from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise

ROWS: list[tuple[list[float], list[int], str]] = [
    ([0.7, 0.9, 0.4, 0.2], [1, 1, 0, 0], "four texts, the first two have the label"),
    ([0.30, 0.10, 0.25, 0.05], [1, 0, 1, 0], "a rare label that never reaches one half"),
    ([0.2, 0.8, 0.6, 0.5, 0.1], [0, 1, 0, 1, 0], "five texts in mixed order"),
    ([0.9, 0.6, 0.5], [1, 0, 0], "three texts, one of them with the label"),
    ([0.905, 0.333], [1, 0], "two texts whose probabilities have three decimals"),
    (
        [0.95, 0.7, 0.6, 0.5, 0.4, 0.2],
        [1, 0, 1, 1, 1, 0],
        "six texts, one without the label among those with high probability",
    ),
    ([0.8, 0.6, 0.3], [1, 0, 1], "three texts, the last with a low probability and the label"),
    ([0.9, 0.8, 0.5, 0.4, 0.3, 0.2], [1, 1, 0, 0, 1, 0], "six texts, one with a low probability and the label"),
    ([0.9, 0.4, 0.4, 0.4, 0.4], [1, 1, 0, 0, 0], "four texts with the same probability"),
    ([0.9, 0.4, 0.4, 0.4, 0.4], [1, 0, 0, 0, 1], "four texts with the same probability, in another order"),
]


def counts(probabilities: Sequence[float], truths: Sequence[int], threshold: float) -> tuple[int, int, int]:
    """How many are chosen from the threshold on and have the label (hits), are chosen, and have the label."""
    chosen = [one >= threshold for one in probabilities]
    return sum(yes for yes, truth in zip(chosen, truths, strict=True) if truth), sum(chosen), sum(truths)


def f1(probabilities: Sequence[float], truths: Sequence[int], threshold: float) -> float:
    """F1 of choosing from the threshold on."""
    hits, chosen, positives = counts(probabilities, truths, threshold)
    return 2 * hits / (chosen + positives)


def told(probabilities: Sequence[float], truths: Sequence[int], threshold: float) -> str:
    """F1 at a threshold, calculated: "F1 at 0.9 is 2 · 1 / (1 + 2) = 0.67"."""
    hits, chosen, positives = counts(probabilities, truths, threshold)
    value = f1(probabilities, truths, threshold)
    return f"F1 at {threshold:g} is 2 · {hits} / ({chosen} + {positives}) = {value:.2f}"


def best_by_f1(probabilities: Sequence[float], truths: Sequence[int]) -> float:
    """The reference: of equally good thresholds the largest."""
    return max(probabilities, key=lambda threshold: (f1(probabilities, truths, threshold), threshold))


def best_by_accuracy(probabilities: Sequence[float], truths: Sequence[int]) -> float:
    """What a learner gets who counts right decisions instead."""

    def score(threshold: float) -> tuple[float, float]:
        return sum((p >= threshold) == bool(r) for p, r in zip(probabilities, truths, strict=True)), threshold

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
    for probabilities, truths, tried in ROWS:
        got = answer_of(case, probabilities, truths, tried)
        best = best_by_f1(probabilities, truths)
        if not abs(got - best) <= 1e-6:
            came = f"But the threshold {got:g} came for probabilities {probabilities} and truths {truths}."
            lines = [came, advice(got, probabilities, truths)]
            if any(abs(got - one) < 1e-6 for one in probabilities):
                mine, better = told(probabilities, truths, got), told(probabilities, truths, best)
                lines.append(f"{mine}. {better}. What does your function get?")
            case.fail(*lines)
    for probabilities, truths, tried in (
        ([0.9, 0.8, 0.6, 0.5], [1, 0, 0, 1], "two thresholds with the same F1"),
        ([0.5, 0.6, 0.8, 0.9], [1, 0, 0, 1], "two thresholds with the same F1, the smaller one first"),
    ):
        got = answer_of(case, probabilities, truths, tried)
        case.expect(
            abs(got - 0.9) < 1e-6,
            "But two thresholds have the same F1 here, 0.9 and 0.5, and the smaller one came. Return the larger.",
        )


def answer_of(case: Case, probabilities: Sequence[float], truths: Sequence[int], tried: str) -> float:
    """The threshold that the answer returns."""
    got = plain(case.call(list(probabilities), list(truths), tried=tried))
    case.is_a("the result", got, int | float, "one number, the threshold")
    return got


def advice(got: float, probabilities: Sequence[float], truths: Sequence[int]) -> str:
    """What a wrong threshold looks like."""

    def is_it(value: float) -> bool:
        return abs(got - value) < 1e-6

    best = best_by_f1(probabilities, truths)
    if is_it(0.5):
        return "One half is only a start. Which threshold gives the highest F1?"
    if not any(map(is_it, probabilities)):
        if is_it(f1(probabilities, truths, best)):
            return "That is the best F1 itself. Return the threshold that reaches it."
        if is_it(list(probabilities).index(best)):
            return "That is the index of the best threshold. Return the probability that stands there."
        return "It is none of the probabilities. Try each of them as the threshold."
    if sum(map(is_it, probabilities)) > 1:
        return (
            f"Several texts have the probability {got:g}. A threshold chooses all of them or none, "
            "but your count seems to stop between them."
        )
    if best_by_accuracy(probabilities, truths) != best and is_it(best_by_accuracy(probabilities, truths)):
        return "That one has the highest accuracy. F1 ignores the texts that are rightly left out."
    if is_it(max(probabilities)):
        return "That is the highest probability, which is best for precision alone. F1 needs recall too."
    if is_it(min(p for p, truth in zip(probabilities, truths, strict=True) if truth)) and got > min(probabilities):
        return "From there on no text with the label is missing, but F1 also counts the others that are chosen."
    if is_it(min(probabilities)):
        return "That is the lowest probability, which is best for recall alone. F1 needs precision too."
    if any(is_it(best_by_f1(sorted(probabilities, reverse=down), truths)) for down in (True, False)):
        return "Did you sort the probabilities and leave the truths in their order? They belong together."
    return (
        f"{best:g} has a higher F1, or the same F1 and is larger. "
        "Is a text chosen where its probability is at least the threshold, and not only above it?"
    )

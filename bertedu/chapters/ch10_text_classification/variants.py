"""Variants of chapter 10: thresholds for another score, and for a recall that must be reached."""

from collections.abc import Callable, Sequence

from bertedu.course.case import Case, plain
from bertedu.course.exercise import Exercise
from bertedu.course.variant import COPIED, Draws, Variant

Score = Callable[[Sequence[float], Sequence[int], float], float]


def f_beta(beta: float) -> Score:
    """F-beta of choosing from a threshold on."""

    def score(probabilities: Sequence[float], right: Sequence[int], threshold: float) -> float:
        chosen = [one >= threshold for one in probabilities]
        hits = sum(yes for yes, truth in zip(chosen, right, strict=True) if truth)
        return (1 + beta**2) * hits / (sum(chosen) + beta**2 * sum(right))

    return score


def best(probabilities: Sequence[float], right: Sequence[int], beta: float, largest: bool) -> float:
    """The threshold with the best F-beta; of equally good ones the smallest or the largest."""
    score, sign = f_beta(beta), 1 if largest else -1
    return max(probabilities, key=lambda one: (round(score(probabilities, right, one), 9), sign * one))


def drawn_rows(case: Case, rows: int) -> list[tuple[list[float], list[int]]]:
    """Probabilities in steps of 0.05, and truths with at least one right."""
    made = []
    for _ in range(rows):
        size = int(case.randint(4, 9, (1,)))
        truths = case.randint(0, 2, (size,)).tolist()
        truths[int(case.randint(0, size, (1,)))] = 1
        made.append(([round(value / 20, 2) for value in case.randint(1, 20, (size,)).tolist()], truths))
    return made


def with_equal_ones(beta: float) -> tuple[list[float], list[int]]:
    """Probabilities of which two have the same, best F-beta: 0.99 and a smaller one."""
    truths = [1, 0, 1, *[0] * 15, 1, 1] if beta < 1 else [1, *[0] * int(2 * beta**2), 1]
    return [round(0.99 - at / 100, 2) for at in range(len(truths))], truths


def number_from(case: Case, probabilities: list[float], right: list[int], tried: str) -> float:
    """The threshold that came, as a number."""
    got = plain(case.call(probabilities, right, tried=tried))
    case.is_a("the result", got, int | float, "a number")
    return float(got)


def threshold(draws: Draws) -> Variant:
    """The threshold with the best F-beta; of equal ones the smallest."""
    beta = draws.pick((0.5, 2.0, 3.0))

    def examine(case: Case) -> None:
        rows = [*drawn_rows(case, 40), with_equal_ones(beta)]
        for probabilities, right in rows:
            got = number_from(case, probabilities, right, f"{len(rows)} lists of texts")
            wanted = best(probabilities, right, beta, largest=False)
            copied = best(probabilities, right, 1.0, largest=True)
            if abs(got - wanted) <= 1e-6:
                continue
            came = f"But the threshold {got:g} came for probabilities {probabilities} and truths {right}."
            tie = right is rows[-1][1]  # only what does it right elsewhere comes so far
            if tie and abs(got - best(probabilities, right, beta, largest=True)) <= 1e-6:
                case.fail(came, "Several thresholds have the same F-beta. Return the smallest.")
            if abs(got - copied) <= 1e-6:
                case.fail(came, COPIED.format(number="10.4"), f"β is {beta:g} here.")
            if abs(got - best(probabilities, right, 1 / beta, largest=False)) <= 1e-6:
                case.fail(came, "Precision and recall are swapped: β > 1 gives recall more weight.")
            if abs(got - best(probabilities, right, beta, largest=True)) <= 1e-6:
                case.fail(came, "Several thresholds have the same F-beta. Return the smallest.")
            if abs(got - best(probabilities, right, 1.0, largest=False)) <= 1e-6:
                case.fail(came, f"That is the best threshold for F1. β is {beta:g} here.")
            case.fail(came, f"{wanted:g} is better: try each of the probabilities as a threshold.")

    text = (
        "Write `best_threshold(probabilities, right)`: two lists, the probability of each text and 1 or 0 for whether "
        "it really is one to be found. A text is chosen if its probability is **at least** the threshold. Return the "
        f"probability in the list that is the best threshold by **F-beta with β = {beta:g}**,\n\n"
        "$$F_\\beta = \\frac{(1 + \\beta^2)\\,PR}{\\beta^2 P + R},$$\n\n"
        "with the precision P and the recall R; 0 where nothing chosen is right. Of equally good thresholds (up to "
        "9 decimals) return the **smallest**. At least one text is to be found."
    )
    hints = (
        "Write F-beta of one threshold first, then try every probability.",
        "With counts it is (1 + β²)·hits / (chosen + β²·all that are to be found). Round before you compare.",
    )
    exercise = Exercise("10.11", "The best threshold for F-beta", 3, 15, hints, examine)
    return Variant(exercise, text, "def best_threshold(probabilities, right):")


def at_recall(draws: Draws) -> Variant:
    """The largest threshold that reaches a recall."""
    recall = draws.pick((0.4, 0.6, 0.7, 0.8))

    def recall_at(probabilities: Sequence[float], right: Sequence[int], threshold: float) -> float:
        return sum(r for p, r in zip(probabilities, right, strict=True) if p >= threshold) / sum(right)

    def examine(case: Case) -> None:
        rows = [([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], [1, 1, 0, 1, 1, 1]), *drawn_rows(case, 40)]
        for probabilities, right in rows:
            got = number_from(case, probabilities, right, f"{len(rows)} lists of texts")
            enough = [p for p in probabilities if recall_at(probabilities, right, p) >= recall - 1e-9]
            if abs(got - max(enough)) <= 1e-6:
                continue
            came = f"But the threshold {got:g} came for probabilities {probabilities} and truths {right}."
            if abs(got - min(enough)) <= 1e-6:
                case.fail(came, "It reaches the recall, and chooses more than it has to. Return the largest threshold.")
            if abs(got - best(probabilities, right, 1.0, largest=True)) <= 1e-6:
                case.fail(came, COPIED.format(number="10.4"), f"F1 is not asked: a recall of {recall:.0%} is.")
            came_with = recall_at(probabilities, right, got)
            if came_with < recall - 1e-9:
                case.fail(came, f"Its recall is {came_with:.0%}, and at least {recall:.0%} is asked for.")
            case.fail(came, f"{max(enough):g} reaches the recall too, and is larger.")

    text = (
        "Write `threshold_for_recall(probabilities, right)`: two lists as in the chapter's exercise on thresholds. A "
        "text is chosen if its probability is at least the threshold. Return the **largest** of the probabilities with "
        f"which the **recall is at least {recall:g}**. At least one text is to be found."
    )
    hints = (
        "Recall counts only the texts that are to be found: how many of them are chosen?",
        f"Keep the probabilities whose recall is at least {recall:g}, and return the largest.",
    )
    exercise = Exercise("10.12", "A threshold that finds enough", 2, 10, hints, examine)
    return Variant(exercise, text, "def threshold_for_recall(probabilities, right):")


MAKERS = {"10.11": threshold, "10.12": at_recall}

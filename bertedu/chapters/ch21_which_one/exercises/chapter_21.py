"""Exercise 21.1: a difference that is told from noise. The others are in chapter_21_chance.py (21.2),
chapter_21_bits.py (21.3), chapter_21_cost.py (21.4) and chapter_21_search.py (21.5).
"""

import math
import statistics
from collections.abc import Sequence
from typing import Any

from bertedu.course.case import Case, plain
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise
from bertedu.family.comparison import pooled_deviation, told_apart

Scores = dict[str, list[float]]
SEVERAL = {
    "bert": [0.60, 0.62, 0.66],
    "albert": [0.663, 0.675],
    "electra": [0.57, 0.647, 0.64, 0.60, 0.62],
    "roberta": [0.60, 0.655, 0.633, 0.625],
}
ONE_SEED = {**SEVERAL, "xlnet": [0.6835]}  # xlnet is 2.1 s from bert, but less than 2 errors
WORSE = {"bert": [0.60, 0.61, 0.63], "albert": [0.595, 0.575], "xlnet": [0.5793]}  # 2.08 and 1.98 errors from bert
MEAN_OF_DEVIATIONS = "That is the mean of the standard deviations. Pool the variances."
POPULATION = "That is the population variance, divided by n. The mean comes from the same runs, so divide by n − 1."
SINGLE = "A member with one seed says nothing about noise: leave it out of s."
MEANS_FIRST = "The two members may have different numbers of seeds: take the mean of each first, then subtract."
NOT_THE_LISTS = "That is a name, not a list of scores: scores[one] is a list, and scores.values() are all lists."


@exercise(
    "21.1",
    "Told from noise",
    difficulty=2,
    minutes=12,
    hints=(
        "First compute the pooled variance: the mean of the variances of all members with two seeds or more, with the "
        "weights n − 1. Its root is s. Which of the three results need s?",
        "several = [v for v in scores.values() if len(v) > 1]; divide the sum of (len(v) - 1) * statistics.variance(v) "
        "by the sum of len(v) - 1, and take the root. The error is s * (1 / n + 1 / m) ** 0.5.",
    ),
)
def told_from_noise(case: Case) -> None:
    case.causes = told_causes()
    for scores, one, other, tried in (
        (SEVERAL, "electra", "bert", "electra (5 seeds) against bert (3 seeds)"),
        (SEVERAL, "albert", "bert", "albert (2 seeds) against bert (3 seeds)"),
        (ONE_SEED, "electra", "bert", "electra against bert beside a member with a single seed"),
        (ONE_SEED, "xlnet", "bert", "xlnet (a single seed) against bert"),
        (WORSE, "bert", "albert", "bert against a worse member"),
        (WORSE, "albert", "bert", "a worse member against bert"),
        (WORSE, "xlnet", "bert", "a worse member with a single seed against bert"),
    ):
        result = case.call(scores, one, other, tried=tried)
        difference, error, told = (plain(part) for part in case.parts(result, "difference", "error", "told"))
        wanted = told_apart(scores, one, other)
        compare_number(case, "the difference", difference, wanted[0], wrong_differences(scores, one, other))
        if isinstance(error, float) and math.isnan(error):
            case.fail(f"But the error is nan, as the variance of a single score is. {SINGLE}")
        compare_number(case, "the error", error, wanted[1], wrong_errors(scores, one, other))
        if not isinstance(told, bool):
            case.fail(f"But the third part should be True or False, and it is {said(told)}.")
        if told != wanted[2]:
            size = f"But the difference is {wanted[0]:.4f}, the error {wanted[1]:.4f}, and it returned {told}."
            case.fail(size, wrong_verdict(wanted[0], wanted[1], pooled_deviation(scores), told))
    case.close_with("With a pooled standard deviation even a member with one seed can be compared. Its error is large.")


def told_causes() -> dict[str, str]:
    """Words of error messages, and what usually causes them here."""
    no_table = "The lists have different lengths, so they don't fit into one table: go member by member."
    return {
        "requires at least two data points": "A member with one seed has no standard deviation: leave it out of s.",
        "division by zero": "A member with one seed has n − 1 = 0: leave it out of s.",
        "'xlnet'": "xlnet has one seed. That keeps it out of s only: it still has a mean, and its n is 1.",
        "'one'": "`one` is a variable that holds a name, and the names are the keys: scores[one].",
        "convert type 'str'": NOT_THE_LISTS,
        "'str' object": NOT_THE_LISTS,
        "add.reduce": NOT_THE_LISTS,
        "flexible type": NOT_THE_LISTS,
        "inhomogeneous shape": no_table,
        "of the same length": no_table,
        "broadcast": MEANS_FIRST,
        "size of tensor": MEANS_FIRST,
        "'list' object has no attribute": "A list has no such method. Write statistics.mean(values).",
        "'list'": "Python can't calculate with whole lists: take the mean of each first.",
        "'dict_values'": "scores.values() is not a list: go through it with `for values in scores.values():`.",
        "to unpack": "A loop over a dictionary gives only the names. For names and lists together: scores.items().",
    }


def compare_number(case: Case, name: str, got: Any, wanted: float, known: Sequence[tuple[float, str]]) -> None:
    """Not yet, unless a number is the wanted one; a known mistake hears its sentence."""
    if isinstance(got, bool) or not isinstance(got, int | float):
        case.fail(f"But {name} should be a number, and it is {said(got)}.")
    if not math.isclose(got, wanted, rel_tol=1e-4, abs_tol=1e-7):
        sentences = [sentence for wrong, sentence in known if math.isclose(got, wrong, rel_tol=1e-4, abs_tol=1e-7)]
        if got and any(got == round(wanted, digits) for digits in (2, 3, 4)):
            sentences.append("Don't round: return the number as it is.")
        case.fail(f"But {name} is {got:.5g}, and should be {wanted:.5g}.", *sentences[:1])


def wrong_differences(scores: Scores, one: str, other: str) -> list[tuple[float, str]]:
    """What known mistakes give for the difference of the means."""
    a, b = scores[one], scores[other]
    wanted, error, _ = told_apart(scores, one, other)
    pairs = [x - y for x, y in zip(a, b)]  # noqa: B905  as an answer does it
    return [
        (-wanted, "The sign tells who is better: the mean of `one` minus the mean of `other`."),
        (statistics.median(a) - statistics.median(b), "Those are medians. Take the means."),
        (max(a) - max(b), "Those are the best seeds. A best seed is luck: take the means."),
        (statistics.mean(pairs), "zip stops at the end of the shorter list: take the mean of each list first."),
        (a[0] - b[0], "Those are the first seeds alone: take the means."),
        (sum(a) - sum(b), "Those are sums. Members may have different numbers of seeds: take the means."),
        (error, "That is the standard error. The difference comes first: `return difference, error, told`."),
        (100 * wanted, "That is in percent. Leave the scores as they are, from 0 to 1."),
        (statistics.mean(a) - statistics.mean(scores["bert"]), "You always subtract bert's mean. Subtract `other`'s."),
    ]


def wrong_errors(scores: Scores, one: str, other: str) -> list[tuple[float, str]]:
    """What known mistakes give for the standard error."""
    a, b = scores[one], scores[other]
    n, m, s = len(a), len(b), pooled_deviation(scores)
    root = math.sqrt(1 / n + 1 / m)
    numbers = f"Each mean has its own number of runs: 1/n + 1/m, and here n is {n} and m is {m}."
    named = [
        (s, "That is s, of a single run. A mean of n runs varies less: multiply by √(1/n + 1/m)."),
        (s * math.sqrt(1 / n), "That is the error of the first mean alone. Both means vary: √(1/n + 1/m)."),
        (s * math.sqrt(1 / m), "That is the error of the second mean alone. Both means vary: √(1/n + 1/m)."),
        (s * math.sqrt(1 / (n + m)), "You divided by n + m. The variances of the two means add: 1/n + 1/m."),
        (s * (1 / n + 1 / m), "The root of 1/n + 1/m is missing."),
        (s * (1 / n + 1 / m) / 2, "`x ** 1 / 2` is (x ** 1) / 2. Write `x ** 0.5`, or sqrt(x)."),
        (s * (n**-0.5 + m**-0.5), "Errors don't add, their squares do: s · √(1/n + 1/m)."),
        *((s * math.sqrt(2 / runs), numbers) for runs in (n, m, 3, len(scores))),
        (
            s * math.sqrt(1 / len(one) + 1 / len(other)),
            "len(one) counts the letters of a name. Write len(scores[one]).",
        ),
        (s * s * root, "That is computed with the variance. The standard deviation s is its root."),
        (s * s * (1 / n + 1 / m), "That is the variance of the difference. The error is its root."),
        (0.0, "Is there a `1 // n`? That is a division without its remainder, so 0. Write `1 / n`."),
        (2 * s * root, "Return one standard error. The factor 2 belongs to the comparison."),
        (100 * s * root, "That is in percent. Leave the scores as they are, from 0 to 1."),
    ]
    if n > 1 and m > 1:
        own = "There each of the two has an s of its own. Pool one s over all members, and use it for both."
        named.append((math.sqrt(statistics.variance(a) / n + statistics.variance(b) / m), own))
        fewer = "The n − 1 belong to s. The error has the numbers of runs: 1/n + 1/m."
        named.append((s * math.sqrt(1 / (n - 1) + 1 / (m - 1)), fewer))
    return [*named, *((wrong * root, sentence) for wrong, sentence in wrong_deviations(scores, one, other))]


def wrong_deviations(scores: Scores, one: str, other: str) -> list[tuple[float, str]]:
    """What known mistakes give for s."""
    several = [values for values in scores.values() if len(values) > 1]
    everyone = [score for values in scores.values() for score in values]
    away = [x - statistics.mean(values) for values in scores.values() for x in values]
    together = "You threw all scores together: then s contains the differences between the members, too."
    alone = "That s is of one member alone. Pool all members with two seeds or more."
    others = {name: values for name, values in scores.items() if name not in (one, other)}
    between = "That is how much the members' means differ. s is how much the runs of *one* member differ."
    return [
        (
            pooled_deviation({name: values for name, values in scores.items() if len(values) > 2}),
            "A member with two seeds belongs to s, too: len(values) > 1.",
        ),
        (pooled_deviation(others), f"`{one}` and `{other}` belong to s, too: pool all members."),
        (statistics.stdev(map(statistics.mean, scores.values())), between),
        (statistics.stdev(everyone), together),
        (statistics.pstdev(everyone), together),
        (
            statistics.stdev(away),
            "The distances from each member's mean are right. Divide their squares by the sum of the n − 1.",
        ),
        (
            pooled_deviation({name: scores[name] for name in (one, other)}),
            "That s is of these two members alone. Pool all members with two seeds or more.",
        ),
        *((statistics.stdev(scores[name]), alone) for name in (one, other) if len(scores[name]) > 1),
        *wrong_pooling(several, singles=len(scores) - len(several)),
    ]


def wrong_pooling(several: Sequence[Sequence[float]], singles: int) -> list[tuple[float, str]]:
    """What s is where the variances of the members with two seeds or more are not weighted, summed or divided well."""
    variances, counts = list(map(statistics.variance, several)), list(map(len, several))
    of_population, deviations = list(map(statistics.pvariance, several)), list(map(statistics.stdev, several))
    number, total = len(several), sum(counts)
    freedom = total - number
    freely, counted = [n - 1 for n in counts], "The weights are n − 1."

    def weighted(weights: Sequence[float], values: Sequence[float]) -> float:
        return sum(weight * value for weight, value in zip(weights, values, strict=True))

    squares = weighted(freely, variances)
    found = [
        (math.sqrt(squares / total), POPULATION),
        (math.sqrt(weighted(freely, of_population) / freedom), POPULATION),
        (math.sqrt(sum(of_population) / number), POPULATION),
        (sum(map(statistics.pstdev, several)) / number, POPULATION),
        (sum(deviations) / number, MEAN_OF_DEVIATIONS),
        (weighted(freely, deviations) / freedom, MEAN_OF_DEVIATIONS),
        (
            math.sqrt(weighted(freely, deviations) / freedom),
            "The formula has the variances s², not the s: square them.",
        ),
        (math.sqrt(sum(variances) / number), f"All members weigh the same here. {counted}"),
        (math.sqrt(weighted(counts, variances) / total), counted),
        (math.sqrt(squares), "The squares are summed, not averaged: divide by the sum of the n − 1."),
        (math.sqrt(squares / number), "You divided by the number of members. Divide by the sum of the n − 1."),
    ]
    if singles:
        found += [
            (math.sqrt(squares / (total + singles)), POPULATION),
            (math.sqrt(squares / (freedom + singles)), SINGLE),
            (math.sqrt(sum(variances) / (number + singles)), SINGLE),
            (sum(deviations) / (number + singles), SINGLE),
        ]
    return found


def wrong_verdict(difference: float, error: float, s: float, told: bool) -> str:
    """Why a verdict is not the wanted one, most likely."""
    size = abs(difference) / error
    if difference < 0 and not told:
        return "A member can also be worse by more than noise: compare the absolute value with two errors."
    if told and size < 1:
        return "A difference below one error is well within the noise. Is your comparison the wrong way round?"
    if told and size > 1.95:
        return "The limit of 1.96 leaves 5 % outside. The rule of this chapter is 2, which leaves 4.6 %."
    if told and abs(difference) > 2 * s:
        return "It is more than two s, but s belongs to a single run. Compare with two errors."
    if told:
        return "That is more than one standard error. Two are asked for: equal members differ by one quite often."
    return f"That is {size:.2f} errors. In this chapter the limit is always 2, however many seeds there are."

"""Exercise 21.1: Told from noise."""

import math
import statistics
from collections.abc import Callable
from statistics import NormalDist

from bertedu.chapters.ch21_which_one.exercises.shared import compare_number
from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise
from bertedu.family.comparison import welch_test

Scores = list[float]


PAIRS: tuple[tuple[Scores, Scores, str], ...] = (
    ([0.663, 0.675], [0.60, 0.62, 0.66], "two scores against three"),
    ([0.29, 0.59, 0.47], [0.70, 0.66, 0.71], "three scores that differ much, and three that don't"),
    ([0.57, 0.647, 0.64, 0.60, 0.62], [0.60, 0.655, 0.633, 0.625], "five scores against four"),
    ([0.60, 0.61, 0.63], [0.595, 0.575], "three scores against two lower ones"),
)


POPULATION = "That is the population variance, divided by n. The mean comes from the same runs, so divide by n − 1."


MEANS_FIRST = "The two members may have different numbers of seeds: take the mean of each first, then subtract."


TAIL = "t.sf(x, ν) takes two numbers: first how many errors the difference is away from 0, then ν."


@exercise(
    "21.1",
    "Told from noise",
    difficulty=2,
    minutes=12,
    without=("welch_test",),
    hints=(
        "Write down for each list the variance of its mean: a = statistics.variance(ours) / len(ours), and b for "
        "theirs. The error is the root of a + b, and ν is (a + b)² / (a² / (n − 1) + b² / (m − 1)).",
        "p = 2 * t.sf(abs(difference) / error, nu): both tails, so twice the upper one.",
    ),
)
def told_from_noise(case: Case) -> None:
    case.causes = told_causes()
    for ours, theirs, tried in PAIRS:
        result = case.call(list(ours), list(theirs), tried=tried)
        difference, error, p = (plain(part) for part in case.parts(result, "difference", "error", "p"))
        wanted = welch_test(ours, theirs)
        compare_number(case, "the difference", difference, wanted[0], wrong_differences(ours, theirs))
        compare_number(case, "the error", error, wanted[1], wrong_errors(ours, theirs))
        compare_number(case, "p", p, wanted[2], wrong_chances(ours, theirs))
    case.close_with("One pair differs by 0.24, and yet its p is 0.11: with seeds so far apart it may be chance.")


def told_causes() -> dict[str, str]:
    """Words of error messages, and what usually causes them here."""
    return {
        "'list' object has no attribute": "A list has no such method. Write statistics.mean(ours).",
        "'list'": "Python can't calculate with whole lists: take the mean of each first.",
        "of the same length": MEANS_FIRST,
        "broadcast": MEANS_FIRST,
        "size of tensor": MEANS_FIRST,
        "missing 1 required positional argument: 'df'": TAIL,
        "name 't' is not defined": "Import it again: from scipy.stats import t",
    }


def wrong_differences(ours: Scores, theirs: Scores) -> list[tuple[float, str]]:
    """What known mistakes give for the difference of the means."""
    wanted, error, _ = welch_test(ours, theirs)
    pairs = [x - y for x, y in zip(ours, theirs)]  # noqa: B905  as an answer does it
    return [
        (-wanted, "The sign tells who is better: the mean of `ours` minus the mean of `theirs`."),
        (statistics.median(ours) - statistics.median(theirs), "Those are medians. Take the means."),
        (max(ours) - max(theirs), "Those are the best seeds. A best seed is luck: take the means."),
        (statistics.mean(pairs), "zip stops at the end of the shorter list: take the mean of each list first."),
        (ours[0] - theirs[0], "Those are the first seeds alone: take the means."),
        (sum(ours) - sum(theirs), "Those are sums. Members may have different numbers of seeds: take the means."),
        (error, "That is the standard error. The difference comes first: `return difference, error, p`."),
        (100 * wanted, "That is in percent. Leave the scores as they are, from 0 to 1."),
    ]


def wrong_errors(ours: Scores, theirs: Scores) -> list[tuple[float, str]]:
    """What known mistakes give for the standard error."""
    n, m = len(ours), len(theirs)
    one, other = statistics.variance(ours), statistics.variance(theirs)
    few, many = statistics.pvariance(ours), statistics.pvariance(theirs)
    right = math.sqrt(one / n + other / m)
    together = "That is one s for both, pooled. Each list has a variance of its own here: s₁²/n + s₂²/m."
    variance = "That is the variance of the difference. The error is its root."
    pooled = math.sqrt(((n - 1) * one + (m - 1) * other) / (n + m - 2))
    return [
        (pooled * math.sqrt(1 / n + 1 / m), together),
        (math.sqrt((one + other) / 2) * math.sqrt(1 / n + 1 / m), together),
        (statistics.stdev([*ours, *theirs]) * math.sqrt(1 / n + 1 / m), together),
        (math.sqrt(one + other), "That is the noise of single runs. A mean of n runs varies less: divide by n and m."),
        (math.sqrt(one / n), "That is the error of the first mean alone. Both means vary: s₁²/n + s₂²/m."),
        (math.sqrt(other / m), "That is the error of the second mean alone. Both means vary: s₁²/n + s₂²/m."),
        (math.sqrt((one + other) / (n + m)), "You divided by n + m. Each variance has its own n: s₁²/n + s₂²/m."),
        (math.sqrt(one / m + other / n), "n and m are swapped: divide each variance by the length of its own list."),
        (math.sqrt(one / n) + math.sqrt(other / m), "Errors don't add, their squares do: √(s₁²/n + s₂²/m)."),
        (math.sqrt(math.sqrt(one) / n + math.sqrt(other) / m), "The formula has the variances s², not the s."),
        (math.sqrt(few / n + many / m), POPULATION),
        (math.sqrt(one / (n - 1) + other / (m - 1)), "The n − 1 belong to the variances, which have them already."),
        (right**2, variance),
        (2 * right, "Return one standard error, not two."),
        (100 * right, "That is in percent. Leave the scores as they are, from 0 to 1."),
    ]


def wrong_chances(ours: Scores, theirs: Scores) -> list[tuple[float, str]]:
    """What known mistakes give for p."""
    from scipy.stats import t

    n, m = len(ours), len(theirs)
    difference, error, right = welch_test(ours, theirs)
    size = abs(difference) / error
    a, b = statistics.variance(ours) / n, statistics.variance(theirs) / m

    def tails(freedom: float, of: float = size) -> float:
        return float(2 * t.sf(of, freedom))

    freedom = (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (m - 1))
    pooled = math.sqrt(((n - 1) * n * a + (m - 1) * m * b) / (n + m - 2) * (1 / n + 1 / m))
    equal = "Those are n + m − 2 degrees of freedom, for equal variances. Take ν."
    weights = "In ν the squares are divided by n − 1 and m − 1."
    above: Callable[[float], float] = NormalDist().cdf
    return [
        (right / 2, "That is one tail. Up or down: twice t.sf(…)."),
        (float(t.sf(difference / error, freedom)), "One tail only, and with a sign: take abs(difference), and double."),
        (tails(freedom, difference / error), "Take the absolute value: p can't be larger than 1."),
        (1 - right, "That is 1 − p. sf is what lies above, cdf what lies below."),
        (1 - right / 2, "That is what lies below. sf is what lies above."),
        (2 * (1 - above(size)), "That is the normal distribution, for a noise that is known. Take t with ν degrees."),
        (tails(n + m - 2), equal),
        (tails(n + m - 2, abs(difference) / pooled), equal),
        (tails(freedom, abs(difference)), "t.sf wants the number of errors: divide the difference by the error."),
        (tails(freedom, abs(difference) / error**2), "Divide by the error, not by its square."),
        (tails((a + b) ** 2 / (a**2 / n + b**2 / m)), weights),
        (tails((a + b) ** 2 / (a**2 + b**2)), weights),
        (tails((a + b) / (a**2 / (n - 1) + b**2 / (m - 1))), "The numerator of ν is squared: (a + b)²."),
        (tails(math.floor(freedom)), "ν needn't be a whole number: don't round it."),
        (tails(round(freedom)), "ν needn't be a whole number: don't round it."),
        (size, "That is how many errors the difference is large. p is a probability: 2 · t.sf(…, ν)."),
        (freedom, "That is ν. p is 2 · t.sf(…, ν)."),
    ]

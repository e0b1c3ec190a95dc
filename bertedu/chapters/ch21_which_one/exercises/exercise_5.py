"""Exercise 21.5: A gain over itself."""

import random
import statistics
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

from bertedu.chapters.ch21_which_one.exercises.shared import compare_number
from bertedu.course.case import Case, plain
from bertedu.course.exercise import exercise
from bertedu.family.comparison import Fit, fair_comparison

RATES, SEARCH, SEEDS = (0.01, 0.03, 0.1, 0.3, 0.5, 0.9), (100, 101, 102), (0, 1, 2, 3)


PAIRS = (
    (718, 1715, "a baseline and a candidate"),
    (47, 17, "another pair with other best learning rates"),  # the last one and the first one. The candidate is worse
)


OF_WELCH = "welch_test takes two lists of scores: welch_test(candidate's, baseline's)."


def recorded(number: int) -> Fit:
    """A fit whose scores are drawn once: the best learning rate by validation is not the best by test."""
    drawn = random.Random(number)
    table = {
        (rate, seed): (round(drawn.uniform(0.6, 0.8), 3), round(drawn.uniform(0.6, 0.8), 3))
        for rate in RATES
        for seed in (*SEARCH, *SEEDS)
    }

    def fit(rate: float, seed: int) -> tuple[float, float]:
        if isinstance(rate, Real) and isinstance(seed, Real) and (rate, seed) in table:
            return table[rate, seed]
        raise ValueError(refused(rate, seed))

    fit.__qualname__ = "fit"
    return fit


def refused(rate: Any, seed: Any) -> str:
    """Why a fit can't be run."""
    if not isinstance(rate, Real):
        return f"{rate!r} is not one learning rate"
    if not isinstance(seed, Real):
        return f"{seed!r} is not one seed"
    if rate in (*SEARCH, *SEEDS) and seed in RATES:
        return f"`fit(rate, seed)` was given the seed {rate!r} as its learning rate"
    if rate not in RATES:
        return f"{rate!r} is not among the learning rates {list(RATES)}"
    return f"{seed!r} is not among the seeds"


@exercise(
    "21.5",
    "A gain over itself",
    difficulty=3,
    minutes=12,
    without=("fair_comparison",),
    hints=(
        "Ask of each number in the broken function: which learning rate, which rows, which seeds? All three must be of "
        "the same kind for both sides, and test rows may choose nothing.",
        "Write a helper that takes one fit: its learning rate is the one with the highest mean validation score over "
        "`search`; then it returns the test scores for `seeds`. Call it for both sides.",
    ),
)
def repaired_comparison(case: Case) -> None:
    case.causes = search_causes()
    for one, other, tried in PAIRS:
        examine(case, recorded(one), recorded(other), tried)
    same = recorded(1)
    result = case.call(same, same, RATES, SEARCH, SEEDS, tried="a candidate that is the baseline itself")
    difference = plain(case.parts(result, "difference", "error", "p")[0])
    compare_number(case, "the difference", difference, 0.0, [])
    case.close_with("An A/A test like this one costs minutes. Run it before you believe your own script.")


def search_causes() -> dict[str, str]:
    """Words of error messages, and what usually causes them here."""
    a_pair = "fit returns a pair: [0] is the validation score, and [1] the test score."
    call_it = "baseline and candidate are functions. Call them with a learning rate and a seed: `baseline(rate, seed)`."
    return {
        "as its learning rate": "Call `fit(rate, seed)` with the learning rate first.",
        "None is not one learning rate": "No learning rate was chosen. Does your search begin with a best score that "
        "none of them exceeds? Begin below 0.",
        "among the learning rates": "Take it from `rates`. The largest score, or its position, is no learning rate: "
        "`max(rates, key=…)` gives the one with the largest score.",
        "is not one learning rate": "Call `fit(rate, seed)` with one learning rate at a time: `for rate in rates`.",
        "is not one seed": "Call `fit(rate, seed)` with one seed at a time: `for seed in search`.",
        "among the seeds": "Take the seeds from `search` and `seeds`, the arguments.",
        "'welch_test' is not defined": "Import it again: from bertedu.family.comparison import welch_test",
        "welch_test() missing": OF_WELCH,
        "fit() missing": call_it,
        "'function' object": call_it,
        "'generator'": "welch_test needs lists: put [ ] around the scores.",
        "'float' object is not iterable": "That is one number where a list is needed: the scores of all seeds.",
        "convert type 'tuple'": a_pair,
        "and 'tuple'": a_pair,
        "no attribute 'sort'": "`rates` may be a tuple, which can't be sorted in place. You don't need its order here.",
        "index out of range": "Is that the argmax of a whole table? It counts all cells: take the mean over the seeds "
        "first, with axis=1.",
    }


def examine(case: Case, baseline: Fit, candidate: Fit, tried: str) -> None:
    """Not yet, unless the three results are those of a fair comparison."""
    result = case.call(baseline, candidate, RATES, SEARCH, SEEDS, tried=tried)
    difference, error, p = (plain(part) for part in case.parts(result, "difference", "error", "p"))
    wanted = fair_comparison(baseline, candidate, RATES, SEARCH, SEEDS)
    swapped = (wanted[1], "That is the standard error. The difference comes first: return what welch_test returns.")
    known = [*wrong_choices(baseline, candidate), *wrong_scores(baseline, candidate), swapped]
    known = [(wrong, sentence) for wrong, sentence in known if abs(wrong - wanted[0]) > 1e-6]
    compare_number(case, "the difference", difference, wanted[0], known)
    own = "The difference is right. Its error is that of welch_test, with all test scores of both sides."
    compare_number(case, "the error", error, wanted[1], [(error, own)])
    compare_number(case, "p", p, wanted[2], [(p, "Return what welch_test returns.")])


def mean(fit: Fit, rate: float, part: int = 1, seeds: Sequence[int] = SEEDS) -> float:
    """The mean score of a learning rate, on test unless part is 0."""
    return statistics.mean(fit(rate, seed)[part] for seed in seeds)


def best(fit: Fit, part: int = 0, seeds: Sequence[int] = SEARCH, rates: Sequence[float] = RATES) -> float:
    """The learning rate with the highest mean score."""
    return max(rates, key=lambda rate: mean(fit, rate, part, seeds))


def lucky(fit: Fit, part: int) -> float:
    """The test score where each seed has its own best learning rate."""
    return statistics.mean(max((fit(rate, seed) for rate in RATES), key=lambda s: s[part])[1] for seed in SEEDS)


def luckiest(fit: Fit) -> float:
    """The learning rate of the best single run."""
    return max((fit(rate, seed)[0], rate) for rate in RATES for seed in SEARCH)[1]


def by_wrong_axis(fit: Fit) -> float:
    """The learning rate at the position of the seed with the highest mean over all learning rates."""
    means = [statistics.mean(fit(rate, seed)[0] for rate in RATES) for seed in SEARCH]
    return RATES[means.index(max(means))]


def chosen_by(fit: Fit, summary: Callable) -> float:
    """The learning rate whose validation scores have the highest median, minimum or whatever summary is."""
    return max(RATES, key=lambda rate: summary(fit(rate, seed)[0] for seed in SEARCH))


def wrong_choices(baseline: Fit, candidate: Fit) -> list[tuple[float, str]]:
    """The difference of the test scores where both learning rates are chosen in a way that is known to be wrong."""

    def gap(choose: Callable[[Fit], float]) -> float:
        return mean(candidate, choose(candidate)) - mean(baseline, choose(baseline))

    by_test = "The test rows choose the learning rate. Choose it by validation."
    too = "The seeds of the final scores have chosen, too. Choose by `search` alone."
    one_seed = "A single seed of `search` has chosen. Take the mean over all of them."
    one_missing = "Not all learning rates were tried."

    def by_both(fit: Fit) -> float:
        return max(RATES, key=lambda rate: mean(fit, rate, 0, SEARCH) + mean(fit, rate, 1, SEARCH))

    def for_both(fit: Fit) -> float:
        return max(RATES, key=lambda rate: mean(baseline, rate, 0, SEARCH) + mean(candidate, rate, 0, SEARCH))

    return [
        (gap(lambda fit: best(fit, 1, SEEDS)), by_test),
        (gap(lambda fit: best(fit, 1)), by_test),
        (gap(by_both), "The test rows choose the learning rate, too. Choose it by validation alone."),
        (gap(lambda fit: best(fit, 0, SEEDS)), too),
        (gap(lambda fit: best(fit, 0, (*SEARCH, *SEEDS))), too),
        (gap(lambda fit: chosen_by(fit, statistics.median)), "Medians have chosen. Take the mean over `search`."),
        (gap(lambda fit: chosen_by(fit, min)), "The worst run of each learning rate has chosen. Take the mean."),
        (gap(by_wrong_axis), "You averaged over the learning rates. Average over the seeds: another axis."),
        (gap(luckiest), "The best single run has chosen. Take the mean over `search`."),
        (gap(lambda fit: best(fit, 0, SEARCH[:1])), one_seed),
        (gap(lambda fit: best(fit, 0, SEARCH[-1:])), one_seed),
        (gap(lambda fit: best(candidate)), "Both run at the candidate's learning rate. Search for each."),
        (
            gap(lambda fit: best(baseline)),
            "Both run at the baseline's learning rate. Search for each, and begin the second search anew.",
        ),
        (gap(for_both), "One learning rate is chosen for both together. Search for each."),
        (gap(lambda fit: RATES[-1]), "Both run at the last learning rate. Is `rate` used after its loop has ended?"),
        (gap(lambda fit: RATES[0]), "Nothing is searched: both run at the first learning rate."),
        (
            gap(lambda fit: min(RATES, key=lambda r: mean(fit, r, 0, SEARCH))),
            "Those are the lowest validation scores. Take the highest.",
        ),
        (gap(lambda fit: best(fit, rates=RATES[1:])), f"{one_missing} The first one belongs to the search."),
        (gap(lambda fit: best(fit, rates=RATES[:-1])), f"{one_missing} The last one belongs to the search."),
    ]


def wrong_scores(baseline: Fit, candidate: Fit) -> list[tuple[float, str]]:
    """The difference that other known mistakes give."""

    def gap(of: Callable[[Fit], float]) -> float:
        return of(candidate) - of(baseline)

    first = mean(baseline, RATES[0])
    by_test = "The test rows choose the learning rate. Choose it by validation."
    only_one = "Only the candidate's learning rate is searched. Search the baseline's in the same way."
    one_by_test = "The test rows choose the candidate's learning rate. Choose it by validation, as for the baseline."
    return [
        (lucky(candidate, 1) - first, f"{only_one} And the test rows choose it."),
        (mean(candidate, best(candidate, 1, SEEDS)) - first, f"{only_one} And the test rows choose it."),
        (mean(candidate, best(candidate)) - first, only_one),
        (lucky(candidate, 1) - mean(baseline, best(baseline)), one_by_test),
        (mean(candidate, best(candidate, 1)) - mean(baseline, best(baseline)), one_by_test),
        (mean(candidate, best(candidate, 1, SEEDS)) - mean(baseline, best(baseline)), one_by_test),
        (gap(lambda fit: lucky(fit, 1)), f"{by_test} Here even each seed for itself."),
        (gap(lambda fit: lucky(fit, 0)), "Each seed chooses for itself. Take one learning rate for all, by `search`."),
        (gap(lambda fit: mean(fit, best(fit), seeds=SEARCH)), "You scored the runs of the search. Use `seeds`."),
        (
            gap(lambda fit: mean(fit, best(fit), seeds=(*SEARCH, *SEEDS))),
            "The search is scored, too. Use `seeds` alone.",
        ),
        (gap(lambda fit: mean(fit, best(fit)) + mean(fit, best(fit), 0)) / 2, "Report the test scores alone: [1]."),
        (
            gap(lambda fit: mean(fit, best(fit), 0)),
            "Those are validation scores, and they have chosen. Report the test scores.",
        ),
        (
            gap(lambda fit: statistics.mean(mean(fit, rate) for rate in RATES)),
            "That is a mean over all learning rates. Choose one of them for each side.",
        ),
        (
            gap(lambda fit: max(fit(best(fit), seed)[1] for seed in SEEDS)),
            "Those are the best seeds. Give welch_test the scores of all seeds.",
        ),
        (-gap(lambda fit: mean(fit, best(fit))), "The sign is the other way round: candidate minus baseline."),
        (0.0, "Both sides have the same scores. Is one of the two functions used twice?"),
    ]

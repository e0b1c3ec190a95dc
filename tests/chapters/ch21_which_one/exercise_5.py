"""Answers to exercise 21.5: right ones, and mistakes with the words that they must hear."""

import math
from statistics import mean, median, variance

import numpy as np
from scipy.stats import ttest_ind

from bertedu.family.comparison import welch_test


def plainly(baseline, candidate, rates, search, seeds):
    def scores(fit):
        rate = max(rates, key=lambda rate: mean(fit(rate, seed)[0] for seed in search))
        return [fit(rate, seed)[1] for seed in seeds]

    return welch_test(scores(candidate), scores(baseline))


def in_loops(baseline, candidate, rates, search, seeds):
    by_side = []
    for fit in (candidate, baseline):
        best, its_score = rates[0], -1.0
        for rate in rates:
            total = 0.0
            for seed in search:
                validation, _ = fit(rate, seed)
                total += validation
            if total > its_score:
                best, its_score = rate, total
        by_side.append([fit(best, seed)[1] for seed in seeds])
    one, other = by_side
    difference = sum(one) / len(one) - sum(other) / len(other)
    error = math.sqrt((variance(one) + variance(other)) / len(seeds))
    return difference, error, ttest_ind(one, other, equal_var=False).pvalue


def with_arrays(baseline, candidate, rates, search, seeds):
    rates, search, seeds = np.array(rates), np.array(search), np.array(seeds)

    def scores(fit):
        table = np.array([[fit(rate, seed)[0] for seed in search] for rate in rates])
        return np.array([fit(rates[table.mean(axis=1).argmax()], seed)[1] for seed in seeds])

    return welch_test(scores(candidate), scores(baseline))


def average(fit, rate, part, seeds):
    return mean(fit(rate, seed)[part] for seed in seeds)


def comparing(choose_of_baseline, choose=None, scored="seeds", part=1, sides=("candidate", "baseline")):
    """An answer that chooses the two learning rates, the seeds and the rows in some way."""
    choose = choose or choose_of_baseline

    def compare(baseline, candidate, rates, search, seeds):
        given = {"baseline": baseline, "candidate": candidate, "rates": rates, "search": search, "seeds": seeds}
        scores = {
            name: [given[name](way(given[name], given), seed)[part] for seed in given[scored]]
            for name, way in (("baseline", choose_of_baseline), ("candidate", choose))
        }
        return welch_test(*(scores[side] for side in sides))

    return compare


def best_rate(part, on):
    return lambda fit, given: max(given["rates"], key=lambda rate: average(fit, rate, part, given[on]))


def first_rate(fit, given):
    return given["rates"][0]


def of_the_best_run(fit, given):
    runs = [(fit(rate, seed)[0], rate) for rate in given["rates"] for seed in given["search"]]
    return max(runs)[1]


def by_summary(summary):
    def choose(fit, given):
        return max(given["rates"], key=lambda rate: summary(fit(rate, seed)[0] for seed in given["search"]))

    return choose


def table_of(fit, given):
    return np.array([[fit(rate, seed)[0] for seed in given["search"]] for rate in given["rates"]])


def by_another_axis(fit, given):
    return given["rates"][table_of(fit, given).mean(axis=0).argmax()]


def by_all_cells(fit, given):
    return given["rates"][table_of(fit, given).argmax()]


def a_position(fit, given):
    return table_of(fit, given).mean(axis=1).argmax()


def a_score(fit, given):
    return table_of(fit, given).mean(axis=1).max()


def last_rate(fit, given):
    return given["rates"][-1]


def for_both_together(fit, given):
    sides = given["baseline"], given["candidate"]
    return max(given["rates"], key=lambda rate: sum(average(side, rate, 0, given["search"]) for side in sides))


def never_chosen(fit, given):
    best, highest = None, 1.0
    for rate in given["rates"]:
        if average(fit, rate, 0, given["search"]) > highest:
            best = rate
    return best


by_validation, by_test = best_rate(0, "search"), best_rate(1, "seeds")


def broken(baseline, candidate, rates, search, seeds):
    tuned = [max(fit_rate[1] for fit_rate in (candidate(rate, seed) for rate in rates)) for seed in seeds]
    plain = [baseline(rates[0], seed)[1] for seed in seeds]
    return welch_test(tuned, plain)


def for_each_seed(part):
    def compare(baseline, candidate, rates, search, seeds):
        def scores(fit):
            return [max((fit(rate, seed) for rate in rates), key=lambda run: run[part])[1] for seed in seeds]

        return welch_test(scores(candidate), scores(baseline))

    return compare


def one_rate_for_both(of):
    return comparing(lambda fit, given: by_validation(given[of], given))


def one_search(baseline, candidate, rates, search, seeds):
    scores, best, highest = {}, rates[0], 0.0
    for name, fit in (("baseline", baseline), ("candidate", candidate)):
        for rate in rates:
            if average(fit, rate, 0, search) > highest:
                best, highest = rate, average(fit, rate, 0, search)
        scores[name] = [fit(best, seed)[1] for seed in seeds]
    return welch_test(scores["candidate"], scores["baseline"])


def search_scored_too(baseline, candidate, rates, search, seeds):
    def scores(fit):
        rate = by_validation(fit, {"rates": rates, "search": search})
        return [fit(rate, seed)[1] for seed in (*search, *seeds)]

    return welch_test(scores(candidate), scores(baseline))


def without_a_rate(number):
    def compare(baseline, candidate, rates, search, seeds):
        rates = rates[1:] if number == 0 else rates[:-1]
        return plainly(baseline, candidate, rates, search, seeds)

    return compare


def same_side(baseline, candidate, rates, search, seeds):
    return plainly(candidate, candidate, rates, search, seeds)


def not_called(baseline, candidate, rates, search, seeds):
    return welch_test(candidate, baseline)


def one_list(baseline, candidate, rates, search, seeds):
    return welch_test([candidate(rates[0], seed)[1] for seed in seeds])


def pairs_summed(baseline, candidate, rates, search, seeds):
    return max(rates, key=lambda rate: sum(candidate(rate, seed) for seed in search))


def only_the_difference(*inputs):
    return plainly(*inputs)[0]


def another_error(*inputs):
    difference, error, p = plainly(*inputs)
    return difference, error * math.sqrt(2), p


def never_told(*inputs):
    return (*plainly(*inputs)[:2], 1.0)


def seed_first(baseline, candidate, rates, search, seeds):
    return welch_test([1.0, 2.0], [baseline(0, rate)[1] for rate in rates])


def means_alone(baseline, candidate, rates, search, seeds):
    rate = {fit: by_validation(fit, {"rates": rates, "search": search}) for fit in (baseline, candidate)}
    return welch_test(*([average(fit, rate[fit], 1, seeds)] for fit in (candidate, baseline)))


ANSWERS = {
    "21.5": {
        "accepted": [plainly, in_loops, with_arrays],
        "wrong": [
            (broken, "the test rows choose it"),
            (comparing(first_rate, by_test), "the test rows choose it"),
            (comparing(first_rate, by_validation), "Search the baseline's"),
            (comparing(by_test), "Choose it by validation"),
            (comparing(best_rate(1, "search")), "Choose it by validation"),
            (for_each_seed(1), "each seed for itself"),
            (for_each_seed(0), "chooses for itself"),
            (comparing(best_rate(0, "seeds")), "have chosen, too"),
            (comparing(by_validation, scored="search"), "runs of the search"),
            (comparing(by_validation, part=0), "validation scores"),
            (comparing(of_the_best_run), "best single run has"),
            (one_rate_for_both("candidate"), "at the candidate's learning rate"),
            (one_rate_for_both("baseline"), "at the baseline's learning rate"),
            (comparing(first_rate), "Nothing is searched"),
            (comparing(last_rate), "after its loop"),
            (comparing(by_summary(median)), "Medians have chosen"),
            (comparing(by_summary(min)), "The worst run"),
            (comparing(by_another_axis), "another axis"),
            (comparing(by_all_cells), "argmax of a whole table"),
            (comparing(a_position), "or its position"),
            (comparing(a_score), "The largest score"),
            (comparing(never_chosen), "Begin below 0"),
            (comparing(for_both_together), "for both together"),
            (one_search, "begin the second search anew"),
            (search_scored_too, "The search is scored"),
            (without_a_rate(0), "The first one belongs"),
            (without_a_rate(-1), "The last one belongs"),
            (same_side, "used twice"),
            (not_called, "are functions"),
            (one_list, "takes two lists"),
            (pairs_summed, "returns a pair"),
            (comparing(by_validation, sides=("baseline", "candidate")), "other way round"),
            (only_the_difference, "3 things are asked for"),
            (another_error, "Its error is that of"),
            (never_told, "what welch_test returns"),
            (seed_first, "the learning rate first"),
            (means_alone, "all test scores of both sides"),
        ],
    }
}

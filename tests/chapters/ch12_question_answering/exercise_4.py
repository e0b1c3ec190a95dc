"""Answers to exercise 12.4: right ones, and mistakes with the words that they must hear."""

from itertools import pairwise

import torch

# 12.4 ------------------------------------------------------------------------------------------------------------


def earned(scores, f1s, answerable, limit):
    return sum(
        (f1 if can else 0) if score <= limit else not can
        for score, f1, can in zip(scores, f1s, answerable, strict=True)
    )


def try_all(scores, f1s, answerable):
    return max([min(scores) - 1, *scores], key=lambda limit: earned(scores, f1s, answerable, limit))


def in_one_pass(scores, f1s, answerable):
    now = best = answerable.count(False)
    threshold = float("-inf")
    for score, f1, can in sorted(zip(scores, f1s, answerable, strict=True)):
        now += f1 if can else -1
        if now > best:
            best, threshold = now, score
    return threshold


def between_two_scores(scores, f1s, answerable):
    ordered = sorted(set(scores))
    middles = [(one + other) / 2 for one, other in pairwise(ordered)]
    tried = [ordered[0] - 1, *middles, ordered[-1] + 1]
    return max(tried, key=lambda limit: earned(scores, f1s, answerable, limit))


def swept(key, reverse=False):
    """One pass that compares totals after each question, also between two with the same score."""

    def choose(scores, f1s, answerable):
        now = best = answerable.count(False)
        threshold = min(scores) - 1
        for score, f1, can in sorted(zip(scores, f1s, answerable, strict=True), key=key, reverse=reverse):
            now += f1 if can else -1
            if now > best:
                best, threshold = now, score
        return threshold

    return choose


def from_the_top(scores, f1s, answerable):
    """One pass from answering everything; each question after the other is no longer answered."""
    ordered = sorted(zip(scores, f1s, answerable, strict=True), key=lambda one: -one[0])
    now = best = sum(f1s)
    threshold = max(scores)
    for (_, f1, can), following in zip(ordered, [one[0] for one in ordered[1:]] + [min(scores) - 1], strict=True):
        now += -f1 if can else 1
        if now > best:
            best, threshold = now, following
    return threshold


def the_points(scores, f1s, answerable):
    return max(earned(scores, f1s, answerable, limit) for limit in [min(scores) - 1, *scores])


def the_mean(scores, f1s, answerable):
    return the_points(scores, f1s, answerable) / len(scores)


def always_zero(scores, f1s, answerable):
    return 0.0


def inverted(scores, f1s, answerable):
    def of(limit):
        return sum(
            (f if can else 0) if d >= limit else not can for d, f, can in zip(scores, f1s, answerable, strict=True)
        )

    return max([*scores, max(scores) + 1], key=of)


def answered_only(scores, f1s, answerable):
    def of(limit):
        return sum(f for d, f, can in zip(scores, f1s, answerable, strict=True) if can and d <= limit)

    return max(scores, key=of)


def f1_alone(scores, f1s, answerable):
    """With <=, and with a threshold below every score."""

    def of(limit):
        return sum(f for d, f in zip(scores, f1s, strict=True) if d <= limit)

    return max([min(scores) - 1, *scores], key=of)


def inverted_from_below(scores, f1s, answerable):
    def of(limit):
        return sum(
            (f if can else 0) if d >= limit else not can for d, f, can in zip(scores, f1s, answerable, strict=True)
        )

    return max([min(scores) - 1, *scores], key=of)


def inverted_between(scores, f1s, answerable):
    """The right threshold of the negated scores is a middle of two."""
    return -between_two_scores([-score for score in scores], f1s, answerable)


def never_below(scores, f1s, answerable):
    return max(scores, key=lambda limit: earned(scores, f1s, answerable, limit))


def strictly_below(scores, f1s, answerable):
    def of(limit):
        return sum(
            (f if can else 0) if d < limit else not can for d, f, can in zip(scores, f1s, answerable, strict=True)
        )

    return max([*scores, max(scores) + 1], key=of)


def in_tensors(scores, f1s, answerable):
    """The chosen score comes back as a float of 32 bits."""
    scores, f1s, answerable = torch.tensor(scores), torch.tensor(f1s), torch.tensor(answerable)
    limits = torch.cat([scores.min()[None] - 1, scores])
    answered = scores[None, :] <= limits[:, None]
    return limits[torch.where(answered, f1s, (~answerable).float()).sum(dim=1).argmax()]


def abstaining_always_earns(scores, f1s, answerable):
    def of(limit):
        return sum(f1 if score <= limit else 1 for score, f1 in zip(scores, f1s, strict=True))

    return max([min(scores) - 1, *scores], key=of)


ANSWERS = {
    "12.4": {
        "accepted": [try_all, in_one_pass, between_two_scores, in_tensors],
        "wrong": [
            (the_points, "You returned the points"),
            (the_mean, "or their mean"),
            (always_zero, "Try the other thresholds"),
            (inverted, "Is the comparison inverted"),
            (abstaining_always_earns, "Each answerable question then earns 0"),
            (inverted_from_below, "Is the comparison inverted"),
            (inverted_between, "Is the comparison inverted"),
            (answered_only, "You don't count the 1 for each right abstention"),
            (f1_alone, "You don't count the 1 for each right abstention"),
            (never_below, "never answer: take a threshold below every score"),
            (strictly_below, "compare with <="),
            (swept(lambda one: one[0]), "No threshold separates questions with equal scores"),
            (swept(lambda one: (one[0], not one[2])), "No threshold separates questions with equal scores"),
            (swept(lambda one: (one[0], -one[1])), "No threshold separates questions with equal scores"),
            (from_the_top, "No threshold separates questions with equal scores"),
        ],
    }
}

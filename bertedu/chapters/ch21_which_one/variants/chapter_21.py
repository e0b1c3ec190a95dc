"""Variants of chapter 21: an interval for the difference of two members, and when a prompt costs more."""

import math
from collections.abc import Callable
from functools import partial
from statistics import mean, pvariance, stdev, variance

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import Row, compare
from bertedu.course.variant import COPIED, Draws, Variant
from bertedu.family.comparison import Scores, pooled_deviation


def both(n: int, m: int) -> float:
    """What the standard deviation of one score is multiplied by for the difference of two means."""
    return math.sqrt(1 / n + 1 / m)


def interval(
    scores: Scores,
    one: str,
    other: str,
    *,
    errors: float,  # how many standard errors the interval has on each side
    of_all: bool,  # whether the standard deviation is pooled over all members, or over these two
    lower: bool,  # whether a lower score is better
    of_other: bool,  # whether the difference is other − one
    deviation: Callable[[Scores], float] = pooled_deviation,
    root: Callable[[int, int], float] = both,
    one_sided: bool = False,
) -> tuple[float, float, str]:
    """The interval of the difference of two means, and whether `one` is better."""
    n, m = len(scores[one]), len(scores[other])
    error = deviation(scores if of_all else {name: scores[name] for name in (one, other)}) * root(n, m)
    difference = mean(scores[one]) - mean(scores[other])
    gain, shown = (-difference if lower else difference), (-difference if of_other else difference)
    word = "better" if gain > errors * error else "worse" if gain < -errors * error and not one_sided else "open"
    return shown - errors * error, shown + errors * error, word


def unfinished(right: partial, scores: Scores, one: str, other: str, *, at: float = 0.0) -> tuple:
    """Difference and standard error in place of the interval; at: standard errors that turn the word into a bool."""
    low, high, word = right(scores, one, other)
    errors = right.keywords["errors"]
    difference, error = (low + high) / 2, (high - low) / 2 / errors
    return difference, error, (abs(difference) > at * error if at else word)


def published(right: partial, scores: Scores, one: str, other: str) -> tuple:
    """What the answer to the chapter's exercise gives."""
    return unfinished(partial(right, of_all=True, of_other=False), scores, one, other, at=2.0)


def over_n(scores: Scores) -> float:
    """The mistake of dividing by n."""
    several = [one for one in scores.values() if len(one) > 1]
    return math.sqrt(sum(len(one) * pvariance(one) for one in several) / sum(map(len, several)))


def population(scores: Scores) -> float:
    """The mistake of pooling population variances."""
    several = [one for one in scores.values() if len(one) > 1]
    return math.sqrt(sum((len(one) - 1) * pvariance(one) for one in several) / sum(len(one) - 1 for one in several))


STANDARD_DEVIATIONS: dict[str, Callable[[Scores], float]] = {
    "Your variances divide by n. From few seeds, divide by n − 1.": population,
    "You divide all squares by the number of scores. Each member loses one: divide by the sum of n − 1.": over_n,
    "You averaged standard deviations. Pool the variances, and take the root at the end.": lambda scores: mean(
        stdev(one) for one in scores.values() if len(one) > 1
    ),
    "All variances have the same weight in your mean. The weight is n − 1.": lambda scores: math.sqrt(
        mean(variance(one) for one in scores.values() if len(one) > 1)
    ),
    "A member with a single seed counts as one without noise in your mean. Leave it out of s.": lambda scores: (
        math.sqrt(mean(variance(one) if len(one) > 1 else 0.0 for one in scores.values()))
    ),
    "You threw all scores together, so s also holds the differences between the members.": lambda scores: stdev(
        [score for one in scores.values() for score in one]
    ),
}
ROOTS: dict[str, Callable[[int, int], float]] = {
    "√(1/n + 1/m) is missing: s is the noise of one run, not of a difference of means.": lambda n, m: 1.0,
    "Only the mean of `one` varies in your error. Both do.": lambda n, m: math.sqrt(1 / n),
    "Only the mean of `other` varies in your error. Both do.": lambda n, m: math.sqrt(1 / m),
    "You added two errors. Their squares add up: √(1/n + 1/m).": lambda n, m: 1 / math.sqrt(n) + 1 / math.sqrt(m),
    "You divide by n + m. A difference varies more than either mean: √(1/n + 1/m).": lambda n, m: 1 / math.sqrt(n + m),
    "1/n + 1/m needs a root.": lambda n, m: 1 / n + 1 / m,
}


def comparing(draws: Draws) -> Variant:
    """An interval for a difference of means, and a word for it."""
    of_all, of_other = draws.pick((True, False)), draws.pick((True, False))
    errors, lower = draws.pick((1.5, 2.5, 3.0)), draws.pick((True, False))
    right = partial(interval, errors=errors, of_all=of_all, lower=lower, of_other=of_other)
    pool = "all members" if of_all else "`one` and `other`"
    first, second = ("other", "one") if of_other else ("one", "other")
    direction = "lower" if lower else "higher"
    mistakes: dict[str, Callable] = {
        COPIED.format(number="21.1"): partial(published, right),
        "Return both ends of the interval, not the difference and its error.": partial(unfinished, right),
        f"The difference is {first} − {second}.": partial(right, of_other=not of_other),
        f"s is pooled over {pool} here.": partial(right, of_all=not of_all),
        f"Your interval has one standard error on each side, and should have {errors:g}.": partial(right, errors=1.0),
        f"Your interval has two standard errors on each side, and should have {errors:g}.": partial(right, errors=2.0),
        f"A {direction} score is better here.": partial(right, lower=not lower),
        'Nothing is ever "worse": look at both sides of the interval.': partial(right, one_sided=True),
    }
    mistakes |= {said: partial(right, deviation=wrong) for said, wrong in STANDARD_DEVIATIONS.items()}
    mistakes |= {said: partial(right, root=wrong) for said, wrong in ROOTS.items()}

    def examine(case: Case) -> None:
        rows: list[Row] = []
        for counts, shift, one, other in (
            ({"bert": 3, "albert": 5, "electra": 2, "xlnet": 1}, 20.0, "albert", "bert"),
            ({"bert": 2, "roberta": 4, "xlnet": 1, "deberta": 3}, -20.0, "roberta", "deberta"),
            ({"bert": 3, "albert": 4, "electra": 1}, 0.2, "bert", "albert"),
            ({"bert": 4, "xlnet": 1, "electra": 2}, 30.0, "xlnet", "bert"),
        ):
            scores = {
                name: [round(40 + size * number + shift * (name == one), 1) for number in case.randn(count).tolist()]
                for size, (name, count) in enumerate(counts.items(), start=1)
            }
            rows.append((f"{one} and {other}, with {counts[one]} and {counts[other]} seeds", (scores, one, other)))
        advice = "Compute the difference, s and the standard error by hand for two members with two seeds each."
        compare(case, rows, right, mistakes, advice, name="the result")

    text = (
        "`scores` has for each member of the family the list of its scores, one for each seed; the lists may have "
        f"different lengths. **A {direction} score is better.** Write `told_apart(scores, one, other)` for the names "
        "of two members with n and m seeds. The difference is **the mean of "
        f"`{first}` minus the mean of `{second}`**. Its standard error is s·√(1/n + 1/m), where s is the standard "
        f"deviation pooled over those of **{pool}** that have two seeds or more: the root of the mean of their "
        "variances (with n − 1), each with the weight n − 1. Return `(low, high, word)`: the ends of the interval of "
        f"**{errors:g}** standard errors to each side of the difference, and a word for `one`: "
        '"better" or "worse" if 0 lies outside of the interval, and "open" if it does not.'
    )
    hints = (
        "Three steps: s, the standard error, the interval. statistics.variance divides by n − 1.",
        "The word depends on two things: on which side of 0 the interval lies, and whether low scores are good.",
    )
    exercise = Exercise("21.11", "An interval for a difference", 2, 12, hints, examine)
    return Variant(exercise, text, "def told_apart(scores, one, other):")


def months_to_pay(
    texts: int,  # in a month
    prompt: int,  # tokens of the instruction, which is sent with each text
    tokens: int,  # of a text
    answer: int,  # tokens that are written
    labels: int,
    *,
    prices: tuple[float, float],  # of a million tokens that are read, and of a million that are written
    cached: float,  # the part of the price that a token of the instruction costs
    label: float,
    server: float,  # a month
    per: float = 1e6,  # tokens of the price
    rounded: Callable[[float], float] = lambda months: math.floor(months) + 1,
    never: float | None = math.inf,  # what comes if it never pays; None: what the division gives
) -> float:
    """The first month at whose end the encoder has cost less than the prompt."""
    read, written = (cached * prompt + tokens) * prices[0], answer * prices[1]
    saved = texts * (read + written) / per - server
    return never if saved <= 0 and never is not None else rounded(labels * label / saved)


def payment_mistakes(right: partial) -> dict[str, Callable]:
    """What is said to a known mistake, and a program that makes it."""
    read, written = right.keywords["prices"]
    return {
        "The prices are for a million tokens, not for one.": partial(right, per=1.0),
        "The prices are for a million tokens, not for a thousand.": partial(right, per=1e3),
        "The tokens of the answer are not paid in your sum.": partial(right, prices=(read, 0.0)),
        "The two prices are swapped.": partial(right, prices=(written, read)),
        "The written tokens have a price of their own.": partial(right, prices=(read, read)),
        "The instruction is missing: it is sent with each text.": partial(right, cached=0.0),
        "You pay the full price for the instruction, which is cached.": partial(right, cached=1.0),
        "Only the instruction is cached. The text has the full price.": lambda texts, prompt, tokens, *more: right(
            texts, prompt + tokens, 0, *more
        ),
        "The server is missing: it is paid each month.": partial(right, server=0.0),
        "A label has a price, and you count labels as euros.": partial(right, label=1.0),
        "The labels are missing: they are paid before the first month.": partial(right, label=0.0),
        "You compare a single text. There are `texts` of them in a month.": lambda texts, *more: right(1, *more),
        "That is the last month in which the prompt is still cheaper.": partial(right, rounded=math.floor),
        "Months are whole here: the first one at whose end it has paid.": partial(right, rounded=lambda months: months),
        "Without labels it has paid at the end of month 1, not of month 0.": partial(right, rounded=math.ceil),
        "You round to the nearest month. Then it has not always paid yet.": partial(right, rounded=round),
        "A saving below 0 never pays for labels: return math.inf.": partial(right, never=None),
        "If it never pays, the result is math.inf, not 0.": partial(right, never=0),
        "If it never pays, the result is math.inf, not -1.": partial(right, never=-1),
        "That is a number of texts. Months are asked for.": lambda texts, *more: texts * right(texts, *more),
    }


def paying(draws: Draws) -> Variant:
    """From which month on an encoder on a rented server is cheaper than a prompt whose instruction is cached."""
    prices, cached = draws.pick(((0.5, 2.0), (1.5, 6.0), (2.0, 9.0))), draws.pick((0.1, 0.25, 0.5))
    label, server = draws.pick((0.1, 0.2, 0.25)), draws.pick((30.0, 45.0, 60.0))
    right = partial(months_to_pay, prices=prices, cached=cached, label=label, server=server)
    mistakes = payment_mistakes(right)

    def examine(case: Case) -> None:
        numbers = (
            "Each input is one number here. In the chapter's exercise 21.4 some are pairs: read what is different."
        )
        case.causes |= {"not subscriptable": numbers, "cannot unpack": numbers}
        rows: list[Row] = []
        for texts, prompt, tokens, answer, months in (
            (600_000, 1100, 150, 40, 18.4),
            (500_000, 1200, 300, 60, 41.6),
            (2_000, 500, 100, 5, 0.0),  # never
            (800_000, 300, 220, 8, 0.0),  # no labels
        ):
            once = right(texts, prompt, tokens, answer, 1, rounded=lambda months: months)  # months for one label
            labels = round(months / once) if months else 30_000 if once == math.inf else 0
            tried = f"{texts:,} texts a month of {tokens} tokens, and {labels:,} labels"
            rows.append((tried, (texts, prompt, tokens, answer, labels)))
        advice = "Write down what a month costs by prompt and by the server. How many savings pay for the labels?"
        compare(case, rows, right, mistakes, advice, name="the result")

    text = (
        f"A prompted model takes **{prices[0]:g}** euros for a million tokens that it reads and **{prices[1]:g}** for "
        "a million that it writes. With each text an instruction is sent, whose tokens are cached: each of them costs "
        f"**{100 * cached:g} %** of a token that is read. A fine-tuned encoder needs labels, **{label:g}** euros "
        f"each, before its first month. Then its server costs **{server:g}** euros a month, whatever it does. Write "
        "`months_to_pay(texts, prompt, tokens, answer, labels)`: the number of the first month at whose end the "
        "encoder has cost less than the prompt in all. `texts` come in a month, `prompt` tokens are in the "
        "instruction, `tokens` in a text and `answer` in what the model writes; `labels` is a number of labels. "
        "Return `math.inf` if that month never comes."
    )
    hints = (
        "What does the prompt cost in a month? Read tokens and written tokens have prices of their own.",
        "The server is paid out of what the prompt would cost. What is left each month pays for the labels.",
    )
    exercise = Exercise("21.12", "Months until it pays", 3, 12, hints, examine)
    return Variant(exercise, text, "def months_to_pay(texts, prompt, tokens, answer, labels):")


MAKERS = {"21.11": comparing, "21.12": paying}

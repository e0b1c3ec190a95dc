"""Variants of chapter 21: an interval for the difference of two members, and when a prompt costs more."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import mean, pvariance, stdev, variance

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import Row, compare
from bertedu.course.variant import COPIED, Draws, Variant
from bertedu.family.comparison import welch_test


def from_variances(ours: Sequence[float], theirs: Sequence[float], of: Callable = variance) -> tuple[float, float]:
    """The variances of the two means."""
    return of(ours) / len(ours), of(theirs) / len(theirs)


def welch_freedom(a: float, b: float, n: int, m: int) -> float:
    """The degrees of freedom of a difference of two means whose variances are a and b."""
    return (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (m - 1))


def interval(
    ours: Sequence[float],
    theirs: Sequence[float],
    *,
    confidence: float,
    lower: bool,  # whether a lower score is better
    of_theirs: bool,  # whether the difference is theirs − ours
    parts: Callable = from_variances,
    root: Callable[[float, float], float] = lambda a, b: math.sqrt(a + b),
    freedom: Callable[[float, float, int, int], float] = welch_freedom,
    tails: int = 2,
    one_sided: bool = False,
) -> tuple[float, float, str]:
    """The confidence interval of the difference of two means, and whether ours is better."""
    from scipy.stats import t

    a, b = parts(ours, theirs)
    limit = t.ppf(1 - (1 - confidence) / tails, freedom(a, b, len(ours), len(theirs)))
    half, difference = float(limit) * root(a, b), mean(ours) - mean(theirs)
    gain, shown = (-difference if lower else difference), (-difference if of_theirs else difference)
    word = "better" if gain > half else "worse" if gain < -half and not one_sided else "open"
    return shown - half, shown + half, word


def unfinished(right: partial, ours: Sequence[float], theirs: Sequence[float]) -> tuple:
    """Difference and standard error in place of the interval."""
    low, high, word = right(ours, theirs)
    return (low + high) / 2, math.sqrt(sum(from_variances(ours, theirs))), word


def own_variances_pooled(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """The mistake of one variance for both."""
    n, m = len(ours), len(theirs)
    both = ((n - 1) * variance(ours) + (m - 1) * variance(theirs)) / (n + m - 2)
    return both / n, both / m


VARIANCES: dict[str, Callable] = {
    "Your variances divide by n. From few seeds, divide by n − 1.": partial(from_variances, of=pvariance),
    "One variance stands for both lists. Each has its own here.": own_variances_pooled,
    "You have standard deviations where the formula has variances.": partial(from_variances, of=stdev),
    "The variances of the means are s²/n and s²/m: single runs vary more.": lambda ours, theirs: (
        variance(ours),
        variance(theirs),
    ),
}
ROOTS: dict[str, Callable[[float, float], float]] = {
    "Only the mean of `ours` varies in your error. Both do.": lambda a, b: math.sqrt(a),
    "Only the mean of `theirs` varies in your error. Both do.": lambda a, b: math.sqrt(b),
    "You added two errors. Their squares add up: √(a + b).": lambda a, b: math.sqrt(a) + math.sqrt(b),
    "a + b needs a root.": lambda a, b: a + b,
}
FREEDOMS: dict[str, Callable[[float, float, int, int], float]] = {
    "Those are n + m − 2 degrees of freedom, for equal variances. Take ν.": lambda a, b, n, m: n + m - 2,
    "That is the normal distribution's limit, for a noise that is known. Take t.ppf(…, ν).": lambda a, b, n, m: 1e9,
    "In ν the squares are divided by n − 1 and m − 1.": lambda a, b, n, m: (a + b) ** 2 / (a**2 / n + b**2 / m),
}


def comparing(draws: Draws) -> Variant:
    """A confidence interval for a difference of means, and a word for it."""
    confidence, of_theirs, lower = draws.pick((0.9, 0.98, 0.99)), draws.pick((True, False)), draws.pick((True, False))
    right = partial(interval, confidence=confidence, lower=lower, of_theirs=of_theirs)
    first, second = ("theirs", "ours") if of_theirs else ("ours", "theirs")
    direction = "lower" if lower else "higher"
    mistakes: dict[str, Callable] = {
        COPIED.format(number="21.1"): welch_test,
        "Return both ends of the interval, not the difference and its error.": partial(unfinished, right),
        f"The difference is {first} − {second}.": partial(right, of_theirs=not of_theirs),
        f"That is the interval of 95 %, and {100 * confidence:g} % are asked for.": partial(right, confidence=0.95),
        f"Leave {100 - 100 * confidence:g} % outside in all, half of it on each side.": partial(right, tails=1),
        f"A {direction} score is better here.": partial(right, lower=not lower),
        'Nothing is ever "worse": look at both sides of the interval.': partial(right, one_sided=True),
    }
    mistakes |= {said: partial(right, parts=wrong) for said, wrong in VARIANCES.items()}
    mistakes |= {said: partial(right, root=wrong) for said, wrong in ROOTS.items()}
    mistakes |= {said: partial(right, freedom=wrong) for said, wrong in FREEDOMS.items()}

    def examine(case: Case) -> None:
        rows: list[Row] = []
        for counts, shift in (((5, 3), 60.0), ((4, 3), -60.0), ((4, 2), 0.2), ((3, 3), 30.0)):
            ours, theirs = (
                [round(40 + size * number + added, 1) for number in case.randn(count).tolist()]
                for size, count, added in ((1, counts[0], shift), (2, counts[1], 0.0))
            )
            rows.append((f"{counts[0]} and {counts[1]} seeds", ours, theirs))
        advice = "Compute the difference, the standard error and ν by hand for two members with two seeds each."
        compare(case, rows, right, mistakes, advice)

    text = (
        f"`ours` and `theirs` are the scores of two members, n and m seeds. **A {direction} score is better.** Write "
        "`confidence_interval(ours, theirs)` for the difference of the means, **the mean of "
        f"`{first}` minus the mean of `{second}`**. With a = s₁²/n and b = s₂²/m (variances with n − 1 and m − 1, each "
        "list its own) its standard error is √(a + b), and ν = (a + b)² / (a²/(n − 1) + b²/(m − 1)). Return "
        "`(low, high, word)`: the ends of the interval that holds the true difference with a confidence of "
        f"**{100 * confidence:g}** %, with the limit `t.ppf(q, ν)` of `scipy.stats` on each side, and a word for "
        '`ours`: "better" or "worse" if 0 lies outside of the interval, and "open" if it does not.'
    )
    hints = (
        "Three steps: the standard error, the limit, the interval. How much lies outside, on each side?",
        "The word depends on two things: on which side of 0 the interval lies, and whether low scores are good.",
    )
    exercise = Exercise("21.11", "An interval for a difference", 2, 12, hints, examine)
    return Variant(exercise, text, "def confidence_interval(ours, theirs):")


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
            rows.append((tried, texts, prompt, tokens, answer, labels))
        advice = "Write down what a month costs by prompt and by the server. How many savings pay for the labels?"
        compare(case, rows, right, mistakes, advice)

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

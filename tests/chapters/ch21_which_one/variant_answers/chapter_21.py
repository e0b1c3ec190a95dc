"""Answers to the variants of chapter 21: see test_classroom_variants.py."""

from support.variant_facts import found

TOLD = """
def told_apart(scores, one, other):
    from statistics import mean, variance
    members = list(scores.values()) if of_all else [scores[one], scores[other]]
    several = [member for member in members if len(member) > 1]
    freedom = sum(len(member) - 1 for member in several)
    s = (sum((len(member) - 1) * variance(member) for member in several) / freedom) ** 0.5
    n, m = len(scores[one]), len(scores[other])
    error = s * (1 / n + 1 / m) ** 0.5
    difference = mean(scores[one]) - mean(scores[other])
    if of_other:
        difference = -difference
    low, high = difference - errors * error, difference + errors * error
    if low <= 0 <= high:
        return low, high, "open"
    return low, high, "better" if (low > 0) != (lower != of_other) else "worse"
"""
TOLD_TENSORS = """
def told_apart(scores, one, other):
    mine, theirs = torch.tensor(scores[one]), torch.tensor(scores[other])
    pool = [torch.tensor(scores[name]) for name in (scores if of_all else (one, other))]
    squares = sum(((values - values.mean()) ** 2).sum() for values in pool)
    s = (squares / sum(len(values) - 1 for values in pool)).sqrt()
    half = errors * s * (1 / len(mine) + 1 / len(theirs)) ** 0.5
    gain = mine.mean() - theirs.mean()
    shown = -gain if of_other else gain
    gain = -gain if lower else gain
    word = "better" if gain > half else "worse" if gain < -half else "open"
    return [(shown - half).item(), (shown + half).item(), word]
"""
PUBLIC_TOLD = """
def told_apart(scores, one, other):
    from statistics import mean, variance
    several = [values for values in scores.values() if len(values) > 1]
    freedom = sum(len(values) - 1 for values in several)
    s = (sum((len(values) - 1) * variance(values) for values in several) / freedom) ** 0.5
    error = s * (1 / len(scores[one]) + 1 / len(scores[other])) ** 0.5
    difference = mean(scores[one]) - mean(scores[other])
    return difference, error, abs(difference) > 2 * error
"""
PAY = """
def months_to_pay(texts, prompt, tokens, answer, labels):
    import math
    read = (prompt * cached + tokens) * price_read / 1e6
    month = texts * (read + answer * price_written / 1e6)
    saved = month - server
    if saved <= 0:
        return math.inf
    return math.floor(labels * label / saved) + 1
"""
PAY_MONTH_BY_MONTH = """
def months_to_pay(texts, prompt, tokens, answer, labels):
    month = texts * (price_read * (cached * prompt + tokens) + price_written * answer) / 1_000_000
    if month <= server:
        return float("inf")
    months, ours, theirs = 0, labels * label, 0.0
    while ours >= theirs:
        months, ours, theirs = months + 1, ours + server, theirs + month
    return months
"""
PUBLIC_BREAK_EVEN = """
def break_even(once, hour, milliseconds, tokens, prices):
    import math
    prompt = (tokens[0] * prices[0] + tokens[1] * prices[1]) / 1e6
    encoder = hour * milliseconds / 3.6e6
    return math.inf if prompt <= encoder else math.floor(once / (prompt - encoder)) + 1
"""
PUBLIC_UNPACKED = """
def break_even(once, hour, milliseconds, tokens, prices):
    import math
    read, written = tokens
    for_read, for_written = prices
    saved = (read * for_read + written * for_written) / 1e6 - hour * milliseconds / 3.6e6
    return math.floor(once / saved) + 1 if saved > 0 else math.inf
"""

RIGHT = {"21.11": [TOLD, TOLD_TENSORS], "21.12": [PAY, PAY_MONTH_BY_MONTH]}
WRONG = {
    "21.11": {
        PUBLIC_TOLD: r"the chapter's exercise 21\.1",
        TOLD.replace("return low, high, ", "return difference, error, "): r"both ends of the interval",
        TOLD.replace("if of_other:", "if not of_other:").replace(
            "!= of_other", "== of_other"
        ): r"The difference is \w+ −",
        TOLD.replace("if of_all", "if not of_all"): r"s is pooled over",
        TOLD.replace("errors * error", "error"): r"one standard error on each side",
        TOLD.replace("errors * error", "2 * error"): r"two standard errors on each side",
        TOLD.replace("lower != of_other", "lower == of_other"): r"A (low|high)er score is better",
        TOLD_TENSORS.replace('"worse" if gain < -half else "open"', '"open"'): r'Nothing is ever "worse"',
        TOLD.replace("variance", "pvariance"): r"divide by n − 1",
        TOLD.replace("freedom)", "sum(map(len, several)))").replace(
            "(len(member) - 1) * variance(member)", "sum((x - mean(member)) ** 2 for x in member)"
        ): r"Each member loses one",
        TOLD.replace("variance\n", "stdev\n").replace(
            "(sum((len(member) - 1) * variance(member) for member in several) / freedom) ** 0.5",
            "mean(stdev(member) for member in several)",
        ): r"averaged standard deviations",
        TOLD.replace("(len(member) - 1) * variance", "variance").replace("/ freedom", "/ len(several)"): r"same weight",
        TOLD.replace("(len(member) - 1) * variance", "variance").replace(
            "/ freedom", "/ len(members)"
        ): r"single seed|same weight",
        TOLD.replace("s = (", "s = variance(sum(members, [])) ** 0.5\n    old = ("): r"threw all scores together",
        TOLD.replace("s * (1 / n + 1 / m) ** 0.5", "s"): r"noise of one run",
        TOLD.replace("(1 / n + 1 / m)", "(1 / n)"): r"Only the mean of `one` varies",
        TOLD.replace("(1 / n + 1 / m)", "(1 / m)"): r"Only the mean of `other` varies",
        TOLD.replace("(1 / n + 1 / m) ** 0.5", "(n**-0.5 + m**-0.5)"): r"Their squares add up",
        TOLD.replace("(1 / n + 1 / m)", "(1 / (n + m))"): r"divide by n \+ m",
        TOLD.replace("(1 / n + 1 / m) ** 0.5", "(1 / n + 1 / m)"): r"needs a root",
        TOLD.replace("[member for member in members if len(member) > 1]", "members"): r"stopped with StatisticsError",
    },
    "21.12": {
        PAY.replace("/ 1e6", ""): r"not for one",
        PAY.replace("1e6", "1e3"): r"not for a thousand",
        PAY.replace("answer * price_written", "0 * price_written"): r"answer are not paid",
        PAY.replace("price_read", "other").replace("price_written", "price_read").replace("other", "price_written"): (
            r"prices are swapped"
        ),
        PAY.replace("price_written", "price_read"): r"price of their own",
        PAY.replace("prompt * cached + ", ""): r"instruction is missing",
        PAY.replace(" * cached", ""): r"full price for the instruction",
        PAY.replace("prompt * cached + tokens", "(prompt + tokens) * cached"): r"Only the instruction is cached",
        PAY.replace("- server", ""): r"server is missing",
        PAY.replace("labels * label", "labels"): r"labels as euros",
        PAY.replace("labels * label", "0"): r"labels are missing",
        PAY.replace("texts * (read", "(read"): r"single text",
        PAY.replace("saved) + 1", "saved)"): r"last month|last one",
        PAY.replace("math.floor(labels * label / saved) + 1", "labels * label / saved"): r"Months are whole",
        PAY.replace("math.floor(labels * label / saved) + 1", "math.ceil(labels * label / saved)"): r"not of month 0",
        PAY.replace("math.floor(labels * label / saved) + 1", "round(labels * label / saved)"): r"nearest month",
        PAY.replace("saved <= 0", "saved == 0"): r"below 0 never pays",
        PAY.replace("math.inf", "0"): r"not 0\.",
        PAY.replace("math.inf", "-1"): r"not -1",
        PAY.replace("math.inf", "None"): r"returned None",
        PAY.replace(
            "return math.floor(labels * label / saved) + 1", "return texts * (math.floor(labels * label / saved) + 1)"
        ): r"number of texts",
        PUBLIC_BREAK_EVEN.replace("break_even", "months_to_pay"): r"the chapter's exercise 21\.4",
        PUBLIC_UNPACKED.replace("break_even", "months_to_pay"): r"the chapter's exercise 21\.4",
    },
}
PUBLIC = {"21.11": "21.1", "21.12": "21.4"}


def facts(text):
    """The conventions that a variant's text names."""
    return {
        "of_all": "**all members**" in text,
        "of_other": "**the mean of `other` minus" in text,
        "errors": float(found(r"interval of \*\*([\d.]+)\*\*", text) or 0),
        "lower": "**A lower score" in text,
        "price_read": float(found(r"takes \*\*([\d.]+)\*\*", text) or 0),
        "price_written": float(found(r"reads and \*\*([\d.]+)\*\*", text) or 0),
        "cached": float(found(r"\*\*(\d+) %\*\*", text) or 0) / 100,
        "label": float(found(r"needs labels, \*\*([\d.]+)\*\*", text) or 0),
        "server": float(found(r"server costs \*\*([\d.]+)\*\*", text) or 0),
    }

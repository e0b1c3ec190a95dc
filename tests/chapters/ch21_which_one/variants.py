"""Answers to the variants of chapter 21: see test_classroom_variants.py."""

from support.variant_facts import found

INTERVAL = """
def confidence_interval(ours, theirs):
    from statistics import mean, variance
    from scipy.stats import t
    n, m = len(ours), len(theirs)
    a, b = variance(ours) / n, variance(theirs) / m
    nu = (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (m - 1))
    half = t.ppf(1 - (1 - confidence) / 2, nu) * (a + b) ** 0.5
    difference = mean(ours) - mean(theirs)
    if of_theirs:
        difference = -difference
    low, high = difference - half, difference + half
    if low <= 0 <= high:
        return low, high, "open"
    return low, high, "better" if (low > 0) != (lower != of_theirs) else "worse"
"""
INTERVAL_TENSORS = """
def confidence_interval(ours, theirs):
    from scipy.stats import t
    mine, other = torch.tensor(ours, dtype=torch.float64), torch.tensor(theirs, dtype=torch.float64)
    a, b = mine.var() / len(mine), other.var() / len(other)
    nu = (a + b) ** 2 / (a**2 / (len(mine) - 1) + b**2 / (len(other) - 1))
    half = -t.ppf((1 - confidence) / 2, nu.item()) * (a + b).sqrt()
    gain = mine.mean() - other.mean()
    shown = -gain if of_theirs else gain
    gain = -gain if lower else gain
    word = "better" if gain > half else "worse" if gain < -half else "open"
    return [(shown - half).item(), (shown + half).item(), word]
"""
PUBLIC_WELCH = """
def confidence_interval(ours, theirs):
    from statistics import mean, variance
    from scipy.stats import ttest_ind
    error = (variance(ours) / len(ours) + variance(theirs) / len(theirs)) ** 0.5
    return mean(ours) - mean(theirs), error, ttest_ind(ours, theirs, equal_var=False).pvalue
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

RIGHT = {"21.11": [INTERVAL, INTERVAL_TENSORS], "21.12": [PAY, PAY_MONTH_BY_MONTH]}
WRONG = {
    "21.11": {
        PUBLIC_WELCH: r"the chapter's exercise 21\.1",
        INTERVAL.replace("return low, high, ", "return difference, (a + b) ** 0.5, "): r"both ends of the interval",
        INTERVAL.replace("if of_theirs:", "if not of_theirs:").replace(
            "!= of_theirs", "== of_theirs"
        ): r"The difference is \w+ −",
        INTERVAL.replace("1 - (1 - confidence) / 2", "0.975"): r"interval of 95 %",
        INTERVAL.replace("1 - (1 - confidence) / 2", "confidence"): r"half of it on each side",
        INTERVAL.replace("lower != of_theirs", "lower == of_theirs"): r"A (low|high)er score is better",
        INTERVAL_TENSORS.replace('"worse" if gain < -half else "open"', '"open"'): r'Nothing is ever "worse"',
        INTERVAL.replace("variance", "pvariance"): r"divide by n − 1",
        INTERVAL.replace("variance", "stdev"): r"where the formula has variances",
        INTERVAL.replace(
            "variance(ours) / n, variance(theirs) / m", "variance(ours), variance(theirs)"
        ): r"single runs",
        INTERVAL.replace(
            "    nu =", "    s = ((n - 1) * n * a + (m - 1) * m * b) / (n + m - 2)\n    a, b = s / n, s / m\n    nu ="
        ): r"One variance stands for both",
        INTERVAL.replace("(a + b) ** 0.5", "a**0.5"): r"Only the mean of `ours` varies",
        INTERVAL.replace("(a + b) ** 0.5", "b**0.5"): r"Only the mean of `theirs` varies",
        INTERVAL.replace("(a + b) ** 0.5", "(a**0.5 + b**0.5)"): r"Their squares add up",
        INTERVAL.replace("(a + b) ** 0.5", "(a + b)"): r"needs a root",
        INTERVAL.replace("half =", "nu = n + m - 2\n    half ="): r"for equal variances",
        INTERVAL.replace("half =", "nu = 1e9\n    half ="): r"normal distribution's limit",
        INTERVAL.replace("(a**2 / (n - 1) + b**2 / (m - 1))", "(a**2 / n + b**2 / m)"): r"divided by n − 1",
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
        "of_theirs": "**the mean of `theirs` minus" in text,
        "confidence": float(found(r"confidence of \*\*([\d.]+)\*\*", text) or 0) / 100,
        "lower": "**A lower score" in text,
        "price_read": float(found(r"takes \*\*([\d.]+)\*\*", text) or 0),
        "price_written": float(found(r"reads and \*\*([\d.]+)\*\*", text) or 0),
        "cached": float(found(r"\*\*(\d+) %\*\*", text) or 0) / 100,
        "label": float(found(r"needs labels, \*\*([\d.]+)\*\*", text) or 0),
        "server": float(found(r"server costs \*\*([\d.]+)\*\*", text) or 0),
    }

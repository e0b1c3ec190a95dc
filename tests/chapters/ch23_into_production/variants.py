"""Answers to the variants of chapter 23: see test_classroom_variants.py."""

from support.variant_facts import found

PLAN = """
def padded_tokens(lengths):
    batches = []
    for length in sorted(lengths):
        if not batches or len(batches[-1]) == rows or (len(batches[-1]) + 1) * length > tokens:
            batches.append([])
        batches[-1].append(length)
    return sum(max(batch) - length for batch in batches for length in batch)
"""
PLAN_COUNTED = """
def padded_tokens(lengths):
    waste, batch = 0, []
    for length in sorted(lengths) + [float("inf")]:
        if batch and (len(batch) >= rows or (len(batch) + 1) * length > tokens):
            waste += len(batch) * batch[-1] - sum(batch)
            batch = []
        batch = batch + [length]
    return waste
"""
DECIDE = """
def decide(probabilities):
    decisions = []
    for p in probabilities:
        costs = {"alarm": (1 - p) * false_alarm, "ignore": p * miss, "read": read}
        decisions.append(min(costs, key=costs.get))
    return decisions
"""
DECIDE_BY_LIMITS = """
def decide(probabilities):
    low, high = read / miss, 1 - read / false_alarm
    if low > high:
        low = high = false_alarm / (false_alarm + miss)
    return ["ignore" if p < low else "alarm" if p > high else "read" for p in probabilities]
"""

RIGHT = {"23.11": [PLAN, PLAN_COUNTED], "23.12": [DECIDE, DECIDE_BY_LIMITS]}
WRONG = {
    "23.11": {
        PLAN.replace("sorted(lengths)", "lengths").replace("* length >", "* max(batches[-1] + [length]) >"): (
            r"shortest first"
        ),
        PLAN.replace("max(batch) - length for", "max(batch) for"): r"all positions",
        PLAN.replace(" or (len(batches[-1]) + 1) * length > tokens", ""): r"with its padding",
        PLAN.replace("len(batches[-1]) == rows or ", ""): r"more than \d texts",
        PLAN.replace("return sum(", "return len("): r"stopped with TypeError",
    },
    "23.12": {
        DECIDE.replace("false_alarm,", "0,")
        .replace("(1 - p) * 0", "(1 - p) * miss")
        .replace('p * miss, "read"', 'p * false_alarm, "read"'): r"costs are swapped",
        DECIDE.replace(', "read": read', ""): r"third choice",
        DECIDE.replace("min(costs, key=costs.get)", '"alarm" if p >= 0.5 else "ignore"'): r"knows nothing",
        DECIDE.replace("return decisions", "return len(decisions)"): r"a list of decisions",
        DECIDE.replace("min(costs", "max(costs"): r"three expected costs",
    },
}
PUBLIC = {"23.11": "23.3", "23.12": "23.3"}


def facts(text):
    """The numbers that a variant's text names."""
    return {
        "rows": int(found(r"at most \*\*(\d+)\*\* texts", text) or 0),
        "tokens": int(found(r"at most \*\*(\d+)\*\* tokens", text) or 0),
        "false_alarm": float(found(r"false alarm costs \*\*(\d+)\*\*", text) or 0),
        "miss": float(found(r"a miss costs \*\*(\d+)\*\*", text) or 0),
        "read": float(found(r"rightly costs \*\*([\d.]+)\*\*", text) or 0),
    }

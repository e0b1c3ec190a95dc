"""Answers to the variants of chapter 10: see test_classroom_variants.py."""

from support.variant_facts import found

THRESHOLD = """
def best_threshold(probabilities, right):
    def score(t):
        hits = sum(r for p, r in zip(probabilities, right) if p >= t)
        return (1 + beta**2) * hits / (sum(p >= t for p in probabilities) + beta**2 * sum(right))
    return min(probabilities, key=lambda t: (-round(score(t), 9), t))
"""
THRESHOLD_LONG = """
def best_threshold(probabilities, right):
    best, found = -1.0, None
    for t in sorted(probabilities):
        chosen = [r for p, r in zip(probabilities, right) if p >= t]
        precision, recall = sum(chosen) / len(chosen), sum(chosen) / sum(right)
        score = (1 + beta**2) * precision * recall / (beta**2 * precision + recall) if sum(chosen) else 0.0
        if score > best + 1e-9:
            best, found = score, t
    return found
"""
RECALL = """
def threshold_for_recall(probabilities, right):
    def reached(t):
        return sum(r for p, r in zip(probabilities, right) if p >= t) >= recall * sum(right) - 1e-9
    return max(p for p in probabilities if reached(p))
"""
RECALL_SORTED = """
def threshold_for_recall(probabilities, right):
    hits = 0
    for p, r in sorted(zip(probabilities, right), reverse=True):
        hits += r
        if hits / sum(right) >= recall - 1e-9:
            return p
"""
PUBLIC_THRESHOLD = """
def f1(probabilities, right, t):
    hits = sum(r for p, r in zip(probabilities, right) if p >= t)
    return 2 * hits / (sum(p >= t for p in probabilities) + sum(right))
def NAME(probabilities, right):
    return max(probabilities, key=lambda t: (f1(probabilities, right, t), t))
"""

RIGHT = {
    "10.11": [THRESHOLD, THRESHOLD_LONG],
    "10.12": [RECALL, RECALL_SORTED],
}
WRONG = {
    "10.11": {
        PUBLIC_THRESHOLD.replace("NAME", "best_threshold"): r"exercise 10\.4",
        THRESHOLD.replace(", t))", ", -t))"): r"Return the smallest",
        THRESHOLD.replace("beta**2", "beta**-2"): r"are swapped|F1|is better|10\.4|Return the smallest",
        THRESHOLD.replace("beta**2", "1"): r"F1|10\.4",
        THRESHOLD.replace("p >= t", "p > t").replace("+ beta**2", "+ 1e-9 + beta**2"): r"is better|F-beta|F1",
    },
    "10.12": {
        PUBLIC_THRESHOLD.replace("NAME", "threshold_for_recall"): r"exercise 10\.4|Return the largest",
        RECALL.replace("max(", "min("): r"Return the largest",
        "def threshold_for_recall(probabilities, right):\n    return max(probabilities)": r"is asked for",
        RECALL_SORTED.replace("sum(right)", "len(right)").replace("return p", "return p") + "    return p": (
            r"larger|chooses more|Return the largest"
        ),
    },
}
PUBLIC = {"10.11": "10.4", "10.12": "10.4"}


def facts(text):
    """The numbers that a variant's text names."""
    return {
        "beta": float(found(r"β = ([\d.]+)\*\*", text) or 0),
        "recall": float(found(r"at least ([\d.]+)\*\*", text) or 0),
    }

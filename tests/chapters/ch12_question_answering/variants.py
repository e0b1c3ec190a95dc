"""Answers to the variants of chapter 12: see test_classroom_variants.py."""

import operator

from support.variant_facts import found

SPAN = """
def best_span(start_logits, end_logits, first, length, longest):
    after = first + length
    spans = [(i, j) for i in range(first, after) for j in range(i, min(i + longest, after))]
    def score(span):
        i, j = span
        return (start_logits[i] + end_logits[j]).item() - cost * (j - i + 1)
    i, j = max(spans, key=score)
    s = score((i, j))
    return {"score": (s, i, j - i + 1), "after": (i, j + 1, s), "count": (j - i + 1, j, s)}[form]
"""
SPAN_TABLE = """
def best_span(start_logits, end_logits, first, length, longest):
    at = torch.arange(len(start_logits))
    tokens = at[None, :] - at[:, None] + 1
    table = start_logits[:, None] + end_logits[None, :] - cost * tokens
    inside = (at >= first) & (at < first + length)
    valid = inside[:, None] & inside[None, :] & (tokens >= 1) & (tokens <= longest)
    table = table.masked_fill(~valid, -torch.inf)
    i, j = divmod(table.argmax().item(), len(at))
    n, s = j - i + 1, table[i, j]
    return {"score": [s, i, n], "after": [i, j + 1, s], "count": [n, j, s]}[form]
"""
PUBLIC_SPAN = """
def best_span(start_logits, end_logits, first, length, longest):
    after = first + length
    spans = [(i, j) for i in range(first, after) for j in range(i, min(i + longest, after))]
    start, end = max(spans, key=lambda span: start_logits[span[0]] + end_logits[span[1]])
    return start, end, (start_logits[start] + end_logits[end]).item()
"""
JOIN = """
def final_answer_repaired(windows, threshold):
    found = {}
    for shift, _, spans in windows:
        for score, first, last in spans:
            found.setdefault((first + shift, last + shift + after), []).append(score)
    totals = {"highest": max, "mean": lambda s: sum(s) / len(s), "sum": sum}
    ranked = sorted(((totals[rule](s), place) for place, s in found.items()), reverse=True)
    null_score = min(one[1] for one in windows)
    if not ranked or beyond(null_score - ranked[0][0], threshold):
        return -1, -1
    return ranked[0][1]
"""
JOIN_LONG = """
def final_answer_repaired(windows, threshold):
    flat = [(shift + i, shift + j, score) for shift, _, spans in windows for score, i, j in spans]
    best, most = None, None
    for i, j, _ in flat:
        same = torch.tensor([s for a, b, s in flat if (a, b) == (i, j)], dtype=torch.float64)
        total = {"highest": same.max, "mean": same.mean, "sum": same.sum}[rule]().item()
        if most is None or total > most:
            best, most = [i, j + 1 if after else j], total
    if best is None or beyond(min(null for _, null, _ in windows) - most, threshold):
        return [-1, -1]
    return best
"""
AS_GIVEN = "exec(given.replace('final_answer', 'final_answer_repaired'), globals())"
SPANS_REPAIRED = (
    "code = given.replace('final_answer', 'final_answer_repaired').replace('found[span] = [score]', "
    "'found.setdefault(span, []).append(score)').replace('span = (first, last', 'span = (first + shift, last')"
    ".replace('first + shift, last + 1)', 'first + shift, last + shift + 1)')"
    ".replace('first + shift, last)', 'first + shift, last + shift)')\nexec(code, globals())"
)
ABSTAINING_REPAIRED = (
    "import re\ncode = re.sub('if .* threshold:', 'if beyond(min(nulls) - totals[best], threshold):', given)\n"
    "exec(code.replace('final_answer', 'final_answer_repaired'), globals())"
)

RIGHT = {
    "12.11": [SPAN, SPAN_TABLE],
    "12.12": [JOIN, JOIN_LONG],
}
WRONG = {
    "12.11": {
        PUBLIC_SPAN: r"the chapter's exercise 12\.2",
        SPAN.replace(" - cost * (j - i + 1)", ""): r"The cost is missing",
        SPAN.replace("key=score", "key=lambda at: start_logits[at[0]] + end_logits[at[1]]"): r"after the choice",
        SPAN.replace("s = score((i, j))", "s = (start_logits[i] + end_logits[j]).item()"): r"with the cost subtracted",
        SPAN.replace("- cost * (j - i + 1)", "- cost * (j - i)"): r"one token costs something too",
        SPAN.replace("- cost", "+ cost"): r"You added the cost",
        SPAN.replace("for j in range(i, min(", "for j in range(first, min("): r"ends before it starts",
        SPAN.replace("range(first, after)", "range(after)"): r"begins in the question",
        SPAN.replace("after = first + length", "after = len(start_logits)"): r"leaves the context",
        SPAN.replace("i + longest", "i + longest + 1"): r"one longer",
        SPAN.replace("i + longest", "i + max(1, longest - 1)"): r"stop one before",
        SPAN.replace("min(i + longest, after)", "after"): r"of any length",
        SPAN.replace("[form]", "[form][::-1]"): r"should be",
    },
    "12.12": {
        AS_GIVEN: r"as it was",
        SPANS_REPAIRED: r"One of the two bugs is left",
        ABSTAINING_REPAIRED: r"One of the two bugs is left",
        JOIN.replace("totals[rule](s)", "totals['mean' if rule != 'mean' else 'sum'](s)"): r"total of a span is",
        JOIN.replace("+ after", "+ 1 - after"): r"The second number is",
        JOIN.replace("or beyond(", "or beyond_other("): r"equals the threshold",
        JOIN.replace("not ranked or beyond(null_score - ranked[0][0], threshold)", "not ranked"): r"never abstains",
        JOIN.replace("min(one[1] for one in windows)", "max(one[1] for one in windows)"): r"lowest null score",
        JOIN.replace("if not ranked or", "if"): r"IndexError|list index",
    },
}
PUBLIC = {"12.11": "12.2"}


def facts(text):
    """The numbers that a variant's text names."""
    returned = found(r"highest score: (.*?)\. Positions", text)
    beyond = (operator.gt, operator.ge)["at least" in text]
    forms = {"its": "score", "the position": "after", "the number": "count"}
    return {
        "cost": float(found(r"costs ([\d.]+)\*\*", text) or 0),
        "form": next((form for start, form in forms.items() if returned.startswith(start)), ""),
        "beyond": beyond,
        "beyond_other": operator.ge if beyond is operator.gt else operator.gt,
        "rule": found(r"Its total is \*\*(?:the )?(\w+)", text),
        "after": "first token, and the position **after**" in text,
    }

"""Answers to the variants of chapter 3: see test_classroom_variants.py."""

from support.variant_facts import found

ATTENTION = """
def attend(query, key, value):
    axes = layout.split(", ")
    query, key, value = (x.permute([axes.index(a) for a in "BHTd"]) for x in (query, key, value))
    scores = query @ key.transpose(-2, -1) / (temperature * query.size(-1) ** 0.5)
    weights = scores.softmax(-1)
    return weights, (weights @ value).permute(["BHTd".index(a) for a in axes])
"""
EINSUM = """
def attend(query, key, value):
    a = layout.replace(", ", "")
    b = a.replace("T", "S")
    scores = torch.einsum(f"{a},{b}->BHTS", query, key) / temperature / query.shape[a.index("d")] ** 0.5
    weights = torch.exp(scores - scores.amax(-1, keepdim=True))
    weights = weights / weights.sum(-1, keepdim=True)
    return weights, torch.einsum(f"BHTS,{b}->{a}", weights, value)
"""
SOFTMAX = """
def hidden_softmax(scores, hidden):
    weights = scores.masked_fill(hidden, torch.finfo(scores.dtype).min).softmax(axis)
    return weights if uniform else weights * ~hidden
"""
SOFTMAX_LONG = """
def hidden_softmax(scores, hidden):
    powers = torch.where(hidden, 0.0, torch.exp(scores - scores.amax(axis, keepdim=True)))
    total = powers.sum(axis, keepdim=True)
    other = torch.full_like(scores, 1 / scores.size(axis) if uniform else 0.0)
    return torch.where(total > 0, powers / total.clamp_min(1e-30), other)
"""
PUBLIC_ATTENTION = """
def attend(query, key, value):
    weights = (query @ key.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(-1)
    return weights @ value, weights
"""

RIGHT = {
    "3.11": [ATTENTION, EINSUM],
    "3.12": [SOFTMAX, SOFTMAX_LONG],
}
WRONG = {
    "3.11": {
        PUBLIC_ATTENTION: r"the chapter's exercise 3\.2",
        ATTENTION.replace("temperature * ", ""): r"divided by √d only",
        ATTENTION.replace(" * query.size(-1) ** 0.5", ""): r"Divide by √d too",
        ATTENTION.replace("return weights, (weights @ value).permute(", "return (weights @ value).permute(").replace(
            "for a in axes])\n", "for a in axes]), weights\n"
        ): "wrong order|shape",
        ATTENTION.replace('.permute(["BHTd".index(a) for a in axes])', ""): r"shape|layout of the inputs",
    },
    "3.12": {
        SOFTMAX.replace("masked_fill(hidden", "masked_fill(~hidden"): r"only hidden keys get attention",
        SOFTMAX.replace("softmax(axis)", "softmax(3 - axis)"): r"Softmax runs over axis",
        "def hidden_softmax(scores, hidden):\n    return scores.softmax(axis)": r"without a mask",
        "def hidden_softmax(scores, hidden):\n    return (scores * ~hidden).softmax(axis)": r"A score of 0",
        "def hidden_softmax(scores, hidden):\n    return scores.softmax(axis) * ~hidden": r"removed after the softmax",
        SOFTMAX.replace("if uniform", "if not uniform"): r"Where all keys are hidden",
    },
}
PUBLIC = {"3.11": "3.2", "3.12": "3.4"}


def facts(text):
    """The numbers that a variant's text names."""
    return {
        "layout": found(r"shape `\[(\w, \w, \w, \w)\]`", text),
        "temperature": float(found(r"by ([\d.]+)·√d", text) or 0),
        "axis": int(found(r"\*\*axis (\d)\*\*", text) or 0),
        "uniform": "the same weight" in text,
    }

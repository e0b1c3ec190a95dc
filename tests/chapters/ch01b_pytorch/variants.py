"""Answers to the variants of chapter 01b: see test_classroom_variants.py."""

from support.variant_facts import found

SHARES = """
def shares(scores):
    powers = base ** (scores / divisor)
    return powers / powers.sum(dim=axis, keepdim=True)
"""
SHARES_ONE_BY_ONE = """
def shares(scores):
    texts = []
    for text in (scores.T if axis == 0 else scores):
        powers = torch.tensor(base).log().mul(text / divisor).exp()
        texts.append(powers / powers.sum())
    made = torch.stack(texts)
    return made.T if axis == 0 else made
"""
LOSS = """
def loss(logits, answers):
    counts = answers != ignored
    each = torch.nn.functional.cross_entropy(logits[counts], answers[counts], reduction="none")
    if bits:
        each = each / torch.log(torch.tensor(2.0))
    return each.sum() if total else each.mean()
"""
LOSS_ONE_BY_ONE = """
def loss(logits, answers):
    losses = []
    for scores, answer in zip(logits, answers.tolist()):
        if answer != ignored:
            p = scores.softmax(dim=-1)[answer]
            losses.append(-(p.log2() if bits else p.log()))
    return torch.stack(losses).sum() / (1 if total else len(losses))
"""

RIGHT = {"1b.11": [SHARES, SHARES_ONE_BY_ONE], "1b.12": [LOSS, LOSS_ONE_BY_ONE]}
WRONG = {
    "1b.11": {
        "def shares(scores):\n    powers = scores.exp()\n    return powers / powers.sum(dim=-1, keepdim=True)": (
            r"exercise 1b\.2|Each text is a"
        ),
        SHARES.replace("dim=axis", "dim=1 - axis"): r"Each text is a (row|column)",
        SHARES.replace("base **", "2.718281828 **"): r"not e",
        SHARES.replace("scores / divisor", "scores"): r"divided by [\d.]+ before",
        SHARES.replace("scores / divisor", "scores * divisor"): r"where the text divides",
        SHARES.replace(" / powers.sum(dim=axis, keepdim=True)", ""): r"do not sum to 1",
        "def shares(scores):\n    return scores.softmax(dim=axis)": r"uses torch's `softmax`",
    },
    "1b.12": {
        "def loss(logits, answers):\n    return torch.nn.functional.cross_entropy(logits, answers.clamp(min=0))": (
            r"exercise 1b\.5|does not count"
        ),
        LOSS.replace("answers != ignored", "answers != 77").replace("answers[", "answers.clamp(min=0)["): (
            r"does not count"
        ),
        LOSS.replace("if total", "if not total"): r"It should be the (sum|mean)",
        LOSS.replace("if bits", "if not bits"): r"The unit is",
        LOSS.replace("return each", "return -each").replace("else each", "else -each"): r"The sign is wrong",
        LOSS.replace("each.sum() if total else each.mean()", "each"): r"shape",
    },
}
PUBLIC = {"1b.11": "1b.2", "1b.12": "1b.5"}


def facts(text):
    """What a variant's text names."""
    return {
        "axis": 0 if "each **column**" in text else 1,
        "divisor": float(found(r"scores by \*\*([\d.]+)\*\*", text) or 1),
        "base": float(found(r"raise \*\*([\d.]+)\*\*", text) or 1),
        "ignored": int(found(r"whose answer is \*\*(-?\d+)\*\*", text) or 0),
        "bits": "**bits" in text,
        "total": "**sum**" in text,
    }

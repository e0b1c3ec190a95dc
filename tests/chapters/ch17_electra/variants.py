"""Answers to the variants of chapter 17: see test_classroom_variants.py."""

from support.variant_facts import found

LOSS = """
def detection_loss(logits, seen, text, padding):
    replaced = seen != text
    target = (replaced != original).float()
    each = torch.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    weights = torch.where(replaced, times, 1) * ~padding
    return (each * weights).sum() / (weights.sum() if by_weights else (~padding).sum())
"""
LOSS_FLAT = """
def detection_loss(logits, seen, text, padding):
    real = ~padding
    z, fake = logits[real], (seen != text)[real]
    if original:
        z = -z
    losses = [(times if f else 1) * torch.nn.functional.softplus(-x if f else x) for x, f in zip(z, fake)]
    return sum(losses) / (len(z) + (times - 1) * int(fake.sum()) if by_weights else len(z))
"""
PUBLIC_LOSS = """
def detection_loss(logits, seen, text, attention_mask):
    real = attention_mask.bool()
    replaced = (seen != text).float()
    return torch.nn.functional.binary_cross_entropy_with_logits(logits[real], replaced[real])
"""
CORRUPT = """
def corrupt(masked, labels, sampled):
    if columns:
        masked, labels = masked.T, labels.T
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    seen = text.masked_scatter(chosen, sampled)
    asked = torch.where(seen != text, replaced, original)
    asked[chosen & (seen == text)] = replaced if fake else -100
    return (asked.T, seen.T) if columns else (asked, seen)
"""
CORRUPT_LOOP = """
def corrupt(masked, labels, sampled):
    seen, asked, samples = masked.clone(), torch.full_like(masked, original), iter(sampled.tolist())
    outer, inner = masked.shape[::-1] if columns else masked.shape
    for b in range(outer):
        for t in range(inner):
            at = (t, b) if columns else (b, t)
            if labels[at] != -100:
                seen[at] = next(samples)
                lucky = bool(seen[at] == labels[at])
                asked[at] = -100 if lucky and not fake else replaced
    return asked, seen
"""
PUBLIC_CORRUPT = """
def corrupt(masked, labels, sampled):
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    seen = text.masked_scatter(chosen, sampled)
    return seen, seen != text
"""

RIGHT = {
    "17.11": [LOSS, LOSS_FLAT],
    "17.12": [CORRUPT, CORRUPT_LOOP],
}
WRONG = {
    "17.11": {
        PUBLIC_LOSS: r"the chapter's exercise 17\.3",
        PUBLIC_LOSS.replace("attention_mask.bool()", "~attention_mask"): r"exercise 17\.3|counted every token once",
        LOSS.replace("times, 1)", "1, 1)"): r"counted every token once|exercise 17\.3",
        LOSS.replace("replaced != original", "replaced == original"): r"two classes are swapped",
        LOSS.replace(" * ~padding", " * 1").replace("(~padding).sum()", "padding.numel()"): r"included the padding",
        LOSS.replace("~padding", "padding"): r"took it for the real tokens",
        LOSS.replace("if by_weights", "if not by_weights"): r"The sum is right",
        LOSS.replace("times, 1)", "1, times)"): r"The replaced ones count more",
        LOSS.replace("(weights.sum() if by_weights else (~padding).sum())", "logits.numel()"): r"divided by B·T",
    },
    "17.12": {
        PUBLIC_CORRUPT: r"the chapter's exercise 17\.5",
        CORRUPT.replace("(asked.T, seen.T)", "(seen.T, asked.T)").replace("(asked, seen)", "(seen, asked)"): (
            r"wrong order: return the labels first"
        ),
        CORRUPT.replace("    asked[chosen", "    0 and asked[chosen").replace(
            "0 and asked[chosen & (seen == text)] = replaced if fake else -100", "pass"
        ): r"lucky guess",
        CORRUPT.replace("if fake", "if not fake"): r"A lucky guess (counts|gets)",
        CORRUPT.replace("replaced, original)", "original, replaced)").replace("= replaced if", "= original if"): (
            r"labels are swapped"
        ),
        CORRUPT.replace("(chosen, sampled)", "(masked == 4, sampled)"): r"seen\[.* should be",
        CORRUPT.replace("text.masked_scatter(chosen, sampled)", "text.clone(); seen[chosen].copy_(sampled)"): (
            r"samples are missing"
        ),
        CORRUPT.replace("    return", "    asked[~chosen] = -100\n    return"): r"not chosen are original",
    },
}
PUBLIC = {"17.11": "17.3", "17.12": "17.5"}


def facts(text):
    """The conventions that a variant's text names."""
    return {
        "original": int(found(r"label is \*\*(-?\d)\*\*", text) or found(r"the token is \*\*(o)", text) == "o"),
        "times": int(found(r"\*\*(\d) times\*\*", text) or 0),
        "by_weights": "sum of these weights" in text,
        "columns": "**`[T, B]`**" in text,
        "replaced": int(found(r"and \*\*(-?\d)\*\* for a replaced", text) or 0),
        "fake": "counts as replaced" in text,
    }

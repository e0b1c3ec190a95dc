"""Answers to the variants of chapter 6: see test_classroom_variants.py."""

import re

from support.variant_facts import found

CORRUPT = """
def corrupt_tokens(input_ids, chosen, mask_token_id, vocab_size):
    draw = torch.rand(input_ids.shape)
    labels = input_ids.masked_fill(~chosen, none)
    seen = input_ids.masked_fill(chosen & (draw < shares[0]), mask_token_id)
    replace = chosen & (draw >= shares[0]) & (draw < shares[0] + shares[1])
    return labels, torch.where(replace, torch.randint(first, vocab_size, input_ids.shape), seen)
"""
CORRUPT_PLACES = """
def corrupt_tokens(input_ids, chosen, mask_token_id, vocab_size):
    seen, labels = input_ids.clone(), torch.full_like(input_ids, none)
    labels[chosen] = input_ids[chosen]
    kind = torch.multinomial(torch.tensor(shares), int(chosen.sum()), replacement=True)
    new = input_ids[chosen]
    new[kind == 0] = mask_token_id
    new[kind == 1] = torch.randint(first, vocab_size, (int((kind == 1).sum()),))
    seen[chosen] = new
    return labels, seen
"""
LOSS = """
def loss_by_text(scores, labels):
    each = torch.nn.functional.cross_entropy(scores.mT, labels, ignore_index=none, reduction="none")
    count = (labels != none).sum(1)
    means = each.sum(1) / count.clamp_min(1)
    return means.sum() if summed else means.sum() / (count > 0).sum().clamp_min(1)
"""
LOSS_LOOP = """
def loss_by_text(scores, labels):
    logs, losses = scores.log_softmax(-1), []
    for text, wanted in zip(logs, labels):
        asked = wanted != none
        if asked.any():
            losses.append(-text[asked, wanted[asked]].mean())
    if not losses:
        return scores.sum() * 0
    return torch.stack(losses).sum() if summed else torch.stack(losses).mean()
"""

RIGHT = {
    "6.11": [CORRUPT, CORRUPT_PLACES],
    "6.12": [LOSS, LOSS_LOOP],
}
WRONG = {
    "6.11": {
        CORRUPT.replace("return labels, torch.where(", "return torch.where(").replace("seen)\n", "seen), labels\n"): (
            r"[Ll]abel"
        ),
        CORRUPT.replace("~chosen, none", "~chosen, -100"): r"-100, as in the chapter",
        CORRUPT.replace("labels = input_ids.masked_fill(~chosen, none)", "labels = input_ids"): r"Every token has a",
        CORRUPT.replace("shares[0]", "0.8"): r"chapter's 80 %",
        CORRUPT.replace("randint(first", "randint(0"): r"random ids begin at",
        CORRUPT.replace("draw = torch.rand(input_ids.shape)", "draw = torch.rand(1)"): r"Draw one number|80 %",
    },
    "6.12": {
        "def loss_by_text(scores, labels):\n    from torch.nn.functional import cross_entropy\n"
        "    return cross_entropy(scores.mT, labels, ignore_index=none)": (r"exercise 6\.3"),
        LOSS.replace("if summed", "if not summed"): r"is asked for",
        LOSS.replace("count.clamp_min(1)", "labels.size(1)"): r"divided by T",
        "def loss_by_text(scores, labels):\n    each = torch.nn.functional.cross_entropy(scores.mT, labels, "
        'ignore_index=none, reduction="none")\n    return (each.sum(1) / (labels != none).sum(1)).mean()': r"nan",
    },
}
PUBLIC = {"6.11": "6.2", "6.12": "6.3"}


def facts(text):
    """The numbers that a variant's text names."""
    return {
        "shares": [int(share) / 100 for share in re.findall(r"\*\*(\d+)%\*\*", text)],
        "none": int(found(r"\*\*(-\d+)\*\*", text) or 0),
        "first": int(found(r"\*\*(\d+)\*\* to", text) or 0),
        "summed": "**sum**" in text,
    }

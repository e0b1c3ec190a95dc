"""Answers to the variants of chapter 2: see test_classroom_variants.py."""

from support.variant_facts import found

NORM = """
def norm(x, weight, bias, eps):
    axis = layout.index("D")
    centred = x - x.mean(axis, keepdim=True)
    variance = (centred**2).sum(axis, keepdim=True) / (x.size(axis) - unbiased)
    divisor = variance.sqrt() + eps if outside else (variance + eps).sqrt()
    shape = [1, 1, 1]
    shape[axis] = -1
    factor = weight.view(shape) + from_one
    return centred / divisor * factor + bias.view(shape)
"""
NORM_MOVED = """
def norm(x, weight, bias, eps):
    x = x.movedim(layout.index("D"), -1)
    std = x.std(-1, keepdim=True, unbiased=unbiased)
    std = std + eps if outside else torch.sqrt(std * std + eps)
    x = (x - x.mean(-1, keepdim=True)) / std
    x = x + x * weight + bias if from_one else x * weight + bias
    return x.movedim(-1, layout.index("D"))
"""
PUBLIC_NORM = """
def norm(x, weight, bias, eps):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt() * weight + bias
"""
POSITIONS = """
def position_ids(texts):
    result = torch.full_like(texts, padding)
    for b, row in enumerate(texts.tolist()):
        places = range(len(row) - 1, -1, -1) if backward else range(len(row))
        before, at = 0, start
        for t in places:
            if row[t] != before:
                at = start
            if row[t]:
                result[b, t] = min(at, last)
                at += 1
            before = row[t]
    return result
"""
POSITIONS_WITHOUT_LOOP = """
def position_ids(texts):
    if backward:
        texts = texts.flip(1)
    places = torch.arange(texts.size(1)).expand_as(texts)
    new = torch.ones_like(texts, dtype=torch.bool)
    new[:, 1:] = texts[:, 1:] != texts[:, :-1]
    begins = torch.where(new, places, 0).cummax(1).values
    result = (places - begins + start).clamp(max=last)
    result = torch.where(texts == 0, padding, result)
    return result.flip(1) if backward else result
"""
BY_NUMBER = """
def position_ids(texts):
    flip = (lambda x: x.flip(1)) if backward else (lambda x: x)
    texts = flip(texts)
    result = torch.full_like(texts, padding)
    for number in texts.unique():
        if number:
            mine = texts == number
            result[mine] = (mine.cumsum(1) - 1 + start).clamp(max=last)[mine]
    return flip(result)
"""

RIGHT = {"2.11": [NORM, NORM_MOVED], "2.12": [POSITIONS, POSITIONS_WITHOUT_LOOP]}
WRONG = {
    "2.11": {
        PUBLIC_NORM: r"exercise 2\.3",
        NORM.replace("shape[axis]", 'shape[layout.index("D")]').replace('axis = layout.index("D")', (
            'axis = layout.index("T")')): r"over the tokens",
        NORM.replace("- unbiased", "- (1 - unbiased)"): r"should be divided by D",
        NORM.replace("if outside", "if not outside"): r"wrong number",
        NORM.replace("+ from_one", "+ 1 - from_one"): r"The factor is",
        NORM.replace("+ bias.view(shape)", ""): r"bias is missing",
        NORM.replace("* factor + bias.view(shape)", ""): r"weight and bias are missing",
        NORM.replace("+ eps", ""): r"eps is not used",
        NORM.replace("centred / divisor", "x / divisor"): r"mean is not subtracted",
        NORM.replace("centred / divisor", "centred / divisor**2"): r"by a variance",
        NORM.replace("weight.view(shape)", "weight").replace("bias.view(shape)", "bias"): r"along the last axis",
    },
    "2.12": {
        "def position_ids(texts):\n    return (texts.cumsum(dim=1) - 1).clamp(min=0)": r"exercise 2\.4",
        "def position_ids(texts):\n    return ((texts != 0).cumsum(dim=1) - 1).clamp(min=0)": r"exercise 2\.4",
        POSITIONS.replace("if backward", "if not backward"): r"Begin at its (first|last)",
        POSITIONS.replace("if row[t] != before", "if False"): r"go on from one text to the next",
        BY_NUMBER: r"comes again",
        POSITIONS.replace("at = start", "at = 0"): r"should have \d",
        POSITIONS.replace("min(at, last)", "at"): r"and you go on",
        POSITIONS.replace("min(at, last)", "min(at, last - 1)"): r"one too low",
        POSITIONS.replace("min(at, last)", "start + (at - start) % (last - start + 1)"): r"you begin again",
        POSITIONS.replace("texts, padding)", "texts, start)"): r"Padding has the position",
        POSITIONS.replace("return result", "return result.float()"): r"row numbers: integers",
    },
}  # fmt: skip
PUBLIC = {"2.11": "2.3", "2.12": "2.4"}


def facts(text):
    """What a variant's text names."""
    return {
        "layout": found(r"`x` of shape `\[([A-Z, ]+)\]`", text).replace(", ", ""),
        "unbiased": "**D - 1**" in text,
        "outside": "outside the root" in text,
        "from_one": int("1 + weight" in text),
        "backward": "the **last** token" in text,
        "start": int(found(r"position \*\*(\d+)\*\*", text) or 0),
        "last": int(found(r"last row is \*\*(\d+)\*\*", text) or 0),
        "padding": int(found(r"Padding gets \*\*(\d+)\*\*", text) or 0),
    }

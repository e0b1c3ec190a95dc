"""Answers to the variants of chapter 19: see test_classroom_variants.py."""

from support.variant_facts import found

ROTATE = """
def rotate(vectors, positions, theta):
    d = vectors.shape[-1]
    r = d // 2
    k = torch.arange(r // 2)
    a, b = {"k + r/2": (k, k + r // 2), "2k + 1": (2 * k, 2 * k + 1), "r − 1 − k": (k, r - 1 - k)}[pairs]
    offset = r if last else 0
    shape = [1, 1, 1, r // 2]
    shape[axis] = -1
    angle = (positions[:, None] * theta ** (-2 * k / r)).view(shape)
    x, y = vectors[..., offset + a], vectors[..., offset + b]
    new = vectors.clone()
    new[..., offset + a] = x * angle.cos() - sign * y * angle.sin()
    new[..., offset + b] = y * angle.cos() + sign * x * angle.sin()
    return new
"""
ROTATE_COMPLEX = """
def rotate(vectors, positions, theta):
    x = vectors.transpose(axis, 2)
    kept, part = x.chunk(2, -1) if last else x.chunk(2, -1)[::-1]
    r = part.size(-1)
    if pairs == "2k + 1":
        one, two = part[..., 0::2], part[..., 1::2]
    else:
        one, two = part.chunk(2, -1)
        if pairs == "r − 1 − k":
            two = two.flip(-1)
    z = torch.complex(one.contiguous(), two.contiguous())
    angle = torch.outer(positions.float(), theta ** (-torch.arange(0, r, 2) / r))
    z = z * torch.polar(torch.ones_like(angle), sign * angle)
    if pairs == "2k + 1":
        part = torch.view_as_real(z).flatten(-2)
    else:
        part = torch.cat([z.real, z.imag.flip(-1) if pairs == "r − 1 − k" else z.imag], -1)
    return torch.cat([kept, part] if last else [part, kept], -1).transpose(axis, 2)
"""
PUBLIC_ROTATE = """
def rotate(vectors, positions, theta):
    d = vectors.size(-1)
    angles = positions[:, None] * theta ** (-torch.arange(0, d, 2) / d)
    first, second = vectors.chunk(2, dim=-1)
    cosine, sine = angles.cos(), angles.sin()
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)
"""
UNPAD = """
def unpad(input_ids, attention_mask):
    texts = [row[real.bool()] for row, real in zip(input_ids, attention_mask)]
    texts = sorted(texts, key=len, reverse=longest)
    at = torch.cat([torch.arange(len(text)) for text in texts])
    number = torch.cat([torch.full_like(text, n) for n, text in enumerate(texts)])
    near = (at[:, None] - at).abs() <= reach
    if first_is_global:
        near = near | (at == 0) | (at == 0)[:, None]
    return torch.cat(texts), at + start, near & (number[:, None] == number)
"""
UNPAD_TENSORS = """
def unpad(input_ids, attention_mask):
    lengths = attention_mask.sum(1)
    order = (-lengths if longest else lengths).argsort(stable=True)
    real = attention_mask[order].bool()
    ids, lengths = input_ids[order][real], lengths[order]
    positions = (attention_mask[order].cumsum(1) - 1 + start)[real]
    allowed = torch.zeros(len(ids), len(ids), dtype=torch.bool)
    end = 0
    for length in lengths.tolist():
        block = torch.ones(length, length).tril(reach).triu(-reach).bool()
        if first_is_global:
            block[0], block[:, 0] = True, True
        allowed[end : end + length, end : end + length] = block
        end += length
    return ids, positions, allowed
"""
PUBLIC_UNPAD = """
def unpad(input_ids, attention_mask):
    real = attention_mask.bool()
    positions = (attention_mask.cumsum(dim=1) - 1)[real]
    ends = attention_mask.sum(dim=1).cumsum(dim=0)
    return input_ids[real], positions, torch.cat([ends.new_zeros(1), ends])
"""

RIGHT = {
    "19.11": [ROTATE, ROTATE_COMPLEX],
    "19.12": [UNPAD, UNPAD_TENSORS],
}
WRONG = {
    "19.11": {
        PUBLIC_ROTATE: r"the chapter's exercise 19\.1",
        ROTATE.replace("r = d // 2", "r = d").replace("r if last", "0 if last"): r"rotated all numbers|exercise 19\.1",
        ROTATE.replace("if last", "if not last"): r"You rotated the other half",
        ROTATE.replace("sign * ", "-sign * "): r"The direction is wrong",
        ROTATE.replace("-2 * k / r", "-2 * k / d"): r"too small by half",
        ROTATE.replace("-2 * k / r", "-4 * k / r"): r"twice as large",
        ROTATE.replace("[axis] = -1", "[(axis + 1) % 3] = -1"): r"for the tokens",
        ROTATE.replace('"2k + 1": (2 * k', '"": (2 * k')
        .replace('"k + r/2"', '"2k + 1"')
        .replace(
            '"r − 1 − k": (k, r - 1 - k)', '"k + r/2": (2 * k, 2 * k + 1), "r − 1 − k": (k, k + r // 2)'
        ): r"You paired",
        "def rotate(vectors, positions, theta):\n    return vectors": r"came back as they were",
    },
    "19.12": {
        PUBLIC_UNPAD: r"the chapter's exercise 19\.4",
        UNPAD.replace("texts = sorted(texts, key=len, reverse=longest)", "pass"): r"not sorted",
        UNPAD.replace("reverse=longest", "reverse=not longest"): r"(longest|shortest) text comes first",
        UNPAD.replace("sorted(texts", "sorted(reversed(texts)"): r"equal length keep",
        UNPAD.replace("at + start", "at + start + 1"): r"first position is|Each text counts",
        UNPAD.replace("at + start", "torch.arange(len(at)) + start"): r"run on",
        UNPAD.replace("near & (number[:, None] == number)", "number[:, None] == number"): r"window is missing",
        UNPAD.replace("<= reach", "< reach"): r"away may be attended to",
        UNPAD.replace("at[:, None] - at)", "at[:, None] - at - 1)"): r"row \d+ of allowed",
        UNPAD.replace("near & (number[:, None] == number)", "~near"): r"row \d+ of allowed",
        UNPAD.replace("if first_is_global", "if not first_is_global"): r"A text's first token",
        UNPAD.replace(" & (number[:, None] == number)", ""): r"row \d+ of allowed",
    },
}
PUBLIC = {"19.12": "19.4"}


def facts(text):
    """The conventions that a variant's text names."""
    return {
        "axis": found(r"\*\*`\[(\w, \w, \w, d)\]`", text).split(", ").index("T") if "*`[" in text else 0,
        "last": "**last r" in text,
        "pairs": found(r"numbers \*\*2?k and ([^*]+)\*\*", text),
        "sign": -1 if "(x·cos φ + y" in text else 1,
        "longest": "**longest" in text,
        "start": int(found(r"from \*\*(\d)\*\*", text) or 0),
        "reach": int(found(r"at most (\d)\*\*", text) or 0),
        "first_is_global": "**first token" in text,
    }

"""Hidden tests of the lab `port`: a layer that should give the numbers of torch's."""

import torch
from torch import Tensor
from torch.nn import functional as F

from bertedu.interview.bugs.program import Program

B, T, D, H = 2, 5, 32, 4


def randn(*size: int) -> Tensor:
    """Normal random numbers, the same on every call."""
    return torch.randn(*size, generator=torch.Generator().manual_seed(4))


def heads(program: Program) -> str | None:
    """A head has some columns of every token."""
    x = randn(B, T, D)
    split = program.call("split_heads", x)
    if split.shape != (B, H, T, D // H):
        return f"`split_heads` gives {list(split.shape)} for {[B, T, D]}, and {[B, H, T, D // H]} is said."
    joined = program.call("join_heads", split)
    if not torch.equal(joined, x):
        return "a tensor that is split into heads and joined again is another one."
    changed = x.clone()
    changed[:, 1] += 1
    moved = (program.call("split_heads", changed) != split).any(dim=-1).any(dim=1)
    if moved.sum() > B:
        return "I changed one token, and after the split other tokens have changed, too."
    return None


def scale(program: Program) -> str | None:
    """The weights of attention against torch's."""
    query, key = randn(2, B, H, T, D // H) * 2
    got = program.call("attend", query, key, torch.eye(T).expand(B, H, T, T), torch.ones(B, T, dtype=torch.bool))
    expected = (query @ key.transpose(-1, -2) / (D // H) ** 0.5).softmax(dim=-1)
    if torch.allclose(got, expected, atol=1e-5):
        return None
    mean, right = (weights.max(dim=-1).values.mean().item() for weights in (got, expected))
    return f"the largest attention weight of a query is {mean:.2f} on average, and {right:.2f} in the original."


def norm(program: Program) -> str | None:
    """The norm of one token does not know the others."""
    x, module = randn(B, T, D) * 3 + 1, program.call("Norm")
    with torch.no_grad():
        got = program.protected(lambda: module(x), "`Norm`")
        shorter = program.protected(lambda: module(x[:, :3]), "`Norm`")
    if not torch.allclose(got[:, :3], shorter, atol=1e-5):
        return "I left out the last two tokens of a sequence, and the norm gave other numbers for the first three."
    if not torch.allclose(got, F.layer_norm(x, (D,)), atol=1e-4):
        return f"one token has a standard deviation of {got[0, 0].std(correction=0).item():.3f} after the norm, not 1."
    return None


def sound(program: Program) -> str | None:
    """All weights taken over, padding left out; where no bug is left, the numbers of the original."""
    layer, original = program.call("Layer"), program.call("make_original")
    program.call("take_over", layer, original)
    before, after = (sum(p.double().sum().item() for p in module.parameters()) for module in (original, layer))
    if abs(before - after) > 1e-3:
        return "`take_over` no longer takes over all weights."
    query = randn(B, H, T, D // H)
    mask = torch.arange(T) < torch.tensor([[T], [2]])
    weights = program.call("attend", query, query, torch.eye(T).expand(B, H, T, T), mask)
    if weights[1, :, :, 2:].abs().max() > 1e-6:
        return "padding has attention weights."
    if heads(program) or scale(program) or norm(program):
        return None
    hidden = randn(B, T, D)
    with torch.no_grad():
        own = program.protected(lambda: layer(hidden, mask), "`Layer`")
        theirs = original(hidden, src_key_padding_mask=~mask)
    difference = (own - theirs)[mask].abs().max().item()
    return None if difference < 1e-4 else f"the layers still differ by {difference:.3f}, and did so less before."

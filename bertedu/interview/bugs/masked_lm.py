"""Hidden tests of the lab `masked_lm`: a training loss that is too good."""

import torch
from torch import Tensor, nn

from bertedu.interview.bugs.program import Program

PAD, CLS, SEP, MASK, FIRST, V = 0, 1, 2, 3, 4, 30
ROWS, WORDS = 2000, 12
SURE = 20.0  # the logit of a model that always says the same


class Always(nn.Module):
    """Says the same token everywhere, whatever it reads: [B, T] -> [B, V, T]."""

    def __init__(self, token: int) -> None:
        super().__init__()
        self.logits = nn.Parameter(SURE * torch.eye(V)[token])

    def forward(self, ids: Tensor) -> Tensor:
        """The same logits at each position."""
        return self.logits[None, :, None].expand(len(ids), V, ids.shape[1])


def texts(rows: int) -> Tensor:
    """[CLS], words, [SEP] and three tokens of padding: [rows, 17]."""
    generator = torch.Generator().manual_seed(7)
    ids = torch.full((rows, WORDS + 5), PAD)
    ids[:, 0], ids[:, WORDS + 1] = CLS, SEP
    ids[:, 1 : WORDS + 1] = torch.randint(FIRST, V, (rows, WORDS), generator=generator)
    return ids


def masked(program: Program) -> tuple[Tensor, Tensor, Tensor]:
    """Many sequences, and the inputs and labels that the program makes of them."""
    ids = texts(ROWS)
    inputs, labels = program.call("mask_tokens", ids.clone(), torch.Generator().manual_seed(3))
    return ids, inputs, labels


def labels(program: Program) -> str | None:
    """The loss of a model that is right only about what nobody asked."""
    for token, name in ((PAD, "[PAD]"), (MASK, "[MASK]")):
        loss = program.call("train", Always(token), texts(10), 1)
        if loss < SURE / 2:
            return f"a model that says {name} at every position, and never a word, has a training loss of {loss:.2f}."
    return None


def specials(program: Program) -> str | None:
    """[CLS] and [SEP] are told, not predicted."""
    ids, inputs, wanted = masked(program)
    special = (ids == CLS) | (ids == SEP)
    share = ((inputs != ids) | (wanted == ids))[special].float().mean().item()
    if share == 0:
        return None
    return (
        f"{share:.0%} of the model's work at some positions is to predict tokens that stand at the same spot each time."
    )


def epochs(program: Program) -> str | None:
    """What the model reads in the second epoch."""
    half, rest = in_halves(program, 0)
    if not torch.equal(half, rest):
        return None
    return "in the second epoch the model reads exactly what it read in the first, so it can learn the gaps by heart."


def in_halves(program: Program, seed: int) -> Tensor:
    """The inputs of two epochs: [2, rows, T]."""
    found = program.protected(lambda: list(program["batches"](texts(40), 2, seed)), "`batches`")
    return torch.cat([inputs for inputs, _ in found]).reshape(2, 40, -1)


def sound(program: Program) -> str | None:
    """Shares of 15% and of 80, 10 and 10%, original words as labels, seeds that repeat."""
    ids, inputs, wanted = masked(program)
    words = ids >= FIRST
    chosen = words & (wanted == ids)
    share = (chosen.sum() / words.sum()).item()
    if abs(share - 0.15) > 0.015:
        return f"{share:.1%} of the words are predicted, and should be 15%."
    if (inputs != ids)[~words & (ids == PAD)].any() or (inputs != ids)[words & ~chosen].any():
        return "a token changed that is not predicted."
    kept, hidden = (inputs == ids)[chosen].float().mean().item(), (inputs == MASK)[chosen].float().mean().item()
    if abs(hidden - 0.8) > 0.03 or abs(kept - 0.104) > 0.03:
        return f"of the predicted words {hidden:.0%} are [MASK] and {kept:.0%} stay: it was 80% and 10%."
    once, again, other = (in_halves(program, seed) for seed in (0, 0, 12345))
    if not torch.equal(once, again):
        return "two runs with the same seed no longer read the same."
    return "the seed makes no difference any more." if torch.equal(once, other) else None

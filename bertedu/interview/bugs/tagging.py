"""Hidden tests of the lab `tagging`: an accuracy of 97% and hardly a name found."""

from itertools import pairwise

import torch
from torch import Tensor, nn

from bertedu.interview.bugs.program import Program

SHORT = (["annika", "wrote"], ["PER", "O"])
LONG = (["a", "letter", "from", "dorian", "reached", "berlin", "yesterday"], ["O", "O", "O", "PER", "O", "LOC", "O"])
PERSONS = {("ann", "##ika"), ("ber", "##til"), ("car", "##lotta"), ("dor", "##ian")}


class Knowing(nn.Module):
    """Tags every first piece rightly: a person by both pieces, another name is a city: [B, T] -> [B, T, 3]."""

    def __init__(self, vocabulary: list[str]):
        super().__init__()
        self.vocabulary = vocabulary

    def forward(self, ids: Tensor) -> Tensor:
        """Logits of 1 at the tag."""
        rows = [[self.vocabulary[number] for number in row] + ["[SEP]"] for row in ids.tolist()]
        tags = [[self.tag(*pair) for pair in pairwise(row)] for row in rows]
        return torch.eye(3)[torch.tensor(tags)]

    def tag(self, piece: str, after: str) -> int:
        """O, PER or LOC."""
        return 0 if not after.startswith("##") else 1 if (piece, after) in PERSONS else 2


class Others(nn.Module):
    """Says O for everything: [B, T] -> [B, T, 3]."""

    def forward(self, ids: Tensor) -> Tensor:
        """Logits of 1 at O."""
        return torch.eye(3)[torch.zeros_like(ids)]


def shifted(program: Program) -> str | None:
    """The labels of one sentence."""
    ids, labels = program.call("encode", *SHORT)
    tokens = [program["VOCABULARY"][number] for number in ids]
    if "PER" not in [program["TAGS"][one] for one in labels if one >= 0]:
        return "I encoded a sentence with a name, and no label says PER."
    token = tokens[labels.index(program["TAGS"].index("PER"))]
    if token == "ann":
        return None
    return f"I encoded “{' '.join(SHORT[0])}”, and the token that is labelled PER is {token}."


def padding(program: Program) -> str | None:
    """The loss of two sentences in one batch is the mean over their words."""
    model = program.call("Tagger")
    with torch.no_grad():
        alone = [program.call("loss_of", model, [one]).item() for one in (SHORT, LONG)]
        together = program.call("loss_of", model, [SHORT, LONG]).item()
    expected = sum(loss * len(one[0]) for loss, one in zip(alone, (SHORT, LONG), strict=True)) / 9
    if abs(together - expected) < 1e-4:
        return None
    return (
        f"the 2 words of one sentence have a mean loss of {alone[0]:.3f}, the 7 of another {alone[1]:.3f}, and in one "
        f"batch the mean is {together:.3f}, not {expected:.3f}."
    )


def counting(program: Program) -> str | None:
    """The accuracy of a model that finds nothing."""
    found = program.call("accuracy", Others(), [LONG])
    if abs(found - 5 / 7) < 1e-4:
        return None
    return f"a model that says O for everything has an accuracy of {found:.3f} on a sentence with 5 of 7 words O."


def sound(program: Program) -> str | None:
    """One label for each word, names found by a model that knows them, and its accuracy where no bug is left."""
    for sentence in (SHORT, LONG):
        ids, labels = program.call("encode", *sentence)
        if len(ids) != len(labels) or sum(label >= 0 for label in labels) != len(sentence[0]):
            return "a sentence no longer has exactly one label for each word."
    model = Knowing(program["VOCABULARY"])
    if program.call("names_found", model, [SHORT, LONG]) != 1:
        return "a model that knows all names does not find them any more."
    if shifted(program) or padding(program) or counting(program):
        return None
    found = program.call("accuracy", model, [SHORT, LONG])
    return None if found == 1 else f"a model that is always right has an accuracy of {found:.3f} on two sentences."

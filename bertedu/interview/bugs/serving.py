"""Hidden tests of the lab `serving`: scores that depend on the company a text is in."""

from typing import Any

import torch
from torch import Tensor, nn

from bertedu.interview.bugs.program import Program

HALF = 16
WORD, TOKENS = 2, 3
TEXTS = [
    "bad bad plot bad film",
    "good",
    "film is good good good all",
    "bad",
    "not bad bad",
    "good film",
    "bad but bad",
]


def forward(program: Program, model: nn.Module, ids: list[list[int]], mask: list[list[float]]) -> Tensor:
    """The logits of a batch, without dropout."""
    with torch.no_grad():
        logits: Tensor = program.protected(lambda: model.eval()(torch.tensor(ids), torch.tensor(mask)), "the model")
    return logits.reshape(len(ids))


def alone_and_padded(program: Program, model: nn.Module) -> tuple[float, float]:
    """The logit of a text of three equal words, and the one that it has beside three tokens of padding."""
    alone = forward(program, model, [[WORD] * TOKENS], [[1.0] * TOKENS])
    padded = forward(program, model, [[WORD] * TOKENS + [0] * 3], [[1.0] * TOKENS + [0.0] * 3])
    return alone.item(), padded.item()


def attention(program: Program) -> str | None:
    """Values of tokens fill the second half of a vector, and only that half is read: all of the mean is attention's."""
    model = program.call("Reviewer")
    with torch.no_grad():
        model.embeddings.weight.zero_()
        model.embeddings.weight[WORD, :HALF] = 1.0
        for layer in (model.query, model.key, model.value, model.head):
            layer.weight.zero_()
            layer.bias.zero_()
        model.query.bias.fill_(1.0)
        model.key.weight[:, :HALF] = -0.5 / HALF  # so that a key of zeros has the higher score
        model.value.weight[HALF:, :HALF] = torch.eye(HALF)
        model.head.weight[:, HALF:] = 1.0
    alone, padded = alone_and_padded(program, model)
    if any(abs(padded / alone - share) < 1e-3 for share in (1.0, 0.5)):  # half, where the mean is over padding, too
        return None
    return (
        f"what a token takes over from its context depends on the padding: {alone:.2f} without, {padded:.2f} with it."
    )


def pooling(program: Program) -> str | None:
    """With values of zero, attention changes nothing: what is left is the mean."""
    model = without_attention(program)
    alone, padded = alone_and_padded(program, model)
    if abs(alone - padded) < 1e-4:
        return None
    return f"with attention switched off, a text alone has the logit {alone:.2f}, and beside a longer one {padded:.2f}."


def dropout(program: Program) -> str | None:
    """A model that comes from training, and one that is told to evaluate."""
    model = program.call("Reviewer")
    text = ["the film was not very good"]
    (first,), (second,) = program.call("score", model.train(), text), program.call("score", model.eval(), text)
    if abs(first - second) < 1e-6:
        return None
    return f"the same text and the same weights, and two calls give two scores: {first:.3f} and {second:.3f}."


def order(program: Program) -> str | None:
    """A model that knows only good and bad, so that each score tells its text."""
    model, words = without_attention(program), program["WORDS"]
    with torch.no_grad():
        model.embeddings.weight.zero_()
        model.embeddings.weight[words.index("good")] = 1.0
        model.embeddings.weight[words.index("bad")] = -1.0
        model.head.weight.fill_(1.0)
        model.head.bias.zero_()
    found = [score > 0.5 for score in program.call("score", model, TEXTS)]
    if found == ["good" in text for text in TEXTS]:
        return None
    return "I sent seven texts at once, and one that says “good” came back with the score of a bad one."


def sound(program: Program) -> str | None:
    """Padding, unknown words, the mean over all tokens, dropout in training."""
    ids, mask = program.call("encode", ["good unheard", "the film was good"])
    if ids.shape != (2, 4) or ids[0, 1] != 1 or mask.tolist() != [[1, 1, 0, 0], [1, 1, 1, 1]]:
        return "`encode` no longer gives ids with padding, and a mask of ones and zeros."
    model = without_attention(program)
    with torch.no_grad():
        expected = model.head(model.embeddings(torch.tensor([2, 3, 4])).mean(dim=0)).item()
    if abs(forward(program, model, [[2, 3, 4]], [[1.0] * 3]).item() - expected) > 1e-4:
        return "without attention, the logit of a text is no longer that of the mean of its tokens."
    model = program.call("Reviewer").train()
    with torch.no_grad():
        twice = [model(ids, mask) for _ in range(2)]
    return "in training nothing is dropped out any more." if torch.equal(*twice) else None


def without_attention(program: Program) -> Any:
    """A model whose attention adds zeros."""
    model = program.call("Reviewer")
    with torch.no_grad():
        model.value.weight.zero_()
        model.value.bias.zero_()
    return model

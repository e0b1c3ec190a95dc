"""Exercise 9.2: Rollout in four lines."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.interpretation.rollout import attention_rollout


def rolled_out(attentions: list[Tensor], keep: float = 0.5, swapped: bool = False, summed: bool = False) -> Tensor:
    """Rollout, and the ways in which it goes wrong."""
    shares = torch.eye(attentions[0].size(-1))
    for weights in attentions:
        heads = weights.sum(dim=1) if summed else weights.mean(dim=1)
        mixed = (1 - keep) * heads + keep * torch.eye(weights.size(-1))
        shares = shares @ mixed if swapped else mixed @ shares
    return shares


def rollout_mistakes(attentions: list[Tensor]) -> dict[str, Tensor]:
    """What wrong rollouts return, by the sentence that explains them."""
    means = torch.stack([weights.mean(dim=1) for weights in attentions])
    identity = torch.eye(means.size(-1))
    mixed = 0.5 * means + 0.5 * identity
    bare = rolled_out(attentions, keep=0.0)
    own_word = identity
    for mean in means:
        own_word = 0.5 * mean @ own_word + 0.5 * identity
    single = [rolled_out([w[:, [head]] for w in attentions]) for head in range(attentions[0].size(1))]
    return {
        "Two things: the residual connection ½ I is missing, and the new layer belongs on the left.": rolled_out(
            attentions, keep=0.0, swapped=True
        ),
        "That is the product of the attention weights alone. Where is the residual connection, ½ I?": bare,
        "½ I is added once, after the last layer. Every layer has a residual connection.": 0.5 * bare + 0.5 * identity,
        "After the first layer, a token is no longer its own word alone. The residual connection of a layer passes on "
        "what the token contains so far: (½ A + ½ I) @ shares.": own_word,
        "That follows the first head alone. Average over the heads.": single[0],
        "You multiplied the layers head by head and averaged at the end. A token of the next layer takes from what all "
        "heads have mixed: average over the heads in each layer, before you multiply.": torch.stack(single).mean(dim=0),
        "All entries are 0: did you begin with zeros? Before any layer each token is its own word: begin with the "
        "identity.": torch.zeros_like(bare),
        "All entries are 1: did you begin with ones? Before any layer each token is its own word: begin with the "
        "identity.": torch.ones_like(bare),
        "The attention weights of each layer are transposed. Row i of A says to which tokens token i attends, and so "
        "should row i of the result: use A as it is.": rolled_out([w.transpose(2, 3) for w in attentions]),
        "Rows and columns are swapped: row i should say how much of each word is in token i.": rolled_out(
            attentions
        ).transpose(1, 2),
        "The layers are multiplied in reverse order. Token i of the new layer takes from tokens that already are "
        "mixtures: which of the two matrices belongs on the left?": rolled_out(attentions, swapped=True),
        "That is the mean over the layers. Layers are applied one after the other, so multiply their matrices.": (
            means.mean(dim=0)
        ),
        "That is the mean over the layers, with the residual connection. Layers are applied one after the other, so "
        "multiply their matrices.": mixed.mean(dim=0),
        "You multiplied entry by entry (`*`). Use the matrix product (`@`).": mixed.prod(dim=0),
        "You added up the heads. Take their mean, so that every row still sums to 1.": rolled_out(
            attentions, summed=True
        ),
        "A + I in each layer is twice ½ A + ½ I. Halve both, or divide each row by its sum.": 8
        * rolled_out(attentions),
        "That is only the last layer.": mixed[-1],
        "That is only the last layer's attention, without the residual connection.": means[-1],
        "The first layer is missing.": rolled_out(attentions[1:]),
        "The last layer is missing.": rolled_out(attentions[:-1]),
    }


@exercise(
    "9.2",
    "Rollout in four lines",
    difficulty=2,
    minutes=12,
    without=("attention_rollout",),
    hints=(
        "Start with the identity: before any layer, each token contains its own word. Then multiply, layer by layer.",
        "mixed = 0.5 * weights.mean(dim=1) + 0.5 * torch.eye(T). The new layer goes to the left: mixed @ shares.",
    ),
)
def my_rollout(case: Case) -> None:
    """Three layers whose matrices do not commute, then one layer, then a batch."""
    case.causes = {"'list' object": "attentions is a list with one tensor for each layer: use a loop, or torch.stack."}
    attentions = [case.randn(2, 3, 5, 5).mul(2).softmax(dim=-1) for _ in range(3)]
    got = case.call(attentions, tried="3 layers of 3 heads on 2 texts of 5 tokens")
    right = attention_rollout(attentions)
    if isinstance(got, Tensor) and got.shape == right.shape:
        got = got[-1]  # the package's form, which keeps every layer, is also right
    shape_advice = "Average over the heads and multiply the layers: neither of these axes is left."
    if isinstance(got, Tensor) and got.ndim == 2:
        shape_advice = "Keep one matrix for each text of the batch."
    case.same_shape("the result", got, [2, 5, 5], shape_advice)
    advice = (
        "Each layer is ½ A + ½ I, where A is the mean over the heads, and the layers are multiplied. Compare the first "
        "layer alone with that, then the first two."
    )
    case.close("the result", got, right[-1], advice, mistakes=rollout_mistakes(attentions))
    one = case.call(attentions[:1], tried="a single layer")
    one = one[-1] if isinstance(one, Tensor) and one.ndim == 4 else one
    case.close("the result", one, right[0], "With one layer, the result is this layer's ½ A + ½ I.")

"""What each attention head does, and what is lost without it.

Habits of heads as Clark et al. 2019 (section 3) measured them; heads switched off as Michel et al. 2019
(section 3) did. Layers and heads are counted from 0 here, from 1 in pictures.
Shapes: B batch, T tokens, L layers, H heads, D hidden size, d = D / H.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn

from bertedu.errors import UserError
from bertedu.model.attention import SelfAttention
from bertedu.model.evaluating import evaluating
from bertedu.tokenization.layout import AROUND, PADDING

Attentions = Sequence[Tensor] | Tensor


def stacked(attentions: Attentions) -> Tensor:
    """The attention weights of a model as one tensor, [L, B, H, T, T].

    attentions: what `output.attentions` holds, L tensors [B, H, T, T]; or [L, H, T, T] for one text, as
    `attention_weights` returns it. Raises UserError for anything else.
    """
    if not isinstance(attentions, Tensor):
        if not attentions or not all(isinstance(layer, Tensor) for layer in attentions):
            raise UserError("there are no attention weights: run the model with output_attentions=True.")
        attentions = torch.stack(tuple(attentions))
    weights = attentions.detach().float().cpu()
    if weights.dim() == 4:
        weights = weights.unsqueeze(1)
    if weights.dim() != 5 or weights.size(-1) != weights.size(-2):
        raise UserError(
            f"attention weights have the shape {list(attentions.shape)}: give output.attentions, or [L, H, T, T] "
            "for one text."
        )
    return weights


def entropy(attentions: Attentions, attention_mask: Tensor | None = None) -> Tensor:
    """How many bits of choice are left in a token's attention, [L, H]: the mean of -Σ p log₂ p over all real tokens.

    0 bits: one token gets everything; log₂ T bits: all T tokens get the same. attention_mask [B, T]: 1 text,
    0 padding, which is left out; without a mask everything counts.
    """
    weights = stacked(attentions)
    bits = -torch.special.xlogy(weights, weights).sum(dim=-1) / torch.log(torch.tensor(2.0))  # [L, B, H, T]
    return mean_over_tokens(bits, real_tokens(weights, attention_mask))


def pattern_scores(attentions: Attentions, tokens: Sequence[str] | Sequence[Sequence[str]]) -> dict[str, Tensor]:
    """The mean share of its attention that a token gives to certain places: name of the pattern -> [L, H].

    "next token" and "previous token" are means over the tokens that have such a neighbour, "itself", "[CLS]" and
    "[SEP]" (all of them together), or what the model has instead, over all tokens. tokens: `encoding.tokens`,
    B lists of T, or the tokens of one text; padding is left out. Looking evenly at T tokens scores 1 / T, and 2 / T
    on "[SEP]" of a pair.
    """
    weights = stacked(attentions)
    rows = check_tokens(weights, tokens)
    real = torch.tensor([[token not in PADDING for token in row] for row in rows])  # [B, T]
    before = real[:, :-1] & real[:, 1:]  # token i has a next one, token i + 1 a previous one
    scores = {
        "next token": mean_over_tokens(weights.diagonal(1, -2, -1), before),
        "previous token": mean_over_tokens(weights.diagonal(-1, -2, -1), before),
        "itself": mean_over_tokens(weights.diagonal(0, -2, -1), real),
    }
    for name in [name for name in AROUND if any(name in row for row in rows)] or AROUND[:2]:
        there = torch.tensor([[token == name for token in row] for row in rows]).float()  # [B, T]
        scores[name] = mean_over_tokens(torch.einsum("lbhij,bj->lbhi", weights, there), real)
    return scores


def real_tokens(weights: Tensor, attention_mask: Tensor | None) -> Tensor:
    """[B, T] of booleans: where there is text. Raises UserError where the mask is of another batch."""
    shape = (weights.size(1), weights.size(-1))
    if attention_mask is None:
        return torch.ones(shape, dtype=torch.bool)
    if attention_mask.shape != shape:
        raise UserError(
            f"attention_mask has the shape {list(attention_mask.shape)} and the attention is of {shape[0]} texts of "
            f"{shape[1]} tokens: give the mask of the same encoding."
        )
    return attention_mask.cpu() != 0


def check_tokens(weights: Tensor, tokens: Sequence[str] | Sequence[Sequence[str]]) -> list[list[str]]:
    """The tokens as B lists of T. Raises UserError where they are not those of the weights."""
    lists = (
        [[str(token) for token in tokens]] if tokens and isinstance(tokens[0], str) else [list(row) for row in tokens]
    )
    if [len(row) for row in lists] != [weights.size(-1)] * weights.size(1):
        raise UserError(
            f"there are tokens of {len(lists)} texts, {[len(row) for row in lists]} of them, and the attention is of "
            f"{weights.size(1)} texts of {weights.size(-1)} tokens: give encoding.tokens of the same encoding."
        )
    return lists


def mean_over_tokens(values: Tensor, real: Tensor) -> Tensor:
    """The mean of values [L, B, H, T] over all texts and the tokens that are real [B, T]: [L, H]."""
    real = real[None, :, None, :].to(values.dtype)
    return (values * real).sum(dim=(1, 3)) / real.sum()


@contextmanager
def without_heads(model: nn.Module, heads: Sequence[tuple[int, int]]) -> Iterator[None]:
    """Inside the block these heads, (layer, head) from 0, hand on nothing: their d numbers are zeros.

    The output projection gets zeros for the head's numbers, which is the same as zeroing the columns of its weight
    that read the head. The model is as before after the block, also when the block fails. Raises UserError for a
    head that the model does not have.
    """
    layers = attention_layers(model)
    with ExitStack() as stack:
        for layer, head in heads:
            if not (0 <= layer < len(layers) and 0 <= head < layers[layer].num_heads):
                raise UserError(
                    f"there is no head {head} in layer {layer}: this model has the layers 0 to {len(layers) - 1} "
                    f"and the heads 0 to {layers[0].num_heads - 1}."
                )
            hook = layers[layer].output.register_forward_pre_hook(silence(head, layers[layer].num_heads))
            stack.callback(hook.remove)
        yield


def silence(head: int, num_heads: int) -> Callable[[nn.Module, tuple[Tensor]], tuple[Tensor]]:
    """A hook for the output projection: zeros for what one head mixed, in the vectors [B, T, D] that come in."""

    def hook(module: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
        apart = inputs[0].unflatten(-1, (num_heads, -1)).clone()  # [B, T, H, d]
        apart[..., head, :] = 0
        return (apart.flatten(-2),)

    return hook


def attention_layers(model: nn.Module) -> list[SelfAttention]:
    """The attention of each layer, the first layer first. Raises UserError for a model without any."""
    layers = [module for module in model.modules() if isinstance(module, SelfAttention)]
    if not layers:
        raise UserError(f"{type(model).__name__} has no self-attention of this course: give a BERT.")
    return layers


@torch.no_grad()
def head_importance(model: nn.Module, loss: Callable[[nn.Module], Tensor | float]) -> Tensor:
    """By how much a loss rises when one head is ablated, head by head: [L, H] (Michel et al. 2019, section 3.2).

    loss is called with the model and gives a number: the mean loss on some batches, or 1 - accuracy. Positive: the
    head is missed; negative: the model does better without. Heads can stand in for each other, so the rises do
    not add up. Dropout is off while it is measured.
    """
    layers = attention_layers(model)
    with evaluating(model):
        whole = float(loss(model))
        rises = torch.zeros(len(layers), layers[0].num_heads)
        for layer, attention in enumerate(layers):
            for head in range(attention.num_heads):
                with without_heads(model, [(layer, head)]):
                    rises[layer, head] = float(loss(model)) - whole
    return rises

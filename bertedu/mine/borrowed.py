"""The sixteen parts as the package has them, in the form of the exercises: what stands in for a missing part."""

import random
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from bertedu.checkpoints.names import from_transformers
from bertedu.model.heads import IGNORED
from bertedu.pretraining.masking import draw, replace_chosen
from bertedu.pretraining.sentence_pairs import truncate
from bertedu.tokenization.wordpiece import split_word as split_word  # this one as it is

PAD, CLS, SEP = 0, 2, 3


def encode_pair(first: Sequence[int], second: Sequence[int] | None, max_length: int) -> tuple[list[int], ...]:
    """input_ids, token_type_ids and attention_mask of one text or two, each of max_length numbers."""
    one, two = list(first), list(second or ())
    room = max_length - (2 if second is None else 3)
    while len(one) + len(two) > room:
        (one if len(one) > len(two) else two).pop()
    start, end = [CLS, *one, SEP], [] if second is None else [*two, SEP]
    rest = [PAD] * (max_length - len(start) - len(end))
    return start + end + rest, [0] * len(start) + [1] * len(end) + rest, [1] * len(start + end) + rest


def position_ids(attention_mask: Tensor) -> Tensor:
    """The positions of the real tokens of each text, counted from 0: [B, T]."""
    return (attention_mask.cumsum(dim=1) - 1).clamp(min=0)


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """torch's LayerNorm over the last axis, [B, T, D]."""
    return functional.layer_norm(x, weight.shape, weight, bias, eps)


def masked_softmax(scores: Tensor, keep: Tensor) -> Tensor:
    """Softmax over the keys that are kept; zeros where none is: [B, H, T, T]."""
    return scores.masked_fill(~keep, torch.finfo(scores.dtype).min).softmax(dim=-1) * keep


def attention(query: Tensor, key: Tensor, value: Tensor, softmax: Callable = torch.softmax) -> tuple[Tensor, Tensor]:
    """Outputs [B, H, T, d] and weights [B, H, T, T]."""
    weights = softmax(query @ key.mT / query.size(-1) ** 0.5, dim=-1)
    return weights @ value, weights


def merge_heads(x: Tensor) -> Tensor:
    """[B, H, T, d] to [B, T, D]."""
    return x.transpose(1, 2).flatten(-2)


def gelu(x: Tensor, tanh: bool = False) -> Tensor:
    """torch's GELU."""
    return functional.gelu(x, approximate="tanh" if tanh else "none")


def encoder_layer(
    x: Tensor, attention: Callable, attention_norm: Callable, feed_forward: Callable, feed_forward_norm: Callable
) -> Tensor:
    """One layer, each sublayer added and normalized: [B, T, D]."""
    x = attention_norm(x + attention(x))
    return feed_forward_norm(x + feed_forward(x))


class Stack(nn.Module):
    """L layers, and all hidden states."""

    def __init__(self, config: object, layer_class: type[nn.Module]):
        super().__init__()
        self.layers = nn.ModuleList(layer_class(config) for _ in range(config.num_hidden_layers))  # type: ignore[attr-defined]

    def forward(self, hidden_states: Tensor, bias: Tensor | None = None) -> list[Tensor]:
        states = [hidden_states]
        for layer in self.layers:
            states.append(layer(states[-1], bias)[0])
        return states


def our_name(name: str) -> str:
    """The name of a weight of the encoder in `transformers` to ours."""
    return from_transformers(name)


def cut(first: list, second: list, max_tokens: int, rng: random.Random) -> tuple[list, list]:
    """Tokens off the longer of two segments, at either end, until both fit."""
    (a, b), (c, d) = truncate((0, len(first)), (0, len(second)), max_tokens, rng)
    return first[a:b], second[c:d]


def corrupt(input_ids: Tensor, chosen: Tensor, mask_token_id: int, vocab_size: int) -> tuple[Tensor, Tensor]:
    """What the model sees, and the labels, both [B, T]."""
    draws = draw(input_ids.shape, vocab_size, torch.default_generator)
    return replace_chosen(input_ids, chosen, mask_token_id, draws)[0], input_ids.masked_fill(~chosen, IGNORED)


def mlm_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean over all labels of [B, T, V] scores."""
    return functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)


def accumulate(model: nn.Module, parts: list[dict[str, Tensor]], summed_loss: Callable) -> None:
    """The gradient of the mean loss over all labels of all parts."""
    model.zero_grad()
    count = sum(int((part["labels"] != IGNORED).sum()) for part in parts)
    for part in parts:
        (summed_loss(model, part)[0] / count).backward()


def adamw_step(
    weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, rate: float
) -> tuple[Tensor, Tensor, Tensor]:
    """One step of AdamW as exercise 8.2 has it: the new weight, mean and square."""
    mean, square = mean.lerp(gradient, 0.1), square.lerp(gradient.square(), 0.02)
    root = (square / (1 - 0.98**step)).sqrt() + 1e-6
    return weight * (1 - rate * 0.01) - rate * mean / (1 - 0.9**step) / root, mean, square

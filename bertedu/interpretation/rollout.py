"""How much of each word reaches a token through all the layers, told from attention alone (Abnar & Zuidema 2020).

A layer hands on half by its attention, averaged over heads, and half around it: 0.5 A + 0.5 I (section 3).
Rollout follows all paths at once, flow asks how much fits through. Neither considers values, the feed-forward
layers or the gradient: they say where information could have gone, not what the model made of it.
Shapes: B batch, T tokens, L layers, H heads.
"""

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from torch import Tensor

from bertedu.errors import UserError
from bertedu.interpretation.heads import Attentions, stacked

DROPS = 10**9  # scipy counts in whole numbers: a weight of 1 is a pipe that so many drops fit through


def with_residual(attentions: Attentions) -> Tensor:
    """0.5 · mean over heads + 0.5 · I, each row divided by its sum, [L, B, T, T].

    Rows sum to 1 already, except where dropout took weights away.
    """
    weights = stacked(attentions).mean(dim=2)  # [L, B, T, T]
    mixed = 0.5 * weights + 0.5 * torch.eye(weights.size(-1))
    return mixed / mixed.sum(dim=-1, keepdim=True)


def attention_rollout(attentions: Attentions) -> Tensor:
    """[L, B, T, T]: entry [l, b, i, j] is the share of word j in token i after layer l. Rows sum to 1.

    attentions: `output.attentions`, or [L, H, T, T] of one text. The product of the layers' matrices up to
    layer l (section 3). Rows of padding mean nothing; no other row gives padding a share.
    """
    rollout: list[Tensor] = []
    for layer in with_residual(attentions):
        rollout.append(layer @ rollout[-1] if rollout else layer)
    return torch.stack(rollout)


def attention_flow(attentions: Attentions, sentence: int = 0) -> Tensor:
    """[T, T]: the most that can flow from token i of the top layer down to word j (section 3).

    Layers are a network of pipes, as wide as the weights of 0.5 A + 0.5 I, with a joint for each token of each
    layer. Each pair is asked alone, so rows do not sum to 1; no flow is more than 1. Raises UserError for a
    sentence that is not in the batch.
    """
    layers = with_residual(attentions)
    if not 0 <= sentence < layers.size(1):
        raise UserError(f"there is no sentence {sentence}: the batch has the sentences 0 to {layers.size(1) - 1}.")
    layers = layers[:, sentence]
    top, length = layers.size(0) * layers.size(1), layers.size(1)
    pipes = pipe_network(layers)
    flow = [[maximum_flow(pipes, top + i, j).flow_value for j in range(length)] for i in range(length)]
    return (torch.tensor(flow).double() / DROPS).float()


def pipe_network(layers: Tensor) -> csr_array:
    """How many drops fit from joint to joint, [(L + 1)·T, (L + 1)·T]; joint l·T + i is token i after l layers.

    layers [L, T, T] are the widths. Joints 0 to T - 1 are the words.
    """
    count, length = layers.size(0), layers.size(1)
    widths = np.zeros(((count + 1) * length,) * 2, dtype=np.int32)
    for layer, weights in enumerate(layers):
        above, below = (layer + 1) * length, layer * length
        widths[above : above + length, below : below + length] = (weights.double() * DROPS).round().numpy()
    return csr_array(widths)

"""Modules of a model that compute the same with less work for a GPU, while a run trains it.

They take the place of the model's own for as long as the run goes on: the model's code, its weights and their names on
disk stay as they are. On a CPU they would gain nothing (measured: `benchmarks/README.md`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from bertedu.model.attention import SelfAttention, mix
from bertedu.model.encoder import EncoderLayer


class OneProductAttention(SelfAttention):
    """BERT's attention with the three projections in one product, [B, T, D] to [B, T, 3·D].

    The three matrices are put one below the other in each step. They stay three weights, since Muon makes each of them
    orthogonal by itself.
    """

    def forward(
        self, hidden_states: Tensor, bias: Tensor | None = None, output_attentions: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """As SelfAttention."""
        projections = (self.query, self.key, self.value)
        weight = torch.cat([projection.weight for projection in projections])  # [3·D, D]
        biases = torch.cat([projection.bias for projection in projections])
        together = linear(hidden_states, weight, biases)
        query, key, value = (self.split_heads(part) for part in together.chunk(3, dim=-1))
        dropout_prob = self.dropout_prob if self.training else 0.0
        mixed, weights = mix(query, key, value, bias, dropout_prob, output_attentions)
        return self.output(mixed), weights


class SixteenBitNorm(nn.LayerNorm):
    """LayerNorm that computes in float32 and answers in the 16 bits of the products, where a run has such a precision.

    Autocast leaves it in float32, and with it all that is added up from layer to layer: twice the memory to be read and
    written between two products.
    """

    def forward(self, input: Tensor) -> Tensor:
        """[..., D] to [..., D]."""
        normed, device = super().forward(input), input.device.type
        return normed.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else normed


@contextmanager
def lean_modules(model: nn.Module, sixteen_bit_stream: bool) -> Iterator[None]:
    """One product in each attention of BERT's kind inside the block; and 16 bits between the layers, where asked.

    Modules of another class stay as they are: a member's own attention; and layers that normalise first, which add up
    from the first layer to the last and would lose small numbers in 16 bits.
    """
    layers = [layer for layer in model.modules() if isinstance(layer, EncoderLayer)]
    leaner: dict[type[nn.Module], type[nn.Module]] = {SelfAttention: OneProductAttention}
    if sixteen_bit_stream:
        leaner[nn.LayerNorm] = SixteenBitNorm
    changed = {part: type(part) for layer in layers for part in layer.modules() if type(part) in leaner}
    for module, own in changed.items():
        module.__class__ = leaner[own]  # not another `forward` for each: then all layers could not share compiled code
    try:
        yield
    finally:
        for module, own in changed.items():
            module.__class__ = own

"""The Transformer encoder: L layers of attention and feed-forward. Built by hand in notebook 04.

Vaswani et al. 2017, section 3.1, with the normalisation after each addition (post-norm) and GELU instead
of ReLU (Devlin et al. 2019, appendix A.2). Shapes: B batch, T tokens, D hidden size, H heads, L layers.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from torch import Tensor, nn

from bertedu.config import EncoderConfig
from bertedu.model.attention import SelfAttention


def activation(name: str) -> nn.GELU:
    """GELU (Hendrycks & Gimpel 2016): "gelu" is x·Φ(x) exactly, "gelu_new" the tanh form of Google's code."""
    return nn.GELU(approximate="tanh" if name == "gelu_new" else "none")


class FeedForward(nn.Module):
    """Two linear layers with GELU between them, on each token alone: [B, T, D] to [B, T, D]."""

    def __init__(self, config: EncoderConfig):
        super().__init__()
        self.expand = nn.Linear(config.hidden_size, config.intermediate_size)
        self.activation = activation(config.hidden_act)
        self.shrink = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, hidden_states: Tensor) -> Tensor:
        return self.shrink(self.activation(self.expand(hidden_states)))


class TransformerLayer(nn.Module):
    """A layer of any member's encoder, by which training finds them all."""


class EncoderLayer(TransformerLayer):
    """Attention, add, normalise; feed-forward, add, normalise: [B, T, D] to [B, T, D].

    A member of the family that differs in its attention names its own attention_class.
    """

    attention_class: ClassVar[type[nn.Module]] = SelfAttention

    def __init__(self, config: EncoderConfig):
        super().__init__()
        self.attention = self.attention_class(config)
        self.attention_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(
        self, hidden_states: Tensor, bias: Tensor | None = None, output_attentions: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Returns the new vectors [B, T, D], and the attention weights [B, H, T, T] when asked for, else None."""
        mixed, weights = self.attention(hidden_states, bias, output_attentions)
        return self.after_attention(hidden_states, mixed), weights

    def after_attention(self, hidden_states: Tensor, mixed: Tensor) -> Tensor:
        """What the layer makes of its input and of what attention made of it: [B, T, D] each."""
        hidden_states = self.attention_norm(hidden_states + self.dropout(mixed))
        changed = self.feed_forward(hidden_states)
        return self.feed_forward_norm(hidden_states + self.dropout(changed))


class Encoder(nn.Module):
    """L encoder layers, one after the other."""

    def __init__(self, config: EncoderConfig):
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_hidden_layers))

    def forward(
        self, hidden_states: Tensor, bias: Tensor | None = None, output_attentions: bool = False
    ) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Returns L + 1 hidden states [B, T, D], the input first, and L attentions [B, H, T, T] (or none)."""
        return run_layers(self.layers, hidden_states, bias, output_attentions)


def run_layers(
    layers: Iterable[nn.Module], hidden_states: Tensor, bias: Any, output_attentions: bool
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """One layer after the other; returns what Encoder does. bias: what each layer is given beside its input."""
    all_hidden_states, attentions = [hidden_states], []
    for layer in layers:
        hidden_states, weights = layer(hidden_states, bias, output_attentions)
        all_hidden_states.append(hidden_states)
        if weights is not None:
            attentions.append(weights)
    return tuple(all_hidden_states), tuple(attentions)

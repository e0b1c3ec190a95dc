"""The Transformer encoder, as in bertedu/model/encoder.py: L layers, each normalised after its additions (post-norm).

Shapes: B batch, T tokens, D hidden size, H heads, L layers.
"""

import jax
from flax import nnx

from bertedu.config import BertConfig
from bertedu.jax.attention import SelfAttention
from bertedu.jax.layers import drop, layer_norm, linear


def gelu(x: jax.Array, name: str) -> jax.Array:
    """ "gelu" is x·Φ(x) exactly, "gelu_new" the tanh form, which is the default of jax.nn.gelu. The shape stays."""
    return jax.nn.gelu(x, approximate=name == "gelu_new")


class FeedForward(nnx.Module):
    """Two linear layers with GELU between them, on each token alone: [B, T, D] to [B, T, D]."""

    def __init__(self, config: BertConfig, rngs: nnx.Rngs):
        self.hidden_act = config.hidden_act
        self.expand = linear(config, config.hidden_size, config.intermediate_size, rngs)
        self.shrink = linear(config, config.intermediate_size, config.hidden_size, rngs)

    def __call__(self, hidden_states: jax.Array) -> jax.Array:
        return self.shrink(gelu(self.expand(hidden_states), self.hidden_act))


class EncoderLayer(nnx.Module):
    """Attention, add, normalise; feed-forward, add, normalise: [B, T, D] to [B, T, D]."""

    def __init__(self, config: BertConfig, rngs: nnx.Rngs):
        self.dropout_prob = config.hidden_dropout_prob
        self.attention = SelfAttention(config, rngs)
        self.attention_norm = layer_norm(config, rngs)
        self.feed_forward = FeedForward(config, rngs)
        self.feed_forward_norm = layer_norm(config, rngs)

    def __call__(
        self, hidden_states: jax.Array, bias: jax.Array | None = None, rngs: nnx.Rngs | None = None
    ) -> tuple[jax.Array, jax.Array]:
        """Returns the new vectors [B, T, D] and the attention weights [B, H, T, T]."""
        mixed, weights = self.attention(hidden_states, bias, rngs)
        hidden_states = self.attention_norm(hidden_states + drop(mixed, self.dropout_prob, rngs))
        changed = self.feed_forward(hidden_states)
        return self.feed_forward_norm(hidden_states + drop(changed, self.dropout_prob, rngs)), weights


class Encoder(nnx.Module):
    """L encoder layers, one after the other."""

    def __init__(self, config: BertConfig, rngs: nnx.Rngs):
        self.layers = nnx.List([EncoderLayer(config, rngs) for _ in range(config.num_hidden_layers)])

    def __call__(
        self, hidden_states: jax.Array, bias: jax.Array | None = None, rngs: nnx.Rngs | None = None
    ) -> tuple[tuple[jax.Array, ...], tuple[jax.Array, ...]]:
        """Returns L + 1 hidden states [B, T, D], the input first, and L attentions [B, H, T, T]."""
        all_hidden_states, attentions = [hidden_states], []
        for layer in self.layers:
            hidden_states, weights = layer(hidden_states, bias, rngs)
            all_hidden_states.append(hidden_states)
            attentions.append(weights)
        return tuple(all_hidden_states), tuple(attentions)

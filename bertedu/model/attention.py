"""Self-attention: every token attends to every token. Built by hand in notebook 03.

Vaswani et al. 2017, section 3.2.2; BERT (Devlin et al. 2019) uses it without a causal mask.
Shapes: B batch, T tokens, D hidden size, H heads, d = D / H.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, scaled_dot_product_attention

from bertedu.config import EncoderConfig


def attend(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None = None, dropout_prob: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Mix the values, each token by how well its query matches every key.

    query, key, value [B, H, T, d]; bias is added to the scores and broadcasts to [B, H, T, T]: 0 keeps a
    position, a very large negative number hides it. Returns the mixed values [B, H, T, d] and the attention
    weights [B, H, T, T], whose rows sum to 1 (before dropout, which sets single weights to 0; BERT's code does
    that, the Transformer paper does not mention it).
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # [B, H, T, T]
    if bias is not None:
        scores = scores + bias
    weights = dropout(scores.softmax(dim=-1), dropout_prob)
    return weights @ value, weights


def padding_bias(attention_mask: Tensor, dtype: torch.dtype) -> Tensor:
    """What to add to the scores so that no token attends to padding: [B, T] of ones and zeros to [B, 1, 1, T]."""
    return hiding_bias(attention_mask == 0, dtype)[:, None, None, :]


def hiding_bias(hidden: Tensor, dtype: torch.dtype) -> Tensor:
    """What to add to scores so that nothing attends to what is hidden: booleans of any shape to numbers of that shape.

    Half the smallest number of the type rather than -inf: a text that is all padding then stays finite, also
    in float16, where the smallest number plus a negative score would be -inf again. Under autocast the type is
    the one that the scores will have.
    """
    device = hidden.device.type
    if torch.is_autocast_enabled(device):
        dtype = torch.get_autocast_dtype(device)
    bias = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
    return bias.masked_fill(hidden, torch.finfo(dtype).min / 2)


def last_real_token(hidden_states: Tensor, attention_mask: Tensor | None) -> Tensor:
    """The vector of each text's last token that is no padding, on whichever side that stands: [B, T, D] to [B, D]."""
    if attention_mask is None:
        return hidden_states[:, -1]
    positions = torch.arange(attention_mask.size(1), device=attention_mask.device)
    last = (positions * (attention_mask != 0)).argmax(dim=1)  # [B]
    return hidden_states[torch.arange(len(last), device=last.device), last]


def fused_is_slower(query: Tensor) -> bool:
    """Whether the plain formula beats torch's fused kernel: in bfloat16 on a CPU, where the kernel's backward
    pass takes about four times as long at 64 to 128 tokens (torch 2.13)."""
    return query.device.type == "cpu" and query.dtype == torch.bfloat16


def mix(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None = None,
    dropout_prob: float = 0.0,
    output_attentions: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """As `attend`, by torch's fused kernel where that is faster: the values of all heads side by side, [B, T, D].

    The fused kernel never forms the weights [B, H, T, T]: they come when asked for, else None.
    """
    if output_attentions or fused_is_slower(query):
        mixed, weights = attend(query, key, value, bias, dropout_prob)
    else:
        mixed = scaled_dot_product_attention(query, key, value, attn_mask=bias, dropout_p=dropout_prob)
    mixed = mixed.transpose(1, 2).flatten(-2)
    return mixed, weights if output_attentions else None


class SelfAttention(nn.Module):
    """Multi-head self-attention with its output projection, [B, T, D] to [B, T, D]."""

    def __init__(self, config: EncoderConfig):
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.dropout_prob = config.attention_probs_dropout_prob
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.output = nn.Linear(config.hidden_size, config.hidden_size)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B, T, D] to [B, H, T, d]: each head takes d neighbouring entries of every vector."""
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(
        self, hidden_states: Tensor, bias: Tensor | None = None, output_attentions: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Returns the mixed vectors [B, T, D], and the weights [B, H, T, T] when asked for, else None."""
        projections = (self.query, self.key, self.value)
        query, key, value = (self.split_heads(project(hidden_states)) for project in projections)
        dropout_prob = self.dropout_prob if self.training else 0.0
        mixed, weights = mix(query, key, value, bias, dropout_prob, output_attentions)
        return self.output(mixed), weights

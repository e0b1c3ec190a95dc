"""Self-attention with rotary positions, and what a layer with local attention hides.

Warner et al. 2024, section 2.1; alternating attention after Gemma 2 and Longformer (Beltagy et al. 2020).
Shapes: B batch, T tokens, D hidden size, H heads, d = D / H.
"""

import torch
from torch import Tensor, nn

from bertedu.family.modernbert.config import ModernBertConfig
from bertedu.family.modernbert.rope import Rotation, rotate
from bertedu.model.attention import hiding_bias, mix


class RotaryAttention(nn.Module):
    """BERT's multi-head attention but for three things: queries and keys are rotated, no biases, and the three
    projections are one matrix: [B, T, D] to [B, T, D].
    """

    def __init__(self, config: ModernBertConfig):
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.dropout_prob = config.attention_probs_dropout_prob
        self.qkv = nn.Linear(config.hidden_size, 3 * config.hidden_size, bias=False)
        self.output = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def forward(
        self, hidden_states: Tensor, turn: Rotation, bias: Tensor | None = None, output_attentions: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Returns the mixed vectors [B, T, D], and the weights [B, H, T, T] when asked for, else None."""
        # The rows of the matrix: all heads' queries, then all keys, then all values.
        qkv = self.qkv(hidden_states).unflatten(-1, (3, self.num_heads, -1))  # [B, T, 3, H, d]
        query, key, value = (part.transpose(1, 2) for part in qkv.unbind(dim=2))  # [B, H, T, d] each
        dropout_prob = self.dropout_prob if self.training else 0.0
        mixed, weights = mix(rotate(query, turn), rotate(key, turn), value, bias, dropout_prob, output_attentions)
        return self.dropout(self.output(mixed)), weights


def local_bias(positions: Tensor, local_attention: int, bias: Tensor | None, dtype: torch.dtype) -> Tensor:
    """What to add to the scores so that a token attends only to those at most local_attention / 2 away: [..., T, T].

    positions [T]; bias: what is hidden from everything already, such as padding. The nearer and the farther limit are
    both inside: local_attention 128 lets a token see 64 on each side and itself, 129 in all.
    """
    distances = (positions[:, None] - positions[None, :]).abs()
    local = hiding_bias(distances > local_attention // 2, dtype)
    # The smaller of both, not the sum: hidden twice is no more than hidden, and in float16 the sum leaves no room for a
    # negative score before -inf.
    return local if bias is None else torch.minimum(local, bias)

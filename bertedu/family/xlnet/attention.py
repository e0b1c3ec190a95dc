"""Attention that knows how far apart two tokens are: Transformer-XL's, with XLNet's segments.

Dai et al. 2019, section 3.3; Yang et al. 2019, sections 2.4 and 2.5. Shapes: B batch, T tokens, M predicted tokens,
D hidden size, H heads, d = D / H.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from bertedu.family.xlnet.config import XLNetConfig
from bertedu.model.attention import attend


def relative_sinusoids(length: int, size: int, device: torch.device | None = None) -> Tensor:
    """A vector for each distance i - j, from T down to -T + 1: [2T, D], the sines first, then the cosines.

    Not sine and cosine in turns, as in Vaswani et al. 2017: the weights that read them know the halves.
    """
    distances = torch.arange(length, -length, -1.0, device=device)  # [2T]
    frequencies = 10000 ** -(torch.arange(0, size, 2.0, device=device) / size)  # [D / 2]
    angles = distances[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def relative_shift(scores: Tensor) -> Tensor:
    """From a score for each distance to one for each key: [..., T, 2T], the distances falling from T, to [..., T, T].

    Query i finds key j at distance i - j, in column T - i + j. So what row i needs begins one column further left than
    in the row above. In memory it stands at 2T·i + T - i + j. Leave out the first T numbers, and that is
    (2T - 1)·i + j: row i and column j of a table with 2T - 1 columns. The shift moves no number.
    """
    length = scores.size(-2)
    numbers = scores.flatten(-2)[..., length:]  # [..., T · (2T - 1)]
    return numbers.unflatten(-1, (length, 2 * length - 1))[..., :length]


class Keys(NamedTuple):
    """What a layer's queries meet: keys and values of the content stream [B, H, T, d], keys of distances [H, 2T, d]."""

    key: Tensor
    value: Tensor
    distance: Tensor


class RelativeAttention(nn.Module):
    """Attention that scores content, distance and segment:

    ((q + r_w)·k + (q + r_r)·R(i - j) + (q + r_s)·seg[same or different]) / √d

    The biases r_w, r_r and r_s are [H, d]; all other weights are [D, H, d].
    """

    def __init__(self, config: XLNetConfig):
        super().__init__()
        heads, size = config.num_attention_heads, config.hidden_size // config.num_attention_heads
        self.dropout_prob = config.attention_probs_dropout_prob
        # As the authors have it: no biases, and the heads on an axis of their own.
        self.query, self.key, self.value, self.output, self.distance = (
            nn.Parameter(torch.empty(config.hidden_size, heads, size)) for _ in range(5)
        )
        # What every query asks for, whatever its word: r_w, r_r and r_s.
        self.content_bias, self.distance_bias, self.segment_bias = (
            nn.Parameter(torch.empty(heads, size)) for _ in range(3)
        )
        self.segments = nn.Parameter(torch.empty(2, heads, size))  # 0: key in the query's segment, 1: in another

    def keys(self, content: Tensor, sinusoids: Tensor) -> Keys:
        """What both streams attend to: content [B, T, D] and the distances' sinusoids [2T, D]."""
        key, value = (torch.einsum("bte,ehd->bhtd", content, weight) for weight in (self.key, self.value))
        return Keys(key, value, torch.einsum("pe,ehd->hpd", sinusoids, self.distance))

    def forward(
        self,
        hidden_states: Tensor,
        keys: Keys,
        different: Tensor | None,
        bias: Tensor | None,
        target_mapping: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """hidden_states of either stream, [B, T, D], or [B, M, D] with a target_mapping [B, M, T]: the query stream's
        queries then take the positions of the words that they are to predict, and what they find goes back.

        different [B, T, T]: are query and key in different segments? bias [B, 1, T, T]: 0 or a very large negative
        number. Returns the mixed vectors, shaped as hidden_states, and the weights [B, H, T, T].
        """
        query = torch.einsum("bte,ehd->bhtd", hidden_states, self.query)
        if target_mapping is not None:
            query = torch.einsum("bhmd,bmt->bhtd", query, target_mapping)
        scores = relative_shift((query + self.distance_bias[:, None]) @ keys.distance.transpose(-2, -1))  # [B, H, T, T]
        if different is not None:
            of_segments = torch.einsum("bhtd,shd->sbht", query + self.segment_bias[:, None], self.segments)
            same, other = of_segments.unsqueeze(-1)  # [B, H, T, 1] each
            scores = scores + torch.where(different[:, None], other, same)
        scores = scores / math.sqrt(query.size(-1))
        # These scores are a tensor [B, H, T, T] already, so the fused kernel, which forms none, has nothing to save.
        mixed, weights = attend(
            query + self.content_bias[:, None],
            keys.key,
            keys.value,
            scores if bias is None else scores + bias,
            self.dropout_prob if self.training else 0.0,
        )
        if target_mapping is not None:
            mixed = torch.einsum("bhtd,bmt->bhmd", mixed, target_mapping)
        return torch.einsum("bhtd,ehd->bte", mixed, self.output), weights

"""A pre-norm layer: normalise, attend, add; normalise, feed forward, add.

BERT normalises after each addition (post-norm). Here the vectors run from the first layer to the last with nothing but
additions (Xiong et al. 2020), which trains stably also with many layers and needs one more LayerNorm at the end.
Shapes: B batch, T tokens, D hidden size, H heads.
"""

from torch import Tensor, nn

from bertedu.family.modernbert.attention import RotaryAttention
from bertedu.family.modernbert.config import ModernBertConfig
from bertedu.family.modernbert.feed_forward import GeGLU
from bertedu.family.modernbert.rope import Rotation
from bertedu.model.encoder import TransformerLayer


def layer_norm(config: ModernBertConfig) -> nn.LayerNorm:
    """A LayerNorm without a bias."""
    return nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps, bias=False)


class PreNormLayer(TransformerLayer):
    """Attention and feed-forward, each on normalised vectors and added to those before: [B, T, D] to [B, T, D]."""

    def __init__(self, config: ModernBertConfig):
        super().__init__()
        self.attention_norm: nn.Module = layer_norm(config)
        self.attention = RotaryAttention(config)
        self.feed_forward_norm = layer_norm(config)
        self.feed_forward = GeGLU(config)

    def forward(
        self, hidden_states: Tensor, turn: Rotation, bias: Tensor | None = None, output_attentions: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Returns the new vectors [B, T, D], and the attention weights [B, H, T, T] when asked for, else None."""
        mixed, weights = self.attention(self.attention_norm(hidden_states), turn, bias, output_attentions)
        hidden_states = hidden_states + mixed
        return hidden_states + self.feed_forward(self.feed_forward_norm(hidden_states)), weights


class FirstLayer(PreNormLayer):
    """The lowest layer has no norm before its attention: the embeddings have just passed one."""

    def __init__(self, config: ModernBertConfig):
        super().__init__(config)
        self.attention_norm = nn.Identity()

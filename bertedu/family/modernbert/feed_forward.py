"""A feed-forward with a gate (GeGLU): one half of what is computed decides how much of the other half passes.

Shazeer 2020 ("GLU variants improve Transformer", equation 6); without biases. Three matrices' worth of weights instead
of two: beside the same hidden size it is therefore made narrower. Shapes: B batch, T tokens, D hidden size, I
intermediate size.
"""

from torch import Tensor, nn

from bertedu.config import EncoderConfig
from bertedu.model.encoder import activation


class GeGLU(nn.Module):
    """gelu(x A) times x B, entry by entry, and back to D: [B, T, D] to [B, T, D]."""

    def __init__(self, config: EncoderConfig):
        super().__init__()
        self.expand = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)  # A and B in one matrix
        self.activation = activation(config.hidden_act)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.shrink = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, hidden_states: Tensor) -> Tensor:
        activated, gate = self.expand(hidden_states).chunk(2, dim=-1)  # the first half goes through GELU
        return self.shrink(self.dropout(self.activation(activated) * gate))

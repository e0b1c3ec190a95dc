"""ModernBERT's head: dense, GELU, norm. The language model has one, and so has every task.

Warner et al. 2024 and the authors' code; in `transformers` ModernBertPredictionHead. BERT has such a layer in its
language model only, and a pooler with tanh for the tasks. Shapes: B batch, T tokens, D hidden size, V vocabulary.
"""

from torch import Tensor, nn

from bertedu.family.modernbert.config import ModernBertConfig
from bertedu.family.modernbert.layer import layer_norm
from bertedu.model.encoder import activation
from bertedu.model.heads import TiedDecoder


class PredictionHead(nn.Module):
    """Dense without a bias, GELU, norm: [..., D] to [..., D]."""

    def __init__(self, config: ModernBertConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.activation = activation("gelu")
        self.norm = layer_norm(config)

    def forward(self, hidden_states: Tensor) -> Tensor:
        return self.norm(self.activation(self.dense(hidden_states)))


class ModernBertLMHead(PredictionHead):
    """The head and a score for every word, [..., D] to [..., V]; the decoder's bias is the only one of the model."""

    def __init__(self, config: ModernBertConfig, token_embeddings: nn.Embedding):
        super().__init__(config)
        self.decoder = TiedDecoder(token_embeddings)

    def forward(self, hidden_states: Tensor) -> Tensor:
        return self.decoder(super().forward(hidden_states))

"""ModernBERT's head: dense, GELU, norm. The language model has one, and so has every task.

In `transformers` ModernBertPredictionHead; the paper does not show it. BERT has such a layer in its language model
only, and a pooler with tanh for the tasks. The layer has one name on disk, so that a task starts with the language
model's. Shapes: B batch, T tokens, D hidden size, V vocabulary.
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


class TextHead(PredictionHead):
    """One vector for each text, [B, T, D] to [B, D]: pooled as the config says, and then through the head."""

    def __init__(self, config: ModernBertConfig):
        super().__init__(config)
        self.pooling = config.classifier_pooling

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return super().forward(self.pooled(hidden_states, attention_mask))

    def pooled(self, hidden_states: Tensor, attention_mask: Tensor | None) -> Tensor:
        """The vector of [CLS], or the mean over real tokens: [B, D]."""
        if self.pooling == "cls":
            return hidden_states[:, 0]
        if attention_mask is None:
            return hidden_states.mean(dim=1)
        real = attention_mask.unsqueeze(-1).bool()  # [B, T, 1]
        return hidden_states.masked_fill(~real, 0).sum(dim=1) / real.sum(dim=1).clamp_min(1)


class TokenHead(PredictionHead):
    """One vector for each token, [B, T, D] to [B, T, D]: the mask has no part in it."""

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return super().forward(hidden_states)


class SpanHead(TokenHead):
    """The same with the dropout that question answering has in ModernBERT, and not in BERT."""

    def __init__(self, config: ModernBertConfig):
        super().__init__(config)
        self.dropout = nn.Dropout(config.classifier_dropout)

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return self.dropout(super().forward(hidden_states))

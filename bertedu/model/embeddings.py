"""Token + segment + position: the vector that each token enters the encoder with. Built by hand in notebook 02.

Devlin et al. 2019, section 3 and figure 2. Shapes: B batch, T tokens, D hidden size.
"""

import torch
from torch import Tensor, nn

from bertedu.config import BertConfig
from bertedu.errors import UserError


class BertEmbeddings(nn.Module):
    """The sum of three learned vectors for each token, normalised: ids [B, T] to [B, T, D].

    A member of the family whose vectors have another size here than in the layers gives that size.
    """

    def __init__(self, config: BertConfig, size: int | None = None):
        super().__init__()
        size = size or config.hidden_size
        self.token = nn.Embedding(config.vocab_size, size, padding_idx=config.pad_token_id)
        self.position = nn.Embedding(config.max_position_embeddings, size)
        self.token_type = nn.Embedding(config.type_vocab_size, size)
        self.norm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
        """Raises UserError for more tokens than positions and for ids beyond the vocabulary."""
        positions = self.position_vectors(input_ids)
        if token_type_ids is None:
            token_type_ids = torch.zeros_like(input_ids)
        vectors = look_up(self.token, input_ids) + self.segment_vectors(token_type_ids)  # [B, T, D]
        return self.dropout(self.norm(vectors + positions))

    def segment_vectors(self, token_type_ids: Tensor) -> Tensor:
        """The vector of each token's segment, [B, T, D]."""
        try:
            return self.token_type(token_type_ids)
        except IndexError:
            segments = self.token_type.num_embeddings
            outside = token_type_ids[(token_type_ids < 0) | (token_type_ids >= segments)]
            raise UserError(
                f"token_type_ids hold {outside[0].item()}, and this model knows the segments 0 to {segments - 1}: "
                "give 0 for the first text and 1 for the second."
            ) from None

    def position_vectors(self, input_ids: Tensor) -> Tensor:
        """The vectors of the positions 0 to T - 1, the same for every text: [T, D]."""
        length = input_ids.size(1)
        self.check_length(length, self.position.num_embeddings)
        return self.position.weight[:length]

    def check_length(self, length: int, most: int) -> None:
        """Raise UserError for a text of more tokens than there are positions for."""
        if length > most:
            raise UserError(
                f"a text has {length} tokens and this model {most} positions: shorten it with max_length={most}, or "
                "split it."
            )


def look_up(table: nn.Embedding, input_ids: Tensor) -> Tensor:
    """The vector of each token, [B, T] to [B, T, D]. Raises UserError for an id beyond the vocabulary."""
    try:
        return table(input_ids)
    except IndexError:
        size = table.num_embeddings
        outside = input_ids[(input_ids < 0) | (input_ids >= size)]
        raise UserError(
            f"token id {outside[0].item()} is outside this model's vocabulary of {size}: "
            "use the tokenizer that was saved with the model."
        ) from None

"""What DeBERTa learns with: the enhanced mask decoder, and in version 3 a head that finds replaced tokens.

He et al. 2021, section 3.2; He, Gao & Chen 2023, section 3; code: microsoft/DeBERTa (`masked_language_model.py`,
`replaced_token_detection_model.py`, `rtd_task.py`). `transformers` has none of it: what it calls DebertaForMaskedLM
scores the last layer's vectors, which no published DeBERTa was trained for.
Shapes: B batch, T tokens, D hidden size, V vocabulary.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from bertedu.errors import UserError
from bertedu.family.deberta.config import DebertaConfig
from bertedu.family.deberta.model import DisentangledModel
from bertedu.model.encoder import activation

PASSES = 2  # through the last layer, both with the same weights


class EnhancedMaskDecoder(nn.Module):
    """What stands between the encoder and the masked-word head: here, at the end, absolute positions come in.

    In "the old [MASK] stood near the old [MASK]" both gaps have the same words near them, and which noun is the
    subject is a matter of where it stands in the sentence. The decoder takes the vectors that the last layer reads,
    adds a position to each, and passes them twice through the last layer as *queries*; keys and values stay those
    without positions. For a task the encoder's last layer is used as it is, and the decoder is left out.
    """

    def __init__(self, config: DebertaConfig):
        super().__init__()
        # In Microsoft's files deberta.embeddings.position_embeddings, though the embeddings do not use it.
        self.position = nn.Embedding(config.max_position_embeddings, config.hidden_size)

    def forward(
        self, encoder: DisentangledModel, hidden_states: Sequence[Tensor], attention_mask: Tensor | None = None
    ) -> Tensor:
        """What the masked-word head reads, [B, T, D], from all hidden states of a pass through the encoder, L + 1 times
        [B, T, D], and its mask [B, T].
        """
        below = hidden_states[-2]  # what the last layer reads
        length, positions = below.size(1), self.position.num_embeddings
        if length > positions:
            raise UserError(f"a text has {length} tokens and the decoder {positions} positions: shorten it.")
        if attention_mask is None:
            attention_mask = torch.ones(below.shape[:2], dtype=torch.long, device=below.device)
        context = encoder.encoder.context(attention_mask)
        queries = self.position.weight[:length] + below
        for _ in range(PASSES):
            queries, _ = encoder.encoder.layers[-1](below, context, query_states=queries)
        return queries


class ReplacedTokenHead(nn.Module):
    """Is this token another one than in the text? A score for each, above 0 for yes: [B, T, D] to [B, T].

    Unlike ELECTRA's it compares each token with the whole text: the vector of [CLS] is added to each, then normalised.
    """

    def __init__(self, config: DebertaConfig):
        super().__init__()
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = activation(config.hidden_act)
        self.prediction = nn.Linear(config.hidden_size, 1)

    def forward(self, hidden_states: Tensor) -> Tensor:
        vectors = self.norm(hidden_states[:, :1] + hidden_states)
        return self.prediction(self.activation(self.dense(vectors))).squeeze(-1)


class GradientDisentangledEmbedding(nn.Embedding):
    """The discriminator's table of token embeddings: the generator's, through which no gradient flows, plus a
    difference that is the discriminator's own and starts at zero.

    If both shared one table, they would pull it apart: the generator wants words that fill the same gap close to each
    other, the discriminator wants to tell them apart. Here the discriminator starts from what the generator learns and
    changes only the difference. `weight` is the difference, so that optimizers find it.
    """

    generator_table: nn.Embedding

    def __init__(self, generator_table: nn.Embedding):
        super().__init__(
            generator_table.num_embeddings, generator_table.embedding_dim, padding_idx=generator_table.padding_idx
        )
        nn.init.zeros_(self.weight)
        self.__dict__["generator_table"] = generator_table  # past nn.Module: its weights are the generator's, not ours

    def forward(self, input: Tensor) -> Tensor:  # the name that nn.Embedding has for it
        """As an nn.Embedding, ids [B, T] to [B, T, D]."""
        shared = embedding(input, self.generator_table.weight.detach())
        return shared + super().forward(input)

    def merged(self) -> Tensor:
        """The table as a model on its own has it, [V, D]: what is saved after training."""
        return (self.generator_table.weight + self.weight).detach()

"""XLNet's heads: the word that is predicted, and the vector of a text.

Shapes: B batch, T tokens, M predicted tokens, D hidden size, V vocabulary, N labelled tokens.
"""

import torch
from torch import Tensor, nn

from bertedu.family.xlnet.config import XLNetConfig
from bertedu.model.attention import last_real_token
from bertedu.model.heads import IGNORED, MaskedLM, PreTrainingOutput, TiedDecoder, mean_cross_entropy


def language_model_head(config: XLNetConfig, token_embeddings: nn.Embedding) -> TiedDecoder:
    """The tied decoder alone: no dense layer and no LayerNorm before it."""
    return TiedDecoder(token_embeddings)


class XLNetLMHeadModel(MaskedLM):
    """XLNet with its language-model head.

    With labels and without perm_mask and target_mapping it is trained as BERT is, words being hidden by <mask>: what
    the paper compares XLNet with (DAE + Transformer-XL, table 6). MaskedLM on an XLNet is then the one to ask.
    """

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        masked_positions: Tensor | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
        perm_mask: Tensor | None = None,
        target_mapping: Tensor | None = None,
    ) -> PreTrainingOutput:
        """perm_mask and target_mapping as XLNetModel takes them: labels are then [B, M], the words that are predicted.

        masked_positions [B, T] alone asks which words stand there. XLNet has learned to say so in its query stream, to
        which <mask> means nothing: the words there are hidden from all tokens, and predicted each on its own.
        """
        if masked_positions is not None and labels is None and target_mapping is None:
            perm_mask, target_mapping = hidden_from_all(masked_positions, perm_mask)
            masked_positions = target_mapping.any(dim=-1)  # [B, M]
        output = self.encoder(
            input_ids,
            attention_mask,
            token_type_ids,
            output_attentions,
            output_hidden_states,
            perm_mask,
            target_mapping,
        )
        if labels is not None:
            masked_positions = labels != IGNORED
        vectors = output.last_hidden_state
        if masked_positions is not None:
            vectors = vectors[masked_positions]  # [N, D]
        prediction_logits = self.masked_lm(vectors)
        loss = None if labels is None else mean_cross_entropy(prediction_logits, labels[labels != IGNORED])
        return PreTrainingOutput(prediction_logits, None, output, loss)


def hidden_from_all(positions: Tensor, perm_mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """A perm_mask [B, T, T] and a target_mapping [B, M, T] with which the tokens at these positions, [B, T] of
    booleans, are predicted in reading order and seen by none. Texts with fewer than M have rows of zeros at the end.
    """
    batch, length = positions.shape
    hidden = positions[:, None].expand(batch, length, length)
    if perm_mask is not None:
        hidden = hidden | (perm_mask != 0)
    return hidden, target_mapping_of(positions)


def target_mapping_of(positions: Tensor) -> Tensor:
    """The target_mapping [B, M, T] of booleans with which the tokens at these positions, [B, T] of booleans, are
    predicted in reading order. Texts with fewer than M have rows of zeros at the end.
    """
    number = positions.long().cumsum(dim=1) - 1  # [B, T]: the how-manieth of its text
    rows = torch.arange(int(positions.sum(dim=1).max()), device=positions.device)[:, None]  # [M, 1]
    return (number[:, None] == rows) & positions[:, None]


class SequenceSummary(nn.Module):
    """One vector for the whole text: that of its last token, <cls>, through a linear layer and tanh.

    `transformers` takes the last column of the batch, so it must be padded on the left, as its tokenizer does. Our
    batches are padded on the right, where the last column is padding: what counts is the last token that the mask calls
    real. Distances are the same on either side, so both give the same vector.
    """

    def __init__(self, config: XLNetConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None) -> Tensor:
        """[B, T, D] and [B, T] to [B, D]."""
        return torch.tanh(self.dense(last_real_token(hidden_states, attention_mask)))

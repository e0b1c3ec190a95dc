"""A model as one function from arrays to an array: what ONNX can hold.

Shapes: B batch, T tokens, D hidden size, M masked positions of a text, V vocabulary, C classes or tags.
"""

from typing import Any

import torch
from torch import Tensor, nn

from bertedu.finetuning.task import ANSWERS, VECTORS, WORDS
from bertedu.model.pretrained import PretrainedModel

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
POSITIONS = "positions"
EXAMPLE_ROWS, EXAMPLE_TOKENS, EXAMPLE_MASKS = 2, 8, 2  # at least 2 each: a size of 1 is taken for a constant


class Logits(nn.Module):
    """A fine-tuned model: ids [B, T] to logits, [B, C] for a text and [B, T, C] for tokens."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        return self.model(input_ids, attention_mask, token_type_ids).logits


class Spans(Logits):
    """A finder of answers: ids [B, T] to the logits of a start and of an end at each token, [B, T, 2]."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        said = self.model(input_ids, attention_mask, token_type_ids)
        return torch.stack([said.start_logits, said.end_logits], dim=-1)


class Vectors(Logits):
    """A sentence encoder: ids [B, T] to vectors [B, D]."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        return self.model(input_ids, attention_mask, token_type_ids)


class MaskedWords(Logits):
    """A masked-language model that scores the words at `positions` [B, M] alone: [B, M, V].

    Scoring every token would be [B, T, V]: for 32 texts of 128 tokens and 30,522 words, 500 MB.
    """

    def forward(  # type: ignore[override]
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor, positions: Tensor
    ) -> Tensor:
        model: Any = self.model
        vectors = getattr(model, model.encoder_name)(input_ids, attention_mask, token_type_ids).last_hidden_state
        wanted = positions.unsqueeze(-1).expand(-1, -1, vectors.size(-1))  # [B, M, D]
        return model.masked_lm(vectors.gather(1, wanted))


def graph_of(model: PretrainedModel, use: str) -> nn.Module:
    """The function that is exported for a use."""
    return {ANSWERS: Spans, VECTORS: Vectors, WORDS: MaskedWords}.get(use, Logits)(model).eval()


def example_inputs(use: str) -> dict[str, Tensor]:
    """A small batch by which the graph is traced, with padding in it."""
    ids = torch.ones(EXAMPLE_ROWS, EXAMPLE_TOKENS, dtype=torch.long)
    mask = ids.clone()
    mask[1, EXAMPLE_TOKENS // 2 :] = 0
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}
    if use == WORDS:
        inputs[POSITIONS] = torch.zeros(EXAMPLE_ROWS, EXAMPLE_MASKS, dtype=torch.long)
    return inputs

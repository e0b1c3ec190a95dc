"""One vector for a whole text, five ways. Compared in notebook 10.

"pooler" is BERT's own (Devlin et al. 2019; the dense layer and tanh of the next-sentence task), "mean" the usual one
for similarity (Reimers & Gurevych 2019), "last four layers" the best of the paper's feature-based ones (table 7).
Shapes: B batch, T tokens, D hidden size.
"""

import torch
from torch import Tensor

from bertedu.config import TaskConfig
from bertedu.errors import UserError
from bertedu.finetuning.head import TaskModel
from bertedu.model.architecture import EncoderOutput, architecture
from bertedu.model.attention import last_real_token


def pooled_size(hidden_size: int, pooling: str) -> int:
    """How many numbers stand for a text."""
    return 4 * hidden_size if pooling == "last four layers" else hidden_size


def pool(output: EncoderOutput, attention_mask: Tensor, pooling: str, cls_at_end: bool = False) -> Tensor:
    """One vector for each text of a batch, [B, D], or [B, 4 D] for "last four layers" of [CLS]. Padding has no part.

    [CLS] is a text's first token; cls_at_end: its last, as in XLNet. "last four layers" needs output.hidden_states.
    Raises UserError where the model lacks what is asked for.
    """
    vectors = output.last_hidden_state  # [B, T, D]
    real = attention_mask.unsqueeze(-1).bool()  # [B, T, 1]
    if pooling == "cls":
        return of_cls(vectors, attention_mask, cls_at_end)
    if pooling == "mean":
        return vectors.masked_fill(~real, 0).sum(dim=1) / real.sum(dim=1).clamp_min(1)
    if pooling == "max":
        return vectors.masked_fill(~real, torch.finfo(vectors.dtype).min).amax(dim=1)
    if pooling == "pooler":
        if output.pooler_output is None:
            raise UserError('pooling is "pooler", but this model has no pooler: choose "cls" or "mean".')
        return output.pooler_output
    if pooling == "last four layers":
        if output.hidden_states is None or len(output.hidden_states) < 5:
            layers = len(output.hidden_states or ()) - 1
            raise UserError(f'pooling is "last four layers", and there are {max(0, layers)}: choose "cls" or "mean".')
        last_four = output.hidden_states[-4:]
        return torch.cat([of_cls(layer, attention_mask, cls_at_end) for layer in last_four], dim=-1)
    raise UserError(f"there is no pooling {pooling!r}: choose pooler, cls, mean, max or last four layers.")


def of_cls(vectors: Tensor, attention_mask: Tensor, at_end: bool) -> Tensor:
    """The vector of [CLS] in each text, [B, T, D] to [B, D]."""
    return last_real_token(vectors, attention_mask) if at_end else vectors[:, 0]


class PooledModel(TaskModel):
    """A model that reads one vector for each text, by `task_config.pooling`."""

    @classmethod
    def reads_pooler(cls, task_config: TaskConfig) -> bool:
        """Only the pooling "pooler" does."""
        return task_config.pooling == "pooler"

    @classmethod
    def wants_transform(cls, task_config: TaskConfig) -> bool:
        """Where the pooling is the published one."""
        return cls.reads_pooler(task_config)

    def pooled(self, input_ids: Tensor, attention_mask: Tensor | None, token_type_ids: Tensor | None) -> Tensor:
        """The vectors of a batch of texts, [B, D] or [B, 4 D]."""
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        pooling = self.task_config.pooling
        layers = pooling == "last four layers"
        output = self.encoder(input_ids, attention_mask, token_type_ids, output_hidden_states=layers)
        if self.transform is not None:
            return self.transform(output.last_hidden_state, attention_mask)
        return pool(output, attention_mask, pooling, architecture(self.config.model_type).tokenizer.cls_at_end)

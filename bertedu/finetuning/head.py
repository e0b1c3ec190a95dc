"""What all fine-tuned models share: an encoder of any member of the family, and a head on it that a task needs."""

from dataclasses import dataclass
from typing import Any, Self

from torch import Tensor

from bertedu.config import TaskConfig
from bertedu.model.architecture import Backbone, architecture
from bertedu.model.pretrained import PretrainedModel


@dataclass(kw_only=True)
class HeadOutput:
    """The loss of a batch, when labels were given: its sum over the `counted` things that have one.

    Sums are what training adds up over the parts of a batch: the part that has no label adds 0, where a mean of
    nothing would be nan.
    """

    summed_loss: Tensor | None = None
    counted: Tensor | int = 0

    @property
    def loss(self) -> Tensor | None:
        """The mean, as `transformers` gives it; nan where nothing has a label."""
        return None if self.summed_loss is None else self.summed_loss / self.counted


class TaskModel(PretrainedModel):
    """An encoder with what a task adds: `encoder`, `config` (the encoder's) and `task_config`."""

    encoder_name = "encoder"

    def __init__(self, encoder: Backbone, task_config: TaskConfig | None = None):
        super().__init__(encoder.config, task_config)
        self.encoder = encoder
        make = architecture(encoder.config.model_type).transforms.get(self.kind)
        self.transform = make(self.config) if make and self.wants_transform(self.task_config) else None

    @classmethod
    def from_config(cls, config: Any, task_config: TaskConfig | None = None) -> Self:
        """A new model, on a new encoder of the member that the config is of."""
        task_config, member = task_config or TaskConfig(), architecture(config.model_type)
        of_encoder = cls.reads_pooler(task_config) and cls.kind not in member.transforms
        return cls(member.encoder(config, add_pooling_layer=of_encoder), task_config)

    @classmethod
    def reads_pooler(cls, task_config: TaskConfig) -> bool:
        """Whether the head reads one vector of the whole text: the encoder's pooler, or what the member has for it."""
        return False

    @classmethod
    def wants_transform(cls, task_config: TaskConfig) -> bool:
        """Whether what the member puts below the last layer of this kind of model has a part in it."""
        return True

    def token_vectors(self, input_ids: Tensor, attention_mask: Tensor | None, token_type_ids: Tensor | None) -> Tensor:
        """A vector for each token, [B, T, D], as the last layer of the head reads it."""
        vectors = self.encoder(input_ids, attention_mask, token_type_ids).last_hidden_state
        return vectors if self.transform is None else self.transform(vectors, attention_mask)

    def settle(self) -> bool:
        """Put off what only training needs, so that a saved model is as `transformers` knows it; whether anything
        was."""
        return False

    @property
    def bert(self) -> Backbone:
        """The encoder, as BERT's classes in `transformers` call it."""
        return self.encoder

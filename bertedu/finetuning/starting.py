"""Where fine-tuning starts: pre-trained weights below, a new head above."""

import warnings
from typing import Any, TypeVar

from bertedu.finetuning.settings import FinetuningSettings
from bertedu.model.pretrained import PretrainedModel

Model = TypeVar("Model", bound=PretrainedModel)


def with_new_head(model_class: type[Model], model: str, settings: FinetuningSettings, **changes: Any) -> Model:
    """A model_class on the weights of a folder or hub id, with other changes, and the dropout of the settings if any.

    That the new head starts untrained, and that heads of pre-training are left out, is meant: no warning says so.
    """
    if settings.dropout is not None:
        dropout = {"hidden_dropout_prob": settings.dropout, "attention_probs_dropout_prob": settings.dropout}
        changes = {**dropout, **changes}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*they start untrained.*")
        warnings.filterwarnings("ignore", message=".*no place in this model.*")
        return model_class.from_pretrained(model, **changes)

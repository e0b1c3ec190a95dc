"""Where fine-tuning starts: pre-trained weights below, a new head above."""

import warnings
from dataclasses import replace
from typing import Any, TypeVar

from bertedu.checkpoints.folder import find_folder
from bertedu.config import BertConfig
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.model.bert import BertModel
from bertedu.model.pretrained import PretrainedModel

Model = TypeVar("Model", bound=PretrainedModel)
OF_A_TASK = ("labels", "problem_type", "pooling", "no_answer_threshold")  # fields that an earlier fine-tuning left


def with_new_head(model_class: type[Model], model: str, settings: FinetuningSettings, **changes: Any) -> Model:
    """A model_class on the BERT of a folder or hub id, with other changes, and the dropout of the settings if any.

    The head is always new, even where the folder holds one of the same shape: that of another task knows other
    classes. That heads are left out is meant: no warning says so. A pooler that the folder lacks and the model reads
    starts untrained, with a warning.
    """
    if settings.dropout is not None:
        dropout = {"hidden_dropout_prob": settings.dropout, "attention_probs_dropout_prob": settings.dropout}
        changes = {**dropout, **changes}
    folder = find_folder(model)
    usual = BertConfig()
    config = replace(BertConfig.load(folder), **{**{name: getattr(usual, name) for name in OF_A_TASK}, **changes})
    network = model_class(config)
    body: BertModel = network.bert  # type: ignore[assignment]
    with warnings.catch_warnings():
        if body.pooler is None:
            warnings.filterwarnings("ignore", message=".*they start untrained.*")
        warnings.filterwarnings("ignore", message=".*no place in this model.*")
        source = BertModel.from_pretrained(folder)
    body.load_state_dict({name: value for name, value in source.state_dict().items() if name in body.state_dict()})
    return network.eval()

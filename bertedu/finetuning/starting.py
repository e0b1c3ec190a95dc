"""Where fine-tuning starts: pre-trained weights below, a new head above."""

import warnings
from dataclasses import fields, replace
from typing import Any, TypeVar

from torch import nn

from bertedu.checkpoints.folder import find_folder, load_weights
from bertedu.config import EncoderConfig, TaskConfig, architecture_of
from bertedu.finetuning.head import TaskModel
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.model.architecture import architecture_in
from bertedu.model.heads import MaskedLM

Model = TypeVar("Model", bound=TaskModel)


def with_new_head(model_class: type[Model], model: str, settings: FinetuningSettings, **changes: Any) -> Model:
    """A model_class on the encoder of a folder or hub id; changes are fields of TaskConfig. Its dropout is that of the
    settings, if any.

    The head is always new, even where the folder holds one of the same shape: that of another task knows other
    classes. That heads are left out is meant: no warning says so. A pooler that the folder lacks and the model reads
    starts untrained, with a warning. What a member's tasks share with its language model (ModernBERT's dense layer and
    norm) comes from there, as in `transformers`.
    """
    folder = find_folder(model)
    member = architecture_in(folder)
    config = member.config.load(folder)
    if settings.dropout is not None:
        config = with_dropout(config, settings.dropout)
    network = model_class.from_config(config, TaskConfig(**changes))
    places = encoder_of(network).state_dict()
    with warnings.catch_warnings():
        if not any(network.encoder.depth(name) > config.num_hidden_layers for name in places):  # it has no pooler
            warnings.filterwarnings("ignore", message=".*they start untrained.*")
        warnings.filterwarnings("ignore", message=".*no place in this model.*")
        source = member.encoder.from_pretrained(folder)
    encoder_of(network).load_state_dict({name: value for name, value in source.state_dict().items() if name in places})
    if network.transform is not None and architecture_of(folder) == member.class_name(MaskedLM.kind):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*they start untrained.*|.*no place in this model.*")
            load_weights(network, folder, member.names)
    return network.eval()


def with_dropout(config: EncoderConfig, share: float) -> EncoderConfig:
    """The config with this dropout everywhere: a member may have fields of its own for it."""
    shares: dict[str, Any] = {field.name: share for field in fields(config) if "dropout" in field.name}
    return replace(config, **shares)


def encoder_of(model: TaskModel) -> nn.Module:
    """The encoder as the module that it is."""
    return model.get_submodule(model.encoder_name)

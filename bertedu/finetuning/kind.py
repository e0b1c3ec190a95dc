"""A task by its name: how its data are read, what learns it, and what needs no network to compare it with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.task import FinetuningTask
from bertedu.model.pretrained import PretrainedModel
from bertedu.tokenization import BertTokenizer

Figures = dict[str, float]


@dataclass(frozen=True)
class Kind:
    """What `bertedu finetune NAME` does.

    read(path) gives the labelled rows of a file, folder or hub:NAME. make(train, validation, tokenizer, model,
    settings) gives the model, loaded from the folder or hub id `model` with a new head, and the task.
    baselines(train, test) gives the figures of simpler answers by name. settings are the defaults in which this
    task differs from others.
    """

    name: str
    read: Callable[[str], list[Any]]
    make: Callable[
        [Sequence[Any], Sequence[Any], BertTokenizer, str, FinetuningSettings], tuple[PretrainedModel, FinetuningTask]
    ]
    baselines: Callable[[Sequence[Any], Sequence[Any]], dict[str, Figures]]
    settings: dict[str, Any] = field(default_factory=dict)

"""A task by its name: how its data are read, what learns it, and what needs no network to compare it with."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.task import FinetuningTask
from bertedu.model.pretrained import PretrainedModel
from bertedu.tokenization import Tokenizer

Figures = dict[str, float]


@dataclass(frozen=True)
class Kind:
    """What `bertedu finetune NAME` does.

    read(source, split, train) gives the labelled rows of a file, folder or hub:NAME; split is for the hub; where
    training rows are given, what cannot be learned from them (another label, a score beyond theirs) is refused.
    make(train, validation, tokenizer, model, settings) gives the model, loaded from the folder or hub id `model` with
    a new head, and the task. baselines(train, test) gives the figures of simpler answers by name. settings are the
    defaults in which this task differs from others. unit(row) is what rows share that must not stand in training and
    validation at once. folders_by_label says that a folder with a folder for each label can be read.
    """

    name: str
    read: Callable[..., list[Any]]
    make: Callable[
        [Sequence[Any], Sequence[Any], Tokenizer, str, FinetuningSettings], tuple[PretrainedModel, FinetuningTask]
    ]
    baselines: Callable[[Sequence[Any], Sequence[Any]], dict[str, Figures]]
    settings: dict[str, Any] = field(default_factory=dict)
    unit: Callable[[Any], Hashable] | None = None
    folders_by_label: bool = False

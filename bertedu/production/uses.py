"""What a saved model can be used for in a service: classes, scores, tags, answers, masked words, vectors.

The name in a folder's config.json decides, for every member of the family.
"""

from pathlib import Path

from bertedu.checkpoints.folder import Trained, find_folder
from bertedu.config import TaskConfig, architecture_of
from bertedu.errors import UserError
from bertedu.finetuning.task import WORDS
from bertedu.inference import check_fills, open_filler
from bertedu.model import BertForPreTraining
from bertedu.model.architecture import architecture, architecture_in, tokenizer_in
from bertedu.model.heads import MaskedLM
from bertedu.model.pretrained import PretrainedModel
from bertedu.registry import TASKS
from bertedu.tokenization import Tokenizer

FILLERS = (MaskedLM.kind, BertForPreTraining.kind)


def use_of(folder: Path) -> str:
    """What the model in a folder is used for. Raises UserError for one that is not exported here."""
    member, name, task_config = architecture_in(folder), architecture_of(folder), TaskConfig.load(folder)
    for network, use in served(task_config):
        if name == member.class_name(network.kind):
            return use
    if name in map(member.class_name, FILLERS) and member.for_masked_lm is None:
        return WORDS
    raise not_served(f"{folder} holds a {name or 'model without a name'}")


def served(task_config: TaskConfig) -> list[tuple[type[PretrainedModel], str]]:
    """The networks of the tasks that a service knows how to use, and for what."""
    fitting = [task for task in TASKS.values() if task.use and task.serves(task_config)]
    return [(network, task.use) for task in fitting for network in task.networks]


def not_served(what: str) -> UserError:
    """The refusal of a model that no service uses."""
    uses = ", ".join(dict.fromkeys(task.use for task in TASKS.values() if task.use))
    return UserError(
        f"{what}, which is not exported: give a model for {uses} or masked words (of a member that reads all tokens at "
        "once)."
    )


def open_to_export(name: str | Path) -> tuple[PretrainedModel, Tokenizer, str]:
    """The model, its tokenizer and its use. Raises UserError for a model that is not exported."""
    folder = find_folder(name)
    use = use_of(folder)
    if use == WORDS:
        filler, tokenizer = open_filler(folder)
        check_fills(filler)
        return filler, tokenizer, use
    member = architecture_in(folder)
    of_name = {member.class_name(network.kind): network for network, _ in served(TaskConfig.load(folder))}
    model = of_name[architecture_of(folder)].from_pretrained(folder, Trained("", f"was trained for {use}"))
    return model, tokenizer_in(folder), use


def use_of_model(model: PretrainedModel) -> str:
    """The same of a model in memory."""
    for network, use in served(model.task_config):
        if isinstance(model, network):
            return use
    if hasattr(model, "masked_lm") and architecture(model.config.model_type).for_masked_lm is None:
        return WORDS
    raise not_served(f"this is a {type(model).__name__}")

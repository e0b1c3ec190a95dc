"""Every task on a device that is not the CPU: one step, validation, saving; a forgotten `.to(device)` fails here.

The device is a GPU where there is one, else that of `other_device.py`, which refuses to mix its tensors with those of
the CPU, as a GPU does. torch counts its devices at the first backward pass of a process, and takes up no other later.
So pytest does not find this file by itself: `test_training_devices.py` starts it in a process of its own.
"""

import inspect
import sys
import textwrap
from contextlib import nullcontext
from importlib import import_module

import pytest
import torch
from safetensors.torch import load_file
from support.finetuning_rows import DATA, LETTERS
from support.other_device import AVAILABLE, NAME, other_device
from support.tiny_run import SIZES, save_teacher, tiny_task, tiny_trainer

from bertedu.config import BertConfig
from bertedu.family import MEMBERS
from bertedu.finetuning.asking import answer_question
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.finetuning.run import finetune
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.finetuning.tasks.similarity import SentenceEncoder, embed
from bertedu.inference import fill_mask
from bertedu.model import BertForPreTraining
from bertedu.model.architecture import architecture
from bertedu.pretraining.members import objectives_of
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain
from bertedu.registry import TASKS
from bertedu.search.late_interaction import LateInteraction, LateSearch
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training import loop
from bertedu.training.budget import Budget
from bertedu.training.settings import TrainingSettings

GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else NAME
pytestmark = pytest.mark.skipif(not GPU and not AVAILABLE, reason="this torch lets Python add no device")
OBJECTIVES = [(name, objective) for name in MEMBERS for objective in objectives_of(name)]
VARIANTS = [(task, {}) for task in TASKS] + [
    ("entities", {"crf": True}),
    ("classification", {"class_weights": "balanced", "pooling": "mean"}),
    ("classification", {"pooling": "max", "freeze_encoder": False, "unfreeze_over": 0.5}),
]


@pytest.fixture(autouse=True)
def chosen(monkeypatch):
    """Runs that choose the other device, on which no weight or number may be left behind."""
    for module in ("bertedu.training.loop", "bertedu.training.settings"):
        monkeypatch.setattr(f"{module}.choose_device", lambda wish: DEVICE)
    for module in ("feeding", "loop", "muon"):
        monkeypatch.setattr(f"bertedu.training.{module}.runs_ahead", lambda device: device == DEVICE)
    with nullcontext() if GPU else other_device():
        yield


def labelled(task: str, folder):
    """A file with the data of a task."""
    file, content = DATA[task]
    (folder / file).write_text(content, encoding="utf-8")
    return str(folder / file)


def letters() -> BertTokenizer:
    return BertTokenizer([*SPECIAL_TOKENS, *LETTERS, "."])


def save_base(folder, member: str = "bert", layers: int = 1) -> str:
    """A small model of a member, whose ids are those of the letters."""
    sizes = {**SIZES, "vocab_size": len(letters()), "num_hidden_layers": layers, "max_position_embeddings": 72}
    config = architecture(member).config(**sizes, pad_token_id=0)
    (BertForPreTraining(config) if member == "bert" else architecture(member).encoder(config)).save_pretrained(folder)
    letters().save_pretrained(folder)
    return str(folder)


def one_step(objective: str, member: str, folder, **changes) -> loop.Trainer:
    """One step of pre-training, validated and saved."""
    teacher = {"teacher": str(save_teacher(folder / "teacher"))} if objective == "distillation" else {}
    named = {"objective": objective} if teacher else {"objective": objective, "architecture": member}
    trainer = tiny_trainer(folder, steps=1, task=tiny_task(**named, **teacher), validations=1, **changes)
    trainer.run()
    return trainer


def one_step_of_fine_tuning(member: str, task: str, options: dict, folder) -> loop.Trainer:
    """One step with the head of a member, validated and saved."""
    kind, model = TASKS[task], save_base(folder / "base", member)
    settings = FinetuningSettings(**{"batch_size": 8, **kind.defaults, **options, "max_length": 64})
    rows = kind.read_rows(labelled(task, folder))
    network, made = kind.make(rows[:32], rows[32:], letters(), model, settings)
    how = TrainingSettings(1e-3, precision="fp32", validations=1)
    trainer = loop.Trainer(network, made, how, Budget(steps=1), folder)
    trainer.run()
    return trainer


@pytest.mark.slow(cases=11)
@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
@pytest.mark.parametrize(("member", "objective"), [*OBJECTIVES, ("bert", "distillation")])
def test_pre_training_leaves_no_tensor_on_the_cpu(tmp_path, member, objective, optimizer):
    trainer = one_step(objective, member, tmp_path, optimizer=optimizer)
    assert {weight.device.type for weight in trainer.bare_model.parameters()} == {DEVICE}
    assert (tmp_path / "checkpoint-best").is_dir() and load_file(tmp_path / "resume.safetensors")


def test_the_other_device_learns_the_same_as_the_cpu(tmp_path, monkeypatch):
    """The same four steps on either: what is refused above is the mixing, not the numbers."""
    tiny_trainer(tmp_path / "other", steps=4).run()
    monkeypatch.setattr("bertedu.training.loop.choose_device", lambda wish: "cpu")
    tiny_trainer(tmp_path / "cpu", steps=4).run()
    one, other = (load_file(tmp_path / name / "checkpoint" / "model.safetensors") for name in ("other", "cpu"))
    assert one.keys() == other.keys() and all(
        torch.allclose(one[name], other[name], rtol=0, atol=1e-4 if GPU else 1e-6) for name in one
    )


def test_a_run_on_a_device_is_resumed_on_the_cpu(tmp_path):
    tiny_trainer(tmp_path, steps=2).run()
    trainer = tiny_trainer(tmp_path, steps=2)
    trainer.run(resume=True)
    state = trainer.optimizers[0].state
    assert state and all(value.device.type == DEVICE for of in state.values() for value in of.values())


@pytest.mark.slow(cases=13)
@pytest.mark.parametrize(("task", "options"), VARIANTS)
@pytest.mark.parametrize("member", MEMBERS)
def test_fine_tuning_leaves_no_tensor_on_the_cpu(tmp_path, member, task, options):
    """One step with the head of every member; validation reads what each task predicts."""
    network = one_step_of_fine_tuning(member, task, options, tmp_path).bare_model
    assert {weight.device.type for weight in network.parameters()} == {DEVICE}
    assert (tmp_path / "checkpoint-best").is_dir()


@pytest.mark.slow(cases=4)
@pytest.mark.parametrize("task", TASKS)
def test_a_whole_run_of_fine_tuning_works_on_the_device(tmp_path, task):
    """Training, the best weights read again, the test set, and what the predictions say."""
    options = {"epochs": 0.5, "max_length": 64, "precision": "fp32", "output": tmp_path / "run"}
    data = labelled(task, tmp_path)
    plan = FinetuningPlan.from_options(
        TASKS[task].defaults, task=task, model=save_base(tmp_path / "base"), data=data, test=data, **options
    )
    assert finetune(plan, TASKS[task], lambda said: None)["test"]


@pytest.mark.slow(cases=0)
def test_a_whole_run_of_pre_training_works_on_the_device(tmp_path):
    """Its evaluation too: held-out words and pairs, nearest words, and what it fills in."""
    plan = Plan.from_options(corpus=("world",), steps=1, batch_size=4, precision="fp32", output=tmp_path / "run")
    assert pretrain(plan, lambda said: None)["evaluation"]


ASKED = {
    "masked words": (BertForPreTraining, lambda model: fill_mask(model, letters(), "a [MASK] b")[0][0][1]),
    "vectors": (SentenceEncoder, lambda model: embed(model, letters(), ["a b", "c"]).tolist()),
    "answers": (SpanFinder, lambda model: answer_question(model, letters(), "a", "b c d")[1]),
    "search": (LateInteraction, lambda model: LateSearch(model, letters(), ["a b", "c"]).search(["b"], 1)),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_model_on_a_device_is_asked_with_tensors_of_that_device(name):
    kind, ask = ASKED[name]
    model = kind.from_config(BertConfig(**{**SIZES, "vocab_size": len(letters())})).eval()
    right = ask(model)
    model.to(DEVICE)
    assert str(ask(model)) == str(right) or GPU


# Planted bugs: in a copy of a function one device is forgotten, and one step of a task must die of it. By name: where
# the function is, what is taken out, what it becomes, and what is run: an objective and a member, or a task's options.
PLANTED = {
    "the batch": ("bertedu.training.loop", "to_device", ".to(device, non_blocking=True)", "", ("pairs", "bert")),
    "the padding": ("bertedu.model.attention", "hiding_bias", ", device=hidden.device", "", ("pairs", "bert")),
    "angles": (
        "bertedu.family.modernbert.model", "rotation", ", device=positions.device", "", ("words", "modernbert"),
    ),
    "distances": (
        "bertedu.family.deberta.v1:DebertaEncoder", "distances", ", device=device", "", ("words", "deberta"),
    ),
    "sinusoids": (
        "bertedu.family.xlnet.model", "relative_sinusoids", ", device=device", "", ("permutation", "xlnet"),
    ),
    "the order": (
        "bertedu.family.xlnet.model", "hiding_biases", ", device=content.device", "", ("permutation", "xlnet"),
    ),
    "pieces": (
        "bertedu.pretraining.objectives.spans:Spans", "words_in_spans", ".to(labels.device)", "", ("spans", "bert"),
    ),
    "the teacher": (
        "bertedu.pretraining.objectives.distillation:Distillation", "teacher_on", "self.teacher.to(device)", "pass",
        ("distillation", "bert"),
    ),
    "class weights": (
        "bertedu.finetuning.classification:ClassificationTask", "sums", ".to(logits.device)", "",
        ("classification", {"class_weights": "balanced"}),
    ),
    "tags": (
        "bertedu.finetuning.crf:ConditionalRandomField", "decode", ", device=best.device", "",
        ("entities", {"crf": True}),
    ),
    "what is read": (
        "bertedu.finetuning.task:FinetuningTask", "_read_all", "to_device(batch, device)", "batch", ("tagging", {}),
    ),
}  # fmt: skip


def plant(monkeypatch, where: str, name: str, old: str, new: str) -> None:
    """Put a changed copy of a function in its place."""
    module_name, _, class_name = where.partition(":")
    module = import_module(module_name)
    owner = getattr(module, class_name) if class_name else module
    function = getattr(getattr(owner, name), "__wrapped__", getattr(owner, name))
    source = textwrap.dedent(inspect.getsource(function))
    assert old in source, f"{where}.{name} has changed: plant the bug anew"
    made: dict = {}
    exec(source.replace(old, new), {**vars(sys.modules[function.__module__])}, made)
    monkeypatch.setattr(owner, name, made[name])


@pytest.mark.slow(cases=4)
@pytest.mark.parametrize("bug", PLANTED)
def test_a_forgotten_device_is_noticed(tmp_path, monkeypatch, bug):
    *place, (what, options) = PLANTED[bug]
    plant(monkeypatch, *place)
    with pytest.raises(RuntimeError, match=r"(?i)expected all tensors to be on the same device"):
        if isinstance(options, str):
            one_step(what, options, tmp_path)
        else:
            one_step_of_fine_tuning("bert", what, options, tmp_path)

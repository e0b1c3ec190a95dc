"""Several processes by torchrun take the same steps as one, in every task, stopped on the way or not."""

import json

import pytest
import torch
from support.finetuning_rows import DATA, LETTERS
from support.slow_cases import asked_for
from support.stopped_runs import assert_same
from support.tiny_run import tiny_task, tiny_trainer
from support.torchrun import run_two_processes
from support.two_processes import plan_of

from bertedu.config import BertConfig
from bertedu.finetuning.run import finetune
from bertedu.model import BertForPreTraining
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training.metrics import read_metrics
from bertedu.training.optimization import OPTIMIZERS

pytestmark = pytest.mark.slow
# By name: a task, its options, and whether it is stopped and resumed: every task with either optimizer is.
RUNS = {
    f"{name} {optimizer}": (task, {**options, "optimizer": optimizer}, True)
    for optimizer in OPTIMIZERS
    for name, task, options in [*((task, task, {}) for task in TASKS), ("crf", "entities", {"crf": True})]
}
RUNS["straight on"] = ("classification", {"optimizer": "adamw"}, False)
RUNS["multiple passes"] = ("tagging", {"optimizer": "muon", "epochs": 2.0}, False)
RUNS["accumulation"] = ("classification", {"optimizer": "muon", "accumulation": 2, "data_workers": 1}, False)
RUNS["frozen"] = ("classification", {"freeze_encoder": True}, False)
# A task whose loss reads weights outside of the model's forward would meet a share of them.
RUNS |= {f"fsdp {task}": (task, {"fsdp": True, "checkpointing": True}, True) for task in TASKS}
RUNS["fsdp crf"] = ("entities", {"fsdp": True, "crf": True}, True)
RUNS["fsdp frozen"] = ("classification", {"fsdp": True, "freeze_encoder": True}, False)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A very small BERT that says something else to each text: correlations of equal numbers are those of rounding."""
    folder = tmp_path_factory.mktemp("base")
    torch.manual_seed(0)
    tokenizer = BertTokenizer([*SPECIAL_TOKENS, *LETTERS, "."])
    config = BertConfig(len(tokenizer), 16, 2, 2, 32, max_position_embeddings=64, initializer_range=0.2)
    BertForPreTraining(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory, base):
    """What two processes made. The program ends by itself: its length depends on the machine, so nothing limits it."""
    folder = tmp_path_factory.mktemp("two")
    plans = {}
    for name in asked_for(request, "name"):
        task, options, stopped = RUNS[name]
        file, content = DATA[task]
        data = folder / "data" / task / file
        data.parent.mkdir(parents=True, exist_ok=True)
        data.write_text(content, encoding="utf-8")
        plans[name] = (task, {"model": str(base), "data": str(data), **options}, stopped)
    (folder / "plans.json").write_text(json.dumps(plans), encoding="utf-8")
    run_two_processes("two_processes", folder)
    return folder


def test_a_finished_process_leaves_no_open_connections(folder):
    """Python would end with a thread of gloo still running, which now and then aborts the process."""
    assert sorted(path.name for path in folder.glob("closed-*")) == ["closed-0", "closed-1"]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("resumed", ["", " resumed"])
def test_two_processes_take_the_same_steps_as_one(folder, tmp_path, optimizer, resumed):
    """Each batch is cut by rows: two processes get four of its eight rows each, and divide by the counts of all
    eight. So two processes with batch 8 in all must equal one process with batch 8, twice what each of them sees.
    """
    tiny_trainer(tmp_path, dropout=0.0, optimizer=optimizer).run()
    assert len(read_metrics(tmp_path)) >= 12
    assert_same(folder / f"{optimizer}{resumed}", tmp_path)


@pytest.mark.parametrize("objective", ["replaced-tokens", "spans", "permutation"])
def test_two_processes_draw_the_same_words_spans_and_orders_as_one(folder, tmp_path, objective):
    """What ELECTRA's generator puts into a text, which spans of it are hidden, and the order in which XLNet reads it
    depend on that text alone.
    """
    tiny_trainer(tmp_path, task=tiny_task(objective=objective), dropout=0.0).run()
    assert_same(folder / objective, tmp_path)


@pytest.mark.slow(cases=5)
@pytest.mark.parametrize("name", RUNS)
def test_fine_tuning_with_two_processes_learns_what_one_learns(folder, tmp_path, name):
    task, options, _ = json.loads((folder / "plans.json").read_text("utf-8"))[name]
    options.pop("fsdp", None)  # one process has the whole model
    right = finetune(plan_of(task, options, tmp_path / "one"), TASKS[task], lambda said: None)
    found = json.loads((folder / name / "metrics.json").read_text("utf-8"))
    assert found["runs"][0]["processes"] == 2 and found["runs"][0]["tokens"] == right["runs"][0]["tokens"]
    for figure, value in right["runs"][0]["validation"].items():
        assert found["runs"][0]["validation"][figure] == pytest.approx(value, abs=1e-4), figure
    assert_same(folder / name / "seed-0", tmp_path / "one" / "seed-0")
    assert (folder / name / "predictions.jsonl").read_text("utf-8").count("\n") == 4


@pytest.mark.parametrize("run", [*OPTIMIZERS, "minutes"])
def test_all_processes_end_at_the_same_step_with_the_same_weights(folder, run):
    """With minutes each process would go by its own clock: other rates, other masks, another last step."""
    first, second = ((folder / f"{run} process {i} of 2").read_text() for i in (1, 2))
    assert first == second

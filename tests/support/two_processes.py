"""What two processes by torchrun do, in one program, so that torch is loaded once: every fine-tuning task and
pre-training, with both optimizers, some stopped on the way and resumed.

`torchrun … -m support.two_processes FOLDER` goes by FOLDER/plans.json: by name a task, its options, and whether the run
is stopped by one process and resumed. Pre-training goes into FOLDER/adamw, FOLDER/muon (and "… resumed"),
FOLDER/minutes; ELECTRA's, SpanBERT's and XLNet's, stopped and resumed, into FOLDER/replaced-tokens, FOLDER/spans,
FOLDER/permutation.
"""

import atexit
import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from torch import distributed

from bertedu.finetuning.plan import FinetuningPlan
from bertedu.finetuning.run import finetune
from bertedu.finetuning.task import FinetuningTask
from bertedu.registry import TASKS
from bertedu.training.processes import is_main_process
from support import tiny_run

STOPPED_AT = 4


def plan_of(task: str, options: dict, output: Path) -> FinetuningPlan:
    """A run without dropout, which each process would draw for itself; its last batch has one row."""
    fixed = {"dropout": 0.0, "batch_size": 5, "epochs": 1.0, "learning_rate": 1e-3, "device": "cpu"}
    given = {**fixed, "precision": "fp32", **options, "output": output}
    return FinetuningPlan.from_options(TASKS[task].defaults, task=task, **given)


class StoppedByOne:
    """A task with Ctrl-C in the second process while a step is under way."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def prepare(self, batch, step, share):
        stop_second_process(step)
        return self.inner.prepare(batch, step, share)


def stop_second_process(step: int) -> None:
    if step == STOPPED_AT and not is_main_process():
        signal.raise_signal(signal.SIGINT)


def stopped_and_resumed(plan: FinetuningPlan) -> None:
    """Fine-tuning that ends early everywhere because one process is told to, and goes on."""
    whole = FinetuningTask.prepare

    def prepare(task, batch, step, share):
        stop_second_process(step)
        return whole(task, batch, step, share)

    FinetuningTask.prepare = prepare
    try:
        assert finetune(plan, TASKS[plan.task], lambda said: None) is None
    finally:
        FinetuningTask.prepare = whole
    assert not (plan.folder / "metrics.json").exists()
    finetune(replace(plan, resume=True), TASKS[plan.task], lambda said: None)


def say_if_closed(folder: Path, rank: int) -> None:
    """Leave a file if the connections are closed when Python ends."""
    if not distributed.is_initialized():
        (folder / f"closed-{rank}").touch()


def main(folder: Path) -> None:
    """Everything, one after the other."""
    atexit.register(say_if_closed, folder, int(os.environ["RANK"]))  # the first to register is the last to be called
    tiny_run.main(folder)
    for optimizer in ("adamw", "muon"):
        where = folder / f"{optimizer} resumed"
        trainer = tiny_run.tiny_trainer(
            where, task=StoppedByOne(tiny_run.tiny_task()), dropout=0.0, optimizer=optimizer
        )
        assert trainer.run().step == STOPPED_AT + 1
        assert tiny_run.tiny_trainer(where, dropout=0.0, optimizer=optimizer).run(resume=True).step == 12
    for objective in ("replaced-tokens", "spans", "permutation"):
        where, tasks = folder / objective, [tiny_run.tiny_task(objective=objective) for _ in range(2)]
        trainer = tiny_run.tiny_trainer(where, task=StoppedByOne(tasks[0]), dropout=0.0)
        assert trainer.run().step == STOPPED_AT + 1
        tiny_run.tiny_trainer(where, task=tasks[1], dropout=0.0).run(resume=True)
    for name, (task, options, stopped) in json.loads((folder / "plans.json").read_text("utf-8")).items():
        plan = plan_of(task, options, folder / name)
        if stopped:
            stopped_and_resumed(plan)
        else:
            finetune(plan, TASKS[task], lambda said: None)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""What two processes by torchrun do with each setting of the engine, in one program, so that torch is loaded once.

`torchrun … -m support.two_processes_engine FOLDER NAME …` trains 12 steps into FOLDER/NAME for each of these MODES, and
once more into "FOLDER/NAME resumed", stopped by the second process on the way.
"""

import sys
import time
from functools import partial
from pathlib import Path

import torch

from bertedu.checkpoints.folder import save_tensors
from bertedu.training import resume
from support import tiny_run
from support.two_processes import STOPPED_AT, StoppedByOne

# By name: the settings, and the objective or member that is trained (BERT with both heads, where none is named).
MODES = {
    "fp16": ({"precision": "fp16"}, {}),
    "fp16 muon": ({"precision": "fp16", "optimizer": "muon"}, {}),
    "checkpointing": ({"checkpointing": True}, {}),
    "accumulation": ({"accumulation": 3, "checkpointing": True}, {}),
    "fsdp": ({"fsdp": True}, {}),
    "fsdp muon": ({"fsdp": True, "optimizer": "muon"}, {}),
    "fsdp fp16": ({"fsdp": True, "precision": "fp16"}, {}),
    "fsdp everything": ({"fsdp": True, "precision": "fp16", "checkpointing": True, "accumulation": 2}, {}),
    "compile": ({"compile": True}, {}),
    "compile everything": ({"compile": True, "checkpointing": True, "accumulation": 3}, {}),
    "fsdp compile": ({"fsdp": True, "compile": True}, {}),
    "fsdp compile everything": ({"fsdp": True, "compile": True, "checkpointing": True, "accumulation": 2}, {}),
    "fsdp compile albert": ({"fsdp": True, "compile": True}, {"architecture": "albert"}),
    "fsdp compile modernbert": ({"fsdp": True, "compile": True}, {"architecture": "modernbert"}),
    "fsdp albert": ({"fsdp": True, "checkpointing": True}, {"architecture": "albert"}),
    "fsdp electra": ({"fsdp": True}, {"objective": "replaced-tokens"}),
    "fsdp spans": ({"fsdp": True}, {"objective": "spans"}),
    "fsdp xlnet": ({"fsdp": True, "checkpointing": True}, {"objective": "permutation"}),
    "fsdp deberta": ({"fsdp": True, "checkpointing": True}, {"architecture": "deberta-v2"}),
    "fsdp modernbert": ({"fsdp": True, "checkpointing": True}, {"architecture": "modernbert"}),
}


def trainer_of(mode: str, folder: Path, processes: int, stopped: bool = False) -> tiny_run.Trainer:
    """A run of this mode without dropout, which each process would draw for itself; one process alone neither shards
    nor compiles.
    """
    settings, task_settings = MODES[mode]
    if processes == 1:
        settings = {**settings, "fsdp": False, "compile": False}
    task = tiny_run.tiny_task(**task_settings)
    return tiny_run.tiny_trainer(folder, task=StoppedByOne(task) if stopped else task, dropout=0.0, **settings)


def save_late(*arguments) -> None:
    """The first process writes its state a little later, when the second could already be reading the last one."""
    time.sleep(0.2)
    save_tensors(*arguments)


# The layers' code is traced and cut into graphs as for the real compiler, by a backend that needs no C++ compiler.
traced = partial(torch.compile, backend="aot_eager")


def main(folder: Path, modes: list[str]) -> None:
    """Each mode straight on, and stopped and resumed."""
    torch.compile = traced
    for mode in modes:
        assert trainer_of(mode, folder / mode, 2).run().step == 12
        resume.save_tensors = save_late
        assert trainer_of(mode, folder / f"{mode} resumed", 2, stopped=True).run().step == STOPPED_AT + 1
        resume.save_tensors = save_tensors
        assert trainer_of(mode, folder / f"{mode} resumed", 2).run(resume=True).step == 12


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])

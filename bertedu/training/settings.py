"""How a run takes its steps."""

import math
from dataclasses import dataclass, fields
from typing import Any

from bertedu.errors import UserError
from bertedu.training.devices import DEVICES, PRECISIONS, choose_device, choose_precision
from bertedu.training.layers import check_compiler
from bertedu.training.optimization import OPTIMIZERS, check_warmup


@dataclass(frozen=True)
class TrainingSettings:
    """How a run takes its steps; every field validated.

    optimizer: "adamw" as in the paper, or "muon". warmup is a share of the run; accumulation cuts each batch in so
    many parts; data_workers are processes that make batches ahead of the steps; a run ends early after `patience`
    validations without a better one (0: never). compile and checkpointing are what `layers.py` does, fsdp what
    `sharding.py` does.
    """

    learning_rate: float
    optimizer: str = "adamw"
    warmup: float = 0.06
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    clip_norm: float = 1.0
    accumulation: int = 1
    seed: int = 0
    device: str = "auto"
    precision: str = "auto"
    compile: bool = False
    checkpointing: bool = False
    fsdp: bool = False
    data_workers: int = 0
    log_steps: int = 50
    save_seconds: float = 60.0
    validations: int = 10
    patience: int = 0

    def __post_init__(self) -> None:
        check_warmup(self.warmup)
        if not 0 < self.learning_rate <= MOST_RATE:
            raise UserError(
                f"learning_rate is {self.learning_rate}: give a number above 0, at most {MOST_RATE:g}, such as 3e-5."
            )
        if not 0 <= self.weight_decay < math.inf:
            raise UserError(f"weight_decay is {self.weight_decay}: give a number from 0 on, such as 0.01.")
        if not 0 < self.clip_norm < math.inf:
            raise UserError(f"clip_norm is {self.clip_norm}: give a number above 0, such as 1.")
        if len(self.betas) != 2 or not all(0 <= beta < 1 for beta in self.betas):
            raise UserError(f"betas is {self.betas}: give two numbers from 0 up to 1, 1 left out.")
        if not 0 <= self.save_seconds < math.inf:
            raise UserError(f"save_seconds is {self.save_seconds}: give the seconds between two saves, from 0 on.")
        for name, least, most, what in WHOLE_NUMBERS:
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise UserError(f"{name} is {value!r}: give {what}, at most {most:,}.")
        for name in ("compile", "checkpointing", "fsdp"):
            if type(getattr(self, name)) is not bool:
                raise UserError(f"{name} is {getattr(self, name)!r}: give true or false.")
        for name, known in (("optimizer", OPTIMIZERS), ("device", DEVICES), ("precision", PRECISIONS)):
            if getattr(self, name) not in known:
                raise UserError(f"there is no {name} {getattr(self, name)!r}: choose one of {', '.join(known)}.")

    def check_machine(self) -> None:
        """Raise UserError for what this machine lacks: a device, a precision, a compiler."""
        device = choose_device(self.device)
        choose_precision(self.precision, device)
        if self.compile:
            check_compiler(device)


MOST_RATE = 100.0  # at any learning rate above it the weights are no numbers after a few steps
MOST = 1_000_000  # more would never end
MOST_WORKERS = 64  # each is a process with a torch of its own
WHOLE_NUMBERS = (
    ("accumulation", 1, MOST, "the number of parts of a batch, at least 1"),
    ("data_workers", 0, MOST_WORKERS, "the number of processes that make batches, or 0 for none"),
    ("log_steps", 1, MOST, "the number of steps between two lines of the log, at least 1"),
    ("validations", 0, MOST, "how often to look at the validation data, or 0 for never"),
    ("patience", 0, MOST, "a number of validations, or 0 for no early end"),
)


def take(options: dict[str, Any], kind: type) -> dict[str, Any]:
    """Take those options out that are fields of a dataclass."""
    names = {field.name for field in fields(kind)}
    return {name: options.pop(name) for name in list(options) if name in names}

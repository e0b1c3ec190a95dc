"""What changes in a run of pre-training, unless it is said otherwise, where there is a GPU."""

import os
from typing import Any

from bertedu.training.devices import choose_device, runs_ahead
from bertedu.training.layers import has_compiler

MOST_WORKERS = 4
# A GPU takes about as long for a step of so many pairs as for one of 32: in the same minutes a model takes about as
# many steps, each from more text. The learning rate stays: larger batches only make the gradient less noisy.
BATCH_SIZES = {"tiny": 256, "mini": 256}


def defaults_of_device(wish: str) -> dict[str, Any]:
    """Fields of TrainingSettings: compiled layers where there is a compiler, and processes that make batches."""
    device = choose_device(wish)
    if not runs_ahead(device):
        return {}
    return {"compile": has_compiler(device), "data_workers": min(MOST_WORKERS, (os.cpu_count() or 1) - 1)}


def sizes_on_device(preset: str, wish: str) -> dict[str, Any]:
    """Fields of PretrainingSettings for a run of some minutes. One of so many steps or tokens is the same anywhere."""
    if preset not in BATCH_SIZES or not runs_ahead(choose_device(wish)):
        return {}
    return {"batch_size": BATCH_SIZES[preset]}

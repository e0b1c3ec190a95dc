"""Everything that a killed run needs to go on as if nothing had happened, in one file.

Weights, Adam's two averages and its step counts, Muon's momentum, and how far the run has come. No random state:
every step draws its random numbers from (seed, step). One safetensors file, replaced as a whole, never unpickled.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.optim import Optimizer

from bertedu.checkpoints.folder import read_tensors, save_tensors
from bertedu.errors import UserError
from bertedu.training.budget import Progress

FILE = "resume.safetensors"
STATE = ("step", "exp_avg", "exp_avg_sq", "momentum_buffer")


def save_state(
    folder: Path, model: nn.Module, optimizers: list[Optimizer], progress: Progress, identity: dict, best: float
) -> None:
    """Write resume.safetensors. identity: what must be the same when the run goes on (settings, data)."""
    tensors: dict[str, Tensor] = {}
    states = states_of(optimizers)
    for name, parameter in model.named_parameters():  # a tied weight comes once
        tensors[f"model.{name}"] = parameter
        for key, value in states.get(parameter, {}).items():
            tensors[f"{key}.{name}"] = value
    about = {"progress": json.dumps(asdict(progress)), "identity": json.dumps(identity), "best": json.dumps(best)}
    save_tensors(folder / FILE, tensors, about)


def load_state(folder: Path, model: nn.Module, optimizers: list[Optimizer], identity: dict) -> tuple[Progress, float]:
    """Put model and optimizers back as they were saved; returns how far the run had come, and its best figure.

    Raises UserError where the file is missing or damaged, or belongs to a run with another identity.
    """
    path = folder / FILE
    tensors = read_tensors(path)
    with safe_open(path, framework="pt") as file:
        about = file.metadata() or {}
    if not about.keys() >= {"progress", "identity", "best"}:
        raise UserError(f"{path} is not what a run saves to be resumed: give the folder of a run.")
    check_identity(path, json.loads(about["identity"]), identity)
    states = states_of(optimizers)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(tensors.pop(f"model.{name}"))
            for key in STATE:
                if (value := tensors.get(f"{key}.{name}")) is not None:
                    # Copied even on the CPU: Windows lets no file be replaced to which a tensor still points.
                    states[parameter][key] = value.to(parameter.device, copy=True)
    return Progress(**json.loads(about["progress"])), json.loads(about["best"])


def states_of(optimizers: list[Optimizer]) -> dict[Tensor, dict[str, Tensor]]:
    """For each weight that is trained, what its optimizer remembers about it (to be read and written)."""
    return {
        weight: optimizer.state[weight]
        for optimizer in optimizers
        for group in optimizer.param_groups
        for weight in group["params"]
    }


def remove_leftovers(folder: Path) -> None:
    """Remove what a run that was killed while saving had begun to write."""
    for path in folder.rglob(".*.partial"):
        path.unlink(missing_ok=True)


def check_identity(path: Path, saved: dict[str, Any], now: dict[str, Any]) -> None:
    """Raise UserError that names the first settings in which a saved run differs from the one to be resumed."""
    now = json.loads(json.dumps(now))  # tuples become lists, as in the file
    names = sorted(saved.keys() | now.keys())
    different = [name for name in names if saved.get(name) != now.get(name)]
    if different:
        changes = "; ".join(f"{name} was {saved.get(name)!r}, is now {now.get(name)!r}" for name in different[:3])
        raise UserError(f"{path} is of another run ({changes}): resume with the same settings, or start a new run.")

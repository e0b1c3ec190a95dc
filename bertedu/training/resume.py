"""Everything that a killed run needs to go on as if nothing had happened, in one file.

Weights, Adam's two averages and its step counts, Muon's momentum, the loss scale of float16, how far the run has come,
and the figures since the last line of its log. No random state: every step draws its random numbers from (seed, step).
One safetensors file, replaced as a whole, never unpickled, and compared with the run before anything of it is used.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.optim import Optimizer

from bertedu.checkpoints.folder import save_tensors
from bertedu.checkpoints.weights import read_tensors
from bertedu.errors import UserError, shown
from bertedu.json_values import check_object, parse_json
from bertedu.training.budget import Progress
from bertedu.training.muon import Muon
from bertedu.training.sharding import shared_like, whole
from bertedu.training.state_checks import check_counted, check_progress, check_scaling, check_tensors

FILE = "resume.safetensors"
# What an optimizer remembers about a weight: one number, or as many as the weight has.
STATE: dict[type[Optimizer], tuple[str, ...]] = {
    torch.optim.AdamW: ("step", "exp_avg", "exp_avg_sq"),
    Muon: ("momentum_buffer",),
}
LEFTOVERS = (".*.partial", ".tmp??????")  # of `files.replacing`, and of the safetensors library
RECENT = "recent."  # what stands before the names of the sums since the last line of the log


@dataclass
class Standing:
    """How far a run has come: its position in the data, its best validation, and what it has summed since the last
    line of its log.

    sums are [P], one number for each process; since: the tokens and seconds at that line; scaling: the state of loss
    scaling, where there is any.
    """

    progress: Progress
    best: float
    sums: dict[str, Tensor]
    counts: dict[str, int]
    since: tuple[int, float]
    scaling: dict[str, Any] | None = None


def save_state(
    folder: Path,
    model: nn.Module,
    optimizers: list[Optimizer],
    standing: Standing,
    identity: dict,
    writes: bool = True,
    write: Callable[[Path, dict[str, Tensor], dict[str, str]], None] = save_tensors,
) -> None:
    """Write resume.safetensors. identity: what must be the same when the run goes on (settings, data).

    Of several processes only the first one writes; where they share a model, the others give their shares. write: what
    writes the file, see `saving.py`.
    """
    tensors = {f"{RECENT}{name}": value for name, value in standing.sums.items()}
    states, untouched = states_of(optimizers), []
    for name, parameter in model.named_parameters():  # a tied weight comes once
        kept = {"model": parameter, **states.get(parameter, {})}
        for key, value in kept.items():
            put_together = whole(value)
            if writes:
                tensors[f"{key}.{name}"] = put_together
        if parameter in states and not states[parameter]:
            untouched.append(name)  # no gradient reached it yet
    if not writes:
        return
    run = {
        "progress": asdict(standing.progress),
        "best": standing.best if abs(standing.best) < float("inf") else None,  # JSON has no infinity
        "counts": standing.counts,
        "since": standing.since,
        "untouched": untouched,
        "scaling": standing.scaling,
    }
    about = {"run": json.dumps(run, allow_nan=False), "identity": json.dumps(identity, allow_nan=False)}
    write(folder / FILE, tensors, about)


def load_state(folder: Path, model: nn.Module, optimizers: list[Optimizer], identity: dict) -> Standing:
    """Put model and optimizers back as they were saved; returns how far the run had come.

    Raises UserError, and changes nothing, where the file is missing or damaged, belongs to a run with another identity,
    or holds anything else than this run would have saved.
    """
    path = folder / FILE
    tensors = read_tensors(path)
    with safe_open(path, framework="pt") as file:
        about = file.metadata() or {}
    if not about.keys() >= {"run", "identity"}:
        raise UserError(f"{path} is not what a run saves to be resumed: give the folder of a run.")
    saved, run = (check_object(parse_json(about[name], path), {}, path) for name in ("identity", "run"))
    check_identity(path, saved, identity)
    progress, best, since = check_progress(path, run, identity)
    sums = {name.removeprefix(RECENT): tensors.pop(name) for name in list(tensors) if name.startswith(RECENT)}
    check_counted(path, sums, run.get("counts"))
    scaling = check_scaling(path, run.get("scaling"), identity, progress.step)
    taken = progress.step - (scaling["skipped"] if scaling else 0)
    check_tensors(path, tensors, model, kept_states(optimizers), run.get("untouched"), taken)
    states = states_of(optimizers)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(shared_like(tensors[f"model.{name}"].to(parameter.device), parameter))
            for key in kept_states(optimizers).get(parameter, ()):
                if (value := tensors.get(f"{key}.{name}")) is not None:
                    # Copied even on the CPU: Windows lets no file be replaced to which a tensor still points.
                    states[parameter][key] = shared_like(value.to(parameter.device, copy=True), parameter)
    sums = {name: value.clone() for name, value in sums.items()}
    return Standing(progress, best, sums, run["counts"], since, scaling)


def states_of(optimizers: list[Optimizer]) -> dict[Tensor, dict[str, Tensor]]:
    """For each weight that is trained, what its optimizer remembers about it (to be read and written)."""
    return {
        weight: optimizer.state[weight]
        for optimizer in optimizers
        for group in optimizer.param_groups
        for weight in group["params"]
    }


def kept_states(optimizers: list[Optimizer]) -> dict[Tensor, tuple[str, ...]]:
    """For each weight that is trained, the names of what its optimizer remembers about it after a step."""
    return {
        weight: STATE[type(optimizer)]
        for optimizer in (getattr(wrapped, "optimizer", wrapped) for wrapped in optimizers)  # by accelerate
        for group in optimizer.param_groups
        for weight in group["params"]
    }


def remove_leftovers(folder: Path) -> None:
    """Remove what a run that was killed while saving had begun to write."""
    for pattern in LEFTOVERS:
        for path in folder.rglob(pattern):
            path.unlink(missing_ok=True)


def check_identity(path: Path, saved: dict[str, Any], now: dict[str, Any]) -> None:
    """Raise UserError that names the first settings in which a saved run differs from the one to be resumed."""
    now = json.loads(json.dumps(now))  # tuples become lists, as in the file
    names = sorted(saved.keys() | now.keys())
    different = [name for name in names if saved.get(name) != now.get(name)]
    if different:
        changes = "; ".join(
            f"{name[:60]} was {shown(saved.get(name))}, is now {shown(now.get(name))}" for name in different[:3]
        )
        raise UserError(f"{path} is of another run ({changes}): resume with the same settings, or start a new run.")

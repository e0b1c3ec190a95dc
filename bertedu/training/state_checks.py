"""Whether a saved state is one that the run could have saved: checked before any of it is used.

A file may be damaged, or written by somebody who means harm: an optimizer's average of another shape than its weight,
say, makes the fused kernel read beyond its memory.
"""

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bertedu.errors import UserError, shown
from bertedu.training.budget import Progress

MOST = 2**53  # up to here a float holds each whole number
MOST_ADAM_STEPS = 2**24  # Adam counts its steps in float32, which goes no further
MOST_SCALE = 2.0**127  # a float32 goes no further
NOT_NEGATIVE = ("step", "exp_avg_sq")


def refusal(path: Path, what: str) -> UserError:
    """The refusal of a state, in one sentence that names what is wrong."""
    return UserError(f"{path}: {what}: the file is damaged, or not of this run; start a new run.")


def check_progress(path: Path, run: dict[str, Any], identity: dict[str, Any]) -> tuple[Progress, float, tuple]:
    """How far the run had come, its best figure, and the tokens and seconds at the last line of its log.

    Raises UserError for numbers that no run of this budget comes to.
    """
    saved, names = run.get("progress"), [field.name for field in fields(Progress)]
    if not isinstance(saved, dict) or set(saved) != set(names):
        raise refusal(path, f"its progress does not hold {', '.join(names)}, and nothing else")
    for name in names:
        check_number(path, name, saved[name], whole=name != "seconds")
    now = Progress(**saved)
    steps = identity.get("steps")
    most_steps = steps if isinstance(steps, int) else MOST
    limits: dict[str, float] = {
        "step": most_steps,
        "epoch": now.step,
        "batch": now.step - now.epoch,
        "waited": now.step,
    }
    for name, most in limits.items():
        if getattr(now, name) > most:
            raise refusal(path, f"its {name} is {getattr(now, name):,}, and the run comes to {most:,.0f} at most")
    if now.epoch == 0 and now.batch != now.step:
        raise refusal(path, f"its batch is {now.batch:,} in the first epoch, after {now.step:,} steps")
    if now.tokens < now.step:
        raise refusal(path, f"its tokens are {now.tokens:,} after {now.step:,} steps")
    since = run.get("since")
    if not isinstance(since, list) or len(since) != 2:
        raise refusal(path, "it does not say when the last line of the log was written")
    check_number(path, "tokens at the last line of the log", since[0], whole=True, most=now.tokens)
    check_number(path, "seconds at the last line of the log", since[1], whole=False, most=now.seconds)
    best = run.get("best", "missing")
    if best is not None and not (type(best) in (int, float) and math.isfinite(best)):
        raise refusal(path, f"its best figure is {shown(best)}")
    return now, -math.inf if best is None else best, tuple(since)


def check_number(path: Path, name: str, value: Any, whole: bool, most: float = MOST) -> None:
    """Raise UserError for what is no number from 0 up to `most`."""
    if type(value) not in ((int,) if whole else (int, float)) or not 0 <= value <= most:
        kind = "a whole number" if whole else "a number"
        raise refusal(path, f"its {name} is {shown(value)} and not {kind} from 0 up to {most:,}")


def check_counted(path: Path, sums: dict[str, Tensor], counts: Any) -> None:
    """Raise UserError where the sums since the last line of the log, each [P], or their counts cannot be."""
    names = {name.rpartition("_")[0] for name in sums}
    if not isinstance(counts, dict) or not names <= set(counts):
        raise refusal(path, "its counts since the last line of the log are not those of its sums")
    for name, count in counts.items():
        check_number(path, f"count of {shown(name)}", count, whole=True)
    for name, value in sums.items():
        if value.dim() != 1 or not len(value) or not value.is_floating_point() or not torch.isfinite(value).all():
            raise refusal(path, f"its sum of {shown(name)} is not made of finite numbers, one for each process")


def check_scaling(path: Path, scaling: Any, identity: dict[str, Any], steps: int) -> dict[str, Any] | None:
    """The state of loss scaling of a run in float16, None of any other. Raises UserError for one that cannot be.

    With the precision "auto" there may be one or not, since a run may go on on another device.
    """
    precision = identity.get("precision")
    if scaling is None and precision != "fp16":
        return None
    if precision not in ("fp16", "auto"):
        raise refusal(path, "it holds a loss scale, and the run is not in fp16")
    names = ("scale", "growth_tracker", "skipped")
    if not isinstance(scaling, dict) or set(scaling) != set(names):
        raise refusal(path, f"its loss scaling does not hold {', '.join(names)}, and nothing else")
    for name, most in (("scale", MOST_SCALE), ("growth_tracker", steps), ("skipped", steps)):
        check_number(path, name, scaling[name], whole=name != "scale", most=most)
    if not scaling["scale"]:
        raise refusal(path, "its loss scale is 0")
    return scaling


def check_tensors(
    path: Path,
    tensors: dict[str, Tensor],
    model: nn.Module,
    kept: dict[Tensor, tuple[str, ...]],
    untouched: Any,
    step: int,
) -> None:
    """Raise UserError where the weights, and what the optimizers remember about them, are not those of this model.

    kept: the names of what is remembered about each weight; untouched: weights that no gradient has reached; step: the
    steps that the optimizers have taken.
    """
    weights = dict(model.named_parameters())
    trained = {name for name, weight in weights.items() if weight in kept}
    if not isinstance(untouched, list) or not all(isinstance(name, str) and name in trained for name in untouched):
        raise refusal(path, "it does not say which weights have not been trained yet")
    if step and trained and trained <= set(untouched):
        raise refusal(path, f"none of its weights has been trained in {step:,} steps")
    expected = {f"model.{name}": weight for name, weight in weights.items()}
    for name, weight in weights.items():
        if name not in untouched:
            expected |= {f"{key}.{name}": weight for key in kept.get(weight, ()) if step}
    for name in [*expected, *tensors]:
        if name not in tensors or name not in expected:
            raise refusal(path, f"{shown(name, 120)} is {'missing' if name in expected else 'not known here'}")
    for name, weight in expected.items():
        key, value = name.partition(".")[0], tensors[name]
        shape = [] if key == "step" else list(weight.shape)
        if list(value.shape) != shape or value.dtype != weight.dtype:
            found, wanted = f"{value.dtype} {list(value.shape)}", f"{weight.dtype} {shape}"
            raise refusal(path, f"{shown(name, 120)} is {found} instead of {wanted}".replace("torch.", ""))
        if not torch.isfinite(value).all() or (key in NOT_NEGATIVE and (value < 0).any()):
            raise refusal(
                path, f"{shown(name, 120)} holds numbers that are not finite, or negative where they cannot be"
            )
    taken = [float(tensors[name]) for name in expected if name.startswith("step.")]
    if not all(count.is_integer() and 1 <= count <= step for count in taken):
        raise refusal(path, f"its optimizer has taken another number of steps than {step:,}")
    if taken and max(taken) != min(step, MOST_ADAM_STEPS):
        raise refusal(path, f"its optimizer has taken {max(taken):,.0f} steps, and the run {step:,}")

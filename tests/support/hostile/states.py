"""Weights, and the states that runs are resumed from: what is taken stands in the file, and is finite."""

import json
import math
import random
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from bertedu.errors import UserError
from bertedu.model import BertForMaskedLM
from bertedu.training.loop import Trainer
from bertedu.training.resume import FILE, load_state
from support.hostile.json_files import small_model
from support.hostile.oracle import Input, Wrong, altered, damaged, strange_json
from support.tiny_run import tiny_trainer

CHANGES: list[Callable[[Any], Any]] = [
    *(lambda t: t.fill_(math.inf), lambda t: t.fill_(math.nan), lambda t: t.long(), lambda t: t.bool()),
    *(lambda t: t.to(torch.complex64), lambda t: t.to(torch.float8_e5m2), lambda t: t[:1], lambda t: t[None]),
]


def weights(rng: random.Random, folder: Path) -> Input:
    """model.safetensors: what is taken is finite and stands in the file."""
    place = small_model(folder)
    whole, path = place / "whole/model.safetensors", place / "model.safetensors"
    tensors = load_file(whole)
    name = rng.choice(list(tensors))
    must_pass = False
    match rng.randrange(4):
        case 0:
            tensors[name] = rng.choice(CHANGES)(tensors[name].clone())
            if (
                tensors[name].shape == load_file(whole)[name].shape
                and tensors[name].is_floating_point()
                and tensors[name].dtype.itemsize > 1
                and bool(tensors[name].isfinite().all())
            ):
                must_pass = True  # the first row of a tensor of one row
            save_file(tensors, path)
        case 1:
            save_file(
                {n: t.to(rng.choice((torch.float16, torch.bfloat16, torch.float64))) for n, t in tensors.items()}, path
            )
            must_pass = True
        case 2:
            data, hurt = damaged(rng, whole.read_bytes())
            path.write_bytes(data)
            must_pass = not hurt
        case _:
            tensors[f"bert.{name}" if not name.startswith("bert.") else name.removeprefix("bert.")] = tensors[name] + 1
            save_file(tensors, path)

    def differing() -> list[str]:
        model = BertForMaskedLM.from_pretrained(place)
        bad = [n for n, value in model.state_dict().items() if not torch.isfinite(value).all()]
        sums = sum(float(t.double().sum()) for t in load_file(path).values())
        mine = sum(float(t.double().sum()) for t in model.parameters())
        return (
            bad
            if math.isclose(sums, mine, rel_tol=1e-2, abs_tol=1e-2) or len(load_file(path)) != len(load_file(whole))
            else [*bad, "sums"]
        )

    return Input(differing, list, must_pass, str(path))


@cache
def trained(folder: Path, optimizer: str) -> tuple[Trainer, bytes]:
    """A run that has ended, and its state."""
    trainer = tiny_trainer(folder / optimizer, steps=4, optimizer=optimizer, log_steps=3)
    trainer.run()
    return trainer, (folder / optimizer / FILE).read_bytes()


def resumed(rng: random.Random, folder: Path) -> Input:
    """resume.safetensors with strange metadata, other tensors, or damaged as a whole."""
    place = folder / (optimizer := rng.choice(("adamw", "muon")))
    trainer, whole = trained(folder, optimizer)
    path = place / FILE
    path.write_bytes(whole)
    tensors, about = load_file(path), metadata(path)
    hurt, how = False, rng.randrange(5)
    if how == 0:
        data, hurt = damaged(rng, whole)
        path.write_bytes(data)
    elif how == 1:
        name = rng.choice(list(tensors))
        tensors[name] = rng.choice(CHANGES[: 6 if tensors[name].dim() == 0 else None])(tensors[name].clone())
        hurt = True
        save_file(tensors, path, about)
    else:
        name = rng.choice(("run", "run", "identity"))
        value = json.loads(about[name])
        if how == 2:
            data, hurt = strange_json(rng, value)
            about[name] = data.decode("utf-8", "replace")
        else:
            about[name] = json.dumps(altered(rng, value))
            hurt = about[name] != json.dumps(value)
        save_file(tensors, path, about)

    def standing() -> list[Any]:
        before = [weight.detach().clone() for weight in trainer.bare_model.parameters()]
        try:
            found = load_state(place, trainer.bare_model, trainer.optimizers, trainer.identity())
        except UserError:
            if not all(map(torch.equal, before, trainer.bare_model.parameters())):
                raise Wrong("refused, and the model has changed") from None
            raise
        weights = {f"model.{name}": weight for name, weight in trainer.bare_model.named_parameters()}
        there = load_file(path)
        other = [name for name, weight in weights.items() if not torch.equal(weight, there[name])]
        best = None if math.isinf(found.best) else found.best
        return [other, asdict(found.progress), best, found.counts, list(found.since)]

    def simpler() -> list[Any]:
        run = json.loads(metadata(path)["run"])
        return [[], run["progress"], run["best"], run["counts"], run["since"]]

    return Input(standing, simpler, not hurt, str(path))


def metadata(path: Path) -> dict[str, str]:
    """The texts in the head of a safetensors file."""
    with safe_open(path, framework="pt") as file:
        return file.metadata()


KINDS: dict[str, Callable[[random.Random, Path], Input]] = {
    "model.safetensors": weights,
    "resume.safetensors": resumed,
}

"""Trainings of a second, and what two of them have in common. For kills.py."""

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from bertedu.config import BertConfig
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.finetuning.run import finetune
from bertedu.model import BertForPreTraining
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training.metrics import read_metrics

RUNS = ("pre-training", "fine-tuning")
CLOCK = {"seconds", "tokens_per_second"}  # what no two runs have in common
CPU = {"device": "cpu", "precision": "fp32", "save_seconds": 0.0}


def make_data(folder: Path) -> None:
    """A text, labelled rows and a model to start from."""
    rng, words = random.Random(0), [f"{a}{b}" for a in "bcdfg" for b in "aeiou"]
    sentences = [" ".join(rng.choices(words, k=rng.randint(3, 7))) + "." for _ in range(400)]
    (folder / "text.txt").write_text("\n\n".join("\n".join(sentences[i : i + 5]) for i in range(0, 400, 5)))
    rows = [{"text": one, "label": "xy"[number % 2]} for number, one in enumerate(sentences[:48])]
    for name, part in (("train", rows[:32]), ("validation", rows[32:40]), ("test", rows[40:])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    torch.manual_seed(0)
    tokenizer = BertTokenizer([*SPECIAL_TOKENS, *words, "."])
    model = BertForPreTraining(BertConfig(len(tokenizer), 16, 1, 2, 32, max_position_embeddings=32))
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")


def train(task: str, data: Path, folder: Path) -> None:
    """The whole run: from its beginning where there is no run.json yet, else resumed."""
    resume = (folder / "run.json").exists()
    if task == "pre-training":
        options: dict[str, Any] = {"corpus": (str(data / "text.txt"),), "steps": 12, "log_steps": 5}
        options |= {"start": str(data / "model"), "max_length": 24, "batch_size": 8, "output": folder, **CPU}
        pretrain(Plan.from_options(**({"resume": folder} if resume else options)), silent)
        return
    kind = TASKS["classification"]
    files = {name: str(data / f"{name}.jsonl") for name in ("validation", "test")}
    options = {"model": str(data / "model"), "data": str(data / "train.jsonl"), **files, "epochs": 2.0, "batch_size": 8}
    options |= {"task": "classification", "seeds": 2, "output": folder, "max_length": 24, "learning_rate": 1e-3, **CPU}
    plan = FinetuningPlan.from_options(kind.defaults, **({"resume": folder} if resume else options))
    finetune(plan, kind, silent)


def silent(line: str) -> None:
    """What the command would print."""


def size_of(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def steps_saved(folder: Path) -> dict[str, int]:
    """For each state its step, for each other safetensors file 0; a file that cannot be read is not among them."""
    found = {}
    for path in folder.rglob("*.safetensors"):
        with contextlib.suppress(SafetensorError, OSError), safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118
                file.get_tensor(name)
            about = file.metadata() or {}
            found[str(path)] = json.loads(about["run"])["progress"]["step"] if "run" in about else 0
    return found


def differences(folder: Path, reference: Path) -> str:
    """The names of the files in which a run differs from the reference, but for what the clock says; "" for none."""
    names = [
        {str(path.relative_to(where)) for path in where.rglob("*") if path.is_file() and "tfevents" not in path.name}
        for where in (folder, reference)
    ]
    wrong = names[0] ^ names[1]
    for name in names[0] & names[1]:
        if contents(folder / name) != contents(reference / name):
            wrong.add(name)
    return ", ".join(sorted(wrong))


def contents(path: Path) -> Any:
    """What a file holds, without what the clock says."""
    if path.name == "metrics.jsonl":
        return [without_clock(line) for line in read_metrics(path.parent)]
    if path.suffix == ".json":
        return without_clock(json.loads(path.read_text("utf-8")))
    if path.name != "resume.safetensors":
        return path.read_bytes()
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name).numpy().tobytes() for name in file.keys()}  # noqa: SIM118
        about = {name: without_clock(json.loads(text)) for name, text in file.metadata().items()}
    about["run"]["since"] = about["run"]["since"][0]
    return tensors, about


def without_clock(value: Any) -> Any:
    """A JSON value without the entries that the clock writes."""
    if isinstance(value, dict):
        return {name: without_clock(one) for name, one in value.items() if name not in CLOCK}
    return [without_clock(one) for one in value] if isinstance(value, list) else value

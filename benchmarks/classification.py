"""Measures what chapter 10 compares on the reviews: strategies, poolings, numbers of examples, three seeds each.

`python benchmarks/classification.py strategies` (or poolings, or examples) goes on where its JSON file ends.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from bertedu.files import read_json, write_json
from bertedu.finetuning.kinds import KINDS
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.strategies import freeze_encoder, pace
from bertedu.tokenization import BertTokenizer
from bertedu.training.optimization import build_optimizer, rate_factor, set_rates

DATA = Path(__file__).resolve().parents[1] / "data"
MODEL = str(DATA / "checkpoints" / "books-mini")
FOLDER = DATA / "comparisons"
KIND = KINDS["classification"]
RATE, BATCH, ROWS, EPOCHS, SEEDS = 5e-4, 16, 600, 3, 3
STRATEGIES = {
    "all weights alike": {},
    "only the head": {"freeze_encoder": True, "head_rate": 4.0},
    "layer-wise decay 0.7": {"layer_decay": 0.7},
    "head five times as fast": {"head_rate": 5.0},
    "gradual unfreezing": {"unfreeze_over": 0.4},
}
POOLINGS = ("cls", "pooler", "mean", "max", "last four layers")
SIZES = (10, 30, 100, 300, 1000)
LEAST_STEPS = 60


def fine_tune(train: list, validation: list, settings: FinetuningSettings) -> dict[str, float]:
    """The figures on validation after training from one seed."""
    torch.manual_seed(settings.seed)
    tokenizer = BertTokenizer.from_pretrained(MODEL)
    model, task = KIND.make(train, validation, tokenizer, MODEL, settings)
    if settings.freeze_encoder:
        freeze_encoder(model)
    optimizer = build_optimizer(model, RATE, 0.01, (0.9, 0.999), pace(settings, model))
    steps = max(LEAST_STEPS, round(settings.epochs * len(task.epoch(0))))
    batches = (batch for number in range(steps) for batch in task.epoch(number))
    model.train()
    for step, batch in zip(range(steps), batches, strict=False):
        set_rates(optimizer, RATE * rate_factor(step / steps, 0.1), step / steps)
        loss = task.sums(model, batch)["text_loss"] / len(batch["labels"])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return task.score(model, validation)


def runs(what: str, rows: list) -> Iterator[tuple[str, list, dict]]:
    """The name of each way, the rows to learn from, and its settings, seed by seed."""
    for seed in range(SEEDS):
        drawn = random.Random(seed).sample(rows, len(rows))
        usual = {"epochs": EPOCHS, "batch_size": BATCH, "pooling": "max", "seed": seed}
        if what == "strategies":
            for name, changes in STRATEGIES.items():
                yield name, drawn[:ROWS], {**usual, **changes}
        elif what == "poolings":
            for name in POOLINGS:
                yield name, drawn[:ROWS], {**usual, "pooling": name}
        else:
            for size in SIZES:
                yield f"BERT {size}", drawn[:size], usual


def main() -> None:
    """Run what is asked for, and keep each figure as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("strategies", "poolings", "examples"))
    what = parser.parse_args().what
    torch.set_num_threads(1)
    reviews = DATA / "tasks" / "sentiment"
    rows, validation = KIND.read(str(reviews / "train.tsv")), KIND.read(str(reviews / "validation.tsv"))
    path = FOLDER / f"{what}.json"
    about = (
        f"benchmarks/classification.py {what}: data/tasks/sentiment, accuracy on validation, books-mini, rate {RATE}, "
        f"batch {BATCH}, {EPOCHS} epochs, at least {LEAST_STEPS} steps, one value a seed"
    )
    found: dict[str, Any] = read_json(path) if path.exists() else {"about": about, "values": {}}
    done = {name: len(values) for name, values in found["values"].items()}
    for name, train, settings in runs(what, rows):
        values = found["values"].setdefault(name, [])
        if settings["seed"] < done.get(name, 0):
            continue
        values.append(round(fine_tune(train, validation, FinetuningSettings(**settings))["accuracy"], 4))
        if what == "examples":
            bags = KIND.baselines(train, validation)["bag of words"]["accuracy"]
            found["values"].setdefault(name.replace("BERT", "bag of words"), []).append(round(bags, 4))
        print(f"{name}, seed {settings['seed']}: {values[-1]}", flush=True)
        write_json(path, found)


if __name__ == "__main__":
    main()

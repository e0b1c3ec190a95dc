"""Measures what chapter 10 compares on the reviews, three seeds each: strategies, poolings, numbers of examples,
learning rates, class weights, and more pre-training on reviews before fine-tuning.

`python benchmarks/classification.py strategies` (or another of these) goes on where its JSON file ends.
"""

import argparse
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from sklearn.metrics import f1_score, recall_score

from bertedu.files import read_json, write_json
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.strategies import freeze_encoder, pace
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.training.optimization import build_optimizer, rate_factor, set_rates

DATA = Path(__file__).resolve().parents[1] / "data"
MODEL = str(DATA / "checkpoints" / "mixed-mini")
FOLDER = DATA / "comparisons"
KIND = TASKS["classification"]
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
LEARNING_RATES = (5e-5, 1.5e-4, 5e-4, 1.5e-3, 5e-3)
IMBALANCED = {"positive": 450, "neutral": 120, "negative": 30}
ADAPTING_STEPS, FEW = 40, 300


def fine_tune(
    train: list, validation: list, settings: FinetuningSettings, rate: float = RATE, start: str = MODEL
) -> dict[str, float]:
    """The figures on validation after training from one seed."""
    torch.manual_seed(settings.seed)
    tokenizer = BertTokenizer.from_pretrained(start)
    model, task = KIND.make(train, validation, tokenizer, start, settings)
    if settings.freeze_encoder:
        freeze_encoder(model)
    optimizer = build_optimizer(model, rate, 0.01, (0.9, 0.999), pace(settings, model))
    steps = max(LEAST_STEPS, round(settings.epochs * len(task.epoch(0))))
    batches = (batch for number in range(steps) for batch in task.epoch(number))
    model.train()
    for step, batch in zip(range(steps), batches, strict=False):
        set_rates(optimizer, rate * rate_factor(step / steps, 0.1), step / steps)
        loss = task.sums(model, batch)["text_loss"] / len(batch["labels"])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    predictions = task.predictions(model, validation)
    return {**task.figures(validation, predictions), **imbalanced_figures(task, validation, predictions)}


def imbalanced_figures(task: Any, rows: list, predictions: list) -> dict[str, float]:
    """Accuracy and macro F1 as if the classes of the (balanced) rows were as frequent as IMBALANCED says, and the
    recall of the rarest class."""
    right = [row.label for row in rows]
    said = [task.labels[int(logits.argmax())] for logits in predictions]
    weights = [IMBALANCED[label] for label in right]
    hits = [a == b for a, b in zip(right, said, strict=True)]
    rarest = min(IMBALANCED, key=lambda label: IMBALANCED[label])
    return {
        "weighted accuracy": sum(w for w, hit in zip(weights, hits, strict=True) if hit) / sum(weights),
        "weighted macro F1": float(f1_score(right, said, average="macro", sample_weight=weights)),
        "recall of the rarest": float(recall_score(right, said, labels=[rarest], average="macro")),
    }


def imbalanced(rows: list) -> list:
    """The first rows of each class, as many as IMBALANCED says."""
    left, found = dict(IMBALANCED), []
    for row in rows:
        if left[row.label]:
            left[row.label] -= 1
            found.append(row)
    return found


def adapted(rows: list, folder: str) -> str:
    """A folder with the checkpoint after masked words of the reviews, without their labels."""
    reviews = Path(folder) / "reviews.txt"
    reviews.write_text("\n\n".join(row.text for row in rows), encoding="utf-8")
    options = {"corpus": (str(reviews),), "start": MODEL, "objective": "words", "steps": ADAPTING_STEPS}
    options |= {"batch_size": 16, "max_length": 32, "device": "cpu", "precision": "fp32"}
    options |= {"optimizer": "adamw", "learning_rate": 3e-4}
    pretrain(Plan.from_options(**options, output=f"{folder}/run"))
    return f"{folder}/run/checkpoint"


def runs(what: str, rows: list, folder: str) -> Iterator[tuple[str, list, dict]]:
    """The name of each way, the rows to learn from, and its settings, seed by seed. What is no setting: the learning
    rate, and the folder to start from."""
    start = adapted(rows, folder) if what == "adaptation" else ""
    for seed in range(SEEDS):
        drawn = random.Random(seed).sample(rows, len(rows))
        usual = {"epochs": EPOCHS, "batch_size": BATCH, "pooling": "max", "seed": seed}
        if what == "strategies":
            for name, changes in STRATEGIES.items():
                yield name, drawn[:ROWS], {**usual, **changes}
        elif what == "poolings":
            for name in POOLINGS:
                yield name, drawn[:ROWS], {**usual, "pooling": name}
        elif what == "rates":
            for rate in LEARNING_RATES:
                yield f"{rate:g}", drawn[:ROWS], {**usual, "rate": rate}
        elif what == "weights":
            for name in ("none", "balanced"):
                yield name, imbalanced(drawn), {**usual, "class_weights": name}
        elif what == "adaptation":
            for name, path in (("mixed-mini", MODEL), ("mixed-mini, reviews", start)):
                yield name, drawn[:FEW], {**usual, "start": path}
        else:
            for size in SIZES:
                yield f"BERT {size}", drawn[:size], usual


def main() -> None:
    """Run what is asked for, and keep each figure as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("strategies", "poolings", "examples", "rates", "weights", "adaptation"))
    what = parser.parse_args().what
    torch.set_num_threads(1)
    reviews = DATA / "tasks" / "stress" / "sentiment"
    rows, validation = KIND.read_rows(str(reviews / "train.tsv")), KIND.read_rows(str(reviews / "validation.tsv"))
    path = FOLDER / f"{what}.json"
    rate = "the learning rate that is named" if what == "rates" else f"learning rate {RATE}"
    figure = "figures on validation as if its classes were as frequent as in training"
    figure = figure if what == "weights" else "accuracy on validation"
    about = (
        f"benchmarks/classification.py {what}: data/tasks/stress/sentiment, {figure}, mixed-mini, {rate}, "
        f"batch {BATCH}, {EPOCHS} epochs, at least {LEAST_STEPS} steps, one value a seed"
    )
    found: dict[str, Any] = read_json(path) if path.exists() else {"about": about, "values": {}}
    done = {name.split(": ")[0]: len(values) for name, values in found["values"].items()}
    with tempfile.TemporaryDirectory() as folder:
        for name, train, settings in runs(what, rows, folder):
            if settings["seed"] >= done.get(name, 0):
                measure(what, name, train, validation, settings, found["values"])
                write_json(path, found)


def measure(what: str, name: str, train: list, validation: list, settings: dict, values: dict) -> None:
    """One run: its figures are appended to the values of its name."""
    others = {key: settings[key] for key in ("rate", "start") if key in settings}
    settings = {key: value for key, value in settings.items() if key not in others}
    figures = fine_tune(train, validation, FinetuningSettings(**settings), **others)
    new = {name: figures["accuracy"]}
    if what == "weights":
        measures = ("weighted accuracy", "weighted macro F1", "recall of the rarest")
        new = {f"{name}: {one}": figures[one] for one in measures}
    if what == "examples":
        new[name.replace("BERT", "bag of words")] = KIND.baselines(train, validation)["bag of words"]["accuracy"]
    for key, value in new.items():
        values.setdefault(key, []).append(round(value, 4))
    print(f"{name}, seed {settings['seed']}: {new}", flush=True)


if __name__ == "__main__":
    main()

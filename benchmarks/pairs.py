"""Records the comparisons of chapter 13. Run: python benchmarks/pairs.py [--inference] [--output FILE]

Similarity: a cross-encoder and a bi-encoder by mean and by [CLS], and two of them with more passes or more pairs,
beside word overlap, which weighs words as the same pairs have them.
Inference (--inference): a cross-encoder with fewer and more passes and rows, beside "words compared" on the same rows.
Each is fine-tuned from the checkpoint in the box, over several seeds and with the loop of the notebook, and scored once
on the validation rows and once on the test rows. The additional rows are drawn anew from the templates, names and
things of training. Without --output nothing is written. Training takes bfloat16 where the hardware computes it, as in
the notebook.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import nn

from bertedu.corpora.readers import LabelledText
from bertedu.corpora.tasks import inference, similarity
from bertedu.files import write_json
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.task import FinetuningTask
from bertedu.finetuning.tasks.similarity import word_cosines
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.training.devices import computes_bf16

DATA = Path(__file__).resolve().parents[1] / "data"
CHECKPOINT = str(DATA / "checkpoints" / "mixed-mini")
DRAWS = 3  # how often the templates of training are drawn anew for the runs with more rows


@dataclass(frozen=True)
class Way:
    """The kind of task, the pooling, the peak learning rate, the passes, and the rows: None is drawn anew."""

    kind: str
    pooling: str
    learning_rate: float
    epochs: int
    rows: int | None


SIMILARITY = {
    "cross-encoder": Way("regression", "pooler", 3e-4, 2, 1500),
    "bi-encoder, mean": Way("similarity", "mean", 1.5e-4, 2, 1500),
    "bi-encoder, [CLS]": Way("similarity", "cls", 1.5e-4, 2, 1500),
    "mean, 8 epochs": Way("similarity", "mean", 1.5e-4, 8, 1500),
    "mean, 4,485 pairs": Way("similarity", "mean", 1.5e-4, 2, None),
    "cross, 4,485 pairs": Way("regression", "pooler", 3e-4, 2, None),
}
INFERENCE = {
    "1,500 rows, 3 epochs": Way("classification", "pooler", 3e-4, 3, 1500),
    "1,500 rows, 6 epochs": Way("classification", "pooler", 3e-4, 6, 1500),
    "1,800 rows, 6 epochs": Way("classification", "pooler", 3e-4, 6, 1800),
    "5,325 rows, 2 epochs": Way("classification", "pooler", 3e-4, 2, None),
}


def learn(model: nn.Module, task: FinetuningTask, epochs: int, rate: float) -> nn.Module:
    """The loop of notebook 13."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    batches = [batch for epoch in range(epochs) for batch in task.epoch(epoch)]
    for step, batch in enumerate(batches):
        share = step / len(batches)
        optimizer.param_groups[0]["lr"] = rate * min(share / 0.1, (1 - share) / 0.9)
        with torch.autocast("cpu", torch.bfloat16, enabled=computes_bf16("cpu")):
            (loss,), (count,) = task.sums(model.train(), batch).values(), task.counts(batch).values()
        optimizer.zero_grad()
        (loss / count).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()


def drawn_anew(made: Callable[[str, Random], list[dict[str, str]]], label: str, read: type) -> list[LabelledText]:
    """Rows from the templates of training, each pair once."""
    rows = [row for seed in range(DRAWS) for row in made("train", Random(seed))]
    found = {(row["sentence1"], row["sentence2"]): read(row[label]) for row in rows}
    return [LabelledText(first, value, second) for (first, second), value in found.items()]


def rows_of(way: Way) -> list[list[LabelledText]]:
    """What a way learns from, the validation rows and the test rows."""
    scores = way.kind != "classification"
    folder = DATA / "tasks" / ("similarity" if scores else "inference")
    train, *held_out = (
        TASKS[way.kind].read_rows(str(folder / f"{part}.tsv")) for part in ("train", "validation", "test")
    )
    if way.rows is None and scores:
        train = drawn_anew(similarity.rows, "score", float)
    elif way.rows is None:
        train = drawn_anew(inference.rows, "gold_label", str)
    return [train[: way.rows], *held_out]


def one_run(way: Way, seed: int, measure: str) -> list[float]:
    """The measure on validation and on test, after fine-tuning one way from one seed."""
    train, *held_out = rows_of(way)
    settings = FinetuningSettings(batch_size=16, pooling=way.pooling, seed=seed)
    torch.manual_seed(seed)
    tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)
    model, task = TASKS[way.kind].make(train, held_out[0], tokenizer, CHECKPOINT, settings)
    torch.manual_seed(seed)
    learn(model, task, way.epochs, way.learning_rate)
    return [round(task.score(model, rows)[measure], 4) for rows in held_out]


def words_compared(way: Way) -> list[float]:
    """The accuracy of the linear model that compares words, on validation and on test, from the same rows."""
    train, *held_out = rows_of(way)
    baselines = (TASKS[way.kind].baselines(train, rows)["words compared"] for rows in held_out)
    return [round(figures["accuracy"], 4) for figures in baselines]


def word_overlap(way: Way) -> list[float]:
    """Spearman's correlation of the cosine of bags of words, which weigh words as the same rows have them."""
    train, *held_out = rows_of(way)
    baselines = (word_cosines(train, rows)["cosine of bags of words"] for rows in held_out)
    return [round(figures["spearman"], 4) for figures in baselines]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all ways and seeds, print a line each, and write the file if one is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inference", action="store_true", help="inference instead of similarity")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path, help="data/pairs/similarity.json, or data/pairs/inference.json")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    task, measure, ways = "similarity", "spearman", SIMILARITY
    if options.inference:
        task, measure, ways = "inference", "accuracy", INFERENCE
    found: dict[str, Any] = {
        "data": f"data/tasks/{task}: {measure} on the validation rows and on the test rows, for each seed",
        "model": "data/checkpoints/mixed-mini",
        "precision": "bf16" if computes_bf16("cpu") else "fp32",
        "batch_size": 16,
        "ways": {},
    }
    for name, way in ways.items():
        about = {"learning_rate": way.learning_rate, "epochs": way.epochs, "rows": len(rows_of(way)[0])}
        figures: dict[str, list[float]] = {"validation": [], "test": []}
        for seed in range(options.seeds):
            start = time.process_time()
            for part, figure in zip(figures, one_run(way, seed, measure), strict=True):
                figures[part].append(figure)
            told = ", ".join(f"{part} {values[-1]:.3f}" for part, values in figures.items())
            print(f"{name}, seed {seed}: {told} after {time.process_time() - start:.0f} s of one core", flush=True)
        found["ways"][name] = {**about, **figures}
        if options.inference:
            found["ways"][name]["words compared"] = words_compared(way)
        else:
            found["ways"][name]["word overlap"] = word_overlap(way)
        if options.output:
            write_json(options.output, found)


if __name__ == "__main__":
    main()

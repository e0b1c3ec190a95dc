"""Records the comparisons of chapter 13. Run: python benchmarks/pairs.py [--inference] [--output FILE] [--way NAME]

Similarity: a cross-encoder, the same in both orders, and a bi-encoder by mean and by [CLS], beside word overlap, which
weighs words as the same pairs have them.
Inference (--inference): a cross-encoder from half of the rows and from all, beside "words compared" on the same rows;
and a cross-encoder on the stress set, whose rows templates make.
Each is fine-tuned from the checkpoint in the box, over several seeds and with the loop of the notebook, and scored once
on the validation rows and once on the test rows. Without --output nothing is written; a file that is there keeps the
ways that are not run (--way names those that are). Training takes bfloat16 where the hardware computes it, as in the
notebook.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from bertedu.corpora.readers import LabelledText
from bertedu.files import read_json, write_json
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.task import FinetuningTask
from bertedu.finetuning.tasks.similarity import word_cosines
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.training.devices import computes_bf16

DATA = Path(__file__).resolve().parents[1] / "data"
CHECKPOINT = str(DATA / "checkpoints" / "mixed-mini")


@dataclass(frozen=True)
class Way:
    """The kind of task, the pooling, the peak learning rate, the passes, and the rows (None: all of them).

    both_orders: learn from each pair in both orders, and score it by the mean over both. folder: of data/tasks.
    """

    kind: str
    pooling: str
    learning_rate: float
    epochs: int
    rows: int | None = None
    both_orders: bool = False
    folder: str = "similarity"


SIMILARITY = {
    "cross-encoder": Way("regression", "pooler", 3e-4, 3),
    "cross-encoder, both orders": Way("regression", "pooler", 3e-4, 3, both_orders=True),
    "bi-encoder, mean": Way("similarity", "mean", 1.5e-4, 3),
    "bi-encoder, [CLS]": Way("similarity", "cls", 1.5e-4, 3),
}
INFERENCE = {
    "1,068 rows, 8 epochs": Way("classification", "pooler", 3e-4, 8, 1068, folder="inference"),
    "2,136 rows, 4 epochs": Way("classification", "pooler", 3e-4, 4, folder="inference"),
    "templates, 4 epochs": Way("classification", "pooler", 3e-4, 4, folder="stress/inference"),
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


def rows_of(way: Way) -> list[list[LabelledText]]:
    """What a way learns from, the validation rows and the test rows."""
    folder = DATA / "tasks" / way.folder
    train, *held_out = (
        TASKS[way.kind].read_rows(str(folder / f"{part}.tsv")) for part in ("train", "validation", "test")
    )
    return [train[: way.rows], *held_out]


def swapped(rows: Sequence[LabelledText]) -> list[LabelledText]:
    """Each pair the other way round."""
    return [LabelledText(row.pair or "", row.label, row.text) for row in rows]


def one_run(way: Way, seed: int, measure: str) -> list[float]:
    """The measure on validation and on test, after fine-tuning one way from one seed."""
    train, *held_out = rows_of(way)
    if way.both_orders:
        train = [*train, *swapped(train)]
    settings = FinetuningSettings(batch_size=16, pooling=way.pooling, seed=seed)
    torch.manual_seed(seed)
    tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)
    model, task = TASKS[way.kind].make(train, held_out[0], tokenizer, CHECKPOINT, settings)
    torch.manual_seed(seed)
    learn(model, task, way.epochs, way.learning_rate)
    figures = []
    for rows in held_out:
        said = task.predictions(model, rows)
        if way.both_orders:
            said = np.mean([said, task.predictions(model, swapped(rows))], axis=0).tolist()
        figures.append(round(task.figures(rows, said)[measure], 4))
    return figures


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
    """Run the ways and seeds, print a line each, and write the file if one is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inference", action="store_true", help="inference instead of similarity")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--way", action="append", help="only this way, by its name; may be given several times")
    parser.add_argument("--output", type=Path, help="data/pairs/similarity.json, or data/pairs/inference.json")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    task, measure, ways = "similarity", "spearman", SIMILARITY
    if options.inference:
        task, measure, ways = "inference", "accuracy", INFERENCE
    before = read_json(options.output)["ways"] if options.output and options.output.exists() else {}
    found: dict[str, Any] = {
        "data": f"data/tasks/{task}: {measure} on the validation rows and on the test rows, for each seed",
        "model": "data/checkpoints/mixed-mini",
        "precision": "bf16" if computes_bf16("cpu") else "fp32",
        "batch_size": 16,
        "ways": {name: before[name] for name in ways if name in before},
    }
    for name, way in ways.items():
        if options.way and name not in options.way:
            continue
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
        found["ways"] = {name: found["ways"][name] for name in ways if name in found["ways"]}
        if options.output:
            write_json(options.output, found)


if __name__ == "__main__":
    main()

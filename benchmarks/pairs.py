"""Records the comparison of chapter 13: cross-encoder, bi-encoder by mean and by [CLS]. Run: python benchmarks/pairs.py

Each way is fine-tuned on data/tasks/similarity from the checkpoint in the box, over several seeds and with the loop of
the notebook, and scored once on the validation rows. Without --output nothing is written. Training takes bfloat16 where
the hardware computes it, as in the notebook.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bertedu.files import write_json
from bertedu.finetuning.kinds import KINDS
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.task import FinetuningTask
from bertedu.tokenization import BertTokenizer
from bertedu.training.devices import computes_bf16

DATA = Path(__file__).resolve().parents[1] / "data"
CHECKPOINT = str(DATA / "checkpoints" / "mixed-mini")
# The name on the figure: the kind of task, the pooling, and the peak learning rate.
WAYS = {
    "cross-encoder": ("regression", "pooler", 3e-4),
    "bi-encoder, mean": ("similarity", "mean", 1.5e-4),
    "bi-encoder, [CLS]": ("similarity", "cls", 1.5e-4),
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


def one_run(way: str, seed: int, epochs: int) -> float:
    """Spearman's correlation on validation, after fine-tuning one way from one seed."""
    name, pooling, rate = WAYS[way]
    kind = KINDS[name]
    rows = [kind.read(str(DATA / "tasks" / "similarity" / f"{part}.tsv")) for part in ("train", "validation")]
    settings = FinetuningSettings(batch_size=16, pooling=pooling, seed=seed)
    torch.manual_seed(seed)
    model, task = kind.make(*rows, BertTokenizer.from_pretrained(CHECKPOINT), CHECKPOINT, settings)
    torch.manual_seed(seed)
    return task.score(learn(model, task, epochs, rate), rows[1])["spearman"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all ways and seeds, print a line each, and write the file if one is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path, help="such as data/pairs/similarity.json")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    found: dict[str, Any] = {
        "data": "data/tasks/similarity, validation rows",
        "model": "data/checkpoints/mixed-mini",
        "precision": "bf16" if computes_bf16("cpu") else "fp32",
        "epochs": options.epochs,
        "batch_size": 16,
        "ways": {way: {"learning_rate": rate, "spearman": []} for way, (_, _, rate) in WAYS.items()},
    }
    for seed in range(options.seeds):
        for way in WAYS:
            start = time.process_time()
            figure = round(one_run(way, seed, options.epochs), 4)
            print(f"{way}, seed {seed}: {figure:.3f} after {time.process_time() - start:.0f} s of one core", flush=True)
            found["ways"][way]["spearman"].append(figure)
        if options.output:
            write_json(options.output, found)


if __name__ == "__main__":
    main()

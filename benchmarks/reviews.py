"""How much chapter 10's main result varies: its fine-tuning on all reviews again from three seeds, each with the
processor's newest instructions and with those of an older one (AVX2), since these round differently.

`python benchmarks/reviews.py` writes data/comparisons/reviews.json. About five minutes on one core.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from bertedu.files import write_json
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.training.optimization import build_optimizer, rate_factor

DATA = Path(__file__).resolve().parents[1] / "data"
MODEL = str(DATA / "checkpoints" / "mixed-mini")
REVIEWS = DATA / "tasks" / "stress" / "sentiment"
KIND = TASKS["classification"]
RATE, EPOCHS, SEEDS = 5e-4, 3, 3
OLDER = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
LAST, FIRST = r"(.+) was (.+) before\. Now (\w+) is (.+)\.", r"\1 is \4 now; \3 was \2 before."


def fine_tuned(train: list, validation: list, seed: int) -> tuple[Any, Any, float]:
    """The model and the task after chapter 10's loop, and the loss of the first batch."""
    settings = FinetuningSettings(pooling="max", epochs=EPOCHS, seed=seed)
    torch.manual_seed(seed)
    tokenizer = BertTokenizer.from_pretrained(MODEL)
    model, task = KIND.make(train, validation, tokenizer, MODEL, settings)
    optimizer = build_optimizer(model, RATE, 0.01, (0.9, 0.999))
    losses: list[float] = []
    step, steps = 0, EPOCHS * len(task.epoch(0))
    for _ in range(EPOCHS):
        model.train()
        for batch in task.epoch(step):
            for group in optimizer.param_groups:
                group["lr"] = RATE * rate_factor(step / steps, 0.1)
            loss = task.sums(model, batch)["text_loss"] / len(batch["labels"])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step, losses = step + 1, [*losses, loss.item()]
    return model, task, losses[0]


def constructions() -> list[str]:
    """How each validation review is made."""
    with (REVIEWS / "validation.tsv").open(encoding="utf-8") as file:
        return [row["construction"] for row in csv.DictReader(file, delimiter="\t")]


def figures(seed: int) -> dict[str, Any]:
    """One run: accuracies on validation, by construction too, and on the test set; what it does with two rules."""
    rows = {part: KIND.read_rows(str(REVIEWS / f"{part}.tsv")) for part in ("train", "validation", "test")}
    model, task, first_loss = fine_tuned(rows["train"], rows["validation"], seed)

    def right(some: list) -> list[bool]:
        said = [task.labels[int(logits.argmax())] for logits in task.predictions(model, some)]
        return [one == row.label for one, row in zip(said, some, strict=True)]

    hits, kinds = right(rows["validation"]), constructions()
    of_kind = {kind: [hit for hit, one in zip(hits, kinds, strict=True) if one == kind] for kind in sorted(set(kinds))}
    turned = [row for row in rows["test"] if re.match(LAST, row.text)]
    swapped = [replace(row, text=re.sub(LAST, FIRST, row.text)) for row in turned]
    questions = [row for row in rows["test"] if row.text.startswith("Does anyone know")]
    test = right(rows["test"])
    return {
        "seed": seed,
        "first loss": round(first_loss, 2),
        "validation": round(sum(hits) / len(hits), 4),
        "by construction": {kind: round(sum(one) / len(one), 4) for kind, one in of_kind.items()},
        "test": round(sum(test) / len(test), 4),
        "questions right": f"{sum(right(questions))} of {len(questions)}",
        "turned, the verdict first": f"{sum(right(swapped))} of {len(swapped)}",
    }


def main() -> None:
    """All six runs, each in a process of its own, because the instructions are chosen when it starts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, help="one run alone, printed")
    parser.add_argument("--output", type=Path, default=DATA / "comparisons" / "reviews.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.seed is not None:
        print(json.dumps(figures(options.seed)))
        return
    found = []
    for instructions, environment in (("newest", {}), ("AVX2", OLDER)):
        for seed in range(SEEDS):
            command = [sys.executable, __file__, "--seed", str(seed)]
            done = subprocess.run(
                command, env={**os.environ, **environment}, capture_output=True, text=True, check=True
            )
            found.append({"instructions": instructions, **json.loads(done.stdout.splitlines()[-1])})
            print(found[-1], flush=True)
    about = (
        f"benchmarks/reviews.py: chapter 10's fine-tuning on all reviews, {SEEDS} seeds with two sets of instructions"
    )
    write_json(options.output, {"about": about, "runs": found})


if __name__ == "__main__":
    main()

"""Smaller and faster versions of one fine-tuned BERT: accuracy against milliseconds.

Run: python benchmarks/compression.py DATASETS --work FOLDER [--output data/comparisons/compression.json]

DATASETS is the folder of the public sets. Each seed fine-tunes the checkpoint in the box, removes heads or layers,
distils a student of half the layers, turns graphs into int8, tests each version once, and times all of them in turns:
milliseconds of processor time on one thread (ONNX Runtime), so that other work on the machine does not count. A seed of
a set is one file in FOLDER; what is there is not measured again. The settings were fixed before the first run; of two
epochs or more the best by validation is kept.
"""

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from compression_learner import BATCH, MAX_LENGTH, Learner, Rows, in_torch, loss_of
from public_sets import movies

from bertedu.checkpoints.weights import WEIGHTS
from bertedu.corpora.task_data import read_labelled
from bertedu.files import write_json
from bertedu.production.pruning import head_importance, least_important, remove_heads, remove_layers
from bertedu.registry import TASKS

ROOT = Path(__file__).resolve().parents[1]
EPOCHS, SHORT_EPOCHS = 3, 1
SHARES = (0.25, 0.5)
ROUNDS = 30


def course(_datasets: Path) -> tuple[Rows, Rows, Rows]:
    """The course's own sentiment task."""
    train, validation, test = (
        read_labelled(ROOT / "data/tasks/stress/sentiment" / f"{part}.tsv") for part in ("train", "validation", "test")
    )
    return train, validation, test


SETS = {"film reviews": movies, "the course's sentiment": course}


def measure(data: tuple[Rows, Rows, Rows], seed: int, folder: Path, rounds: int) -> dict[str, Any]:
    """All versions of one seed."""
    began = time.process_time()
    learner = Learner(data, seed, folder)
    whole = learner.train(learner.start, EPOCHS)
    whole.save_pretrained(folder / "whole")
    size = (folder / "whole" / WEIGHTS).stat().st_size
    learner.keep("PyTorch", in_torch(whole), size, sum(one.numel() for one in whole.parameters()))
    learner.add("ONNX", whole, int8=True)
    # what is tuned below has seen the training rows once more: so has this one, with nothing removed
    learner.add("ONNX, tuned on", learner.train(whole, SHORT_EPOCHS, rate=0.5))
    batches = [learner.task.epoch(0)[number] for number in range(min(16, len(learner.task.epoch(0))))]
    importance = head_importance(whole, batches, loss_of)
    for share in SHARES:
        pruned = remove_heads(whole, least_important(importance, share))
        learner.add(f"{share:.0%} of heads removed", pruned)
        learner.add(f"{share:.0%} of heads removed, tuned", learner.train(pruned, SHORT_EPOCHS, rate=0.5))
    half = range(whole.config.num_hidden_layers // 2)
    cut = remove_layers(whole, half)
    learner.add("upper half of layers removed", cut)
    learner.add("upper half of layers removed, tuned", learner.train(cut, SHORT_EPOCHS, rate=0.5))
    student = remove_layers(learner.start, half)
    learner.add("student alone", learner.train(student, EPOCHS))
    learner.add("student distilled", learner.train(student, EPOCHS, teacher=whole), int8=True)
    learner.measure_times(rounds)
    return {
        "versions": learner.versions,
        "importance": [[round(float(one), 5) for one in layer] for layer in importance],
        "processor_seconds": round(time.process_time() - began, 1),
    }


def summary(units: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Means and standard deviations over the seeds; times are medians of the seeds' medians."""
    found = {}
    for name, about in units[-1]["versions"].items():
        ofs = [unit["versions"][name] for unit in units if name in unit["versions"]]
        accuracies = [one["accuracy"] for one in ofs]
        found[name] = {
            "accuracy": round(statistics.mean(accuracies), 4),
            "deviation": round(statistics.stdev(accuracies), 4) if len(accuracies) > 1 else 0.0,
            "accuracies": [round(one, 4) for one in accuracies],
            "ms_one_text": statistics.median(one["ms_one_text"] for one in ofs),
            "ms_a_text_in_32": statistics.median(one["ms_a_text_in_32"] for one in ofs),
            "times_faster_one_text": ratio(units, name, "ms_one_text"),
            "times_faster_in_32": ratio(units, name, "ms_a_text_in_32"),
            "megabytes": about["megabytes"],
            "parameters": about["parameters"],
        }
    return found


def ratio(units: Sequence[dict[str, Any]], name: str, figure: str) -> float:
    """How many times faster than the whole model as ONNX, the median over seeds of ratios taken within a seed."""
    versions = [unit["versions"] for unit in units if name in unit["versions"]]
    ratios = [one["ONNX"][figure] / one[name][figure] for one in versions]
    return round(statistics.median(ratios), 2)


def table(found: dict[str, Any]) -> str:
    """The summary of one set in Markdown."""
    lines = [
        "| version | accuracy | ms, one text | ms a text in 32 | times faster | MB | million parameters |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in found.items():
        faster = f"{one['times_faster_one_text']:.2f} / {one['times_faster_in_32']:.2f}"
        cells = [name, f"{one['accuracy']:.3f} ± {one['deviation']:.3f}", f"{one['ms_one_text']:.2f}"]
        cells += [f"{one['ms_a_text_in_32']:.2f}", faster, f"{one['megabytes']:.1f}", f"{one['parameters'] / 1e6:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=3000, help="training rows")
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.work.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {
        "model": "data/checkpoints/mixed-mini",
        "settings": {
            "epochs": EPOCHS,
            "epochs after removing": SHORT_EPOCHS,
            "max_length": MAX_LENGTH,
            "batch": BATCH,
            "temperature": 2.0,
            "soft targets": 0.5,
        },
        "sets": {},
    }
    read = {name: SETS[name](given.datasets) for name in given.sets}
    units: dict[str, list[Any]] = {name: [] for name in given.sets}
    for seed in range(given.seeds):
        for name, (train, validation, test) in read.items():
            data = (train[: given.rows], validation, test)
            units[name].append(unit(given.work, name, data, seed))
            rows = {"train": len(data[0]), "validation": len(validation), "test": len(test)}
            if "baselines" not in result["sets"].get(name, {}):
                result["sets"][name] = {"rows": rows, "baselines": TASKS["classification"].baselines(data[0], test)}
            result["sets"][name] |= {"seeds": seed + 1, "versions": summary(units[name]), "units": units[name]}
            if given.output:
                write_json(given.output, result)
    for name, about in result["sets"].items():
        print(f"\n{name}: {about['rows']}, {about['baselines']}\n{table(about['versions'])}")


def unit(work: Path, name: str, data: tuple[Rows, Rows, Rows], seed: int) -> dict[str, Any]:
    """What one seed of a set gives, from its file where that is there."""
    path = work / f"{name.replace(' ', '-')}-{len(data[0])}-{seed}.json"
    if not path.exists():
        print(f"{name}, seed {seed}", flush=True)
        folder = work / path.stem
        folder.mkdir(exist_ok=True)
        write_json(path, measure(data, seed, folder, ROUNDS))
    return json.loads(path.read_text())


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()

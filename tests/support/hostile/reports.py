"""The files that a page about a finished run is made of: what is taken stands on the page, and the page is whole."""

import json
import random
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from bertedu import registry
from bertedu.config import BertConfig
from bertedu.visualization import write_finetuning_report, write_report
from bertedu.visualization.finetuning_report import page as finetuning_page
from bertedu.visualization.finetuning_results import finetuning_table, part_of
from bertedu.visualization.finished_runs import read_finetuning_run, read_predictions, read_run
from bertedu.visualization.mistakes import most_telling
from bertedu.visualization.picture import Picture, new_figure
from bertedu.visualization.pretraining_page import page
from bertedu.visualization.report import curve_baselines, how_it_was_made
from bertedu.visualization.results import results, results_table
from support.finetuning_runs import FIGURES, save_finetuning_run
from support.hostile.json_files import small_model
from support.hostile.oracle import Input, altered, damaged, strange_json
from support.pages import Page, fetches
from support.small_runs import save_run


def changed(rng: random.Random, path: Path) -> bool:
    """Write a file of JSON, or one line of it, with strange values; whether anything is changed."""
    lines = path.read_text().split("\n")
    number = rng.randrange(len(lines) - 1) if path.suffix == ".jsonl" else None
    value = json.loads(path.read_text() if number is None else lines[number])
    if rng.random() < 0.8:
        other = altered(rng, value)
        data, hurt = json.dumps(other).encode(), json.dumps(other) != json.dumps(value)
    elif number is not None:
        data, hurt = damaged(rng, lines[number].encode())
    else:
        data, hurt = strange_json(rng, value)
    if number is not None:
        data = "\n".join(lines[:number]).encode() + b"\n" * bool(number) + data + b"\n"
        data += "\n".join(lines[number + 1 :]).encode()
    path.write_bytes(data)
    return hurt


def missing(text: str, wanted: list[str]) -> list[str]:
    """What a page lacks, and what it would fetch."""
    words = " ".join(Page(text).words)
    return [one for one in wanted if " ".join(one.split()) not in " ".join(words.split())] + fetches(text)


def keep(place: Path) -> None:
    """Put a copy of each file of a run beside it."""
    for path in [path for path in place.rglob("*.json*") if "checkpoint" not in path.parts]:
        path.with_name(f"{path.name}.whole").write_bytes(path.read_bytes())


def restore(place: Path) -> None:
    """Make the run whole again."""
    for path in place.rglob("*.whole"):
        path.with_suffix("").write_bytes(path.read_bytes())
    (place / "report.html").unlink(missing_ok=True)


def finetuned(rng: random.Random, folder: Path) -> Path:
    """The folder of a finished fine-tuning run of any task."""
    task = rng.choice(list(FIGURES))
    place = folder / f"finished {task}"
    if not place.exists():
        save_finetuning_run(place, task)
        keep(place)
    restore(place)
    return place


def wanted_of_finetuning(place: Path) -> list[str]:
    """What must stand on the page, by the files alone."""
    there = json.loads((place / "metrics.json").read_text())
    task = registry.TASKS[there["task"]]
    figures = [f"{one['mean']:.3f}" for name, one in there[part_of(there)].items() if task.measure(name)]
    rows = [json.loads(line) for line in (place / "predictions.jsonl").read_text().split("\n") if line]
    wrong = sum(row["mistake"] > 0 for row in rows)
    scores = there["task"] in ("regression", "similarity")
    of_all = f"Of {len(rows):,} rows the {min(wrong, 20):,} in" if scores else f"{wrong:,} of {len(rows):,} rows hold"
    return [*figures, of_all]


def finetuning_files(name: str) -> Callable[[random.Random, Path], Input]:
    """A kind: one file of a fine-tuning run is strange."""

    def draw(rng: random.Random, folder: Path) -> Input:
        place = finetuned(rng, folder)
        hurt = changed(rng, place / name) if rng.random() < 0.9 else False

        def read() -> list[str]:
            run = read_finetuning_run(place)
            rows = read_predictions(place / "predictions.jsonl", run.metrics["task"])
            Console(file=open("/dev/null", "w")).print(finetuning_table(run.metrics))  # noqa: SIM115
            text = finetuning_page(run, rows, {"curves": (Picture(new_figure(2, 2), "curves"), "caption")})
            said = [registry.TASKS[run.metrics["task"]].in_words(row).said for row in most_telling(rows)]
            return missing(text, [*wanted_of_finetuning(place), *said])

        return Input(read, list, not hurt, name)

    return draw


def pretrained(folder: Path) -> Path:
    """The folder of a finished pre-training run."""
    place = folder / "pretrained"
    if not place.exists():
        save_run(place)
        keep(place)
    restore(place)
    return place


def pretraining_metrics(rng: random.Random, folder: Path) -> Input:
    """metrics.json of a pre-training run."""
    place = pretrained(folder)
    hurt = changed(rng, place / "metrics.json") if rng.random() < 0.9 else False
    config = small_model(folder) / "whole"

    def read() -> list[str]:
        run = read_run(place)
        curve_baselines(run.metrics)
        Console(file=open("/dev/null", "w")).print(results_table(run.metrics))  # noqa: SIM115
        facts = how_it_was_made(run, BertConfig.load(config))
        examples = [("A [MASK].", [("cat", 0.5)])]
        text = page("runs/x", run.metrics, results(run.metrics), facts, examples, {"attention": ""})
        there = json.loads((place / "metrics.json").read_text())
        shares = [one["mlm_accuracy"] for one in there["evaluation"].values() if "mlm_accuracy" in one]
        return missing(text, [f"{share:.1%}" for share in shares])

    return Input(read, list, not hurt, "metrics.json")


def whole_page(rng: random.Random, folder: Path) -> Input:
    """A page with its pictures, of either kind of run, one file of which is strange."""
    if rng.random() < 0.3:
        place, write = pretrained(folder), write_report
        names = ["run.json", "metrics.json", "metrics.jsonl"]
    else:
        place, write = finetuned(rng, folder), write_finetuning_report
        names = ["run.json", "metrics.json", "predictions.jsonl", "seed-0/metrics.jsonl"]
    name = rng.choice(names)
    hurt = changed(rng, place / name) if rng.random() < 0.9 else False

    def read() -> list[str]:
        return missing(write(place).read_text("utf-8"), wanted_of_finetuning(place) if "finished" in place.name else [])

    return Input(read, list, not hurt, Path(name).name)


KINDS: dict[str, Callable[[random.Random, Path], Input]] = {
    "metrics.json of fine-tuning": finetuning_files("metrics.json"),
    "metrics.json of pre-training": pretraining_metrics,
    "predictions.jsonl": finetuning_files("predictions.jsonl"),
    "pages with pictures": whole_page,
}

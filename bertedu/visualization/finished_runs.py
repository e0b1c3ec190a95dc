"""What the folder of a finished run says: read, and compared with what a run writes, before a page is made of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertedu.errors import UserError, shown
from bertedu.files import quoted, read_json, read_text
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.json_values import check_object, parse_json, whole
from bertedu.pretraining.plan import Plan
from bertedu.registry import OBJECTIVES, TASKS
from bertedu.training.figures import Figures, check_perplexities
from bertedu.training.metrics import read_metrics
from bertedu.visualization.finetuning_results import part_of

Types = Mapping[str, Any]  # the type of what stands under each name, as in `json_values.check_object`
# Of metrics.json of a pre-training run, of its "run", and of each of its evaluations.
PRETRAINING: Types = {"corpus": str, "run": dict[str, Any], "evaluation": dict[str, dict[str, Any]], "notes": list[str]}
PROGRESS: Types = {"step": int, "tokens": int, "seconds": float, "parameters": int}
HELD_OUT: Types = {"masked_words": int, "mlm_accuracy": float, "perplexity": float, "baselines": Figures}
FACTS: Types = {"probes": int, "accuracy": float, "n-gram": float}
SENSE: Types = {"accuracy": float, "bag of words": float}
BASELINES = ("most frequent token", "n-gram, both sides")
OPTIONS = (
    "preset",
    "initialization",
    "batch_size",
    "max_length",
    "learning_rate",
    "warmup",
    "mask_rates",
    "whole_words",
)
# Of metrics.json of a fine-tuning run, and of each of its seeds.
FINETUNING: Types = {
    **{"task": str, "model": str, "rows": dict[str, int], "baselines": Figures, "best_seed": int},
    **{"runs": list[dict[str, Any]], "validation": Figures},
}
OF_A_SEED: Types = {
    **{"seed": int, "seconds": float, "steps": int, "parameters": int, "chosen_by": str},
    **{"device": str, "precision": str, "threads": int},
}
SPREAD: Types = {"mean": float, "deviation": float}
FINETUNING_OPTIONS = (
    *("data", "epochs", "batch_size", "max_length", "learning_rate", "warmup", "dropout", "pooling", "crf"),
)


@dataclass(frozen=True)
class Run:
    """What a run folder says about its run."""

    folder: Path
    plan: dict[str, Any]  # run.json
    metrics: dict[str, Any]  # metrics.json
    lines: list[dict[str, Any]]  # metrics.jsonl


def refuse_unfinished(folder: Path, names: tuple[str, ...], command: str) -> None:
    """Raise UserError where a file is missing that the command writes at the end of a run."""
    for name in names:
        if not (folder / name).is_file():
            raise UserError(
                f"{folder} has no {name}: give the folder of a run that has ended, or end it with "
                f"`bertedu {command} --resume {quoted(folder)}`."
            )


def read_run(folder: str | Path) -> Run:
    """Read a finished pre-training run. Raises UserError where a file is missing, damaged or not what a run writes."""
    folder = Path(folder)
    refuse_unfinished(folder, ("run.json", "metrics.json"), "pretrain")
    plan, path = Plan.read(folder), folder / "metrics.json"
    whole(plan, dict.fromkeys(OPTIONS, Any), folder / "run.json")
    metrics = whole({"notes": [], **check_object(read_json(path), {}, path)}, PRETRAINING, path)
    whole(metrics["run"], PROGRESS, f"{path}, run")
    for name, figures in metrics["evaluation"].items():
        check_evaluation(name, figures, f"{path}, {shown(name)}")
    return Run(folder, plan, metrics, read_metrics(folder))


def check_evaluation(name: str, figures: dict[str, Any], place: str) -> None:
    """Raise UserError where these are not the figures of one evaluation, by its name."""
    if name == "facts":
        whole(figures, FACTS, place)
    elif name == "senses":
        for word, shares in figures.items():
            whole(shares, SENSE, f"{place}, {shown(word)}")
    else:
        baselines = whole(figures, HELD_OUT, place)["baselines"]
        for objective in OBJECTIVES.values():
            objective.check_figures(figures, place)
        whole(baselines, dict.fromkeys(BASELINES, Any), f"{place}, baselines")
        for kind in BASELINES:
            whole(baselines[kind], {"mlm_accuracy": float}, f"{place}, {kind}")
        check_perplexities((figures, *baselines.values()), place)


def read_finetuning_run(folder: str | Path) -> Run:
    """Read a finished fine-tuning run. Raises UserError where a file is missing, damaged or not what a run writes."""
    folder = Path(folder)
    refuse_unfinished(folder, ("run.json", "metrics.json", "predictions.jsonl"), "finetune")
    plan, path = FinetuningPlan.read(folder), folder / "metrics.json"
    whole(plan, dict.fromkeys(FINETUNING_OPTIONS, Any), folder / "run.json")
    metrics = check_object(whole(read_json(path), FINETUNING, path), {"test": Figures}, path)
    check_object(metrics, {"test_rows_seen_in_training": int}, path)
    part = part_of(metrics)
    if metrics["task"] not in TASKS:
        raise UserError(f"{path}: there is no task {shown(metrics['task'])}: run it again.")
    task = TASKS[metrics["task"]]
    whole(metrics["rows"], dict.fromkeys(("train", "validation", "test"), int), f"{path}, rows")
    for name, figure in metrics[part].items():
        whole(figure, SPREAD, f"{path}, {part}, {shown(name)}")
    for number, one in enumerate(metrics["runs"]):
        place = f"{path}, runs[{number}]"
        check_object(whole(one, OF_A_SEED, place), {"decided": dict[str, float]}, place)
        if one["chosen_by"] not in metrics[part] or task.measure(one["chosen_by"]) is None:
            raise UserError(f"{place}: chosen_by {shown(one['chosen_by'])} is no figure of {part}: run it again.")
    if metrics["best_seed"] not in [one["seed"] for one in metrics["runs"]]:
        raise UserError(f"{path}: best_seed is {metrics['best_seed']}, and no run is of that seed: run it again.")
    return Run(folder, plan, metrics, [])


def read_predictions(path: str | Path, task: str) -> list[dict[str, Any]]:
    """The rows of predictions.jsonl of a task. Raises UserError for a line that is damaged or of another task."""
    rows, types = [], TASKS[task].row_types
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line:
            place = f"{path}, line {number}"
            row = check_object(whole(parse_json(line, path, number), types, place), {"pair": str}, place)
            rows.append({name: row[name] for name in (*types, "pair") if name in row})
            TASKS[task].check_row(rows[-1], place)
    if not rows:
        raise UserError(f"{path} holds no prediction: run it again.")
    return rows

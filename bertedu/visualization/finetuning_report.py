"""One page about one fine-tuning run, made from its folder alone: pictures and report.html."""

import shlex
from dataclasses import asdict
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bertedu.files import write_text
from bertedu.finetuning.recipe import default_rate
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.task import ANSWERS, Pictures
from bertedu.model.architecture import architecture_in
from bertedu.registry import TASKS
from bertedu.training.metrics import read_metrics
from bertedu.visualization.calibration import reliability_diagram
from bertedu.visualization.confusion import confusion_matrix, entity_confusion, label_outcomes
from bertedu.visualization.finetuning_curves import finetuning_curves
from bertedu.visualization.finetuning_results import finetuning_results, measure_of, part_of, title
from bertedu.visualization.finished_runs import Run, read_finetuning_run, read_predictions
from bertedu.visualization.mistakes import mistakes_html, most_telling
from bertedu.visualization.page import (
    document,
    duration,
    facts_html,
    figure_html,
    list_html,
    results_html,
    verdict_html,
)
from bertedu.visualization.report import versions
from bertedu.visualization.scores import chosen_places, score_scatter
from bertedu.visualization.thresholds import in_words, no_answer_curve

CHARTS = SimpleNamespace(  # what a task, which stands below, draws with
    chosen_places=chosen_places,
    confusion_matrix=confusion_matrix,
    entity_confusion=entity_confusion,
    label_outcomes=label_outcomes,
    no_answer_curve=no_answer_curve,
    reliability_diagram=reliability_diagram,
    score_scatter=score_scatter,
)
NARROW = 6.0  # inches: two pictures below it stand side by side


def write_finetuning_report(folder: str | Path) -> Path:
    """Write the pictures and report.html into a finished run's folder; returns the page's path.

    Raises UserError for a folder that holds no finished run, and where a file cannot be written.
    """
    run = read_finetuning_run(folder)
    rows = read_predictions(run.folder / "predictions.jsonl", run.metrics["task"])
    task = TASKS[run.metrics["task"]]
    pictures = {**curves(run), **task.pictures(rows, CHARTS, **decided(run.metrics))}
    for name, (picture, _) in pictures.items():
        picture.save(run.folder / f"{name}.png")
    write_text(run.folder / "report.html", page(run, rows, pictures))
    return run.folder / "report.html"


def decided(metrics: dict[str, Any]) -> dict[str, float]:
    """What validation decided besides the weights, of the seed that is shown."""
    return next((one.get("decided", {}) for one in metrics["runs"] if one["seed"] == metrics["best_seed"]), {})


def curves(run: Run) -> Pictures:
    """The curves of all seeds. Baselines are drawn where they were measured on the same rows: on validation."""
    seeds = [one["seed"] for one in run.metrics["runs"]]
    lines = {seed: read_metrics(run.folder / f"seed-{seed}") for seed in seeds}
    chosen_by = run.metrics["runs"][0]["chosen_by"]
    baselines = {} if "test" in run.metrics else run.metrics["baselines"]
    beside = {name: figures[chosen_by] for name, figures in baselines.items() if chosen_by in figures}
    caption = (
        "Each seed is a thin line, the bold one their mean." if len(seeds) > 1 else "Bold and blue: a running mean."
    )
    caption += (
        " The loss in training is that of single batches and with dropout, the one on validation of all rows without: "
        "where it rises while the other falls, the model learns by heart."
    )
    caption += " The weights of the best validation (the ring) were kept, not the last ones."
    return {"curves": (finetuning_curves(lines, run.metrics["task"], chosen_by, beside), caption)}


def page(run: Run, rows: list[dict[str, Any]], pictures: Pictures) -> str:
    """The whole page."""
    metrics = run.metrics
    telling, results = most_telling(rows), finetuning_results(metrics)
    table = results_html(results, table_caption(metrics), "without pre-training")
    errors = TASKS[metrics["task"]].errors_shown(rows, len(telling))
    figures = {name: figure_html(picture.html(), words) for name, (picture, words) in pictures.items()}
    looks = "\n".join(figure for name, figure in figures.items() if name != "curves")
    if all(picture.figure.get_figwidth() < NARROW for name, (picture, _) in pictures.items() if name != "curves"):
        looks = f"<div class='looks'>\n{looks}\n</div>"
    name = f"{metrics['task']}: {Path(metrics['model']).name}, fine-tuned on {Path(run.plan['data']).name}"
    sections = [
        f"<h1>{escape(name)}</h1>\n<p class='summary'>{escape(summary(metrics))}</p>",
        f"<h2>What it can do</h2>\n{table}{verdict_html(results)}",
        f"<h2>Where it goes wrong</h2>\n{looks}",
        f"<h2>Errors to read</h2>\n<p>{errors}</p>\n{mistakes_html(telling, metrics['task'])}",
        f"<h2>How training went</h2>\n{figures['curves']}",
        f"<h2>How it was made</h2>\n{facts_html(how_it_was_made(run))}",
        f"<h2>How to go on</h2>\n{next_html(run, rows)}",
        f"<h2>What to know about these numbers</h2>\n{list_html(notes(metrics))}",
    ]
    return document(name, sections)


def table_caption(metrics: dict[str, Any]) -> str:
    """What stands above the table of results."""
    said = f"{title(metrics)}.".capitalize()
    if len(metrics["runs"]) > 1:
        said += " After ± the standard deviation over seeds."
    task = TASKS[metrics["task"]]
    measures = [task.measure(name) for name in metrics[part_of(metrics)]]
    if lower := [measure.name for measure in measures if measure and measure.lower_is_better]:
        said += f" {' and '.join(lower).capitalize()}: lower is better{task.about_scale}."
    return said


def summary(metrics: dict[str, Any]) -> str:
    """The run in a sentence or two: the figure that the weights were chosen by, beside the best baseline."""
    chosen_by, part = metrics["runs"][0]["chosen_by"], part_of(metrics)
    found = metrics[part][chosen_by]
    seconds, measure = sum(run["seconds"] for run in metrics["runs"]), measure_of(chosen_by, metrics["task"]).name
    text = (
        f"In {duration(seconds)} it learned from {metrics['rows']['train']:,} rows. On {metrics['rows'][part]:,} rows "
        f"of {part} its {measure_of(chosen_by, metrics['task']).name} is {found['mean']:.3f}"
    )
    row = next(row for row in finetuning_results(metrics) if row.measure == measure)
    if not row.baselines:
        return f"{text}."
    best = min if row.lower_is_better else max
    kind, value = best(row.baselines, key=lambda one: one[1])
    return f"{text}; the best answer without pre-training ({kind}) gets {value:.3f}."


def how_it_was_made(run: Run) -> dict[str, dict[str, str]]:
    """Groups of facts about the run, in words."""
    plan, metrics, first = run.plan, run.metrics, run.metrics["runs"][0]
    rows, chosen, reasons = metrics["rows"], decided(metrics).items(), plan.get("chosen", {})
    usual = {"freeze_encoder": False, "layer_decay": 1.0, "head_rate": 1.0, "unfreeze_over": 0.0, "crf": False,
             "class_weights": "none", "patience": 0, "accumulation": 1}  # fmt: skip
    changed = {
        name.replace("_", " "): str(plan[name]) for name, value in usual.items() if plan.get(name, value) != value
    }
    return {
        "Model and data": {
            "model": f"{metrics['model']}, {first['parameters']:,} parameters with the new head",
            "data": str(plan["data"]),
            "rows": f"{rows['train']:,} to learn from, {rows['validation']:,} to choose the weights by, "
            f"{rows['test']:,} to test them",
        },
        "Training": {
            "epochs": f"{plan['epochs']:g}, {first['steps']:,} steps of {plan['batch_size']} rows",
            "longest text": f"{plan['max_length']} tokens",
            "learning rate": f"{plan['learning_rate']:g} after a warm-up of {plan['warmup']:.0%}, then down to 0",
            "dropout": "as in pre-training" if plan["dropout"] is None else f"{plan['dropout']:g}",
            "pooling": plan["pooling"],
            **changed,
            **{name.replace("_", " "): f"{in_words(value)}, chosen on validation" for name, value in chosen},
            **{f"why this {name.replace('_', ' ')}": reason for name, reason in reasons.items()},
            "seeds": ", ".join(str(one["seed"]) for one in metrics["runs"]),
            "time": ", ".join(duration(one["seconds"]) for one in metrics["runs"]),
        },
        "Machine": {name: str(first[name]) for name in ("device", "precision", "threads")},
        "Versions, when this page was written": versions(),
    }


def next_html(run: Run, rows: list[dict[str, Any]]) -> str:
    """Commands to copy. Folders are written with /, which Windows reads too: a \\ in Python's text is no folder."""
    place, plan, task = run.folder.as_posix(), run.plan, run.metrics["task"]
    steps = []
    if TASKS[task].use == ANSWERS:
        folder = escape(shlex.quote(place))
        steps.append(f'<p>Ask it:</p><pre><code>bertedu answer "A question?" text.txt --model {folder}</code></pre>')
    if (pipeline := TASKS[task].pipeline) and plan["pooling"] == "pooler" and not plan["crf"]:
        pairs = any("pair" in row for row in rows)
        asked = '{"text": "A text.", "text_pair": "A second text."}' if pairs else '"A text."'
        steps.append(
            "<p>Ask it, in transformers:</p><pre><code>from transformers import pipeline\n\n"
            f'pipeline("{pipeline}", model="{escape(place)}/checkpoint")({asked})</code></pre>'
        )
    if len(run.metrics["runs"]) < 3:
        steps.append(
            "<p>See by how much chance moves the figures:</p>"
            f"<pre><code>{escape(again(run, seeds=3))} --output runs/three-seeds</code></pre>"
        )
    steps.append(
        "<p>Let the lower layers learn more slowly:</p>"
        f"<pre><code>{escape(again(run, layer_decay=0.9))} --output runs/layer-decay</code></pre>"
    )
    return "\n".join(steps)


def again(run: Run, **changes: Any) -> str:
    """The command that makes this run again, with changes: all options that neither are the defaults of its task nor
    were chosen by its model and data."""
    usual, words = usual_options(run), ["bertedu", "finetune", run.metrics["task"]]
    left_out = {*changes, *run.plan.get("chosen", {})}
    given = {name: run.plan.get(name, usual[name]) for name in usual if name not in left_out}
    for name, value in {**given, **changes}.items():
        if name in changes or value != usual[name]:
            option = f"--{name.replace('_', '-')}"
            words += [option] if value is True else [option, str(value)]
    return shlex.join(words)


def usual_options(run: Run) -> dict[str, Any]:
    """What each option of `bertedu finetune` is where it is not given; None for those without a default."""
    sources = dict.fromkeys(("model", "data", "validation", "test"))
    usual = {**asdict(FinetuningSettings()), **TASKS[run.metrics["task"]].defaults}
    usual |= {"learning_rate": None, "patience": 0, "accumulation": 1, "seeds": 1}
    usual |= {"device": "auto", "precision": "auto", "compile": False, "checkpointing": False, "fsdp": False}
    if (run.folder / "checkpoint/config.json").exists():  # the model decides about both
        checkpoint = run.folder / "checkpoint"
        config = architecture_in(checkpoint).config.load(checkpoint)
        usual["max_length"] = min(usual["max_length"], config.max_tokens)
        usual["learning_rate"] = default_rate(config.hidden_size)
    return {**sources, **usual}


def notes(metrics: dict[str, Any]) -> list[str]:
    """What a reader of the numbers must know."""
    found = [f"The pictures and the errors are of the seed that is best on validation, {metrics['best_seed']}."]
    if "test" in metrics:
        found.append("The test was looked at once by each seed, with the weights that validation chose.")
    else:
        found.append("There was no test: these are the rows by which the weights were chosen, so the figures flatter.")
    if shared := metrics.get("test_rows_seen_in_training", 0):
        found.append(f"{shared:,} rows of the test stand among the training rows too: remembering them pays.")
    if len(metrics["runs"]) == 1:
        found.append("One seed tells nothing of chance: another seed gives other numbers.")
    return found

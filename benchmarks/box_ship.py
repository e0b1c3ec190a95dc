"""From what a rented machine sent back to a checkpoint that ships: python benchmarks/box.py ship RUN TARGET --corpus …

Writes into TARGET the model as one float16 file with its vocabulary, curves.png, measurements.json and README.md, its
card. Everything is measured on the very weights that ship, and beside them on another checkpoint of the same
vocabulary (`--beside`): masked words and pairs of held-out documents, facts and senses where the corpora have them, and
with --datasets the tasks of `finetuning.py`, three seeds from the first 1,000 training rows. measurements.json is
written after each part, so that little is lost where it is stopped; the card's opinions are for people to add.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bertedu.corpora import load_corpus
from bertedu.errors import UserError
from bertedu.files import read_json, write_json, write_text
from bertedu.model import BertForPreTraining
from bertedu.pretraining.evaluation import Evaluation
from bertedu.pretraining.run import make_task
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.tokenization import BertTokenizer
from bertedu.training.metrics import read_metrics
from bertedu.visualization.curves import training_curves
from bertedu.visualization.results import results

TASKS = (
    "sentiment, max",
    "intents, max",
    "inference",
    "similarity, both orders",
    "bi-encoder",
    "entities",
    "parts of speech",
)
ROWS, SEEDS = 1000, 3
LONGEST = 128  # tokens of a pair that is judged, as on the card of mixed-mini
WEIGHTS = "model.safetensors"


def ship(run: Path, target: Path, corpora: Sequence[str], datasets: Path | None, beside: Path, quick: bool) -> None:
    """Write the folder of the checkpoint. quick: one task, few rows and one seed."""
    about = read_json(run / "run.json")
    model = BertForPreTraining.from_pretrained(run / "checkpoint")
    BertTokenizer.from_pretrained(run / "checkpoint").save_pretrained(target, model.config.max_tokens)
    if (target / "vocab.txt").read_bytes() != (beside / "vocab.txt").read_bytes():
        raise UserError(f"{beside} has another vocabulary than {run}, and their figures would not compare.")
    parameters = sum(parameter.numel() for parameter in model.parameters())
    model.half().save_pretrained(target)
    lines = read_metrics(run)
    training_curves(lines).save(target / "curves.png")
    measured: dict[str, Any] = {"run": {**about, "parameters": parameters, "last": lines[-1]}, "beside": beside.name}
    for part in (held_out(target, beside, corpora), tasks(target, beside, datasets, quick)):
        for name, found in part:
            measured[name] = found
            write_json(target / "measurements.json", measured)
            write_text(target / "README.md", card(target, measured))
            print(f"{name}: measured", flush=True)


def held_out(target: Path, beside: Path, corpora: Sequence[str]) -> Iterable[tuple[str, Any]]:
    """The figures of both models on the held-out documents, with baselines that learn from the training text."""
    corpus = load_corpus(list(corpora))
    settings = PretrainingSettings.for_preset("mini", max_length=LONGEST, start=str(target))
    evaluate = Evaluation(make_task(corpus, settings), corpus)
    yield "notes", corpus.notes
    for name, folder in (("trained", target), (beside.name, beside)):
        yield name, evaluate(BertForPreTraining.from_pretrained(folder))


def tasks(target: Path, beside: Path, datasets: Path | None, quick: bool) -> Iterable[tuple[str, Any]]:
    """Mean and standard deviation of both models on the test rows of each task, by `finetuning.py`."""
    if datasets is None:
        return
    import finetuning

    found: dict[str, Any] = {}
    for name in TASKS[:1] if quick else TASKS:
        benchmark = replace(finetuning.BENCHMARKS[name], reference="")
        train, validation, test = benchmark.read(datasets)
        data = (train[: 64 if quick else ROWS], validation, test)
        row: dict[str, Any] = {"figure": benchmark.figure, "test rows": len(test)}
        for folder in (target, beside):
            runs = [finetuning.run(benchmark, data, str(folder), seed) for seed in range(1 if quick else SEEDS)]
            figures = [run["bertedu"]["test"] for run in runs]
            spread = statistics.stdev(figures) if len(figures) > 1 else 0.0
            row[folder.name] = {"mean": statistics.mean(figures), "deviation": spread, "seeds": figures}
        baselines = finetuning.TASKS[benchmark.kind].baselines(data[0], test)
        row["baselines"] = {of: figures[benchmark.figure] for of, figures in baselines.items()}
        found[name] = row
        yield "tasks", found


def card(target: Path, measured: dict[str, Any]) -> str:
    """README.md from what was measured."""
    run, beside = measured["run"], measured["beside"]
    recipe, last = run["recipe"], run["last"]
    size = (target / WEIGHTS).stat().st_size / 1e6
    lines = [
        f"# {target.name}",
        "",
        f"A BERT that this course trained: {recipe['layers']} layers, hidden size {recipe['hidden_size']}, "
        f"{recipe['heads']} heads, {run['parameters']:,} parameters, the vocabulary of {beside}, texts of at most "
        f"{recipe['length']} tokens. The weights are float16 safetensors ({size:.1f} MB). The folder opens in "
        "`bertedu` and in `transformers`; it has both heads of pre-training.",
        "",
        "## What it read",
        "",
        f"{last['tokens']:,} tokens, drawn from {run['text']['train']:,} of {', '.join(run['corpora'])}: each about "
        f"{last['tokens'] / run['text']['train']:.0f} times, under other masks each time.",
        "",
        *(f"- {note}" for note in measured.get("notes", [])),
        "",
        "## How it was made",
        "",
        f"`python benchmarks/box.py train` on {run['device']}, {run['precision']}, torch {run['torch']}: "
        f"{last['step']:,} steps of {recipe['rows'] * recipe['length']:,} tokens in {last['seconds']:.0f} seconds of "
        f"training, {last['tokens'] / max(1, last['seconds']):,.0f} tokens a second. Muon for the matrices of the "
        f"encoder and AdamW for the rest; learning rate {recipe['learning_rate']}, masking rate {recipe['mask_rate']}, "
        f"pairs weighted {recipe['pair_weight']}, seed {recipe['seed']}.",
        "",
        "![Training curves.](curves.png)",
        "",
        "## What it can do on text that it never saw",
        "",
        *held_out_table(measured),
        *task_table(target.name, measured),
        "Licence: Apache-2.0, as the code.",
    ]
    return "\n".join(lines) + "\n"


def held_out_table(measured: dict[str, Any]) -> list[str]:
    """A row for each figure of both models."""
    beside = measured["beside"]
    ours, theirs = (
        {(row.text, row.measure): row for row in results({"evaluation": measured.get(name, {})})}
        for name in ("trained", beside)
    )
    lines = [f"| text | measure | this model | {beside} | without a network |", "|---|---|---|---|---|"]
    for key, row in ours.items():
        others = ", ".join(f"{name} {row.shown(value)}" for name, value in row.baselines)
        other = theirs[key].shown() if key in theirs else "not measured"
        lines.append(f"| {row.text} | {row.measure} | {row.shown()} | {other} | {others} |")
    return [*lines, ""]


def task_table(name: str, measured: dict[str, Any]) -> list[str]:
    """A row for each task that was measured."""
    if not measured.get("tasks"):
        return []
    beside = measured["beside"]
    lines = ["## Fine-tuned", "", f"| task, figure | test rows | {name} | {beside} | without a network |"]
    lines.append("|---|---|---|---|---|")
    for task, row in measured["tasks"].items():
        both = (f"{row[one]['mean']:.3f} ± {row[one]['deviation']:.3f}" for one in (name, beside))
        others = ", ".join(f"{of} {value:.3f}" for of, value in row["baselines"].items())
        lines.append(f"| {task}, {row['figure']} | {row['test rows']} | {' | '.join(both)} | {others} |")
    return [*lines, ""]

"""`bertedu finetune`."""

from pathlib import Path
from typing import Any

import click

from bertedu.cli.mistakes import STOPPED
from bertedu.config import POOLINGS
from bertedu.errors import UserError

SHOWN_ERRORS = 3
LINE = 100  # characters of a text
EXAMPLES = """
\b
Tasks and their data (files; folders, where labels are names; or hub:NAME):
  classification, multi-label, regression  .csv, .tsv, .jsonl with text (and pair) and label
  entities, tagging                        CoNLL columns, .conllu, .jsonl
  question-answering                       SQuAD's .json, .jsonl
  similarity                               .csv, .tsv, .jsonl with two texts and a score
  multiple-choice, summarization           .csv, .tsv, .jsonl
\b
Examples:
  bertedu finetune classification --data train.csv --test test.csv
  bertedu finetune entities --data train.conll --validation dev.conll --crf
  bertedu finetune question-answering --data squad.json --model runs/documentation-mini
  bertedu finetune classification --data reviews/ --seeds 3 --layer-decay 0.9
  bertedu finetune --resume runs/classification-train
\b
The best weights by validation are kept, and the test data are looked at once. Ctrl-C stops and saves.
"""


@click.command(epilog=EXAMPLES)
@click.argument("task", required=False)
@click.option("--data", metavar="FILE|FOLDER|hub:NAME", help="What to learn from.")
@click.option("--validation", metavar="FILE", help="To choose the best weights by.  [default: a tenth of the data]")
@click.option("--test", metavar="FILE", help="To test the best weights with, once.")
@click.option("--model", metavar="FOLDER|HUB-ID", help="What to start from.  [default: the checkpoint of the course]")
@click.option("--output", type=click.Path(path_type=Path), help="Run folder.  [default: runs/TASK-DATA]")
@click.option("--resume", type=click.Path(path_type=Path), metavar="FOLDER", help="Go on with a run that was stopped.")
@click.option("--seeds", type=int, help="So many runs, and their mean and deviation.  [default: 1]")
@click.option("--seed", type=int, help="The first seed.  [default: 0]")
@click.option("--epochs", type=float, help="Passes over the data.  [default: 3]")
@click.option("--batch-size", type=int, help="Examples in a batch.  [default: 16]")
@click.option("--max-length", type=int, help="Longer texts are cut.  [default: 128 tokens, or what the task needs]")
@click.option("--learning-rate", type=float, help="Peak rate.  [default: by the size of the model]")
@click.option("--dropout", type=float, help="[default: as the model was pre-trained]")
@click.option("--pooling", type=click.Choice(POOLINGS), help="Which vector stands for a text.  [default: pooler]")
@click.option("--class-weights", type=click.Choice(["none", "balanced"]), help="Let rare classes count as much.")
@click.option("--crf", is_flag=True, default=None, help="Choose the tags of a sentence together.")
@click.option("--freeze-encoder", is_flag=True, default=None, help="Let the head alone learn.")
@click.option("--layer-decay", type=float, help="Each layer learns at this share of the rate of the one above.")
@click.option("--head-rate", type=float, help="The head learns at so many times the rate.")
@click.option("--unfreeze-over", type=float, help="Thaw the layers from the top over this share of the run.")
@click.option("--patience", type=int, help="End after so many validations without a better one.")
@click.option("--accumulation", type=int, help="Cut each batch in so many parts, to save memory.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda", "mps"]), help="Where to compute.  [default: auto]")
@click.option("--precision", type=click.Choice(["auto", "fp32", "bf16"]), help="With which numbers.  [default: auto]")
def finetune(task: str | None, **options: Any) -> int:
    """Fine-tune a pre-trained BERT for TASK on labelled data, and write a run folder.

    The folder gets the checkpoint (it opens in `transformers`), metrics.json with baselines, predictions.jsonl,
    pictures and report.html, and what each seed left.
    """
    from bertedu.finetuning.kinds import KINDS
    from bertedu.finetuning.plan import FinetuningPlan
    from bertedu.finetuning.run import finetune as run_plan

    if options["resume"] is not None:
        task = FinetuningPlan.read(options["resume"])["task"]
    if task not in KINDS:
        said = "there is no task" if task is None else f"there is no task {task!r}"
        raise UserError(f"{said}: choose one of {', '.join(KINDS)}.")
    if options["model"] is None and options["resume"] is None:
        options["model"] = course_checkpoint()
    kind = KINDS[task]
    plan = FinetuningPlan.from_options(kind.settings, task=task, **options)
    metrics = run_plan(plan, kind, say=click.echo)
    if metrics is None:
        return STOPPED
    show(plan.folder, metrics)
    return 0


def course_checkpoint() -> str:
    """The folder of the checkpoint that ships with the course."""
    from bertedu.course.data import data_path

    return str(data_path("checkpoints/books-mini"))


def show(folder: Path, metrics: dict[str, Any]) -> None:
    """Print the figures beside the baselines and some errors, write the report, and say where it and the model are."""
    from rich.console import Console

    from bertedu.visualization.finetuning_report import read_predictions, write_finetuning_report
    from bertedu.visualization.finetuning_results import finetuning_results, finetuning_table
    from bertedu.visualization.mistakes import in_words, most_telling, shortened
    from bertedu.visualization.results import NOT_BEATEN, verdicts

    click.echo()
    Console().print(finetuning_table(metrics))
    if lost := verdicts(finetuning_results(metrics)):
        click.echo("\n  ".join([NOT_BEATEN, *lost]))
    if telling := most_telling(read_predictions(folder / "predictions.jsonl"), SHOWN_ERRORS):
        click.echo("\nSome errors, those first in which the model is surest, or furthest off:")
    for mistake in map(in_words, telling):
        asked, right, said = (shortened(text, longest=LINE) for text in (mistake.asked, mistake.right, mistake.said))
        click.echo(f"  {asked}\n    right: {right}\n    the model: {said}")
    click.echo(f"\nThe report: {write_finetuning_report(folder)}")
    click.echo(f"The model: {folder / 'checkpoint'}")

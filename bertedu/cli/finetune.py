"""`bertedu finetune`."""

from pathlib import Path
from textwrap import indent
from typing import Any

import click

from bertedu.cli.inference import course_checkpoint, tell
from bertedu.cli.mistakes import STOPPED
from bertedu.cli.saying import NAME, NUMBER, PATH, say
from bertedu.config import POOLINGS
from bertedu.errors import UserError
from bertedu.registry import TASKS

SHOWN_ERRORS = 3
LINE = 100  # characters of a text
ADVICE = (
    "What may help: more labelled rows, more --epochs, a larger --model, for texts another --pooling; --seeds 3 tells"
    " luck from skill."
)
EXAMPLES = """
\b
The tasks, what a row of their data looks like, and a command to try in the course's folder:
"""
MORE_EXAMPLES = """
\b
More examples:
  bertedu finetune classification --data train.csv --test test.csv        a tenth of train.csv chooses the weights
  bertedu finetune classification --data hub:imdb --test hub:imdb         the splits train and test of the hub
  bertedu finetune classification --data reviews/ --seeds 3 --layer-decay 0.9
  bertedu finetune question-answering --data squad.json --model runs/documentation-mini
  bertedu finetune --resume runs/classification-train
\b
A folder as data holds files that are named after their use: train, validation, test. Each run on data/tasks takes
a minute or two on two cores. The best weights by validation are kept, and the test data are looked at once.
Ctrl-C stops and saves.
"""


class Finetune(click.Command):
    """With a help text that is put together when it is asked for: what is registered by then is in it."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What each task says of itself, and examples."""
        tasks = (indent(TASKS.help_of(name), "  ") for name in TASKS)
        self.epilog = "\n\b\n".join([EXAMPLES.rstrip(), *tasks, MORE_EXAMPLES.strip().removeprefix("\b\n")])
        super().format_epilog(ctx, formatter)


@click.command(cls=Finetune)
@click.argument("task", required=False)
@click.option("--data", type=NAME, metavar="FILE|FOLDER|hub:NAME", help="What to learn from.")
@click.option(
    "--validation",
    type=NAME,
    metavar="FILE|hub:NAME",
    help="To choose the best weights by.  [default: the folder's, else a tenth of the data]",
)
@click.option(
    "--test", type=NAME, metavar="FILE|hub:NAME", help="To test the best weights with, once.  [default: the folder's]"
)
@click.option(
    "--model", type=NAME, metavar="FOLDER|HUB-ID", help="What to start from.  [default: the checkpoint of the course]"
)
@click.option("--output", type=PATH, help="Run folder.  [default: runs/TASK-DATA]")
@click.option("--resume", type=PATH, metavar="FOLDER", help="Go on with a run that was stopped.")
@click.option("--seeds", type=int, help="So many runs, and their mean and standard deviation.  [default: 1]")
@click.option("--seed", type=int, help="The first seed.  [default: 0]")
@click.option(
    "--epochs",
    type=NUMBER,
    help="Passes over the data.  [default: 3; small models 3 to 12, by the length of the texts]",
)
@click.option("--batch-size", type=int, help="Examples in a batch.  [default: 16]")
@click.option("--max-length", type=int, help="Longer texts are cut.  [default: 128 tokens, or what the task needs]")
@click.option("--learning-rate", type=NUMBER, help="Peak learning rate.  [default: by the size of the model]")
@click.option("--dropout", type=NUMBER, help="[default: as the model was pre-trained]")
@click.option(
    "--pooling",
    type=click.Choice(POOLINGS),
    help="Which vector stands for a text.  [default: by the model and the task: max for small ones, else pooler]",
)
@click.option("--class-weights", type=click.Choice(["none", "balanced"]), help="Let rare classes count as much.")
@click.option("--crf", is_flag=True, default=None, help="Choose the tags of a sentence together.")
@click.option("--freeze-encoder", is_flag=True, default=None, help="Let the head alone learn.")
@click.option("--layer-decay", type=NUMBER, help="Each layer's learning rate as a share of that of the layer above.")
@click.option("--head-rate", type=NUMBER, help="The head learns at so many times the learning rate.")
@click.option("--unfreeze-over", type=NUMBER, help="Thaw the layers from the top over this share of the run.")
@click.option("--patience", type=int, help="End after so many validations without a better one.")
@click.option("--accumulation", type=int, help="Cut each batch in so many parts, to save memory.")
@click.option("--data-workers", type=int, help="Processes that make batches while the model learns.  [default: 0]")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda", "mps"]), help="Where to compute.  [default: auto]")
@click.option(
    "--precision",
    type=click.Choice(["auto", "fp32", "bf16", "fp16"]),
    help="With which numbers; fp16 is for GPUs without bf16.  [default: auto]",
)
@click.option("--compile", is_flag=True, default=None, help="Compile the layers: faster, after a slow first step.")
@click.option("--checkpointing", is_flag=True, default=None, help="Compute layers twice, to save memory.")
@click.option("--fsdp", is_flag=True, default=None, help="Share one model among the processes of torchrun.")
def finetune(task: str | None, **options: Any) -> int:
    """Fine-tune a pre-trained BERT for TASK on labelled data, and write a run folder.

    What no option says follows from the model and the texts, and the run says what it chose and why. The folder gets
    the checkpoint (with the published pooling it opens in `transformers`), metrics.json with baselines,
    predictions.jsonl, pictures and report.html, and what each seed left.
    """
    from bertedu.finetuning.plan import FinetuningPlan
    from bertedu.finetuning.run import finetune as run_plan
    from bertedu.training.processes import is_main_process

    if options["resume"] is not None:
        begun = FinetuningPlan.read(options["resume"])["task"]
        if task not in (None, begun):
            raise UserError(f"{options['resume']} is a run of {begun}, not of {task}: leave TASK out to go on with it.")
        task = begun
    if task is None or task not in TASKS:
        said = "there is no task" if task is None else f"there is no task {task!r}"
        raise UserError(f"{said}: choose one of {', '.join(TASKS)}.")
    chosen = ""
    if options["model"] is None and options["resume"] is None:
        options["model"], chosen = map(str, course_checkpoint())
    task_class = TASKS[task]
    plan = FinetuningPlan.from_options(task_class.defaults, task=task, **options)
    if is_main_process():
        tell(chosen)
    metrics = run_plan(plan, task_class, say=say if is_main_process() else lambda sentence: None)
    if metrics is None:
        return STOPPED if is_main_process() else 0
    show(plan.folder, metrics)
    if task_class.pipeline and plan.settings.pooling != "pooler" and "pooling" in task_class.options:
        say("  `transformers` knows the pooler alone: add --pooling pooler for a model that opens there.")
    return 0


def show(folder: Path, metrics: dict[str, Any]) -> None:
    """Print the figures beside the baselines and some errors, write the report, and say where it and the model are."""
    from rich.console import Console

    from bertedu.finetuning.explaining import shortened
    from bertedu.visualization.finetuning_report import write_finetuning_report
    from bertedu.visualization.finetuning_results import finetuning_results, finetuning_table
    from bertedu.visualization.finished_runs import read_predictions
    from bertedu.visualization.mistakes import most_telling
    from bertedu.visualization.results import NOT_BEATEN, verdicts

    say()
    Console().print(finetuning_table(metrics))
    if lost := verdicts(finetuning_results(metrics)):
        say("\n  ".join([NOT_BEATEN, *lost]))
        say(ADVICE)
    if telling := most_telling(read_predictions(folder / "predictions.jsonl", metrics["task"]), SHOWN_ERRORS):
        say("\nSome errors, those first in which the model is surest, or furthest off:")
    for mistake in map(TASKS[metrics["task"]].in_words, telling):
        asked, right, said = (shortened(text, longest=LINE) for text in (mistake.asked, mistake.right, mistake.said))
        say(f"  {asked}\n    right: {right}\n    the model: {said}")
    say(f"\nThe report: {write_finetuning_report(folder)}")
    say(f"The model: {folder / 'checkpoint'}")

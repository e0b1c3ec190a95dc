"""`bertedu pretrain`."""

from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from bertedu.cli.mistakes import STOPPED
from bertedu.cli.saying import NAME, NUMBER, PATH, say
from bertedu.config import PRESETS
from bertedu.family import MEMBERS
from bertedu.pretraining.members import INITIALIZATIONS, one_of
from bertedu.registry import OBJECTIVES

WIDE = 106  # characters of a line of help
EXAMPLES = """
\b
Examples:
  bertedu pretrain --minutes 5                         the documentation on this machine, tiny
  bertedu pretrain --corpus world --minutes 3          a small world of facts
  bertedu pretrain --corpus book.txt --corpus more/    your own text
  bertedu pretrain --corpus law/ --from bert-base-uncased --minutes 60   more of your kind of text
  bertedu pretrain --architecture modernbert           another member of the family
  bertedu pretrain --objective distillation --teacher runs/documentation-tiny   a smaller model that learns from it
  bertedu pretrain --resume runs/documentation-tiny    go on where a run was stopped
\b
It takes the minutes given, and about one more to read the text and to evaluate. Ctrl-C stops and saves.
\b
"""


def members_table() -> str:
    """A line for each member, for the help: model_type, its own objective, and what changes against BERT."""
    rows = [("MODEL_TYPE", "objective", "what changes")]
    rows += [(name, one.objective, one.about) for name, one in MEMBERS.items()]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "\n".join(f"  {name:{first}}  {objective:{second}}  {about}" for name, objective, about in rows)


def objectives_table() -> str:
    """What each objective says of itself."""
    width = max(map(len, OBJECTIVES))
    lines = []
    for name in OBJECTIVES:
        lines += wrap(
            OBJECTIVES.help_of(name), WIDE, initial_indent=f"{name:{width}}  ", subsequent_indent=" " * (width + 2)
        )
    return "\n".join(lines)


class Pretrain(click.Command):
    """With a help text that is put together when it is asked for: what is registered by then is in it."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples, members and objectives."""
        tables = ("The members of the family, with the objective of each:", members_table(), objectives_table())
        self.epilog = "\n\b\n".join([EXAMPLES.rstrip(), *tables])
        super().format_epilog(ctx, formatter)


@click.command(cls=Pretrain)
@click.option(
    "--corpus",
    type=NAME,
    multiple=True,
    metavar="NAME|FILE",
    help="documentation (default), world, text files, or hub:NAME; several are joined.",
)
@click.option(
    "--architecture",
    type=click.Choice(list(MEMBERS)),
    metavar="MODEL_TYPE",
    help="Which member of the family, see below.  [default: bert]",
)
@click.option("--preset", type=click.Choice(list(PRESETS)), help="Size of the model.  [default: tiny]")
@click.option("--minutes", type=NUMBER, help="Train for so long.  [default: 5, when nothing else is given]")
@click.option("--tokens", type=int, help="Train until the model has seen so many tokens: repeats exactly.")
@click.option("--steps", type=int, help="Train for so many optimizer steps: repeats exactly.")
@click.option("--output", type=PATH, help="Run folder.  [default: runs/CORPUS-PRESET, runs/CORPUS-MODEL_TYPE-PRESET]")
@click.option("--resume", type=PATH, metavar="FOLDER", help="Go on with a run that was stopped.")
@click.option(
    "--from", "start", type=NAME, metavar="FOLDER|HUB-ID", help="Go on from this model, with its vocabulary and size."
)
@click.option(
    "--new-vocabulary",
    is_flag=True,
    default=None,
    help="With --from, for BERT alone: learn a new vocabulary from this text. A new token begins as the mean of its "
    "old pieces; add --cased to keep capitals.",
)
@click.option("--seed", type=int, help="Another seed is another run.  [default: 0]")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda", "mps"]), help="Where to compute.  [default: auto]")
@click.option(
    "--precision",
    type=click.Choice(["auto", "fp32", "bf16", "fp16"]),
    help="With which numbers; fp16 is for GPUs without bf16.  [default: auto]",
)
@click.option(
    "--compile/--no-compile",
    default=None,
    help="Compile the layers: faster, after a slow first step.  [default: on a GPU, where there is a compiler]",
)
@click.option("--checkpointing", is_flag=True, default=None, help="Compute layers twice, to save memory.")
@click.option("--fsdp", is_flag=True, default=None, help="Share one model among the processes of torchrun.")
@click.option("--vocab-size", type=int, help="Entries of the vocabulary that is learned.")
@click.option(
    "--cased",
    is_flag=True,
    default=None,
    help="Keep capitals and accents in the vocabulary, as names need them. For WordPiece, that is for "
    f"{one_of(name for name, one in MEMBERS.items() if one.wordpiece)}.",
)
@click.option("--max-length", type=int, help="Tokens in a pair of segments.")
@click.option("--batch-size", type=int, help="Pairs in a batch.  [default: what suits the size, and the device]")
@click.option("--accumulation", type=int, help="Cut each batch in so many parts, to save memory.")
@click.option(
    "--data-workers",
    type=int,
    help="Processes that make batches while the model learns.  [default: 0; on a GPU up to 4]",
)
@click.option("--learning-rate", type=NUMBER, help="Peak learning rate, reached after warm-up.")
@click.option(
    "--mask-rates",
    nargs=2,
    type=NUMBER,
    metavar="START END",
    help="Share of the tokens that are masked, or predicted in permutation, at the start and at the end.  [default: "
    "0.4 0.3, or what suits the size, the architecture or the objective]",
)
@click.option(
    "--objective",
    type=NAME,
    metavar="NAME",
    help="What it learns to predict, see below.  [default: the architecture's own]",
)
@click.option(
    "--teacher",
    type=NAME,
    metavar="FOLDER|HUB-ID",
    help="For distillation: learn from this model, with its vocabulary; begin as a copy of half of its layers.",
)
@click.option(
    "--pairs",
    type=click.Choice(["next", "order"]),
    help="Next sentence, or sentence order, prediction.  [default: next; albert: order]",
)
@click.option(
    "--pair-weight",
    type=NUMBER,
    help="What the pairs' loss counts beside the words'.  [default: 0.5 with neighbors, else 1]",
)
@click.option("--whole-words", is_flag=True, default=None, help="Mask all pieces of a word together.")
@click.option(
    "--initialization",
    type=click.Choice(list(INITIALIZATIONS)),
    help="neighbors: word vectors by counting, and two heads that attend to the previous and to the next token, BERT "
    "alone; matching: heads that match equal tokens, where positions are embeddings; counted: word vectors by "
    "counting, and a job for three heads, for runs of a minute, BERT alone; published: as in the paper, the default of "
    "base and large and of members with other positions or shared layers.",
)
@click.option(
    "--optimizer",
    type=click.Choice(["muon", "adamw"]),
    help="muon: learns more in short runs; adamw: as in the paper.  [default: adamw with the published initialization]",
)
def pretrain(**options: Any) -> int:
    """Pre-train a BERT, or another member of the family, and write a run folder.

    The folder gets the checkpoint (it opens in `transformers`), metrics.json, curves, an attention picture,
    report.html and, for a BERT, playground.html.
    """
    from bertedu.pretraining.plan import Plan
    from bertedu.pretraining.run import pretrain as run_plan
    from bertedu.training.processes import is_main_process

    plan = Plan.from_options(**options)
    metrics = run_plan(plan, say=say if is_main_process() else lambda sentence: None)
    if metrics is None:
        return STOPPED if is_main_process() else 0
    show_results(plan.folder, metrics)
    return 0


def show_results(folder: Path, metrics: dict[str, Any]) -> None:
    """Print a finished run's numbers and some answers, write its report, and say where that is."""
    from rich.console import Console

    from bertedu.checkpoints.folder import GENERATOR
    from bertedu.files import quoted
    from bertedu.inference import open_filler
    from bertedu.visualization.examples import fill_examples
    from bertedu.visualization.report import write_report
    from bertedu.visualization.results import NOT_BEATEN, results, results_table, verdicts

    say()
    Console().print(results_table(metrics))
    if lost := verdicts(results(metrics)):
        say("\n  ".join([NOT_BEATEN, *lost]))
    say("\nWhat its generator fills in:" if (folder / "checkpoint" / GENERATOR).is_dir() else "\nWhat it fills in:")
    model, tokenizer = open_filler(folder)
    examples = fill_examples(model, tokenizer, metrics["corpus"])
    width = max(len(prompt) for prompt, _ in examples)
    for prompt, answers in examples:
        say(f"  {prompt:{width}}  {', '.join(f'{word} {share:.0%}' for word, share in answers)}")
    say(f"\nThe report: {write_report(folder)}")
    say(f'Ask it yourself: bertedu fill-mask "{examples[0][0]}" --model {quoted(folder)}')

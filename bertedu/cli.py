"""The command line: `bertedu pretrain` and its companions. Each command calls one function of the package.

Torch is slow to load, so the commands import what they need when they run: `--help` stays quick.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from bertedu.config import PRESETS
from bertedu.errors import UserError

WRONG, STOPPED = 2, 130  # exit codes: something to put right; stopped by Ctrl-C
HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


class Commands(click.Group):
    """The commands, with a person's mistakes told in one sentence on stderr and exit code 2."""

    def main(self, *args: Any, **extra: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):  # a console that is not UTF-8 shows "?", and does not crash
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("default", module="bertedu")
            warnings.showwarning = lambda message, *_: click.echo(f"note: {message}", err=True)
            sys.exit(self.run(*args, **extra))

    def run(self, *args: Any, **extra: Any) -> int:
        """Run a command; returns the exit code."""
        try:
            return super().main(*args, **{**extra, "standalone_mode": False}) or 0
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "bertedu"
            say_wrong(f"{error.format_message().rstrip('.')}: see `{command} --help`.")
        except (UserError, click.ClickException) as error:
            say_wrong(str(error))
        except OSError as error:
            if error.filename is None and error.strerror is None:
                raise
            where = error.filename or "a file"
            say_wrong(f"{where} could not be read or written ({error.strerror}): check the disk and the permissions.")
        except (KeyboardInterrupt, click.Abort):
            click.echo("bertedu: stopped.", err=True)
            return STOPPED
        return WRONG


def say_wrong(sentence: str) -> None:
    """One line on stderr."""
    click.echo(f"bertedu: {' '.join(sentence.split())}", err=True)


@click.group("bertedu", cls=Commands, context_settings=HELP)
@click.version_option(package_name="bertedu")
def main() -> None:
    """Build BERT yourself: pre-train a small BERT on this machine and look at what it has learned.

    \b
    Start here:
      bertedu doctor                                      what this machine can do
      bertedu pretrain --minutes 5                        learn from the documentation on this machine
      bertedu fill-mask "The [MASK] of the list."         ask the newest model
      bertedu attention "The cat sat down." --html a.html see where it looks
    """


PRETRAIN_EXAMPLES = """
\b
Examples:
  bertedu pretrain --minutes 5                         the documentation on this machine, tiny
  bertedu pretrain --corpus world --minutes 3          a small world of facts
  bertedu pretrain --corpus book.txt --corpus more/    your own text
  bertedu pretrain --resume runs/documentation-tiny    go on where a run was stopped
\b
It takes the minutes given, and about one more to read the text and to evaluate. Ctrl-C stops and saves.
"""


@main.command(epilog=PRETRAIN_EXAMPLES)
@click.option(
    "--corpus",
    multiple=True,
    metavar="NAME|FILE",
    help="documentation (default), world, text files, or hub:NAME; several are joined.",
)
@click.option("--preset", type=click.Choice(list(PRESETS)), help="Size of the model.  [default: tiny]")
@click.option("--minutes", type=float, help="Train for so long.  [default: 5, when nothing else is given]")
@click.option("--tokens", type=int, help="Train until the model has seen so many tokens: repeats exactly.")
@click.option("--steps", type=int, help="Train for so many optimizer steps: repeats exactly.")
@click.option("--output", type=click.Path(path_type=Path), help="Run folder.  [default: runs/CORPUS-PRESET]")
@click.option("--resume", type=click.Path(path_type=Path), metavar="FOLDER", help="Go on with a run that was stopped.")
@click.option("--seed", type=int, help="Another seed is another run.  [default: 0]")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda", "mps"]), help="Where to compute.  [default: auto]")
@click.option("--precision", type=click.Choice(["auto", "fp32", "bf16"]), help="With which numbers.  [default: auto]")
@click.option("--vocab-size", type=int, help="Entries of the vocabulary that is learned.")
@click.option("--max-length", type=int, help="Tokens in a pair of segments.")
@click.option("--batch-size", type=int, help="Pairs in a batch.")
@click.option("--accumulation", type=int, help="Cut each batch in so many parts, to save memory.")
@click.option("--learning-rate", type=float, help="Peak rate, reached after warm-up.")
@click.option("--pairs", type=click.Choice(["next", "order"]), help="Next sentence, or sentence order, prediction.")
@click.option("--whole-words", is_flag=True, default=None, help="Mask all pieces of a word together.")
@click.option(
    "--initialization",
    type=click.Choice(["matching", "published"]),
    help="matching: a start for short runs; published: as in the paper.",
)
def pretrain(**options: Any) -> int:
    """Pre-train a BERT with masked words and next sentences, and write a run folder.

    The folder gets the checkpoint (it opens in `transformers`), metrics.json, curves, an attention picture
    and report.html.
    """
    from bertedu.pretraining.plan import Plan
    from bertedu.pretraining.run import pretrain as run_plan

    main_process = os.environ.get("RANK", "0") == "0"  # torchrun starts several; one speaks
    plan = Plan.from_options(**options)
    metrics = run_plan(plan, say=click.echo if main_process else lambda sentence: None)
    if metrics is None:
        return STOPPED if main_process else 0
    show_results(plan.folder, metrics)
    return 0


def show_results(folder: Path, metrics: dict[str, Any]) -> None:
    """Print a finished run's numbers and some answers, write its report, and say where that is."""
    from rich.console import Console

    from bertedu.inference import open_model
    from bertedu.visualization.examples import fill_examples
    from bertedu.visualization.report import write_report
    from bertedu.visualization.results import NOT_BEATEN, results, results_table, verdicts

    click.echo()
    Console().print(results_table(metrics))
    if lost := verdicts(results(metrics)):
        click.echo("\n  ".join([NOT_BEATEN, *lost]))
    click.echo("\nWhat it fills in:")
    model, tokenizer = open_model(folder)
    examples = fill_examples(model, tokenizer, metrics["corpus"])
    width = max(len(prompt) for prompt, _ in examples)
    for prompt, answers in examples:
        click.echo(f"  {prompt:{width}}  {', '.join(f'{word} {share:.0%}' for word, share in answers)}")
    click.echo(f"\nThe report: {write_report(folder)}")
    click.echo(f'Ask it yourself: bertedu fill-mask "{examples[0][0]}" --model {folder}')


MODEL_HELP = "A run folder, a saved model's folder, or a hub id.  [default: the newest run in runs/]"

FILL_MASK_EXAMPLES = """
\b
Examples:
  bertedu fill-mask "The [MASK] of the list."
  bertedu fill-mask "The [MASK] sat on the [MASK]." --top 3
  bertedu fill-mask "Paris is the capital of [MASK]." --model runs/world-tiny
  bertedu fill-mask "Paris is the capital of [MASK]." --model bert-base-uncased
\b
It takes a few seconds and writes no file.
"""


@main.command("fill-mask", epilog=FILL_MASK_EXAMPLES)
@click.argument("text")
@click.option("--model", metavar="FOLDER|HUB-ID", help=MODEL_HELP)
@click.option("--top", type=int, default=5, show_default=True, help="So many answers for each [MASK].")
def fill_mask_command(text: str, model: str | None, top: int) -> None:
    """Print the likeliest words for each [MASK] in TEXT, with their probabilities."""
    from bertedu.inference import fill_mask, open_model

    answers = fill_mask(*open_model(model or newest_run()), text, top)
    for number, answer in enumerate(answers, start=1):
        if len(answers) > 1:
            click.echo(f"[MASK] number {number}")
        for word, share in answer:
            click.echo(f"  {share:6.1%}  {word}")


ATTENTION_EXAMPLES = """
\b
Examples:
  bertedu attention "The cat sat on the mat."                      where each token looks most
  bertedu attention "The cat sat." "It was tired." --html a.html   a page to explore
  bertedu attention "The cat sat." --png a.png                     all heads as one picture
\b
It takes a few seconds and writes only the file that is named.
"""


@main.command(epilog=ATTENTION_EXAMPLES)
@click.argument("text")
@click.argument("second", required=False)
@click.option("--model", metavar="FOLDER|HUB-ID", help=MODEL_HELP)
@click.option("--html", type=click.Path(path_type=Path), help="Write a page to explore, which fetches nothing.")
@click.option("--png", type=click.Path(path_type=Path), help="Write a picture of all heads.")
def attention(text: str, second: str | None, model: str | None, html: Path | None, png: Path | None) -> None:
    """Show where each token of TEXT (and of SECOND, as a pair) looks, in every layer and head."""
    from bertedu.files import write_text
    from bertedu.inference import attention_weights, open_model
    from bertedu.visualization.attention import attention_grid, describe_grid
    from bertedu.visualization.attention_html import attention_page

    tokens, weights = attention_weights(*open_model(model or newest_run()), text, second)
    if html:
        write_text(html, attention_page(weights, tokens, title=f"Attention: {text}"))
    if png:
        attention_grid(weights, tokens).save(png)
    for path in filter(None, (html, png)):
        click.echo(f"written: {path}")
    if not html and not png:
        click.echo(describe_grid(weights.numpy(), tokens))


@main.command()
def doctor() -> None:
    """Say what this machine has and how fast a BERT will learn on it.

    It measures for about four seconds, writes nothing and does not use the network.

    \b
    Example:
      bertedu doctor
    """
    from bertedu.doctor import examine, warnings_for

    rows = examine()
    width = max(len(name) for _, name, _ in rows)
    before = ""
    for group, name, found in rows:
        if group != before:
            click.echo(f"{group}")
        click.echo(f"  {name:{width}}  {found}")
        before = group
    for sentence in warnings_for():
        click.echo(f"! {sentence}")


def newest_run(folder: Path = Path("runs")) -> Path:
    """The run that was changed last. Raises UserError where there is none."""
    runs: Sequence[Path] = [path for path in folder.glob("*/checkpoint/model.safetensors") if path.is_file()]
    if not runs:
        raise UserError(f"there is no run in {folder}/ yet: make one with `bertedu pretrain`, or name a --model.")
    return max(runs, key=lambda path: path.stat().st_mtime).parents[1]


@main.command()
@click.argument("chapters", nargs=-1, metavar="[NN]...")
@click.option("--check", is_flag=True, help="Only say what is out of date; exit code 1 if anything is.")
def build(chapters: tuple[str, ...], check: bool) -> None:
    """Make, execute and store the course's notebooks, of all chapters or of those given, where something changed."""
    from bertedu.course.building.build import main as run_build  # here, since it needs the authors' extra

    sys.exit(run_build(chapters, check))

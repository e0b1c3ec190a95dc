"""`bertedu fill-mask`, `bertedu answer` and `bertedu attention`: what a model says, and what it attends to."""

from collections.abc import Collection
from pathlib import Path

import click

from bertedu.cli.saying import NAME, PATH, say
from bertedu.errors import UserError
from bertedu.utf8 import without_unseen

MODEL_HELP = "A run folder, a saved model's folder, or a hub id.  [default: the newest run in runs/{}]"
FILLS, OR_THE_COURSES = " that fills masks", "; without one, the checkpoint of the course"
SHIPPED = "checkpoints/mixed-mini"  # for any text; world-tiny, the other one in data/, knows one small world

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


@click.command("fill-mask", epilog=FILL_MASK_EXAMPLES)
@click.argument("text")
@click.option("--model", type=NAME, metavar="FOLDER|HUB-ID", help=MODEL_HELP.format(FILLS + OR_THE_COURSES))
@click.option("--top", type=int, default=5, show_default=True, help="So many answers for each [MASK].")
def fill_mask_command(text: str, model: str | None, top: int) -> None:
    """Print the likeliest words for each [MASK] in TEXT, with their probabilities."""
    from bertedu.inference import fill_mask, open_filler
    from bertedu.model.architecture import class_names

    kinds = class_names("ForPreTraining", "ForMaskedLM")
    named, chosen = (model, "") if model else choose(kinds, "fills masks", shipped=True)
    network, tokenizer = open_filler(named)
    answers = fill_mask(network, tokenizer, text, top)
    tell(chosen)
    for number, answer in enumerate(answers, start=1):
        if len(answers) > 1:
            say(f"{tokenizer.mask_token} number {number}")
        for word, share in answer:
            say(f"  {share:6.1%}  {word}")


ATTENTION_EXAMPLES = """
\b
Examples:
  bertedu attention "The cat sat on the mat."                      what each token attends to most
  bertedu attention "The cat sat." "It was tired." --html a.html   a page to explore
  bertedu attention "The cat sat." --png a.png                     all heads as one picture
\b
It takes a few seconds and writes only the file that is named.
"""


@click.command(epilog=ATTENTION_EXAMPLES)
@click.argument("text")
@click.argument("second", required=False)
@click.option("--model", type=NAME, metavar="FOLDER|HUB-ID", help=MODEL_HELP.format(OR_THE_COURSES))
@click.option("--html", type=PATH, help="Write a page to explore, which fetches nothing.")
@click.option("--png", type=PATH, help="Write a picture of all heads.")
def attention(text: str, second: str | None, model: str | None, html: Path | None, png: Path | None) -> None:
    """Show what each token of TEXT (and of SECOND, as a pair) attends to, in every layer and head."""
    from bertedu.files import write_text
    from bertedu.inference import attention_weights, open_model
    from bertedu.visualization.attention import attention_grid, describe_grid
    from bertedu.visualization.attention_html import attention_page

    named, chosen = (model, "") if model else choose(shipped=True)
    tokens, weights = attention_weights(*open_model(named), text, second)
    tell(chosen)
    if html:
        write_text(html, attention_page(weights, tokens, title=f"Attention: {text}"))
    if png:
        attention_grid(weights, tokens).save(png)
    for path in filter(None, (html, png)):
        say(f"written: {path}")
    if not html and not png:
        say(describe_grid(weights.numpy(), tokens))


NO_ANSWER = "no answer in this text"
ANSWER_EXAMPLES = """
\b
Examples:
  bertedu answer "Who wrote it?" letter.txt --model runs/question-answering-squad
  bertedu answer "Where is the cat?" --text "The cat sat on the mat." --model runs/question-answering-squad
\b
The model is one that `bertedu finetune question-answering` made, or one for that task from the hub. It says that
there is no answer where it prefers that by more than the threshold in its config, which fine-tuning chose on
validation (0 where none was chosen). Below stand the likeliest answers and how likely each is.
"""


@click.command(epilog=ANSWER_EXAMPLES)
@click.argument("question")
@click.argument("file", required=False, type=PATH)
@click.option("--text", help="The text to look in, instead of a file.")
@click.option("--model", type=NAME, metavar="FOLDER|HUB-ID", help=MODEL_HELP.format(" that answers questions"))
@click.option("--top", type=int, default=3, show_default=True, help="So many answers.")
def answer(question: str, file: Path | None, text: str | None, model: str | None, top: int) -> None:
    """Find the answer to QUESTION in a text: the likeliest spans, and how likely it is that there is none."""
    from bertedu.files import read_text
    from bertedu.finetuning.asking import answer_or_none, answer_question, open_finder
    from bertedu.finetuning.tasks.question_answering import SpanFinder
    from bertedu.model.architecture import class_names

    if (file is None) == (text is None):
        raise UserError("there must be one text to look in: name a file, or give --text.")
    context = read_text(file) if file is not None else text or ""
    for one, what in ((question, "question"), (context, "text to look in")):
        if not without_unseen(one):
            raise UserError(f"the {what} is empty: write one.")
    kinds = class_names(SpanFinder.kind)
    named, chosen = (model, "") if model else choose(kinds, "answers questions", "finetune question-answering")
    asked = (*open_finder(named), question, context)
    answers, none = answer_question(*asked, top)
    tell(chosen)
    say(f"The model says: {' '.join(answer_or_none(*asked).split()) or NO_ANSWER}")
    for span, share in answers:
        say(f"  {share:6.1%}  {span}")
    say(f"  {none:6.1%}  ({NO_ANSWER})")


def choose(
    kinds: Collection[str] = (), does: str = "", made_by: str = "pretrain", shipped: bool = False
) -> tuple[Path, str]:
    """The model to take where none is named, and a sentence that says so: the newest run of these kinds; with shipped,
    where there is none, the checkpoint of the course."""
    try:
        found = newest_run(kinds, does, made_by)
    except UserError:
        if not shipped:
            raise
        return course_checkpoint()
    return found, sentence(found, "the newest run")


def course_checkpoint() -> tuple[Path, str]:
    """The checkpoint that ships with the course, and the sentence that it was taken."""
    from bertedu.course.data import data_path

    found = data_path(SHIPPED)
    return found, sentence(found, "the checkpoint of the course")


def sentence(found: Path, what: str) -> str:
    """Which model was taken, as somebody would name it here."""
    here = Path.cwd()
    typed = found.relative_to(here) if found.is_relative_to(here) else found
    return f"The model: {typed}, {what} (--model takes another)."


def tell(chosen: str) -> None:
    """Say on standard error which model was taken, where none was named."""
    if chosen:
        say(chosen, err=True)


def newest_run(
    kinds: Collection[str] = (), does: str = "", made_by: str = "pretrain", folder: Path = Path("runs")
) -> Path:
    """The run that was changed last, of those whose model is of one of these kinds (class names), if any are given.

    does says what such models do, and made_by is the command that makes them. Raises UserError where there is none.
    """
    runs = [path for path in folder.glob("*/checkpoint/model.safetensors") if path.is_file()]
    for path in sorted(runs, key=lambda path: path.stat().st_mtime, reverse=True):
        if not kinds or architecture(path.parent) in kinds:
            return path.parents[1]
    wanted = f" whose model {does}" if runs and does else ""
    raise UserError(f"there is no run in {folder}/ yet{wanted}: make one with `bertedu {made_by}`, or name a --model.")


def architecture(checkpoint: Path) -> str:
    """The class name of the model in a folder: "" where its config.json does not say."""
    from bertedu.config import architecture_of

    try:
        return architecture_of(checkpoint)
    except UserError:  # a damaged run stands in the way of no other
        return ""

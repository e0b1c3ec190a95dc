"""`bertedu fill-mask`, `bertedu answer` and `bertedu attention`: what a model says, and what it attends to."""

from collections.abc import Collection
from pathlib import Path

import click

from bertedu.cli.saying import NAME, PATH, say
from bertedu.errors import UserError

MODEL_HELP = "A run folder, a saved model's folder, or a hub id.  [default: the newest run in runs/{}]"

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
@click.option("--model", type=NAME, metavar="FOLDER|HUB-ID", help=MODEL_HELP.format(" that fills masks"))
@click.option("--top", type=int, default=5, show_default=True, help="So many answers for each [MASK].")
def fill_mask_command(text: str, model: str | None, top: int) -> None:
    """Print the likeliest words for each [MASK] in TEXT, with their probabilities."""
    from bertedu.inference import fill_mask, open_filler
    from bertedu.model.architecture import class_names

    network, tokenizer = open_filler(model or newest_run(class_names("ForPreTraining", "ForMaskedLM"), "fills masks"))
    answers = fill_mask(network, tokenizer, text, top)
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
@click.option("--model", type=NAME, metavar="FOLDER|HUB-ID", help=MODEL_HELP.format(""))
@click.option("--html", type=PATH, help="Write a page to explore, which fetches nothing.")
@click.option("--png", type=PATH, help="Write a picture of all heads.")
def attention(text: str, second: str | None, model: str | None, html: Path | None, png: Path | None) -> None:
    """Show what each token of TEXT (and of SECOND, as a pair) attends to, in every layer and head."""
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
    from bertedu.checkpoints.folder import find_folder
    from bertedu.files import read_text
    from bertedu.finetuning.question_answering import SpanFinder, answer_or_none, answer_question
    from bertedu.model.architecture import architecture_in, class_names

    if (file is None) == (text is None):
        raise UserError("there must be one text to look in: name a file, or give --text.")
    context = read_text(file) if file is not None else text or ""
    folder = find_folder(
        model or newest_run(class_names(SpanFinder.kind), "answers questions", "finetune question-answering")
    )
    network, tokenizer = SpanFinder.from_pretrained(folder), architecture_in(folder).tokenizer.from_pretrained(folder)
    asked = (network, tokenizer, question, context)
    answers, none = answer_question(*asked, top)
    say(f"The model says: {' '.join(answer_or_none(*asked).split()) or NO_ANSWER}")
    for span, share in answers:
        say(f"  {share:6.1%}  {span}")
    say(f"  {none:6.1%}  ({NO_ANSWER})")


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

"""`bertedu export`: a model as a folder for a service."""

from pathlib import Path

import click

from bertedu.cli.saying import NAME, PATH, say
from bertedu.files import quoted

EXAMPLES = """
\b
Examples:
  bertedu export runs/classification-sentiment                  to runs/classification-sentiment-onnx
  bertedu export runs/classification-sentiment --int8           to runs/classification-sentiment-int8
  bertedu export runs/entities-entities --output service/model
  bertedu export data/checkpoints/mixed-mini --output service/words
\b
It takes less than a minute. What it can export: models for classes, scores, tags (with or without a CRF), answers,
similarity and masked words, of nearly every member of the family. The graph must say what the model says, to 0.0001 of
a logit, on texts of every length; otherwise nothing is written. In 8 bits it says something else: how much accuracy
that costs is a question for your test set. Next: bertedu serve FOLDER
"""


@click.command(epilog=EXAMPLES)
@click.argument("model", type=NAME, metavar="FOLDER")
@click.option("--format", "form", type=click.Choice(["onnx"]), default="onnx", show_default=True, help="What to write.")
@click.option("--int8", is_flag=True, help="Matrix products in 8 bits: smaller and faster, and less exact.")
@click.option("--output", "folder", type=PATH, help="The folder to write.  [default: runs/NAME-onnx or runs/NAME-int8]")
def export(model: str, form: str, int8: bool, folder: Path | None) -> None:
    """Write a saved model as an ONNX graph with its tokenizer: a folder that `bertedu serve` opens.

    FOLDER is a run folder or a saved model. The new folder needs nothing outside itself; its export.json has the
    digest, the versions, and the largest difference from the model that was seen.
    """
    from bertedu.production.onnx_export import export as write

    target = folder or Path("runs") / f"{Path(model).resolve().name}-{'int8' if int8 else form}"
    made = write(model, target, int8)
    checked = made.checked
    texts = f"{checked['texts']} {'texts of its run' if checked['real'] else 'made-up texts'}"
    say(f"{target / made.graph}: {made.bytes / 1e6:.1f} MB, for {made.use}")
    say(f"checked on {texts} of up to {checked['longest']} tokens:")
    if checked["shortened"]:
        say(f"  {checked['shortened']} of them are longer than the model reads: their beginnings were taken")
    say(f"  largest difference from the model {checked['largest_difference']:.1e}")
    if checked["same_choice"] is not None:
        say(f"  the same choice in {checked['same_choice']:.1%}")
    if int8:
        say("8 bits change the answers: measure the accuracy on your test set before you rely on it.")
    say(f"Next: bertedu serve {quoted(target)}")

"""The playground: one HTML file with a BERT in it, which works from a disk and asks nobody for anything."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from markupsafe import Markup

from bertedu.checkpoints.folder import find_folder
from bertedu.config import CONFIG
from bertedu.errors import UserError
from bertedu.files import read_bytes, read_json_object, read_text, write_text
from bertedu.templates import page
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.vocabulary import SWITCHES
from bertedu.web.bundling import WEB, bundle
from bertedu.web.samples import start_for

NAME = "playground.html"  # beside the report of a run
WEIGHTS = "model.safetensors"
MOST_BYTES = 60_000_000  # of the weights: a page of 80 MB is the largest that opens at once
SCRIPT_ENDS = re.compile(r"</script|<!--", re.IGNORECASE)
FUNCTION = re.compile(r"^(/\*\*(?:(?!\*/).)*\*/\n)?(?:export )?function (\w+)\(.*?^}$", re.DOTALL | re.MULTILINE)


def write_playground(model: str | Path, output: str | Path, corpus: str = "", reading: str = "") -> Path:
    """Write the page with a model: a run's folder, a saved model's folder, or a hub id. Returns the page's path.

    corpus: what the model has read, by name, for sentences to begin with; where it is not given, the run says it.
    reading: as for `playground`.
    Raises UserError for what is no BERT, for more than 60 MB of weights, and where the file cannot be written.
    """
    folder = find_folder(model)
    if model_type_in(folder) != "bert":
        raise UserError(
            f"{folder} is a model of the type {model_type_in(folder)!r}, and the page runs BERT only: choose a BERT."
        )
    weights = folder / WEIGHTS
    if not weights.is_file():
        raise UserError(f"{folder} has no {WEIGHTS} in one file: save the model in this format.")
    if (size := weights.stat().st_size) > MOST_BYTES:
        raise UserError(
            f"{weights} has {size / 1e6:,.0f} MB, and a page takes {MOST_BYTES / 1e6:,.0f}: write the page without it "
            "(`bertedu playground`), open it, and drop the folder on it."
        )
    name = folder.parent.name if folder.name == "checkpoint" else folder.name
    corpus = corpus or corpus_of(folder)
    text = playground(name, small_files(folder), read_bytes(weights), corpus, reading=reading)
    write_text(output, text)
    return Path(output)


def playground_beside(folder: Path) -> str:
    """Write the page into a run's folder. Returns its name, "" where the run's model is none that a page can run."""
    weights = find_folder(folder) / WEIGHTS
    if model_type_in(weights.parent) != "bert" or not weights.is_file() or weights.stat().st_size > MOST_BYTES:
        return ""
    return write_playground(folder, folder / NAME).name


def model_type_in(folder: Path) -> Any:
    """What config.json says of the model in a folder."""
    return read_json_object(folder / CONFIG, {}).get("model_type")


def small_files(folder: Path) -> dict[str, str | None]:
    """What `checkpoint.js` reads beside the weights: the config, and the vocabulary and switches of the tokenizer as
    the package opens it. Raises UserError for a tokenizer with tokens of its own, which `wordpiece.js` does not know.
    """
    tokenizer = BertTokenizer.from_pretrained(folder)
    if tokenizer.added_tokens:
        raise UserError(
            f"{folder}: the tokenizer has tokens of its own, such as {tokenizer.added_tokens[0].content!r}: the page "
            "knows BERT's special tokens only, so choose another model."
        )
    rules = tokenizer.normalization
    return {
        "config": read_text(folder / CONFIG),
        "vocabulary": "".join(f"{token}\n" for token in tokenizer.tokens),
        "settings": json.dumps({theirs: getattr(rules, ours) for ours, theirs in SWITCHES.items()}),
        "tokenizer": None,
    }


def corpus_of(folder: Path) -> str:
    """What a model has read, by the name of the corpus: as its run says, or as the course's checkpoint is called."""
    metrics = folder.parent / "metrics.json"
    if folder.name == "checkpoint" and metrics.is_file():
        return str(read_json_object(metrics, {}).get("corpus", ""))
    return folder.name.partition("-")[0]


def playground(
    name: str, files: dict[str, str | None], weights: bytes, corpus: str, address: str = "", reading: str = ""
) -> str:
    """The whole page as text, for a model's small files and its weights.

    address: what it shows first where it is opened without one, as its own address says it ("#view=next&text=…").
    reading: the address of the page that reads the code aloud, where there is one beside it.
    """
    script = bundle(WEB / "playground.js")
    style = read_text(WEB / "page.css")
    begin = start_for(corpus)
    data = {**begin, "name": name, "files": files, "address": address, "sources": functions(read_text(WEB / "bert.js"))}
    return page("web/playground.html.j2").render(
        name=name,
        about=begin["about"],
        reading=reading,
        policy=policy(script, style),
        style=Markup(style),
        script=in_script(script),
        worker=in_script(bundle(WEB / "worker.js")),
        data=Markup(json_in_script(data)),
        weights=Markup(base64.b64encode(weights).decode()),
    )


def functions(script: str) -> dict[str, str]:
    """The functions of a module by their names, each with the comment before it, as the page shows them."""
    return {found[2]: found[0].replace("export ", "") for found in FUNCTION.finditer(script)}


def policy(script: str, style: str) -> str:
    """What the page may do: run its own script and style, compute in a worker of its own, and ask nobody."""
    return (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; worker-src blob:; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """The hash by which a policy knows a script or a style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def in_script(script: str) -> Markup:
    """A script as it may stand in a page. Raises UserError where it would end the element around it."""
    if found := SCRIPT_ENDS.search(script):
        raise UserError(f"a script says {found[0]!r}, which ends the element that holds it: write it in two parts.")
    return Markup(script)


def json_in_script(value: Any) -> str:
    """JSON that may stand in an element of a page: no < is left in it."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")

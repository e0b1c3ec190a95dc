"""The page "BERT in 200 lines of JavaScript": bert.js read aloud, each part of it beside the tensors of a sentence.

The code on the page is cut out of the file by the names of its functions. The page is one HTML file: it works from a
disk, and its text and code can be read where no script runs.
"""

import base64
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from bertedu.checkpoints.folder import find_folder
from bertedu.files import read_bytes, read_text, write_text
from bertedu.templates import page
from bertedu.web.bundling import WEB, bundle
from bertedu.web.playground import (
    WEIGHTS,
    corpus_of,
    functions,
    in_script,
    json_in_script,
    policy,
    small_files,
)
from bertedu.web.samples import start_for

FOLDER = WEB / "reading"
TEXT = "A young [MASK] is called a kitten."
COMMENT = re.compile(r"\s*(?:/\*\*|\*|//)")


def write_reading(model: str | Path, output: str | Path, links: Sequence[tuple[str, str]] = ()) -> Path:
    """Write the page with a model's folder. Returns its path. links: addresses at its top, each with its words."""
    folder = find_folder(model)
    script = bundle(FOLDER / "reading.js")
    style = read_text(WEB / "page.css") + read_text(FOLDER / "reading.css")
    told = read_steps()
    data = {"files": small_files(folder), "text": TEXT, "steps": [_for_script(step) for step in told]}
    text = page("web/reading/page.html.j2").render(
        steps=told,
        links=links,
        about=start_for(corpus_of(folder))["about"],
        policy=policy(script, style),
        style=Markup(style),
        script=in_script(script),
        data=Markup(json_in_script(data)),
        weights=Markup(base64.b64encode(read_bytes(folder / WEIGHTS)).decode()),
    )
    write_text(output, text)
    return Path(output)


def read_steps() -> list[dict[str, Any]]:
    """The steps with their paragraphs, and the lines of their code as (kind, line): kind is a class of the page."""
    cut = functions(read_text(WEB / "bert.js"))
    steps = tomllib.loads(read_text(FOLDER / "steps.toml"))["step"]
    return [
        {
            **step,
            "paragraphs": [" ".join(paragraph.split()) for paragraph in step["text"].split("\n\n")],
            "code": [(name, marked(cut[name], step["tensors"])) for name in step["code"]],
        }
        for step in steps
    ]


def marked(code: str, tensors: Sequence[str]) -> list[tuple[str, str]]:
    """The lines of a function with their kinds: comments are faint, and a line that keeps one of the tensors is lit."""
    keeps = [keeping(name) for name in tensors]
    found = []
    for line in code.split("\n"):
        lit = any(pattern.search(line) for pattern in keeps)
        found.append((" comment" if COMMENT.match(line) else " lit" if lit else "", line))
    return found


def keeping(tensor: str) -> re.Pattern[str]:
    """What stands in the line that gives a tensor its name."""
    depth = re.fullmatch(r"hidden\.(\d+)", tensor)
    if depth and int(depth[1]):
        return re.compile(r"set\(`hidden\.\$\{layer \+ 1\}`")
    name = re.sub(r"^layer\.\d+\.", "", tensor)
    return re.compile(rf'(?:set|keep)\("{re.escape(name)}"')


def _for_script(step: dict[str, Any]) -> dict[str, Any]:
    return {"name": step["name"], "title": step["title"], "tensors": step["tensors"]}

"""Pictures that one can touch: small pages of JavaScript, in a notebook and on the site, with a chapter's numbers.

Each answers one question: `weighted_sum` what a token collects, `pieces` how a word is cut. In a notebook it lives in
a frame of its own while the kernel runs; what is stored are words and numbers, from which the site makes the page.
"""

import base64
import json
import tomllib
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from bertedu.course.data import data_path
from bertedu.errors import UserError
from bertedu.files import read_bytes, read_text
from bertedu.templates import page
from bertedu.web.bundling import WEB, bundle
from bertedu.web.playground import WEIGHTS, corpus_of, in_script, json_in_script, playground, policy, small_files

FOLDER = WEB / "explorables"
STORED = "application/vnd.bertedu.explorable+json"  # what a notebook keeps: the name and what the chapter gave
PLAYGROUND = "playground"  # the one that is more than a picture: the page of a whole BERT, opened at one of its views
SHOW = (
    'explorable.show(document.getElementById("explorable"), JSON.parse(document.getElementById("given").textContent));'
)


@dataclass(frozen=True)
class Explorable:
    """A picture that one can touch, of one kind, with a chapter's numbers in it."""

    name: str
    given: dict[str, Any]

    @property
    def question(self) -> str:
        """Its title."""
        return str(about(self.name)["question"])

    @property
    def told(self) -> str:
        """What one sees in it and can change, for those who read it where nothing can be touched."""
        return " ".join(about(self.name)["told"].split())

    @property
    def height(self) -> int:
        """Of its frame, in pixels; what is higher scrolls in it."""
        return int(about(self.name)["height"])

    @property
    def address(self) -> str:
        """What the playground shows first, as its address says it."""
        return f"#{urlencode(self.given.get('address', {}))}"

    def page(self) -> str:
        """The whole picture as one HTML file, which works from a disk and asks nobody for anything."""
        if self.name == PLAYGROUND:
            folder = data_path(f"checkpoints/{self.given['checkpoint']}")
            return playground(
                folder.name, small_files(folder), read_bytes(folder / WEIGHTS), corpus_of(folder), self.address
            )
        script = bundle(FOLDER / f"{self.name}.js", "explorable") + SHOW
        style = read_text(WEB / "page.css") + read_text(FOLDER / "explorables.css")
        return page("web/explorables/page.html.j2").render(
            question=self.question,
            policy=policy(script, style),
            style=Markup(style),
            script=in_script(script),
            given=Markup(json_in_script({**self.given, **self.files()})),
        )

    def files(self) -> dict[str, Any]:
        """What its page holds beside what was given: of the checkpoint of the course that it names, the small files,
        and the weights where it computes with them.
        """
        if "checkpoint" not in self.given:
            return {}
        folder = data_path(f"checkpoints/{self.given['checkpoint']}")
        weights = about(self.name).get("weights", False)
        return {
            "files": small_files(folder),
            **({"weights": base64.b64encode(read_bytes(folder / WEIGHTS)).decode()} if weights else {}),
        }

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        from bertedu.visualization.widgets.view import WIDGET, frame  # here, since the site needs no widgets

        live = frame(self.page(), self.question, self.height)._repr_mimebundle_()
        still = {
            "text/plain": f"{self.question} {self.told}",
            "text/html": f"<p><b>{escape(self.question)}</b> {escape(self.told)}</p>",
        }
        return {**still, STORED: {"name": self.name, "given": self.given}, WIDGET: live[WIDGET]}, {}


def explorable(name: str, **given: Any) -> Explorable:
    """The picture of this name with what it needs: numbers, words and lists of them (a tensor's `tolist()`).

    `explorable("playground", checkpoint="world-tiny", address={"view": "next", "second": "…"})` opens the playground,
    with what stands in its address where one looks at the same.

    Raises UserError for a name that there is not, and for what is no JSON.
    """
    about(name)
    try:
        return Explorable(name, json.loads(json.dumps(given, allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise UserError(f"the explorable {name} was given what is no JSON ({error}): give numbers and lists.") from None


def about(name: str) -> dict[str, Any]:
    """What is said of an explorable: its question, what it tells, its height."""
    if name not in (known := kinds()):
        raise UserError(f"there is no explorable {name!r}: there are {', '.join(known)}.")
    return known[name]


@cache
def kinds() -> dict[str, dict[str, Any]]:
    """All explorables, by name."""
    return tomllib.loads(read_text(Path(FOLDER, "explorables.toml")))

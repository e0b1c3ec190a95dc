"""my_bert.py: the reader's answers in the order of the data, what is missing borrowed, the course's lines between."""

import ast
import builtins
import io
import tokenize
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from markupsafe import Markup

from bertedu.course.keeping import Answer
from bertedu.course.parts import PARTS, Part
from bertedu.course.statements import statements
from bertedu.templates import page

YOURS, BORROWED = "# ---- yours: exercise ", "# ---- borrowed: exercise "
IMPORTS = """\
import json
import re
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import torch
from safetensors.torch import load_file
from torch import nn"""


def my_bert(answers: Mapping[str, Answer]) -> str:
    """The program, with the given answers in place of the package's parts."""
    writer = Writer()
    texts = {part.number: writer.text(part, answers.get(part.number)) for part in PARTS}
    return rendered(texts, len(answers.keys() & texts.keys()), writer.imports)


def rendered(texts: Mapping[str, str], count: int, imports: list[str]) -> str:
    """The template with a text for each part."""
    lines = "\n".join([IMPORTS, *(line for line in imports if line not in IMPORTS.splitlines())])
    return page("mine/my_bert.py.j2").render(
        count=count, imports=Markup(lines), part=lambda number: Markup(texts[number].strip("\n"))
    ) + ("\n")


@cache
def names_of_the_course() -> frozenset[str]:
    """What the lines between the parts define, and Python's own names: an answer may not give these a new meaning."""
    bare = rendered({part.number: "" for part in PARTS}, 0, [])
    return frozenset(name for one in statements([(0, bare)]) for name in one.binds) | frozenset(dir(builtins))


class Writer:
    """Writes one part after another. What each has defined so far decides whether the next one can stand beside it."""

    def __init__(self) -> None:
        self.imports: list[str] = []
        self.taken: dict[str, str] = dict.fromkeys(names_of_the_course(), "the course's")
        self.taken |= {bound(line): line for line in IMPORTS.splitlines() if line}
        self.taken |= {part.name: f"part {part.number}" for part in PARTS}

    def text(self, part: Part, answer: Answer | None) -> str:
        """One part of the program."""
        if answer is None:
            return f"{BORROWED}{part.number} makes it yours\nfrom bertedu.mine.borrowed import {part.name}"
        origin = f"accepted on {answer.accepted}" if answer.accepted else "the course's solution"
        head = f"{YOURS}{part.number}, {part.title}, {origin}\n"
        defined = {name: piece for piece in answer.pieces for name in names_in(piece)}
        defined |= {bound(line): line for line in answer.imports}
        own = {name: text for name, text in self.taken.items() if text != f"part {part.number}"}
        if any(own.get(name, text) != text for name, text in defined.items()):
            return head + boxed(part, answer)
        self.imports += [line for line in answer.imports if line not in self.imports]
        pieces = [piece for piece in answer.pieces if piece not in self.taken.values()]
        self.taken |= defined
        alias = [] if answer.name == part.name else [f"{part.name} = {answer.name}"]
        return head + joined([*pieces, *alias])


def joined(pieces: list[str]) -> str:
    """Pieces of a program: constants and imports line below line, two empty lines around functions and classes."""
    text = ""
    for before, piece in pairwise(["", *pieces]):
        together = "\n" not in before and "\n" not in piece
        text += piece if not before else ("\n" if together else "\n\n\n") + piece
    return text


def names_in(piece: str) -> set[str]:
    """What a piece of an answer defines."""
    return {name for one in statements([(0, piece)]) for name in one.binds}


def bound(line: str) -> str:
    """The name that an import of one name binds."""
    node = ast.parse(line).body[0]
    assert isinstance(node, ast.Import | ast.ImportFrom)
    alias = node.names[0]
    return alias.asname or alias.name.partition(".")[0]


def boxed(part: Part, answer: Answer) -> str:
    """A part in a function of its own, since it uses a name that means something else above or below it."""
    function = f"made_for_{part.number.replace('.', '_')}"
    inside = indented(global_in_box(joined([*answer.imports, *answer.pieces])))
    about = "    # In a box of its own: one of its names means something else in another part.\n"
    return f"def {function}():\n{about}{inside}\n\n    return {answer.name}\n\n\n{part.name} = {function}()"


def global_in_box(code: str) -> str:
    """Code in which `global` is `nonlocal` where it means names of the box, which are global no longer."""
    lines, own = code.split("\n"), names_in(code)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Global) and own.issuperset(node.names):
            lines[node.lineno - 1] = lines[node.lineno - 1].replace("global", "nonlocal", 1)
    return "\n".join(lines)


def indented(code: str) -> str:
    """Code four spaces to the right, without touching texts of several lines."""
    inside: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(code + "\n").readline):
        if tokenize.tok_name[token.type] in ("STRING", "FSTRING_MIDDLE"):
            inside |= set(range(token.start[0] + 1, token.end[0] + 1))
    lines = code.split("\n")
    return "\n".join(
        line if number in inside or not line else f"    {line}" for number, line in enumerate(lines, start=1)
    )


def section_of(program: str, line: int) -> str | None:
    """The exercise whose answer stands on a line of the program; None in the course's lines."""
    for text in reversed(program.split("\n")[:line]):
        if text.startswith(("# ----", "# ====")):
            return text.removeprefix(YOURS).partition(",")[0] if text.startswith(YOURS) else None
    return None

"""What a notebook's outputs are made from besides its own cells, as one hash: when it changes, they are out of date.

Only what runs counts: a comment or a docstring of the package changes no output. Nor does an exercise's title, its
minutes or a hint, as long as no cell of the notebook calls `hint`.
"""

import ast
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

from bertedu.course.building.places import Places
from bertedu.course.rooms import chapter_of
from bertedu.errors import UserError

PACKAGE = Path(__file__).resolve().parents[2]
BANK = "bertedu.interview.bank"  # the module that reads the questions of all rooms
ROOM = re.compile(r"bertedu\.chapters\.ch(\w+?)_")
WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def made_from(source: Path, places: Places, modules: str) -> str:
    """The hash of what outputs are made from: the modules of bertedu that were loaded (their names, with spaces between
    them), the quiz and the files that the source names, and the rooms' questions where one of the modules reads them.
    The cells themselves are compared word by word, not hashed.

    What else is loaded can change only where one of these modules changes, or a cell.
    """
    digest = hashlib.sha256()
    hinting = chapters_that_hint(source)
    for name in modules.split():
        chapter = ROOM.match(name)
        hints = chapter is None or chapter[1] in hinting
        digest.update(f"{name}\n{what_runs(code_of(name), hints)}\0".encode())
    asked = places.chapters.glob("ch*/interview.toml") if BANK in modules.split() else ()
    for file in sorted({*data_of(source, places), *asked}):
        digest.update(f"{file.name}\n".encode() + file.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def chapters_that_hint(source: Path) -> set[str]:
    """The chapters whose hints a code cell of the source shows."""
    code = source.read_text(encoding="utf-8")
    found = re.findall(r"""^(?!#).*\bhint\(["']([^"']+)["']""", code, flags=re.MULTILINE)
    return set(map(chapter_of, found))


def code_of(name: str) -> str:
    """The code of a module of bertedu; of one that is no longer there, nothing."""
    path = PACKAGE.joinpath(*name.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return ""


@cache
def what_runs(code: str, hints: bool = True) -> str:
    """The syntax tree of a module without comments and docstrings; the same under every version of Python.

    Without hints, of `@exercise(…)` only the number and the kind of the answer count.
    """
    tree = ast.parse(code)
    for node in () if hints else ast.walk(tree):
        for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "exercise":
                mark.args = mark.args[:1]
                mark.keywords = [keyword for keyword in mark.keywords if keyword.arg in ("number", "kind")]
    return repr(simplified(tree))


def simplified(node: Any) -> Any:
    """A syntax tree as nested tuples. Empty fields are left out: new versions of Python add fields, empty ones."""
    if isinstance(node, list):
        return tuple(map(simplified, node))
    if not isinstance(node, ast.AST):
        return node
    values = dict(ast.iter_fields(node))
    if isinstance(node, WITH_DOCSTRINGS) and ast.get_docstring(node, clean=False) is not None:
        values["body"] = node.body[1:]
    filled = {name: value for name, value in values.items() if value is not None and value != []}
    return type(node).__name__, *((name, simplified(value)) for name, value in filled.items())


def data_of(source: Path, places: Places) -> set[Path]:
    """Files named in `data_path("…")` and `quiz(N)`; of a folder, all its files but READMEs, which people read."""
    code = source.read_text(encoding="utf-8")
    named = {name: places.data / name for name in re.findall(r"""\bdata_path\(["']([^"']+)["']\)""", code)}
    if re.search(r"^quiz\(", code, flags=re.MULTILINE):
        named["quiz.json"] = source.parent / "quiz.json"
    if (source.parent / "measured.json").exists():
        named["measured.json"] = source.parent / "measured.json"
    found: set[Path] = set()
    for name, path in named.items():
        if not path.exists():
            raise UserError(f"{source} uses {name}, and {path} is not there: write it, or correct the name.")
        inside = {file for file in path.rglob("*") if file.is_file() and file.name != "README.md"}
        found |= inside if path.is_dir() else {path}
    return found

"""What a notebook's outputs are made from besides its own cells, as one hash: when it changes, they are out of date.

Only what runs counts: a comment or a docstring of the package changes no output.
"""

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from bertedu.course.building.places import Places
from bertedu.errors import UserError

PACKAGE = Path(__file__).resolve().parents[2]
WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def made_from(source: Path, places: Places) -> str:
    """The hash of the modules of bertedu that a source imports (and those that they import), of the exercises that it
    checks, and of the quiz and the files that it names. The cells themselves are compared word by word, not hashed.
    """
    digest = hashlib.sha256()
    for module in sorted(modules_of(source)):
        digest.update(f"{module.name}\n{what_runs(module.read_text(encoding='utf-8'))}\0".encode())
    for file in sorted(data_of(source, places)):
        digest.update(f"{file.name}\n".encode() + file.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


@cache
def what_runs(code: str) -> str:
    """The syntax tree of a module without comments and docstrings; the same under every version of Python."""
    return repr(simplified(ast.parse(code)))


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


def modules_of(source: Path) -> set[Path]:
    """Files of the package that the notebook's code runs."""
    code = source.read_text(encoding="utf-8")
    chapters = {int(number) for number in re.findall(r"""\b(?:check|hint)\(["'](\d+)\.""", code)}
    exercises = PACKAGE / "course" / "exercises"  # chapter_06.py, and parts of it such as chapter_06_spans.py
    own = {module for chapter in chapters for module in exercises.glob(f"chapter_{chapter:02}*.py")}
    waiting = [source, *own]
    found: set[Path] = set(waiting) - {source}
    while waiting:
        for module in imported(waiting.pop()):
            if module not in found:
                found.add(module)
                waiting.append(module)
    return found


@cache
def imported(file: Path) -> frozenset[Path]:
    """The modules of bertedu that one file imports, anywhere in it."""
    return frozenset(path for name in names_imported(file) for path in files_of(name))


def names_imported(file: Path) -> Iterator[str]:
    """Dotted names; `from a.b import c` is a.b.c."""
    try:
        tree = ast.parse(without_magics(file.read_text(encoding="utf-8")))
    except SyntaxError as error:
        raise UserError(f"{file}, line {error.lineno}: not Python ({error.msg}): correct it first.") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def without_magics(code: str) -> str:
    """IPython's own lines (`%time`, `!ls`) as comments."""
    return re.sub(r"^(\s*)([%!])", r"\1pass  # \2", code, flags=re.MULTILINE)


def files_of(name: str) -> Iterator[Path]:
    """The files that Python runs to import a dotted name of bertedu: each package's, then the module's."""
    first, *rest = name.split(".")
    if first != "bertedu":
        return
    folder = PACKAGE
    yield folder / "__init__.py"
    for part in rest:
        if (folder / f"{part}.py").is_file():
            yield folder / f"{part}.py"
            return
        folder = folder / part
        if not (folder / "__init__.py").is_file():
            return  # a name inside the module before it
        yield folder / "__init__.py"


def data_of(source: Path, places: Places) -> set[Path]:
    """Files named in `data_path("…")` and `quiz(N)`; of a folder, all its files but READMEs, which people read."""
    code = source.read_text(encoding="utf-8")
    names = set(re.findall(r"""\bdata_path\(["']([^"']+)["']\)""", code))
    names |= {f"quizzes/{int(chapter):02}.json" for chapter in re.findall(r"\bquiz\((\d+)\)", code)}
    found: set[Path] = set()
    for name in names:
        path = places.data / name
        if not path.exists():
            raise UserError(f"{source} uses {name}, and {path} is not there: write it, or correct the name.")
        inside = {file for file in path.rglob("*") if file.is_file() and file.name != "README.md"}
        found |= inside if path.is_dir() else {path}
    return found

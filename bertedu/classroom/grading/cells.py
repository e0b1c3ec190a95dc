"""The cells of notebooks: which one holds an answer, and which released code it needs."""

import ast
import builtins
import re
import symtable
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

MAGIC = re.compile(r"^\s*[%!?]")
DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
GIVEN = {"check", "hint", "display", *dir(builtins)}
MOST_CHARACTERS = 100_000  # of one cell
MOST_LEVELS = 100  # of the syntax of a cell
NOT_READ = (ValueError, RecursionError, MemoryError)


@dataclass(frozen=True)
class Found:
    """The cell of an answer: its code, and how it was found ("" by its id)."""

    source: str
    how: str = ""


def sources(notebook: Any) -> list[tuple[str, str, str]]:
    """Of each code cell nbgrader's id, its own id, and its code."""
    found = []
    for cell in notebook.get("cells", []):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        metadata = cell.get("metadata")
        about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        grade_id = about.get("grade_id") if isinstance(about, dict) else None
        text = cell.get("source", "")
        text = "".join(map(str, text)) if isinstance(text, list) else str(text)
        found.append((str(grade_id or ""), str(cell.get("id") or ""), plain(text[:MOST_CHARACTERS])))
    return found


def plain(text: str) -> str:
    """Text that files can hold, its lines ended as Python counts them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()


@lru_cache(maxsize=4096)
def without_magics(source: str) -> str:
    """The code without lines for IPython, at the same line numbers. What is Python as it is stays as it is."""
    try:
        syntax(source)
        return source
    except SyntaxError:
        return "\n".join("pass" if MAGIC.match(line) else line for line in source.split("\n"))
    except NOT_READ:
        return source


def syntax(source: str) -> ast.Module:
    """The syntax of some code. Raises SyntaxError, or one of NOT_READ."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


@lru_cache(maxsize=4096)
def parsed(source: str) -> ast.Module | None:
    """The syntax of some code; None where it has none, or where it is nested too deeply to be read."""
    try:
        tree = syntax(without_magics(source))
    except (SyntaxError, *NOT_READ):
        return None
    return None if deeper_than(tree, MOST_LEVELS) else tree


def too_deep(source: str) -> bool:
    """Whether Python might run some code that this reader cannot read."""
    try:
        return deeper_than(syntax(without_magics(source)), MOST_LEVELS)
    except SyntaxError:
        return False
    except NOT_READ:
        return True


def deeper_than(tree: ast.AST, most: int) -> bool:
    """Whether some syntax has more levels."""
    level: list[ast.AST] = [tree]
    for _ in range(most):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def bound(statement: ast.AST) -> set[str]:
    """The names that a statement gives a meaning, those inside functions aside."""
    if "names_bound" not in vars(statement):
        vars(statement)["names_bound"] = names_bound(statement)
    return vars(statement)["names_bound"]


def names_bound(statement: ast.AST) -> set[str]:
    """The same, looked up."""
    if isinstance(statement, DEFINED):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    if isinstance(statement, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda):
        return set()
    names = {statement.id} if isinstance(statement, ast.Name) and isinstance(statement.ctx, ast.Store) else set()
    return names.union(*(bound(child) for child in ast.iter_child_nodes(statement)))


def used(tree: ast.AST) -> set[str]:
    """The names that some code reads from around it: no parameters, no variables of functions and comprehensions."""
    try:
        whole = symtable.symtable(ast.unparse(tree), "<cell>", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return set()
    names, waiting = set(), [whole]
    while waiting:
        scope = waiting.pop()
        waiting += scope.get_children()
        names |= {
            one.get_name() for one in scope.get_symbols() if one.is_referenced() and (scope is whole or one.is_global())
        }
    return names


def answer_cell(notebook: Any, released: Any, cell_id: str, name: str) -> Found | None:
    """The cell that holds an answer: by nbgrader's id, by the cell's own id, else the last one that defines the name.

    Where the cell with the id is as it was released and another one defines the name, that one is the answer.
    """
    stub = next((one for one in sources(released) if one[0] == cell_id), ("", "", ""))
    given = {one[2].strip() for one in sources(released)}
    by_id, by_name = None, None
    for grade_id, own_id, source in sources(notebook):
        if grade_id == cell_id or (not grade_id and own_id and own_id == stub[1]):
            by_id = source if by_id is None or by_id.strip() == stub[2].strip() else by_id
        tree = None if source.strip() in given else parsed(source)
        if tree and any(name in bound(node) for node in tree.body):
            by_name = source
    if by_id is not None and (by_id.strip() != stub[2].strip() or by_name is None):
        return Found(by_id)
    if by_name is not None:
        return Found(by_name, f"found by the name `{name}`: the cell of the exercise was left as it was, or is gone")
    return Found(by_id) if by_id is not None else None


def statements(cells: Iterable[str]) -> list[ast.stmt]:
    """The statements of some cells, in their order."""
    return [node for source in cells if (tree := parsed(source)) for node in tree.body]


def needed(source: str, earlier: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Those of the earlier statements that the code needs, and what these need in turn, in their order."""
    tree = parsed(source)
    if tree is None:
        return []
    own = set().union(*(bound(node) for node in tree.body)) if tree.body else set()
    taken: set[int] = set()
    waiting = [(name, len(earlier)) for name in used(tree) - GIVEN - own]
    seen = set()
    while waiting:
        name, before = waiting.pop()
        if (name, before) in seen:
            continue
        seen.add((name, before))
        place = next((at for at in range(before - 1, -1, -1) if name in bound(earlier[at])), None)
        if place is None:
            place = next((at for at in range(len(earlier)) if name in bound(earlier[at])), None)
        if place is not None and place not in taken:
            taken.add(place)
            deep = isinstance(earlier[place], DEFINED)  # what a function uses may be defined after it
            waiting += [(inner, len(earlier) if deep else place) for inner in used(earlier[place]) - GIVEN]
    return [earlier[place] for place in sorted(taken)]


def released_before(released: Any, cell_id: str, not_these: set[str]) -> list[ast.stmt]:
    """The statements of the released notebook up to the cell of an answer, without answers and checks."""
    kept = []
    for grade_id, _, source in sources(released):
        if grade_id == cell_id:
            break
        if grade_id not in not_these:
            kept.append(source)
    return statements(kept)


def added(notebook: Any, released: Any, answer: str) -> list[ast.stmt]:
    """The definitions and imports in cells that the student added. Other statements of theirs are not run."""
    ids = {one for grade_id, own_id, _ in sources(released) for one in (grade_id, own_id)} - {""}
    given = {source.strip() for _, _, source in sources(released)}
    own = [
        source
        for grade_id, own_id, source in sources(notebook)
        if not {grade_id, own_id} & ids and source.strip() not in given and source != answer
    ]
    return [node for node in statements(own) if isinstance(node, (*DEFINED, ast.Import, ast.ImportFrom, ast.Assign))]


def imports_of(tree: ast.AST) -> Iterator[tuple[str, str, ast.stmt]]:
    """(module, name) of each import, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "", node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (("." * node.level + (node.module or ""), alias.name, node) for alias in node.names)


def without_package(source: str) -> str:
    """The code without its own imports of the package: the released ones are run before it."""
    tree = parsed(source)
    lines = [line.encode() for line in without_magics(source).split("\n")]  # offsets in a line count bytes
    found = {node for module, _, node in imports_of(tree) if module.split(".")[0] == "bertedu"} if tree else set()
    for node in sorted(found, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        after = lines[last][node.end_col_offset :]  # exactly the import: a line of it may hold other code
        lines[first : last + 1] = [lines[first][: node.col_offset] + b"pass" + after, *[b""] * (last - first)]
    return b"\n".join(lines).decode()


def text(nodes: Sequence[ast.stmt]) -> str:
    """Statements as code."""
    return "\n".join(map(ast.unparse, nodes))

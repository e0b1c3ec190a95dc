"""The source of an answer: its own statement, and those that it uses from other cells, found by `ast`.

`inspect.getsource` fails for the classes of a notebook, and knows nothing of helpers. Here the cells that ran are read
as text, in the order in which they ran. Nothing of them is run again.
"""

import ast
import builtins
import functools
import inspect
import linecache
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

from bertedu.course.statements import Statement, statements, uses

MISSING = object()
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
LONGEST = 20_000  # characters of a constant that is written out
RUNNING_MAGICS = ("time", "capture", "prun")  # cell magics whose body runs in the notebook, as it stands
PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset)


class NoSource(Exception):
    """Why the source of an answer cannot be kept, in a sentence."""


@dataclass(frozen=True)
class Source:
    """What an answer is made of: its name, one import a line, and its statements, what they use before them."""

    name: str
    imports: tuple[str, ...]
    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it as one program."""
        return "\n\n\n".join((*(("\n".join(self.imports),) if self.imports else ()), *self.pieces)) + "\n"


def source_of(number: str, answer: Any) -> Source:
    """The source of what was handed in to `check(number, …)`. Raises NoSource where it cannot be found."""
    names = namespace_of(answer)
    cells = list(cells_of(names))
    name = name_in(names, answer)
    search = Search(names, cells)
    if name is None:
        name, expression = expression_in(cells, number)
        search.add_uses(expression)
        search.pieces.append(f"{name} = {expression}")
    else:
        search.add(name)
    source = Source(name, tuple(search.imports), tuple(search.pieces))
    try:
        compile(source.text, "<kept>", "exec")
    except SyntaxError:
        raise NoSource("its cell cannot be read as one program") from None
    return source


def inner(answer: Any) -> Any:
    """The function inside a partial, a method or a decorator's function."""
    while isinstance(answer, functools.partial):
        answer = answer.func
    return inspect.unwrap(answer.__func__ if isinstance(answer, MethodType) else answer)


def namespace_of(answer: Any) -> dict[str, Any]:
    """The global names where an answer was written: of its module, or of the notebook."""
    function = inner(answer)
    if not isinstance(function, FunctionType):
        owner = function if isinstance(function, type) else type(function)
        methods = [value for value in vars(owner).values() if isinstance(value, FunctionType)]
        function = methods[0] if methods else None
    return function.__globals__ if function else vars(sys.modules["__main__"])


def cells_of(names: dict[str, Any]) -> Iterator[str]:
    """The cells of a notebook that ran, in order, magics as Python calls; or a module's file, as one cell."""
    if isinstance(names.get("In"), list) and "get_ipython" in names:
        yield from (cell for cell in names["In"] if cell.strip())
    elif isinstance(names.get("__file__"), str):
        with suppress(OSError, UnicodeDecodeError):
            yield Path(names["__file__"]).read_text(encoding="utf-8")


def name_in(names: dict[str, Any], answer: Any) -> str | None:
    """Under which name the notebook knows an answer: its own, or another."""
    own = getattr(answer, "__name__", None)
    if isinstance(own, str) and names.get(own, MISSING) is answer:
        return own
    return next((name for name, value in names.items() if value is answer and not name.startswith("_")), None)


def expression_in(cells: list[str], number: str) -> tuple[str, str]:
    """A name for an answer that has none, and what stands in `check(number, …)`: a lambda, a partial."""
    for cell in reversed(cells):
        for node in ast.walk(parsed(cell)):
            if not isinstance(node, ast.Call) or len(node.args) != 2 or not ast.unparse(node.func).endswith("check"):
                continue
            if isinstance(node.args[0], ast.Constant) and node.args[0].value == number:
                return f"answer_{number.replace('.', '_')}", ast.unparse(node.args[1])
    raise NoSource("it has no name in the notebook")


def parsed(cell: str) -> ast.Module:
    """The syntax of a cell; an empty one where it has none. The body of `%%time` and the like is that of a cell."""
    try:
        tree = ast.parse(cell)
    except (SyntaxError, ValueError):
        return ast.Module([], [])
    return parsed(body) if (body := body_of_magic(tree)) else tree


def body_of_magic(tree: ast.Module) -> str | None:
    """What `%%time` and the like run, which IPython writes as a call with the rest of the cell in quotes."""
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and isinstance(call := tree.body[0].value, ast.Call):
        texts = [one.value for one in call.args if isinstance(one, ast.Constant)]
        if ast.unparse(call.func).endswith("run_cell_magic") and len(texts) == 3 and texts[0] in RUNNING_MAGICS:
            return str(texts[2])
    return None


class Search:
    """Collects the statements that an answer needs, each after those that it uses itself."""

    def __init__(self, names: dict[str, Any], cells: list[str]):
        self.names, self.cells = names, cells
        self.imports: list[str] = []
        self.pieces: list[str] = []
        self.seen: set[str] = set()
        self.statements = [one for place, cell in enumerate(cells) for one in statements_of(place, cell)]

    def add_uses(self, code: str) -> None:
        """All that some code uses."""
        for name in sorted(uses(code), key=code.find):
            self.add(name)

    def add(self, name: str) -> None:
        """What a name stands for, unless it is Python's own or here already."""
        value = self.names.get(name, MISSING)
        if name in self.seen or (value is MISSING and hasattr(builtins, name)):
            return
        self.seen.add(name)
        if value is MISSING:  # in a line that is never reached
            return
        statement = self.binding(name, value)
        if imported := self.as_import(name, value, statement):
            if imported not in self.imports:
                self.imports.append(imported)
            return
        self.refuse_older(name, value, statement)
        code = self.as_constant(name, value, statement)
        if code is None:
            if statement is None:
                raise NoSource(f"`{name}`, which it uses, is written in no cell that ran")
            self.seen |= statement.binds  # the whole statement is here, with every name that it binds
            for one in (*self.before(name, statement), statement, *self.changes(name, value, statement)):
                self.add_piece(one.code)
        else:
            self.add_piece(code)

    def add_piece(self, code: str) -> None:
        """Some code, after what it uses."""
        self.add_uses(code)
        if code not in self.pieces:
            self.pieces.append(code)

    def before(self, name: str, statement: Statement) -> list[Statement]:
        """The statements that gave a name the value that this one makes a new one of, as in `f = faster(f)`."""
        if isinstance(statement.node, DEFINITIONS) or name not in uses(statement.code):
            return []
        place = self.statements.index(statement)
        earlier = [one for one in self.statements[:place] if name in one.binds]
        return [*self.before(name, earlier[-1]), earlier[-1]] if earlier else []

    def changes(self, name: str, value: Any, statement: Statement) -> list[Statement]:
        """The later statements that change an object such as a tensor, as in `table[0] = 1`."""
        if isinstance(value, FunctionType | type):
            return []
        place = self.statements.index(statement)
        return [
            one for one in self.statements[place + 1 :] if one.changes(name) and not isinstance(one.node, DEFINITIONS)
        ]

    def refuse_older(self, name: str, value: Any, statement: Statement | None) -> None:
        """Raise NoSource for a second name of a function whose first name means another one by now."""
        node = statement.node if statement else None
        first = node.value.id if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) else name
        if self.names.get(first, MISSING) is not value:
            raise NoSource(f"`{first}`, which `{name}` stands for, was defined again after it")

    def binding(self, name: str, value: Any) -> Statement | None:
        """The statement that gave a name its value: of a function the very one, else the last that ran."""
        found = [one for one in self.statements if name in one.binds]
        if isinstance(value, FunctionType) and not hasattr(value, "__wrapped__"):
            code = value.__code__
            text = "".join(linecache.getlines(code.co_filename)).strip()
            exact = [one for one in found if self.cells[one.cell].strip() == text and code.co_firstlineno in lines(one)]
            found = exact or found
        return found[-1] if found else None

    def as_import(self, name: str, value: Any, statement: Statement | None) -> str | None:
        """The import that gives a name its value, of this name alone."""
        if statement and statement.is_import:
            assert isinstance(statement.node, ast.Import | ast.ImportFrom)
            return one_import(name, statement.node)
        if statement:
            return None
        if isinstance(value, ModuleType):
            return f"import {value.__name__} as {name}"
        module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        if module and module != "__main__" and getattr(sys.modules.get(module), path, MISSING) is value:
            return f"from {module} import {path}" + ("" if path == name else f" as {name}")
        return None

    def as_constant(self, name: str, value: Any, statement: Statement | None) -> str | None:
        """A number, a text, or lists and the like of them, as it is now: as it was written, where that is the same."""
        if type(value) not in PLAIN:
            return None
        written = statement.node.value if statement and isinstance(statement.node, ast.Assign) else None
        with suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            if written is not None and is_same(ast.literal_eval(written), value):
                return None
        with suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            text = repr(value)
            if len(text) <= LONGEST and is_same(ast.literal_eval(text), value):
                return f"{name} = {text}"
        return None


def is_same(one: Any, other: Any) -> bool:
    """Whether two plain values are equal and of one type."""
    return type(one) is type(other) and one == other


def statements_of(place: int, cell: str) -> list[Statement]:
    """The statements of a cell; those that share a line, as in `a = 1; b = 2`, each with its own text."""
    tree = parsed(cell)
    found = statements([(place, body_of_magic(ast.parse(cell)) or cell)]) if tree.body else []
    shared = {one.node.end_lineno for one in found} & {other.node.lineno for other in found if other.node.col_offset}
    return [
        Statement(place, ast.unparse(one.node), one.node) if shared & {one.node.lineno, one.node.end_lineno} else one
        for one in found
    ]


def lines(statement: Statement) -> range:
    """The lines of its cell on which a statement stands, its decorators included."""
    node = statement.node
    first = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))])
    return range(first, (node.end_lineno or first) + 1)


def one_import(name: str, node: ast.Import | ast.ImportFrom) -> str:
    """The import of one name out of a statement that may import several."""
    for alias in node.names:
        bound = alias.asname or alias.name.partition(".")[0]
        if bound != name:
            continue
        if isinstance(node, ast.ImportFrom):
            return ast.unparse(ast.ImportFrom(node.module, [alias], node.level))
        parent, _, last = alias.name.rpartition(".")
        if parent and alias.asname == last:  # import torch.nn as nn
            return f"from {parent} import {last}"
        return ast.unparse(ast.Import([alias]))
    return ast.unparse(node)

"""The statements of cells: which names they bind, and which they use."""

import ast
import builtins
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

# Methods that change the object which they belong to, of those that the chapters use where they prepare something.
CHANGING = {"add", "append", "eval", "extend", "insert", "pop", "setdefault", "sort", "train", "update"}


@dataclass(frozen=True)
class Statement:
    """A statement at the left margin of a notebook's cell: where it is, its code, and its syntax."""

    cell: int
    code: str
    node: ast.stmt

    @property
    def is_import(self) -> bool:
        """Whether it imports names, and does nothing else."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @cached_property
    def binds(self) -> set[str]:
        """The names that it gives a value."""
        if isinstance(self.node, ast.Import | ast.ImportFrom):
            return {alias.asname or alias.name.partition(".")[0] for alias in self.node.names}
        table = symtable.symtable(self.code, "cell", "exec")
        return {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_namespace()}

    def changes(self, name: str) -> bool:
        """Whether it changes the object of that name: an entry, an attribute, or by one of its methods."""
        for node in ast.walk(self.node):
            inside: ast.expr | None = None
            if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
                inside = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                inside = node.func.value if node.func.attr in CHANGING or node.func.attr.endswith("_") else None
            while isinstance(inside, ast.Subscript | ast.Attribute):
                inside = inside.value
            if isinstance(inside, ast.Name) and inside.id == name:
                return True
        return False

    @property
    def sets_the_seed(self) -> bool:
        """Whether it is a call of manual_seed."""
        return isinstance(self.node, ast.Expr) and "manual_seed(" in self.code


def statements(sources: Iterable[tuple[int, str]]) -> list[Statement]:
    """All statements at the left margin of some cells, each a number and its code, in order, comments at their end
    included. Raises SyntaxError for code that is none."""
    found = []
    for place, source in sources:
        lines = source.split("\n")
        for node in ast.parse(source).body:
            first = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))])
            found.append(Statement(place, "\n".join(lines[first - 1 : node.end_lineno]), node))
    return found


def uses(code: str) -> set[str]:
    """The global names that code reads, in its functions and classes too, without those of Python itself."""
    table = symtable.symtable(code, "cell", "exec")
    targets = (node.target for node in ast.walk(ast.parse(code)) if isinstance(node, ast.AugAssign))
    added_to = {target.id for target in targets if isinstance(target, ast.Name)}  # symtable: assigned, not referenced
    return {name for name in global_names(table, added_to) if not hasattr(builtins, name)}


def global_names(table: symtable.SymbolTable, added_to: set[str]) -> Iterator[str]:
    """The names that a scope and those inside it look up outside their functions. `added_to` are those in `n += 1`."""
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        name = symbol.get_name()
        if (symbol.is_referenced() or name in added_to) and (top or symbol.is_global()):
            yield name
    for inner in table.get_children():
        yield from global_names(inner, added_to)

"""The sentences in a module of Python, found in its syntax tree: texts that it says, values as `{name}` in them."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TypeGuard

from bertedu.files import read_text

NAMES = ("begin", "close", "dtype", "equal", "is_a", "same_shape", "exercise")  # their texts may be one word
DATA = ("call", "index", "split", "replace", "startswith", "endswith", "removeprefix", "fullmatch", "sub")
SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef)


@dataclass(frozen=True)
class Sentence:
    """One text: "But it returned {position}.", its line in the module, and what each placeholder stands for there."""

    text: str
    line: int
    values: tuple[tuple[str, str], ...] = ()

    @property
    def note(self) -> str:
        """For the translator: the placeholders whose names do not say enough."""
        told = [f"{{{name}}} is {code}" for name, code in self.values if name != code]
        return "; ".join(told)


def sentences(path: Path) -> list[Sentence]:
    """The sentences of a module in their order, a text with line breaks as one for each line."""
    tree = ast.parse(read_text(path))
    skipped = set(unsaid(tree))
    found = [one for node, short in texts(tree, skipped) for one in said(node, short)]
    return sorted(found, key=lambda one: one.line)


def texts(tree: ast.Module, skipped: set[int]) -> Iterator[tuple[ast.expr, bool]]:
    """The strings and f-strings outside others, with whether one word is a text there too."""
    short = {id(text) for call in calls(tree, NAMES) for text in call.args[:4]} | {
        id(keyword.value) for call in calls(tree) for keyword in call.keywords if keyword.arg == "tried"
    }
    short -= {id(call.args[0]) for call in calls(tree, ("exercise",)) if call.args}  # the number
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            yield node, id(node) in short
        else:
            waiting += ast.iter_child_nodes(node)


def calls(tree: ast.AST, names: tuple[str, ...] = ()) -> Iterator[ast.Call]:
    """The calls in a tree of functions or methods with these names (of any, without names)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (not names or called(node) in names):
            yield node


def called(call: ast.Call) -> str:
    """The name of what is called: "fail" for case.fail(…)."""
    function = call.func
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def unsaid(tree: ast.Module) -> Iterator[int]:
    """Ids of the nodes whose strings nobody is told: docstrings, data for an answer, words of error messages."""
    inputs = {arg.id for call in calls(tree, ("call",)) for arg in call.args if isinstance(arg, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, SCOPES) and node.body and isinstance(node.body[0], ast.Expr):
            yield id(node.body[0])
        elif isinstance(node, ast.Call) and called(node) in DATA:
            yield from (id(arg) for arg in node.args)
        elif (
            isinstance(node, ast.Compare | ast.Subscript | ast.arguments) or getattr(node, "name", "") == "_repr_html_"
        ):
            yield id(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and (target.id in inputs or target.id.isupper()):
                    yield id(node)
                if isinstance(target, ast.Attribute) and target.attr == "causes" and isinstance(node.value, ast.Dict):
                    yield from (id(key) for key in node.value.keys)


def said(node: ast.expr, short: bool) -> Iterator[Sentence]:
    """What a string can say: an f-string with a choice in it ("an" if … else "a") says one of several."""
    for parts in product(*map(choices, node.values if isinstance(node, ast.JoinedStr) else [node])):
        names: dict[str, str] = {}
        text = "".join(part if isinstance(part, str) else placeholder(part, names) for part in flat(parts))
        for line in text.split("\n"):
            words = re.sub(r"\{\w+\}", "", line)
            if re.search(r"[^\W\d_]", words) and (short or re.search(r"\w[.,:;]? +\S|\S +\w|^ ?\w+ \{", line.strip())):
                here = tuple((name, code) for code, name in names.items() if f"{{{name}}}" in line)
                yield Sentence(line.strip(), node.lineno, here)


def flat(parts: tuple) -> Iterator[str | ast.FormattedValue]:
    """The parts of a choice as parts of the whole."""
    for part in parts:
        if isinstance(part, tuple):
            yield from flat(part)
        else:
            yield part


def choices(part: ast.expr) -> list:
    """What may stand at this part of an f-string: a text, a value, or one of the texts of `… if … else …`."""
    if isinstance(part, ast.Constant):
        return [str(part.value)]
    if isinstance(part, ast.JoinedStr):
        return list(product(*map(choices, part.values)))
    if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.IfExp):
        branches = (part.value.body, part.value.orelse)
        if all(
            isinstance(b, ast.JoinedStr) or (isinstance(b, ast.Constant) and isinstance(b.value, str)) for b in branches
        ):
            return [one for branch in branches for one in choices(branch)]
    return [part]


def placeholder(part: ast.FormattedValue, names: dict[str, str]) -> str:
    """{name} for a value: the last name in its code that is no function's; `names` knows those given, by their code."""
    code = ast.unparse(part.value)
    if code not in names:
        value = part.value
        if isinstance(value, ast.Call) and len(value.args) > 1:  # difference(got, expected): what the function gives
            base = called(value)
        elif isinstance(value, ast.Attribute):
            base = value.attr
        else:
            functions = {id(call.func) for call in calls(value)}
            inner = [node for node in ast.walk(value) if id(node) not in functions]
            found = [node.attr if isinstance(node, ast.Attribute) else node.id for node in inner if named(node)]
            base = found[0] if found else "value"
        same = sum(name.rstrip("0123456789") == base for name in names.values())
        names[code] = f"{base}{same + 1}" if same else base
    return f"{{{names[code]}}}"


def named(node: ast.AST) -> TypeGuard[ast.Name | ast.Attribute]:
    """Whether a part of an expression has a name that says what it is."""
    return isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id not in ("self", "case"))

"""A cell of code as a slide can show it: without imports and docstrings, at most so many lines."""

import ast

MOST_LINES = 14


def excerpt(code: str, most: int = MOST_LINES) -> str | None:
    """The lines that a slide shows of a cell, or None where no part of it makes sense in so few.

    Imports and docstrings go first. Of what is still too long the definition that fits stays, the last one if several
    do, or the statements before the printing.
    """
    lines = code.splitlines()
    try:
        body = ast.parse(code).body
    except SyntaxError:  # a magic of IPython
        return code.strip() if len(lines) <= most else None
    kept = [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]
    if not kept:
        return None
    whole = shown(kept, lines)
    if len(whole) <= most:
        return "\n".join(whole)
    definitions = [node for node in kept if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for node in reversed(definitions):
        if 3 <= len(part := shown([node], lines)) <= most:
            return "\n".join(part)
    quiet = [node for node in kept if not is_print(node) and not isinstance(node, ast.Assert)]
    part = shown(quiet, lines)
    return "\n".join(part) if 0 < len(part) <= most else None


def is_print(node: ast.stmt) -> bool:
    """Whether a statement only prints."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "print"


def shown(nodes: list[ast.stmt], lines: list[str]) -> list[str]:
    """The lines of these statements, with the comments and one empty line between them where the author left one."""
    found: list[str] = []
    end = nodes[0].lineno - 1 if nodes else 0
    for node in nodes:
        start = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))]) - 1
        gap = lines[end:start]
        if found and any(not line.strip() for line in gap):
            found.append("")
        found += without_docstring(node, lines, start)
        end = node.end_lineno or node.lineno
    return found


def without_docstring(node: ast.stmt, lines: list[str], start: int) -> list[str]:
    """The lines of a statement without its docstrings and the marks of a solution."""
    hidden = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(inner) is not None:
            text = inner.body[0]
            last = text.end_lineno or text.lineno
            follows_gap = last < len(lines) and not lines[last].strip()
            hidden |= set(range(text.lineno - 1, last + follows_gap))
    rows = enumerate(lines[start : node.end_lineno], start=start)
    return [line.rstrip() for place, line in rows if place not in hidden and "### " not in line]

"""The line `raise NotImplementedError` that a learner left beside an answer: found in the source of the function.

A stub stands alone in its function (`bertedu build` sees to that). So a function that has other statements too is an
answer, and the line is left over.
"""

import ast
import inspect
import linecache
import textwrap
import traceback
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from bertedu.course.raising import LIBRARIES

LINE = "`raise NotImplementedError`"


def code_that_raised(error: BaseException) -> CodeType | None:
    """The function whose line raised; None where that is a library's."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not frames or frames[-1].f_code.co_filename.startswith((*LIBRARIES, "<frozen")):
        return None
    return frames[-1].f_code


def is_left_over(code: CodeType) -> bool:
    """Whether the line stands beside other statements, inner functions aside. False where no source can be read."""
    linecache.checkcache(code.co_filename)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return False
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == code.co_name]
    if not functions:
        return False
    raises = any(is_stub(node) for node in own_statements(functions[0]))
    return raises and any(not is_stub(node) and not is_text(node) for node in functions[0].body)


def own_statements(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The statements of a function, those inside its loops and branches too, but not those of functions in it."""
    waiting: list[Any] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.stmt):
            yield node
        waiting += ast.iter_child_nodes(node)


def is_stub(node: ast.stmt) -> bool:
    """Whether a statement is `raise NotImplementedError`, with parentheses or without."""
    raised = node.exc if isinstance(node, ast.Raise) else None
    if isinstance(raised, ast.Call) and not raised.args:
        raised = raised.func
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def is_text(node: ast.stmt) -> bool:
    """Whether a statement does nothing: a docstring, three dots, or `pass`."""
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def never_reached(answer: Any) -> bool:
    """Whether a function, or a method of a class, that was accepted still has the line."""
    own = vars(answer).values() if isinstance(answer, type) else [answer]
    return any(isinstance(function, FunctionType) and is_left_over(function.__code__) for function in own)

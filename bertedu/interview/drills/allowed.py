"""What a drill does not allow: functions of a library that are the whole answer."""

from collections.abc import Iterator
from types import CodeType, FunctionType

from bertedu.course.case import Case


def refuse(case: Case, *names: str) -> None:
    """Not yet, where the answer's code uses one of these names, e.g. `layer_norm`."""
    functions = vars(case.answer).values() if isinstance(case.answer, type) else [case.answer]
    codes = [one.__code__ for one in functions if isinstance(one, FunctionType)]
    used = {name for code in codes for name in names_in(code)}
    for name in names:
        if name in used:
            case.fail(f"{case.name} uses `{name}`, and the task asks you to write that yourself.")


def names_in(code: CodeType) -> Iterator[str]:
    """The names of globals and attributes that code uses, in its inner functions too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)

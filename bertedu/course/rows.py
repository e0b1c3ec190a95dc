"""An answer tried on many inputs: the mistake that explains everything that came back is named."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from bertedu.course.case import Case, plain, same
from bertedu.course.comparing import is_close
from bertedu.course.verdict import Ended

Mistakes = dict[str, Callable[..., Any]]


@dataclass(frozen=True)
class Row:
    """The inputs of one call. `tried` says what they are; `shown` shows them where several rows share `tried`."""

    inputs: tuple
    tried: str
    shown: str = ""


def examine_rows(
    case: Case,
    rows: Sequence[Row],
    right: Callable[..., Any],
    mistakes: Mistakes,
    advice: str,
    names: tuple[str, ...] = ("the result",),
) -> None:
    """Not yet, unless the answer gives what `right` gives on every row.

    mistakes: by the sentence that explains a known mistake, the function that makes it. Two mistakes often give the
    same on one row: earlier and later rows decide which of them it is.
    """
    for place, row in enumerate(rows):
        got, wanted = case.call(*row.inputs, tried=row.tried), right(*row.inputs)
        if agrees(got, wanted):
            continue
        sentence = explained(case, rows, place, got, right, mistakes) or advice
        case.begin(f"I called {case.name} on {row.tried}.", row.tried)
        said = [line for line in (row.shown, sentence) if line]
        found = case.parts(got, *names) if len(names) > 1 else (got,)
        for name, part, expected in zip(names, found, wanted if len(names) > 1 else (wanted,), strict=True):
            if agrees(part, expected):
                continue
            if isinstance(expected, Tensor):
                case.same_shape(name, part, expected, *said)
                case.close(name, part, expected, *said)
            case.equal(name, part, expected, *said)


def explained(
    case: Case, rows: Sequence[Row], place: int, got: Any, right: Callable[..., Any], mistakes: Mistakes
) -> str:
    """The sentence of the mistake that gives what came; "" where no known mistake does."""
    here, before = rows[place].inputs, [row.inputs for row in rows[:place]]
    known = [sentence for sentence, make in mistakes.items() if agrees(got, make(*here))]
    known = [one for one in known if all(agrees(mistakes[one](*inputs), right(*inputs)) for inputs in before)] or known
    for row in rows[place + 1 :]:
        if len(known) < 2:
            break
        try:
            later = case.call(*row.inputs, tried=row.tried)
        except Ended:  # the answer raises here; what was wrong before is told
            break
        known = [one for one in known if agrees(later, mistakes[one](*row.inputs))] or known
    return known[0] if known else ""


def agrees(got: Any, wanted: Any) -> bool:
    """Whether two results are the same: tensors up to rounding, other values exactly, tuples part by part."""
    if isinstance(wanted, Tensor):
        return is_close(got, wanted)
    if isinstance(wanted, tuple):
        return isinstance(got, tuple | list) and len(got) == len(wanted) and all(map(agrees, got, wanted))
    return same(plain(got), plain(wanted))

"""Which mistake explains all that an answer gave: on a single input, two mistakes can look the same."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, isnan
from typing import Any

from bertedu.course.case import Case, plain
from bertedu.course.comparing import rounded, said
from bertedu.course.copying import parameters
from bertedu.course.verdict import Ended

Row = tuple[str, tuple]  # what is said to be tried, and the inputs
LONGEST = 300  # characters


def compare(
    case: Case, rows: Sequence[Row], right: Callable, mistakes: Mapping[str, Callable], *advice: str, name: str
) -> None:
    """Not yet, unless the answer gives what `right` gives for the inputs of each row.

    mistakes: a sentence, and a program that makes this mistake. The sentence of the first one is said that gives what
    the answer gave for all rows, else of the first one that gives it where the answer is wrong, else the advice.
    """
    results: list[Any] = []
    for at, (tried, inputs) in enumerate(rows):
        got, wanted = case.call(*inputs, tried=tried), right(*inputs)
        results.append(plain(got))
        if agree(results[-1], wanted):
            continue
        results += rest(case, rows[at + 1 :])
        case.begin(f"I called {case.name} on {tried}.", tried)
        always = [
            sentence
            for sentence, wrong in mistakes.items()
            if all(agree(one, wrong(*given)) for one, (_, given) in zip(results, rows, strict=False))
        ]
        here = [sentence for sentence, wrong in mistakes.items() if agree(results[at], wrong(*inputs))]
        came = f"But {name} is {brief(got)}, and should be {brief(wanted)}, for {shown(case, inputs)}."
        case.fail(came, *((always or here)[:1] or advice))


def rest(case: Case, rows: Sequence[Row]) -> list[Any]:
    """What the answer gives for further rows, until it fails."""
    results: list[Any] = []
    for tried, inputs in rows:
        try:
            results.append(plain(case.call(*inputs, tried=tried)))
        except Ended:
            break
    return results


def agree(got: Any, wanted: Any) -> bool:
    """Whether two values are equal, decimals up to a small difference."""
    got, wanted = plain(got), plain(wanted)
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(map(agree, got, wanted))
    if isinstance(wanted, dict):
        return isinstance(got, dict) and got.keys() == wanted.keys() and all(agree(got[k], wanted[k]) for k in wanted)
    if type(wanted) is float and type(got) in (int, float):
        if isfinite(wanted):  # within a share of infinity lies everything
            return abs(got - wanted) <= 1e-4 * (1 + abs(wanted))
        return got == wanted or (isnan(got) and isnan(wanted))
    return type(got) is type(wanted) and bool(got == wanted)


def shown(case: Case, inputs: tuple) -> str:
    """The inputs by their names, with their numbers where they are short."""
    names = parameters(case.answer)
    named = names if len(names) == len(inputs) else [f"input {place + 1}" for place in range(len(inputs))]
    return ", ".join(f"{one} = {brief(value)}" for one, value in zip(named, inputs, strict=True))


def brief(value: Any) -> str:
    """A value with its numbers where that is short, else in words."""
    text = repr(value) if isinstance(value, str) else rounded(plain(value))
    return text if len(text) <= LONGEST and " at 0x" not in text else said(value)

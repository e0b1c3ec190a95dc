"""JSON from outside: parsed within limits, and compared with the types that are expected."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from bertedu.errors import UserError, shown

MOST_NESTED = 100  # brackets inside brackets
MOST_DIGITS = 100  # of a whole number
REMEDY = "the file is damaged or cut short; fetch or save it again"
NAMES = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", NoneType: "null"}


def parse_json(text: str, path: str | Path, line: int = 1, finite: bool = True, remedy: str = REMEDY) -> Any:
    """The value in JSON text that begins on a line of a file.

    finite=False lets NaN and Infinity through, which Python writes although JSON has no such numbers. remedy is what is
    said to do where the text is no JSON. Raises UserError with the line for text that is damaged, nested too deeply, or
    that has a number of too many digits or an object with a key twice, of which Python would quietly keep the last.
    """
    place = f"{path}, line {line}" if line > 1 else str(path)

    def constant(name: str) -> float:
        if finite:
            raise UserError(f"{place}: {name} is not a number in JSON: write one, or remove the entry.")
        return float(name)

    def finite_number(digits: str) -> float:
        if finite and not math.isfinite(number := float(digits)):
            raise UserError(f"{place}: {shown(digits)} is too large for a number: write a smaller one.")
        return number if finite else float(digits)

    def whole_number(digits: str) -> int:
        if len(digits) > MOST_DIGITS:
            raise UserError(f"{place}: a number of {len(digits):,} digits: write one of at most {MOST_DIGITS}.")
        return int(digits)

    def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise UserError(f"{place}: an object has the key {shown(twice)} twice: rename or remove one of them.")
        return value

    try:
        value = json.loads(
            text,
            parse_constant=constant,
            parse_float=finite_number,
            parse_int=whole_number,
            object_pairs_hook=unique_keys,
        )
    except json.JSONDecodeError as error:
        raise UserError(
            f"{path}, line {line + error.lineno - 1}, column {error.colno}: not valid JSON ({error.msg}): {remedy}."
        ) from error
    except RecursionError:
        raise too_deep(place) from None
    # No text with few brackets is nested deeply: most are not looked at a second time.
    if text.count("[") + text.count("{") > MOST_NESTED and is_deeper(value, MOST_NESTED):
        raise too_deep(place)
    return value


def too_deep(place: str) -> UserError:
    """The refusal of JSON in which brackets stand inside brackets without end."""
    return UserError(
        f"{place}: JSON that cannot be read (nested more than {MOST_NESTED} levels deep): save the file again."
    )


def is_deeper(value: Any, most: int) -> bool:
    """Whether lists and objects stand inside each other on more than this many levels."""
    level = [value]
    for _ in range(most + 1):
        containers = [one for one in level if isinstance(one, dict | list)]
        if not containers:
            return False
        level = [inner for one in containers for inner in (one.values() if isinstance(one, dict) else one)]
    return True


def check_object(value: Any, expected: Mapping[str, Any], place: str | Path) -> dict[str, Any]:
    """The value, which must be an object, and under each expected name, where it is there, of the expected type.

    Types are those of annotations: int, float | None, list[str], tuple[float, float], dict[str, str]. true is no whole
    number here, a whole number is a number, and numbers are finite. Raises UserError with the name, value and type.
    """
    if not isinstance(value, dict):
        raise UserError(f"{place}: expected a JSON object {{…}}, not {shown(value)}: fetch or save it again.")
    for name, kind in expected.items():
        if name in value and not fits(value[name], kind):
            raise UserError(f"{place}: {name} is {shown(value[name])}: give {in_words(kind)}.")
    return value


def whole(value: Any, expected: Mapping[str, Any], place: str | Path) -> dict[str, Any]:
    """The object, where it has all of the expected names and each is of its type. Raises UserError where not."""
    found = check_object(value, expected, place)
    if missing := expected.keys() - found.keys():
        raise UserError(f"{place} lacks {', '.join(sorted(missing))}: run it again.")
    return found


def fits(value: Any, kind: Any) -> bool:
    """Whether a JSON value is of a type."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (UnionType, Union):
        return any(fits(value, part) for part in parts)
    if origin is dict:
        return isinstance(value, dict) and all(fits(k, parts[0]) and fits(v, parts[1]) for k, v in value.items())
    if origin in (list, tuple):
        if not isinstance(value, list | tuple):
            return False
        if origin is list or parts[-1] is ...:
            return all(fits(one, parts[0]) for one in value)
        return len(value) == len(parts) and all(map(fits, value, parts))
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value)
    if kind is str:
        return isinstance(value, str) and can_be_written(value)
    return type(value) is (NoneType if kind is None else kind)


def can_be_written(text: str) -> bool:
    """Whether a text is of whole characters: JSON can spell half of one (\\ud83d), which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def in_words(kind: Any) -> str:
    """A type as a person would say it: float | None is "a number or null"."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (UnionType, Union):
        return " or ".join(map(in_words, parts))
    if origin is dict:
        return f"an object with {in_words(parts[1])} under each name"
    if origin in (list, tuple):
        several = " and ".join(map(in_words, parts)) if origin is tuple and parts[-1] is not ... else in_words(parts[0])
        return f"a list of {several}"
    return NAMES.get(NoneType if kind is None else kind, "another value")

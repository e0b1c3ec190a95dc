"""`about(0.861, measured, within=0.03)`: a measured number, checked against what the author measured.

Training differs a little from machine to machine. A notebook shows such a number as "≈ 0.86": tests/nbval_sanitize.cfg
compares all numbers after ≈ as equal, so the tolerance is what keeps the text around the number true.
"""

import os
import re
from pathlib import Path
from typing import SupportsFloat

from bertedu.course.rooms import CHAPTERS
from bertedu.errors import UserError
from bertedu.files import read_json, write_json

BUILDING = "BERTEDU_MEASURED"  # while a notebook is built: the file for what it measures
SIGN = "≈ "
SPEC = re.compile(r"(?:(?P<fill>.)?(?P<align>[<>=^]))?(?P<sign>[-+ ]?z?#?)(?P<zero>0?)(?P<width>\d*)(?P<rest>.*)")


class About(float):
    """A measured number that shows itself with "≈ " before it. What is calculated from it is a plain float."""

    def __str__(self) -> str:
        number = float(self)
        return SIGN + (f"{number:,.0f}" if 1000 <= abs(number) < 1e12 else f"{number:.3g}")

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        """As for a float: `.2f`, `.1%`, `,.0f`, `+.3f`. A width counts the two characters of "≈ " too."""
        parts = SPEC.fullmatch(spec)
        if parts is None:  # only a line break does not match; float says what is wrong
            return format(float(self), spec)
        fill, align, sign, zero, digits, rest = parts.group("fill", "align", "sign", "zero", "width", "rest")
        width = int(digits or 0)
        if zero or align == "=":  # the padding belongs between the sign and the digits
            inside = f"{fill or ''}{align or ''}{sign}{zero}{max(0, width - len(SIGN)) or ''}{rest}"
            return SIGN + format(float(self), inside)
        text = SIGN + format(float(self), sign + rest) if sign or rest else str(self)
        return format(text, f"{fill or ' '}{align or '>'}{width}")


def about(expected: SupportsFloat | str, measured: SupportsFloat, *, within: float) -> About:
    """The measured number, to print or to calculate with. Raises AssertionError where it is farther than `within`
    from the expected one, or not a number.

    Where the reader was asked to guess, the expected number does not stand in the code: `about("accuracy", …)` knows it
    by its name from `measured.json` in the chapter's room, where `bertedu build` writes what the solution version
    measured. Raises UserError for a name that no chapter has.
    """
    found = float(measured)
    wanted = of_the_author(expected, found) if isinstance(expected, str) else float(expected)
    if not abs(found - wanted) <= within:  # NaN is never close
        raise AssertionError(
            f"{wanted:.6g} was expected, give or take {within:.6g}, but {found:.6g} was measured. "
            "What the text says of this number does not hold here."
        )
    return About(found)


def of_the_author(name: str, measured: float) -> float:
    """What the author measured under that name. While a notebook is built, what is measured now becomes it where
    nothing was known."""
    own = Path(os.environ[BUILDING]) if BUILDING in os.environ else None
    files = {*CHAPTERS.glob("ch*/measured.json"), *([own] if own and own.exists() else [])}
    known = {key: value for file in files for key, value in read_json(file).items()}
    if name not in known and own:
        write_json(own, {**(read_json(own) if own.exists() else {}), name: measured})
        return measured
    if name not in known:
        raise UserError(f"nothing was measured under the name {name!r}: correct it, or run `bertedu build`.")
    return float(known[name])

"""`about(0.861, measured, within=0.03)`: a measured number, checked against what the author measured.

Training differs a little from machine to machine. A notebook shows such a number as "≈ 0.86": tests/nbval_sanitize.cfg
compares all numbers after ≈ as equal, so the tolerance is what keeps the text around the number true.
"""

import re
from typing import SupportsFloat

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


def about(expected: SupportsFloat, measured: SupportsFloat, *, within: float) -> About:
    """The measured number, to print or to calculate with. Raises AssertionError where it is farther than `within`
    from the expected one, or not a number."""
    wanted, found = float(expected), float(measured)
    if not abs(found - wanted) <= within:  # NaN is never close
        raise AssertionError(
            f"{wanted:.6g} was expected, give or take {within:.6g}, but {found:.6g} was measured. "
            "What the text says of this number does not hold here."
        )
    return About(found)

"""A coordinate system on a sheet, for curves and points: numbers become pixels."""

from collections.abc import Callable

from bertedu.course.pictures.places import Point
from bertedu.course.pictures.sheet import Sheet

PIECES = 80  # of a curve


class Plane:
    """Two axes: the left and the lower edge of a rectangle whose upper left corner is at (x, y).

    `across` and `up` say from which number to which number the axes reach.
    """

    def __init__(
        self,
        sheet: Sheet,
        x: float,
        y: float,
        width: float,
        height: float,
        across: tuple[float, float],
        up: tuple[float, float],
    ) -> None:
        self.sheet, self.x, self.y, self.width, self.height = sheet, x, y, width, height
        self.across, self.up = across, up
        sheet.line((x, y), (x, y + height), (x + width, y + height))

    def at(self, a: float, b: float) -> Point:
        """The pixel of a point."""
        (left, right), (low, high) = self.across, self.up
        return self.x + self.width * (a - left) / (right - left), self.y + self.height * (high - b) / (high - low)

    def point(self, a: float, b: float, size: float = 5) -> Point:
        """A dot; returns its pixel."""
        place = self.at(a, b)
        self.sheet.dot(place, size)
        return place

    def curve(self, function: Callable[[float], float], start: float, stop: float) -> None:
        """A function from one number to another."""
        steps = (start + (stop - start) * i / PIECES for i in range(PIECES + 1))
        self.sheet.line(*(self.at(a, function(a)) for a in steps), thick=True)

    def ticks(self, across: tuple[float, ...] = (), up: tuple[float, ...] = ()) -> None:
        """Numbers along the axes."""
        for number in across:
            self.sheet.words(self.at(number, self.up[0])[0], self.y + self.height + 17, told(number), align="center")
        for number in up:
            self.sheet.words(self.x - 9, self.at(self.across[0], number)[1], told(number), align="right")


def told(number: float) -> str:
    """A number as it stands at an axis."""
    return f"{number:g}".replace("-", "\N{MINUS SIGN}")

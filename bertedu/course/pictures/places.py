"""Places on a sheet, in pixels from its upper left corner."""

from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle: where something was drawn, so that an arrow can begin or end there."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x of its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of its lower edge."""
        return self.y + self.height

    @property
    def centre(self) -> Point:
        """Its middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def overlaps(self, other: "Box", by: float = 1.0) -> bool:
        """Whether the two share more than a strip of `by` pixels."""
        across = min(self.right, other.right) - max(self.x, other.x)
        down = min(self.bottom, other.bottom) - max(self.y, other.y)
        return across > by and down > by


@dataclass(frozen=True)
class Grid(Box):
    """A matrix that was drawn: its cells can be pointed at."""

    rows: int = 1
    columns: int = 1

    def cell(self, row: int, column: int) -> Box:
        """One cell."""
        width, height = self.width / self.columns, self.height / self.rows
        return Box(self.x + column * width, self.y + row * height, width, height)

    def row(self, row: int) -> Box:
        """A whole row."""
        return Box(self.x, self.cell(row, 0).y, self.width, self.height / self.rows)

    def column(self, column: int) -> Box:
        """A whole column."""
        return Box(self.cell(0, column).x, self.y, self.width / self.columns, self.height)


def between(start: Box | Point, end: Box | Point, gap: float) -> tuple[Point, Point]:
    """Where an arrow begins and ends: at the edges that face each other, `gap` pixels away from both. Boxes beside
    each other are joined from side to side, boxes below each other from edge to edge."""
    a = start if isinstance(start, Box) else Box(*start, 0, 0)
    b = end if isinstance(end, Box) else Box(*end, 0, 0)
    if b.x >= a.right - 1 or a.x >= b.right - 1:
        beside = min(a.bottom, b.bottom) >= max(a.y, b.y)
        if beside or abs(a.centre[0] - b.centre[0]) >= abs(a.centre[1] - b.centre[1]):
            forward = b.x >= a.right - 1
            first = (a.right + gap, a.centre[1]) if forward else (a.x - gap, a.centre[1])
            last = (b.x - gap, b.centre[1]) if forward else (b.right + gap, b.centre[1])
            return first, last
    down = b.centre[1] >= a.centre[1]
    first = (a.centre[0], a.bottom + gap) if down else (a.centre[0], a.y - gap)
    last = (b.centre[0], b.y - gap) if down else (b.centre[0], b.bottom + gap)
    return first, last

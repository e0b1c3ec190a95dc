"""A chapter's sittings: where each ends, how long it takes, and the line that says so.

A sitting ends with the cell that says "Here the first sitting ends"; the last one ends with the notebook. What stands
under a heading marked (optional), and an exercise that such a heading names, is on top. The minutes are counted as in
`minutes.py` and written into the chapter's source by the build, to five minutes.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from bertedu.course.building.minutes import reading_of
from bertedu.course.exercise import Exercise
from bertedu.errors import UserError
from bertedu.files import read_text, write_text

ENDS = re.compile(r"\*\*Here the (?:first|second|third) sitting ends")
HEADING = re.compile(r"(#+) (.+)")
EXERCISE = re.compile(r"Exercise (\w+\.\d+)")
OPTIONAL = re.compile(r"\(optional\b[^)]*\)")
NUMBERS = ("no", "one", "two", "three", "four")
SAID = re.compile(
    r"(?:one|two|three|four) sittings? of about ([\d, and]+) minutes(?:, and (\d+) more for what is optional)?"
)
LINE = re.compile(rf"(?<=\*\*Time:\*\* ){SAID.pattern}")


@dataclass(frozen=True)
class Sittings:
    """Minutes of each sitting, and those of what is optional."""

    each: tuple[int, ...]
    optional: int = 0

    @property
    def core(self) -> int:
        """All that is not optional."""
        return sum(self.each)

    @property
    def everything(self) -> int:
        return self.core + self.optional

    def __str__(self) -> str:
        """As a chapter says it: two sittings of about 50 and 55 minutes, and 20 more for what is optional."""
        *first, last = map(str, self.each)
        minutes = f"{', '.join(first)} and {last}" if first else last
        more = f", and {self.optional} more for what is optional" if self.optional else ""
        return f"{NUMBERS[len(self.each)]} sitting{'s' if first else ''} of about {minutes} minutes{more}"


def sittings_of(notebook: NotebookNode, exercises: Iterable[Exercise]) -> Sittings:
    """Count a stored notebook as the learner opens it, sitting by sitting."""
    by_number = {exercise.number: exercise for exercise in exercises}
    minutes, optional = [0.0], 0.0
    for part in parts(notebook.cells):
        chosen = [by_number[part.exercise]] if part.exercise in by_number else []
        taken = reading_of(NotebookNode(cells=[part.cell]), chosen).minutes
        if part.is_optional:
            optional += taken
        else:
            minutes[-1] += taken
        if part.cell.cell_type == "markdown" and ENDS.search(part.cell.source):
            minutes.append(0.0)
    return Sittings(tuple(map(to_five, minutes)), to_five(optional))


@dataclass(frozen=True)
class Part:
    """A code cell, or a text with one heading at most."""

    cell: NotebookNode
    exercise: str  # the one whose heading it has, as 3.1
    is_optional: bool


def parts(cells: Iterable[NotebookNode]) -> Iterator[Part]:
    """The notebook in pieces that are optional or not as a whole."""
    within, named = 0, ""  # the level of the optional heading that we are below; what optional headings name
    for piece in (piece for cell in cells for piece in pieces_of(cell)):
        heading = HEADING.match(piece.source) if piece.cell_type == "markdown" else None
        marks, title = heading.groups() if heading else ("", "")
        exercise = EXERCISE.match(title)
        if OPTIONAL.search(title) or (exercise and exercise[1] in re.findall(r"\w+\.\d+", named)):
            within, named = len(marks), named + title
        elif heading and len(marks) <= within:
            within = 0
        yield Part(piece, exercise[1] if exercise else "", bool(within))


def pieces_of(cell: NotebookNode) -> Iterator[NotebookNode]:
    """A code cell as it is; a text cut before each heading that is not a line of a block of code."""
    if cell.cell_type != "markdown":
        yield cell
        return
    lines: list[str] = []
    in_code = False
    for line in cell.source.splitlines(keepends=True):
        in_code ^= line.startswith("```")
        if lines and not in_code and HEADING.match(line):
            yield new_markdown_cell("".join(lines))
            lines = []
        lines.append(line)
    yield new_markdown_cell("".join(lines))


def to_five(minutes: float) -> int:
    """Nobody reads to the minute."""
    return 5 * round(minutes / 5)


def told(source: Path) -> Sittings:
    """What a chapter's source says. Raises UserError where its line of time does not say it."""
    text = re.sub(r"\n# ?", " ", read_text(source).partition("**Time:**")[2][:400])
    found = SAID.match(text.strip())
    if not found:
        raise UserError(
            f"{source}: after **Time:** should stand, as in '{Sittings((50, 55), 20)}': "
            "how many sittings, their minutes, and what is optional. `bertedu build` then counts the minutes."
        )
    return sittings_in(found)


def sittings_in(said: re.Match) -> Sittings:
    """The sittings of a line that says them."""
    return Sittings(tuple(map(int, re.findall(r"\d+", said[1]))), int(said[2] or 0))


def write_minutes(source: Path, counted: Sittings) -> bool:
    """Put the counted minutes into a chapter's source; whether that changed it."""
    if told(source) == counted:
        return False
    text = read_text(source)
    line = re.search(r"^# \*\*Time:\*\* .+$", text, re.MULTILINE)
    assert line
    changed = LINE.sub(str(counted), line[0], count=1)
    if changed == line[0]:
        raise UserError(f"{source}: the sittings and their minutes should stand in one line after **Time:**.")
    write_text(source, text.replace(line[0], changed, 1))
    return True

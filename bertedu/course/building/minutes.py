"""How long a reader needs for a notebook: counted, not wished.

Words at 130 a minute, a line of visible code 6 seconds, a picture and a guess 20 seconds each, and the minutes that
exercises state. Of folded boxes only those count that say what a guess showed: everybody unfolds them. Waiting for
cells comes on top.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from bertedu.course.building.pictures import pictures_in, without_code
from bertedu.course.building.places import Places
from bertedu.course.exercise import Exercise
from bertedu.course.loading import exercises_of
from bertedu.course.rooms import number_of
from bertedu.files import read_text

WORDS_A_MINUTE = 130
SECONDS_A_LINE = 6
SECONDS_A_PICTURE = 20
SECONDS_A_GUESS = 20
ANSWER = re.compile(r"<details><summary>What you saw.*?</details>", flags=re.DOTALL)
FOLDED = re.compile(r"<details.*?</details>", flags=re.DOTALL)
LEFT_UNREAD = re.compile(r"<!--.*?-->|<[^>]+>|\]\([^)]*\)|[#*_|`>-]+|\|?-{3,}\|?", flags=re.DOTALL)


@dataclass(frozen=True)
class Reading:
    """What a reader meets in a notebook, and the minutes that it takes."""

    words: int  # outside folded boxes
    folded_words: int
    pictures: int  # outside folded boxes
    cells: int
    lines: int
    exercise_minutes: int
    guesses: int = 0
    answer_words: int = 0  # in the boxes that say what a guess showed
    answer_pictures: int = 0

    @property
    def minutes(self) -> float:
        """Reading, looking and practising, without waiting."""
        pictures = self.pictures + self.answer_pictures
        seconds = self.lines * SECONDS_A_LINE + pictures * SECONDS_A_PICTURE + self.guesses * SECONDS_A_GUESS
        return (self.words + self.answer_words) / WORDS_A_MINUTE + seconds / 60 + self.exercise_minutes


def reading_of(notebook: NotebookNode, exercises: Iterable[Exercise]) -> Reading:
    """Count a stored notebook as the learner opens it, with its chapter's exercises."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    folded = [box for text in texts for box in FOLDED.findall(text)]
    answers = [box for text in texts for box in ANSWER.findall(text)]
    visible = [FOLDED.sub("", text) for text in texts]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [cell for cell in code if "hide-input" not in cell.metadata.get("tags", [])]
    return Reading(
        words=sum(map(words_in, visible)),
        folded_words=sum(map(words_in, folded)),
        pictures=sum(len(pictures_in(text)) for text in visible) + sum(1 for cell in code for _ in drawn(cell)),
        cells=len(notebook.cells),
        lines=sum(bool(line.strip()) for cell in shown for line in cell.source.splitlines()),
        exercise_minutes=sum(exercise.minutes for exercise in exercises),
        guesses=sum("guess" in cell.metadata.get("tags", []) for cell in code),
        answer_words=sum(map(words_in, answers)),
        answer_pictures=sum(len(pictures_in(text)) for text in answers),
    )


def table(chapters: tuple[str, ...] = (), places: Places | None = None) -> str:
    """The stored notebooks of these chapters (none: of all), one in a line."""
    places = places or Places()
    lines = ["chapter                        words  folded  pictures  cells  lines  exercises  minutes"]
    for source in places.all_sources(chapters):
        notebook = nbformat.reads(read_text(places.pair(source)[0]), as_version=4)
        one = reading_of(notebook, exercises_of(number_of(source)))
        lines.append(
            f"{source.stem:30} {one.words:5}  {one.folded_words:6}  {one.pictures:8}  {one.cells:5}  {one.lines:5}  "
            f"{one.exercise_minutes:9}  {one.minutes:7.0f}"
        )
    return "\n".join(lines)


def words_in(text: str) -> int:
    """The words of a Markdown text that a person reads: no addresses, no marks, no code blocks."""
    return len(re.findall(r"\w[\w'’.-]*", LEFT_UNREAD.sub(" ", without_code(text))))


def drawn(cell: NotebookNode) -> Iterator[NotebookNode]:
    """The pictures in a cell's output."""
    return (output for output in cell.outputs if any(kind.startswith("image/") for kind in output.get("data", {})))

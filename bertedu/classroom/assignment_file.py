"""assignment.json: what an assignment consists of, for the teacher to read and for `bertedu grade` to go by."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from bertedu.errors import UserError, shown
from bertedu.files import read_json, write_json
from bertedu.json_values import fits

NAME = "assignment.json"
RELEASE = "release"  # the folder beside it with the notebooks as learners get them
FORMAT = 2
T = TypeVar("T")


@dataclass(frozen=True)
class AssignedNotebook:
    """A notebook of the assignment: its file in release/, and the SHA-256 of that file's bytes."""

    chapter: str
    file: str
    sha256: str


@dataclass(frozen=True)
class AssignedExercise:
    """An exercise of the assignment.

    answer is the name that its check is called with. answer_cell and check_cell are nbgrader's ids of its cells
    (`cell.metadata.nbgrader.grade_id`), in the notebook of that file; where an author wrote one cell that is graded by
    hand, both are the same.
    """

    number: str
    title: str
    kind: str
    difficulty: int
    points: float
    notebook: str
    answer_cell: str
    check_cell: str
    answer: str


@dataclass(frozen=True)
class Assignment:
    """All of an assignment: due is a time with its offset from UTC (2026-12-01T23:59:00+00:00) or None, almost the
    share of the points that an answer gets whose verdict is "almost", version that of the course, variant the token
    that variants of exercises are drawn from ("" for the course's own exercises)."""

    name: str
    version: str
    chapters: tuple[str, ...]
    only_exercises: bool
    due: str | None
    almost: float
    notebooks: tuple[AssignedNotebook, ...]
    exercises: tuple[AssignedExercise, ...]
    variant: str = ""

    @property
    def due_time(self) -> datetime | None:
        """When answers are due."""
        return datetime.fromisoformat(self.due) if self.due else None

    @property
    def points(self) -> float:
        """Of all exercises together."""
        return sum(exercise.points for exercise in self.exercises)


def write_assignment(folder: Path, assignment: Assignment) -> None:
    """Write assignment.json into the folder."""
    write_json(folder / NAME, {"format": FORMAT, **asdict(assignment)})


def read_assignment(folder: Path) -> Assignment:
    """The assignment in a folder that `bertedu assignment` made. Raises UserError where it is no such folder, or its
    file is damaged or was written by a later version."""
    path = Path(folder) / NAME
    if not path.is_file():
        raise UserError(f"{folder} is no folder that `bertedu assignment` made: it has no {NAME}.")
    found = read_json(path, finite=True)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        what = shown(found.get("format")) if isinstance(found, dict) else "none"
        raise UserError(f"{path} has the format {what}, and this version reads {FORMAT}: make the assignment again.")
    lists = {"notebooks": AssignedNotebook, "exercises": AssignedExercise}
    values = {name: value for name, value in found.items() if name != "format"}
    for name, kind in lists.items():
        if not isinstance(values.get(name), list):
            raise UserError(f"{path}: {name} is no list: make the assignment again.")
        values[name] = tuple(filled(kind, item, f"{path}, {name} {place}") for place, item in enumerate(values[name]))
    values.setdefault("variant", "")  # as earlier versions wrote it
    values["chapters"] = tuple(values.get("chapters") or ())
    return filled(Assignment, values, str(path))


def filled(kind: type[T], values: Any, where: str) -> T:
    """A dataclass with these values, each of its field's type."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if not isinstance(values, Mapping) or set(values) != names:
        wrong = sorted(names ^ set(values)) if isinstance(values, Mapping) else ["all of it"]
        raise UserError(f"{where}: missing or unknown: {', '.join(wrong)}. Make the assignment again.")
    for name, wanted in get_type_hints(kind).items():
        if not fits(values[name], wanted):
            raise UserError(f"{where}: {name} is {shown(values[name])}. Make the assignment again.")
    return kind(**values)

"""An assignment of some chapters: for learners, for an LMS, for nbgrader and for `bertedu grade`."""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from nbformat import NotebookNode

from bertedu.classroom.assignment_cells import Graded, with_graded_cells
from bertedu.classroom.assignment_choices import check_share, read_due, read_points
from bertedu.classroom.assignment_exercises import exercises_only
from bertedu.classroom.assignment_file import RELEASE, AssignedExercise, AssignedNotebook, Assignment, write_assignment
from bertedu.classroom.assignment_lms import write_for_an_lms
from bertedu.classroom.assignment_nbgrader import SECONDS, SECONDS_OF_AN_EXERCISE, make_course_folder
from bertedu.course.building.build import Job
from bertedu.course.building.freshness import data_of
from bertedu.course.building.places import Places
from bertedu.course.building.versions import read_source
from bertedu.course.exercise import EXERCISES
from bertedu.errors import UserError
from bertedu.files import naming_failures

LINK = re.compile(r"\[([^\]\n]+)\]\((?:solutions/)?(\d\d_\w+\.ipynb)(?:#[^)]*)?\)")


def make_assignment(
    chapters: Sequence[str],
    to: Path,
    only_exercises: bool = False,
    points: Sequence[str] = (),
    due: str | None = None,
    almost: float = 0.0,
    places: Places | None = None,
) -> Assignment:
    """Make the folder `to` with an assignment of these chapters ("3" or "03"); returns what is in it.

    points are written as "3.2=4", due as "2026-12-01" or "2026-12-01 18:00". almost is the share of the points that
    nbgrader and `bertedu grade` give where a verdict is "almost". Raises UserError for what cannot be; then nothing is
    written.
    """
    places = places or Places()
    if to.exists() or to.is_symlink():
        raise UserError(f"{to} is there already: choose a name for a new folder, or remove it.")
    sources = places.all_sources(tuple(chapters))
    numbers = numbers_of({int(path.name[:2]) for path in sources})
    chosen, due_time = read_points(points, numbers), read_due(due) if due is not None else None
    check_share(almost)
    name = "chapter" + "s" * (len(sources) > 1) + "".join(f"-{path.name[:2]}" for path in sources)
    notebooks, graded = {}, {}
    for path in sources:
        notebook = with_outputs(path, places)
        if only_exercises:
            notebook = exercises_only(notebook, f"{path.stem}.ipynb")
        unlink(notebook, {f"{source.stem}.ipynb" for source in sources} if not only_exercises else set())
        file = f"{path.stem}.ipynb"
        notebooks[file], graded[file] = with_graded_cells(notebook, chosen, almost, str(path))
    with naming_failures(to):
        to.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{to.name}.", dir=to.parent))
    try:
        seconds = SECONDS_OF_AN_EXERCISE if only_exercises else SECONDS
        make_course_folder(beside / "nbgrader", name, notebooks, due_time, seconds)
        shutil.copytree(beside / "nbgrader" / "release" / name, beside / RELEASE)
        assignment = Assignment(
            name=name,
            version=version("bertedu"),
            chapters=tuple(int(path.name[:2]) for path in sources),
            only_exercises=only_exercises,
            due=due_time.isoformat() if due_time else None,
            almost=almost,
            notebooks=tuple(described(beside / RELEASE / file) for file in notebooks),
            exercises=tuple(exercise for file in notebooks for exercise in listed(graded[file], file)),
        )
        write_assignment(beside, assignment)
        data = {file for path in sources for file in data_of(path, places)}
        write_for_an_lms(beside / "lms" / name, assignment, sorted((beside / RELEASE).glob("*.ipynb")), sorted(data))
        with naming_failures(to):
            beside.chmod(0o755)
            beside.rename(to)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return assignment


def numbers_of(chapters: set[int]) -> list[str]:
    """The numbers of the exercises of these chapters, in order. Raises UserError where a chapter has none."""
    own = sorted((one for one in EXERCISES.values() if one.chapter in chapters), key=lambda one: one.order)
    if without := sorted(chapters - {one.chapter for one in own}):
        raise UserError(f"chapter {without[0]} has no exercises: leave it out.")
    return [one.number for one in own]


def with_outputs(path: Path, places: Places) -> NotebookNode:
    """The solved notebook of a source, with the outputs that are stored for its cells."""
    notebook = read_source(path)
    stored = Job(places.pair(path)[1], notebook, path, places).stored
    before = {cell.id: cell for cell in stored.cells if cell.cell_type == "code"} if stored else {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.id in before:
            cell.outputs, cell.execution_count = before[cell.id].outputs, before[cell.id].execution_count
    return notebook


def unlink(notebook: NotebookNode, files: Iterable[str]) -> None:
    """Leave only the text of links to notebooks that are not beside this one."""
    there = set(files)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(lambda link: link[0] if link[2] in there else link[1], cell.source)


def described(path: Path) -> AssignedNotebook:
    """A released notebook in assignment.json."""
    return AssignedNotebook(int(path.name[:2]), path.name, hashlib.sha256(path.read_bytes()).hexdigest())


def listed(graded: Iterable[Graded], file: str) -> Iterable[AssignedExercise]:
    """The exercises of a notebook in assignment.json."""
    for one in graded:
        exercise = one.exercise
        about = exercise.number, exercise.title, exercise.kind, exercise.difficulty
        yield AssignedExercise(*about, float(one.points), file, one.answer_cell, one.check_cell, one.answer)

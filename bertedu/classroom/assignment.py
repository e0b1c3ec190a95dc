"""An assignment of some chapters: for learners, for an LMS, for nbgrader and for `bertedu grade`."""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from nbformat import NotebookNode

from bertedu.classroom.assignment_cells import Graded, with_graded_cells
from bertedu.classroom.assignment_choices import check_share, read_due, read_points
from bertedu.classroom.assignment_exercises import exercises_only
from bertedu.classroom.assignment_file import RELEASE, AssignedExercise, AssignedNotebook, Assignment, write_assignment
from bertedu.classroom.assignment_lms import write_for_an_lms
from bertedu.classroom.assignment_nbgrader import SECONDS, SECONDS_OF_AN_EXERCISE, make_course_folder
from bertedu.classroom.assignment_variants import token_for, variant_notebook
from bertedu.classroom.variants import MAKERS, using
from bertedu.course.building.build import Job
from bertedu.course.building.freshness import data_of
from bertedu.course.building.pictures import pictures_of
from bertedu.course.building.places import Places
from bertedu.course.building.versions import read_source
from bertedu.course.loading import exercises_of
from bertedu.course.rooms import number_of
from bertedu.errors import UserError
from bertedu.files import naming_failures

LINK = re.compile(r"\[([^\]\n]+)\]\((?:solutions/)?(\d\d[a-z]?_\w+\.ipynb)(?:#[^)]*)?\)")


def make_assignment(
    chapters: Sequence[str],
    to: Path,
    only_exercises: bool = False,
    points: Sequence[str] = (),
    due: str | None = None,
    almost: float = 0.0,
    places: Places | None = None,
    variant: str | None = None,
) -> Assignment:
    """Make the folder `to` with an assignment of these chapters ("3" or "03"); returns what is in it.

    points are written as "3.2=4", due as "2026-12-01" or "2026-12-01 18:00". almost is the share of the points that
    nbgrader and `bertedu grade` give where a verdict is "almost". With variant, a secret seed, the exercises are
    variants of the chapters' own. Raises UserError for what cannot be; then nothing is
    written.
    """
    places = places or Places()
    if to.exists() or to.is_symlink():
        raise UserError(f"{to} is there already: choose a name for a new folder, or remove it.")
    sources = places.all_sources(tuple(chapters))
    if variant is not None:
        token = token_for(variant, sources)
        with using(token):
            return make_notebooks(sources, to, True, points, due, almost, places, token)
    return make_notebooks(sources, to, only_exercises, points, due, almost, places)


def make_notebooks(
    sources: Sequence[Path],
    to: Path,
    only_exercises: bool,
    points: Sequence[str],
    due: str | None,
    almost: float,
    places: Places,
    token: str = "",
) -> Assignment:
    """The same, from the chapters' sources, or from the token of variants."""
    numbers = numbers_of(list(map(number_of, sources)))
    numbers = [number for number in numbers if (number in MAKERS) == bool(token)]
    chosen, due_time = read_points(points, numbers), read_due(due) if due is not None else None
    check_share(almost)
    solved = {
        path: variant_notebook(token, number_of(path))
        if token
        else solved_version(path, places, only_exercises, sources)
        for path in sources
    }
    graded = {path: with_graded_cells(notebook, chosen, almost, str(path), token) for path, notebook in solved.items()}
    assignment = Assignment(
        variant=token,
        name=name_of(sources, token),
        version=version("bertedu"),
        chapters=tuple(map(number_of, sources)),
        only_exercises=only_exercises,
        due=due_time.isoformat() if due_time else None,
        almost=almost,
        notebooks=(),
        exercises=tuple(one for path in sources for one in listed(graded[path][1], f"{path.stem}.ipynb")),
    )
    notebooks = {f"{path.stem}.ipynb": notebook for path, (notebook, _) in graded.items()}
    data = {file for path, (notebook, _) in graded.items() for file in files_read(notebook, path, places)}
    pictures = pictures_of(solved.values(), places.notebooks)
    with appearing(to) as beside:
        return write_all(beside, assignment, notebooks, pictures, sorted(data), places)


def name_of(sources: Sequence[Path], token: str) -> str:
    """chapter-03, chapters-03-06, or variants-03-06."""
    kind = "variants" if token else "chapter" + "s" * (len(sources) > 1)
    return "-".join([kind, *map(number_of, sources)])


def write_all(
    folder: Path,
    assignment: Assignment,
    notebooks: Mapping[str, NotebookNode],
    pictures: Mapping[str, Path],
    data: Sequence[Path],
    places: Places,
) -> Assignment:
    """Fill the folder: nbgrader's course folder, whose release is everybody's, then the rest. Returns the assignment
    with its released notebooks."""
    seconds = SECONDS_OF_AN_EXERCISE if assignment.only_exercises else SECONDS
    make_course_folder(folder / "nbgrader", assignment.name, notebooks, pictures, assignment.due_time, seconds)
    shutil.copytree(folder / "nbgrader" / "release" / assignment.name, folder / RELEASE)
    released = [folder / RELEASE / file for file in notebooks]
    assignment = replace(assignment, notebooks=tuple(map(described, released)))
    write_assignment(folder, assignment)
    write_for_an_lms(folder / "lms" / assignment.name, assignment, released, pictures, data, places)
    return assignment


@contextmanager
def appearing(to: Path) -> Iterator[Path]:
    """A folder beside `to`, which becomes `to` where the block ends well, and goes where it does not."""
    with naming_failures(to):
        to.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{to.name}.", dir=to.parent))
        try:
            yield beside
            beside.chmod(0o755)
            beside.rename(to)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def numbers_of(chapters: Iterable[str]) -> list[str]:
    """The numbers of the exercises of these chapters, in order. Raises UserError where a chapter has none."""
    found = {chapter: exercises_of(chapter) for chapter in chapters}
    if without := sorted(chapter for chapter, own in found.items() if not own):
        raise UserError(f"chapter {without[0]} has no exercises: leave it out.")
    return [one.number for own in found.values() for one in own]


def with_outputs(path: Path, places: Places) -> NotebookNode:
    """The solved notebook of a source, with the outputs that are stored for its cells."""
    notebook = read_source(path)
    stored = Job(places.pair(path)[1], notebook, path, places).stored
    before = {cell.id: cell for cell in stored.cells if cell.cell_type == "code"} if stored else {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.id in before:
            cell.outputs, cell.execution_count = before[cell.id].outputs, before[cell.id].execution_count
    return notebook


def solved_version(path: Path, places: Places, only_exercises: bool, sources: Iterable[Path]) -> NotebookNode:
    """The solved notebook as it is assigned; of links to notebooks that are not beside it, only the text."""
    notebook = with_outputs(path, places)
    if only_exercises:
        notebook = exercises_only(notebook, path.name)
    there = set() if only_exercises else {f"{source.stem}.ipynb" for source in sources}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(lambda link: link[0] if link[2] in there else link[1], cell.source)
    return notebook


def files_read(notebook: NotebookNode, source: Path, places: Places) -> set[Path]:
    """The files of the course that the notebook's code names."""
    code = "".join(cell.source for cell in notebook.cells if cell.cell_type == "code")

    def named(file: Path) -> bool:
        name = file.relative_to(places.data)
        return any(f'"{one.as_posix()}"' in code for one in (name, *name.parents))

    return {file for file in data_of(source, places) if file.is_relative_to(places.data) and named(file)}


def described(path: Path) -> AssignedNotebook:
    """A released notebook in assignment.json."""
    return AssignedNotebook(number_of(path), path.name, hashlib.sha256(path.read_bytes()).hexdigest())


def listed(graded: Iterable[Graded], file: str) -> Iterable[AssignedExercise]:
    """The exercises of a notebook in assignment.json."""
    for one in graded:
        exercise = one.exercise
        about = exercise.number, exercise.title, exercise.kind, exercise.difficulty
        yield AssignedExercise(*about, float(one.points), file, one.answer_cell, one.check_cell, one.answer)

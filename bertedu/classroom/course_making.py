"""A course of a teacher's own, from its course.toml: notebooks for learners, solved ones, and what to look at."""

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from bertedu.classroom.assignment import appearing
from bertedu.classroom.course_exercises import leave_out
from bertedu.classroom.course_file import Course, Entry, read_course
from bertedu.classroom.course_text import Remark, named, rewritten, the_map
from bertedu.course.building.build import Job
from bertedu.course.building.limits import long_cells, wide_lines, wrong_size
from bertedu.course.building.pictures import files_of
from bertedu.course.building.places import Places
from bertedu.course.building.rules import faults_of, lines_of_cells, registered
from bertedu.course.building.versions import BEGIN, learner_version, name_cells, read_source
from bertedu.errors import UserError
from bertedu.files import copy, read_text, write_text

FILE = re.compile(r"\]\((?!\w+:|#|/)([^\s()#?]+)[^)]*\)")  # a relative address, in a link or a picture
README = """\
# {title}

{map}

The notebooks in this folder are for learners; `solutions/` has the same with the exercises solved. Chapters and
exercises keep the numbers that they have in bertedu, in whatever order they come here, since `check("3.2", …)` and
`hint("3.2")` go by them. Open the notebooks in the JupyterLab of the environment in which the course is installed.
"""


@dataclass
class Made:
    """A course as it is written: learner's and solved notebooks by the names of their files, other files, warnings."""

    course: Course
    learner: dict[str, NotebookNode] = field(default_factory=dict)
    solved: dict[str, NotebookNode] = field(default_factory=dict)
    beside: dict[str, Path] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    readme: str = ""


def make_course(path: Path, to: Path | None = None, places: Places | None = None) -> Made:
    """Read course.toml and write the course into the new folder `to`, or only look at it (None).

    Nothing is executed: outputs are those that are stored. Raises UserError for what cannot be; then nothing is
    written.
    """
    places = places or Places()
    if to is not None and (to.exists() or to.is_symlink()):
        raise UserError(f"{to} is there already: choose a name for a new folder, or remove it.")
    made = put_together(read_course(path, places), places)
    if to is None:
        return made
    with appearing(to) as beside:
        for folder, notebooks in ((beside, made.learner), (beside / "solutions", made.solved)):
            for name, notebook in notebooks.items():
                write_text(folder / name, nbformat.writes(notebook, indent=1, sort_keys=True).rstrip("\n") + "\n")
            for name, file in made.beside.items():
                copy(file, folder / name)
        write_text(beside / "README.md", made.readme)
    return made


def put_together(course: Course, places: Places) -> Made:
    """All notebooks of the course, with what they say of each other."""
    made = Made(course)
    read = {}
    for entry in course.entries:
        read[entry.file] = own_notebook(entry, made) if entry.number is None else read_source(entry.source)
    zero = [source for source in places.all_sources() if source.name.startswith("00_")]
    order = named(read, course.entries, read_source(zero[0]) if zero else None)
    for place, entry in enumerate(course.entries):
        notebook = read[entry.file]
        lines = Lines(entry, deepcopy(notebook), course, places)
        remarks = leave_out(notebook, entry.without, f"{course.path}, line {entry.line}") if entry.without else []
        remarks += rewritten(notebook, place, order)
        remarks += dead_files(notebook, entry, made, places)
        made.warnings += [lines.told(remark) for remark in remarks]
        write_down(entry, notebook, made, places)
    made.readme = README.format(title=course.title, map=the_map(order))
    return made


def own_notebook(entry: Entry, made: Made) -> NotebookNode:
    """A teacher's own notebook. What would make it useless is refused; our limits are told as warnings."""
    path = entry.source
    if path.suffix == ".py":
        starts_of, notebook = read_text(path), read_source(path)
    else:
        starts_of, notebook = "", read_ipynb(path)
    starts = lines_of_cells(starts_of, len(notebook.cells))
    known = registered(path, notebook.cells)
    for at, (cell, start) in enumerate(zip(notebook.cells, starts, strict=True), start=1):
        for line, sentence in faults_of(cell, known):
            where = f"line {start + line}" if starts_of else f"cell {at}, line {line + 1}"
            raise UserError(f"{path}, {where}: {sentence}")
    long = [*long_cells(notebook), *wide_lines(notebook), *wrong_size(notebook)]
    made.warnings += [f"{path}: {sentence}" for sentence in long]
    return notebook


def read_ipynb(path: Path) -> NotebookNode:
    """A notebook file, with an id for each cell."""
    try:
        notebook = nbformat.reads(read_text(path), as_version=4)
        nbformat.validate(notebook)
    except Exception as error:  # nbformat raises many kinds
        first = str(error).strip().partition("\n")[0][:200]
        raise UserError(f"{path} is no notebook that can be read: {first}.") from None
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    name_cells(notebook.cells)
    return notebook


def write_down(entry: Entry, notebook: NotebookNode, made: Made, places: Places) -> None:
    """The learner's and the solved version, ours with the outputs that are stored."""
    learner = learner_version(notebook, entry.source)
    if entry.number is None:
        answers = {cell.id for cell in notebook.cells if cell.cell_type == "code" and BEGIN in cell.source}
        for cell in learner.cells:
            if cell.id in answers:
                cell.outputs, cell.execution_count = [], None
    else:
        missing = 0
        for version, path in zip((learner, notebook), places.pair(entry.source), strict=True):
            missing += take_stored(version, Job(path, version, entry.source, places).stored)
        if missing:
            made.warnings.append(
                f"{entry.source}: cells without a stored output: {missing}; run `bertedu build {entry.number}` first."
            )
    made.learner[entry.file], made.solved[entry.file] = learner, notebook


def take_stored(notebook: NotebookNode, stored: NotebookNode | None) -> int:
    """Give each code cell the stored output of the cell with its id; returns how many have none."""
    before = {cell.id: cell for cell in stored.cells if cell.cell_type == "code"} if stored else {}
    missing = 0
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.id in before:
            was = before[cell.id]  # of a cell that went, but for its imports, only the number is left
            same = cell.source == was.source
            cell.outputs, cell.execution_count = was.outputs if same else [], was.execution_count
        elif cell.cell_type == "code":
            missing += 1
    return missing


def dead_files(notebook: NotebookNode, entry: Entry, made: Made, places: Places) -> Iterator[Remark]:
    """Links to files that are not there. Pictures of our chapters, and a teacher's files that lie
    beside course.toml, are taken along."""
    folder = made.course.path.parent.resolve()
    there = {one.file for one in made.course.entries}
    for cell in notebook.cells:
        ours = files_of(cell.source, places.notebooks) if entry.number is not None else {}
        for link in FILE.finditer(cell.source if cell.cell_type == "markdown" else ""):
            name = link[1]
            if name in there:
                continue
            file = (folder / name).resolve()
            if name in ours:
                made.beside[name] = ours[name]
            elif file.is_file() and file.is_relative_to(folder):
                made.beside[file.relative_to(folder).as_posix()] = file
            else:
                line = cell.source.count("\n", 0, link.start())
                yield Remark(cell.id, line, f"the link to {name} leads nowhere in the course.")


class Lines:
    """Where the cells of a notebook's source are."""

    def __init__(self, entry: Entry, notebook: NotebookNode, course: Course, places: Places):
        self.path = entry.source
        self.shown = self.path.relative_to(places.root) if self.path.is_relative_to(places.root) else self.path
        text = read_text(self.path) if self.path.suffix == ".py" else ""
        starts = lines_of_cells(text, len(notebook.cells))
        self.of = {cell.id: (at, start) for at, (cell, start) in enumerate(zip(notebook.cells, starts, strict=True), 1)}

    def told(self, remark: Remark) -> str:
        """A warning with its file and line."""
        at, start = self.of[remark.cell]
        where = f"line {start + remark.line}" if self.path.suffix == ".py" else f"cell {at}, line {remark.line + 1}"
        return f"{self.shown}, {where}: {remark.sentence}"

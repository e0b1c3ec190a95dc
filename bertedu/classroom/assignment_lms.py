"""The folder and the zip file for a learning platform: the notebooks, the course's files that they read, a README."""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from bertedu.classroom.assignment_file import Assignment
from bertedu.course.building.places import Places
from bertedu.files import copy, write_text

README = """\
# {name}

{notebooks}

1. Install the course as its README says, once. Unpack this folder.
2. Open a notebook of this folder in the course's JupyterLab: `python -m jupyterlab` there.
3. Write each answer into the cell under its exercise and run the cell, then run the cell below it: it tells you \
whether the answer is right, and what went wrong if it is not. You may do that as often as you like. \
`hint("{first}")` gives a hint.
4. Leave the other cells as they are, and keep the file's name. You may add cells.
5. Save (Ctrl+S), and hand in {files}{due}.

| exercise | title | points |
|---|---|---|
{exercises}
| | all | {points:g} |
"""


def write_for_an_lms(
    folder: Path,
    assignment: Assignment,
    notebooks: Iterable[Path],
    pictures: Mapping[str, Path],
    data: Iterable[Path],
    places: Places,
) -> None:
    """Fill a folder with what a learner needs, and put a zip file of it beside the folder."""
    write_text(folder / "README.md", instructions(assignment))
    for path in notebooks:
        shutil.copyfile(path, folder / path.name)
    for address, path in pictures.items():
        copy(path, folder / address)
    for path in data:
        copy(path, folder / "data" / path.relative_to(places.data))
    shutil.make_archive(str(folder), "zip", folder.parent, folder.name)


def instructions(assignment: Assignment) -> str:
    """The README for learners."""
    files = [f"`{notebook.file}`" for notebook in assignment.notebooks]
    due = assignment.due_time
    return README.format(
        name=assignment.name,
        notebooks="Exercises of " + ", ".join(files) + ".",
        first=assignment.exercises[0].number,
        files=" and ".join(files),
        due=f" by {due:%A, %d %B %Y, %H:%M} ({due:UTC%z})" if due else "",
        exercises="\n".join(f"| {one.number} | {one.title} | {one.points:g} |" for one in assignment.exercises),
        points=assignment.points,
    )

"""The course folder that nbgrader works in: its settings, the solved notebooks, the released ones, the gradebook."""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.apps import NbGraderAPI
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ComputeChecksums,
    IncludeHeaderFooter,
    LockCells,
    SaveCells,
)
from traitlets.config import Config

from bertedu.classroom.assignment_cells import ClearAnswers
from bertedu.errors import UserError
from bertedu.files import copy, write_text

COURSE = "bertedu"
# nbgrader's own steps, but for two: answers become the course's stubs, and outputs are kept.
RELEASE_STEPS = [
    IncludeHeaderFooter,
    LockCells,
    ClearAnswers,
    CheckCellMetadata,
    ComputeChecksums,
    SaveCells,
    ClearHiddenTests,
    ClearMarkScheme,
    ComputeChecksums,
    CheckCellMetadata,
]
SETTINGS = '''\
"""nbgrader's settings for {name}. Run nbgrader, or start JupyterLab, in the folder of this file."""

from bertedu.classroom.assignment_nbgrader import RELEASE_STEPS

c = get_config()  # noqa: F821  nbgrader gives it
c.CourseDirectory.course_id = "{course}"
# c.Exchange.root = "/srv/nbgrader/exchange"  # the folder that you and your students can write to
c.GenerateAssignment.preprocessors = RELEASE_STEPS

# Seconds for one cell: what takes longer is stopped and counts as a failure, and the next cell runs.
c.Execute.timeout = {seconds}
c.Execute.interrupt_on_timeout = True
c.Execute.startup_timeout = 120
c.ExecutePreprocessor.iopub_timeout = 30
'''
SECONDS, SECONDS_OF_AN_EXERCISE = 600, 120  # a chapter trains models; exercises alone compute for seconds


def make_course_folder(
    folder: Path,
    name: str,
    notebooks: Mapping[str, NotebookNode],
    pictures: Mapping[str, Path],
    due: datetime | None,
    seconds: int,
) -> None:
    """Make the folder with the settings and the source of one assignment, and let nbgrader generate its release."""
    write_text(folder / "nbgrader_config.py", SETTINGS.format(name=name, course=COURSE, seconds=seconds))
    for file, notebook in notebooks.items():
        write_text(folder / "source" / name / file, nbformat.writes(notebook) + "\n")
    for address, picture in pictures.items():
        copy(picture, folder / "source" / name / address)
    config = Config()
    config.CourseDirectory.root, config.CourseDirectory.course_id = str(folder.resolve()), COURSE
    config.Exchange.root = str(folder.resolve())  # none is needed here, and nbgrader looks for it
    config.GenerateAssignment.preprocessors = RELEASE_STEPS
    with in_its_way():
        api = NbGraderAPI(config=config, log_level=logging.CRITICAL)
        with api.gradebook as gradebook:
            gradebook.add_assignment(name, duedate=due.isoformat() if due else None)
        result = api.generate_assignment(name)
    if not result["success"]:
        raise UserError(f"nbgrader could not generate {name}: {result.get('log') or result.get('error')}")


@contextlib.contextmanager
def in_its_way() -> Iterator[None]:
    """nbgrader logs each step, changes into its course folder, and starts the program `alembic` by its bare name, which
    lies beside this Python even where the environment is not activated."""
    level, here, path = logging.root.manager.disable, os.getcwd(), os.environ.get("PATH", "")
    logging.disable(logging.WARNING)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{path}"
    try:
        yield
    finally:
        logging.disable(level)
        os.chdir(here)
        os.environ["PATH"] = path

"""`bertedu build`: make, execute and store the notebooks of the course where something changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from tqdm import tqdm

from bertedu.course.building.answers import learner_from, only_checks
from bertedu.course.building.executing import execute, keep_what_only_ran_again, scrub
from bertedu.course.building.freshness import made_from
from bertedu.course.building.guesses import is_guess, withhold
from bertedu.course.building.pictures import pictures_of
from bertedu.course.building.places import Places
from bertedu.course.building.rules import refuse_faults
from bertedu.course.building.sittings import sittings_of, write_minutes
from bertedu.course.building.versions import learner_version, read_source, solution_version
from bertedu.course.loading import exercises_of
from bertedu.course.measured import BUILDING
from bertedu.course.rooms import drawing_files, number_of
from bertedu.errors import UserError
from bertedu.files import read_text, write_text


@dataclass
class Job:
    """One notebook as it should be before it is run, and where it goes."""

    path: Path
    wanted: NotebookNode
    source: Path
    places: Places

    @property
    def is_solved(self) -> bool:
        """Whether this is the solution version, which measures, draws, and shows what guesses were about."""
        return self.path.parent == self.places.solutions

    def solution(self) -> NotebookNode:
        """The stored solution version, which is built before the learner's."""
        return Job(self.places.pair(self.source)[1], self.wanted, self.source, self.places).stored or NotebookNode()

    def is_executed(self, notebook: NotebookNode) -> bool:
        """Whether every cell has been run, but those whose outputs a learner should guess first."""
        run = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and not self.withholds(cell)]
        return all(run)

    def withholds(self, cell: NotebookNode) -> bool:
        """Whether a cell's output is left out of this notebook."""
        return is_guess(cell) and not self.is_solved

    @property
    def stored(self) -> NotebookNode | None:
        """The notebook as it is now; None where there is none that can be read."""
        try:
            notebook = nbformat.reads(read_text(self.path), as_version=4)
            nbformat.validate(notebook)
        except Exception:  # the library has many kinds of errors for what is no notebook
            return None
        return notebook

    def mark(self, modules: str) -> NotebookNode:
        """What a notebook that was executed with these modules says of it in its metadata."""
        return NotebookNode(made_from=made_from(self.source, self.places, modules), modules=modules)

    def was_made_with_this(self, stored: NotebookNode) -> bool:
        """Whether the modules, the quiz and the data that a stored notebook was made from are as they were."""
        said = stored.metadata.get("bertedu")
        if not isinstance(said, dict) or not isinstance(said.get("modules"), str):
            return False
        return said == self.mark(said["modules"])

    def keeps_its_outputs(self) -> bool:
        """Whether only prose has changed: the code, and what it runs with, are as they were when it was executed."""
        stored = self.stored
        return (
            stored is not None
            and self.was_made_with_this(stored)
            and [cell for cell in written(stored) if cell[1] == "code"]
            == [cell for cell in written(self.wanted) if cell[1] == "code"]
            and self.is_executed(stored)
            and self.has_its_pictures()
        )

    def has_its_pictures(self) -> bool:
        """Whether the files of all pictures that the chapter shows are there."""
        return all(path.is_file() for path in pictures_of([self.wanted], self.path.parent).values())

    def reason(self) -> str | None:
        """Why the notebook is out of date, in a word or two; None where it is not."""
        stored = self.stored
        if stored is None:
            return "missing" if not self.path.exists() else "damaged"
        if not self.was_made_with_this(stored):
            return "made with an older package, quiz or data"
        if written(stored) != written(self.wanted):
            return "not what its source says"
        if not self.is_executed(stored):
            return "not executed"
        if not self.has_its_pictures():
            return "a picture is missing"
        return None


def written(notebook: NotebookNode) -> list[tuple[str, str, str, NotebookNode]]:
    """What an author wrote of a notebook: ids, kinds, text and metadata (tags, slides) of its cells."""
    return [(cell.id, cell.cell_type, cell.source, cell.metadata) for cell in notebook.cells]


def jobs(sources: list[Path], places: Places) -> Iterator[Job]:
    """For each source the solved notebook, then the learner's."""
    for path in sources:
        source = read_source(path)
        learner, solved = places.pair(path)
        yield Job(solved, solution_version(source), path, places)
        yield Job(learner, learner_version(source, path), path, places)


def outdated(chapters: tuple[str, ...] = (), places: Places | None = None) -> list[tuple[Job, str]]:
    """The notebooks that are not what their sources make, and why."""
    places = places or Places()
    return [(job, why) for job in jobs(places.all_sources(chapters), places) if (why := job.reason())]


def strays(places: Places) -> list[Path]:
    """Notebooks that no source makes."""
    made = {path for source in places.all_sources() for path in places.pair(source)}
    return sorted({*places.notebooks.glob("*.ipynb"), *places.solutions.glob("*.ipynb")} - made)


def build(chapters: tuple[str, ...] = (), places: Places | None = None, show_progress: bool = True) -> list[Path]:
    """Make and execute the notebooks that are out of date; returns their paths.

    Raises UserError where a source breaks a rule or a cell fails; notebooks made before it are kept.
    """
    places = places or Places()
    refuse_faults(places.all_sources(chapters), places)
    waiting = outdated(chapters, places)
    cells = sum(cell.cell_type == "code" for job, _ in waiting for cell in job.wanted.cells)
    with tqdm(total=cells, unit="cell", disable=not show_progress or not cells) as bar:
        for job, _ in waiting:
            bar.set_description(f"{job.path.parent.name}/{job.path.stem}")
            run(job, bar)
            if not job.is_solved:
                count_minutes(job, bar)
    return [job.path for job, _ in waiting]


def run(job: Job, bar: tqdm) -> None:
    """Execute one notebook and store it; where only its prose has changed, its outputs are kept."""
    notebook, stored = job.wanted, job.stored
    folder = job.path.parent
    folder.mkdir(parents=True, exist_ok=True)
    if stored and job.keeps_its_outputs():
        take_outputs(notebook, stored)
        modules = stored.metadata.bertedu.modules
    elif not job.is_solved and only_checks(notebook):
        solution = job.solution()
        learner_from(solution, notebook, folder, job.path.name)
        modules = solution.metadata.bertedu.modules
        bar.update(sum(cell.cell_type == "code" for cell in notebook.cells))
    else:
        last, measuring = closing(job) if job.is_solved else "", {BUILDING: str(job.source.parent / "measured.json")}
        loaded = execute(notebook, folder, job.path.name, lambda: bar.update(), last, measuring)
        modules = " ".join(sorted(loaded))
    if not job.is_solved:
        withhold(notebook)
    scrub(notebook)
    keep_what_only_ran_again(notebook, stored)
    notebook.metadata.bertedu = job.mark(modules)
    try:
        text = nbformat.writes(notebook, indent=1, sort_keys=True)
    except nbformat.ValidationError as error:
        raise UserError(f"{job.path}: not a valid notebook ({error}): correct its source.") from error
    write_text(job.path, text if text.endswith("\n") else text + "\n")


def count_minutes(job: Job, bar: tqdm) -> None:
    """Count the sittings of a chapter that was just built; where its source says otherwise, write them into it and into
    both notebooks."""
    stored = job.stored
    if stored is None or "**Time:**" not in read_text(job.source):
        return
    if write_minutes(job.source, sittings_of(stored, exercises_of(number_of(job.source)))):
        for again in jobs([job.source], job.places):
            run(again, bar)


def closing(job: Job) -> str:
    """The code that draws the pictures of a chapter, run after its last cell; nothing where it has none."""
    room, chapter = job.source.parent, number_of(job.source)
    modules = [f"bertedu.chapters.{room.name}.{file.stem}" for file in drawing_files(room)]
    draws = [f"draw_pictures({one!r}, names, {str(job.places.pictures)!r}, {chapter!r})" for one in modules]
    first = "from bertedu.course.building.drawing import draw as draw_pictures\nnames = dict(globals())"
    return "\n".join([first, *draws]) if draws else ""


def take_outputs(notebook: NotebookNode, stored: NotebookNode) -> None:
    """Give each code cell the outputs and the number that the stored cell of the same id has."""
    before = {cell.id: cell for cell in stored.cells}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = before[cell.id].outputs, before[cell.id].execution_count


def main(chapters: tuple[str, ...], check: bool) -> int:
    """What the command does; returns its exit code."""
    if check:
        found = [(job.path, why) for job, why in outdated(chapters)]
        found += [(path, "no source makes it") for path in ([] if chapters else strays(Places()))]
        for path, why in found:
            print(f"{path.relative_to(Places().root)}: {why}")
        print(f"{len(found)} out of date: run `bertedu build`." if found else "All notebooks are up to date.")
        return 1 if found else 0
    built = build(chapters)
    for path in built:
        print(f"built {path.relative_to(Places().root)}")
    if not built:
        print("Nothing to do: all notebooks are up to date.")
    return 0

"""From an assignment and its submissions to graded answers: what is run, what is judged without running, in order."""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bertedu.classroom.assignment_file import RELEASE, AssignedExercise, Assignment, read_assignment
from bertedu.classroom.grading import cells, review, strict
from bertedu.classroom.grading.submissions import Submission, read_submissions
from bertedu.classroom.grading.surroundings import cleared_environment
from bertedu.errors import UserError
from bertedu.files import read_json

SAID_REFUSED = "The answer imports {what}: what the exercise asks for should be written by hand."
SAID_UNREAD = "This answer could not be read. Your teacher will look at it."
SAID_NOT_EXAMINED = "This answer could not be examined. Your teacher will look at it."
SAID_HELD = "The grader gives no points for an answer that {what}. Your teacher will look at it."


@dataclass
class Graded:
    """One answer: whose, to what, the verdict with its words, and what a teacher should look at."""

    student: str
    exercise: AssignedExercise
    verdict: str = "not handed in"
    lines: tuple[str, ...] = ()
    source: str = ""
    points: float = 0.0
    look: list[str] = field(default_factory=list)
    key: str = ""

    @property
    def said(self) -> str:
        """The words of the verdict in one line."""
        return " ".join(" ".join(self.lines).split())


@dataclass
class Class:
    """All that was graded."""

    assignment: Assignment
    submissions: dict[str, Submission]
    answers: list[Graded]
    missing: list[str] = field(default_factory=list)  # what this system could not limit
    unused: dict[str, str] = field(default_factory=dict)  # files, and why nothing was taken from them

    def of(self, student: str) -> list[Graded]:
        """One student's answers, in the order of the exercises."""
        return [one for one in self.answers if one.student == student]

    def points(self, student: str) -> float:
        """One student's points."""
        return sum(one.points for one in self.of(student))


def grade(
    assigned: Path,
    place: Path,
    store: Path,
    *,
    almost: float | None = None,
    roster: tuple[str, ...] = (),
    workers: int | None = None,
    progress: Callable[[list[str]], Iterator[str]] = iter,  # type: ignore[assignment]
) -> Class:
    """Grade all submissions of an assignment. What has been graded before is read from `store`."""
    if not hasattr(os, "fork"):
        raise UserError("answers are graded on Linux or macOS: on Windows, run the same command in WSL or a container.")
    assignment = read_assignment(assigned)
    released = {one.file: released_notebook(assigned, one.file, one.sha256) for one in assignment.notebooks}
    received = read_submissions(place, list(released), roster)
    solved = {one.file: solution(assigned, assignment, one.file) for one in assignment.notebooks}
    answers: list[Graded] = []
    tasks: dict[str, dict] = {}
    ids = {cell for one in assignment.exercises for cell in (one.answer_cell, one.check_cell)}
    before = {
        one.number: cells.released_before(released[one.notebook], one.answer_cell, ids) for one in assignment.exercises
    }
    course = assignment.version + assignment.variant
    for student, submission in received.submissions.items():
        for exercise in assignment.exercises:
            graded = Graded(student, exercise)
            notebooks = released[exercise.notebook], solved[exercise.notebook]
            try:
                task = prepared(graded, submission, *notebooks, before[exercise.number], course)
            except (ValueError, TypeError, AttributeError, LookupError, RecursionError, SyntaxError) as error:
                task, graded.key = None, ""  # nobody's notebook stops the class
                graded.verdict, graded.lines = "please look", (SAID_UNREAD,)
                graded.look.append(f"reading it failed ({type(error).__name__})")
            if task:
                tasks.setdefault(graded.key, task)
            answers.append(graded)
    results = examined(tasks, store, workers or max(1, os.cpu_count() or 1), progress, assignment.variant)
    share = assignment.almost if almost is None else almost
    made = Class(assignment, received.submissions, answers, unused=received.unused)
    for graded in answers:
        if graded.key:
            judge(graded, results.get(graded.key), made)
        worth = {"yes": 1.0, "almost": share}.get(graded.verdict, 0.0)
        graded.points = round(worth * graded.exercise.points, 6)
    note_alike(answers, {one.number: stub_of(released[one.notebook], one) for one in assignment.exercises})
    return made


def released_notebook(assigned: Path, file: str, sha256: str) -> Any:
    """A notebook as it was handed out."""
    path = Path(assigned) / RELEASE / file
    if not path.is_file():
        raise UserError(f"{path} is missing: make the assignment again, into a new folder.")
    if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        raise UserError(
            f"{path} is not as `bertedu assignment` wrote it: make the assignment again, into a new folder."
        )
    return read_json(path)


def solution(assigned: Path, assignment: Assignment, file: str) -> Any:
    """The notebook with the solutions, where the assignment's folder has it."""
    path = Path(assigned) / "nbgrader" / "source" / assignment.name / file
    return read_json(path) if path.is_file() else {"cells": []}


def stub_of(released: Any, exercise: AssignedExercise) -> str:
    """The released cell of an answer."""
    return next((source for grade_id, _, source in cells.sources(released) if grade_id == exercise.answer_cell), "")


def prepared(
    graded: Graded, handed_in: Submission, released: Any, solved: Any, before: list, version: str
) -> dict | None:
    """Find the answer and look at its code: what is to be run, or None where the verdict is clear without."""
    exercise = graded.exercise
    notebook = handed_in.notebooks.get(exercise.notebook)
    found = notebook and cells.answer_cell(notebook, released, exercise.answer_cell, exercise.answer)
    if not found:
        graded.lines = (
            f"{exercise.notebook} was not handed in." if not notebook else "The cell of this exercise is gone.",
        )
        return None
    graded.source = found.source
    if cells.too_deep(found.source):
        graded.verdict, graded.lines = "please look", (SAID_HELD.format(what="is nested too deeply to be read"),)
        graded.look.append("nested too deeply to be read")
        return None
    graded.look += [found.how] if found.how else []
    own = cells.needed(found.source, cells.added(notebook, released, found.source))
    helpers = [node for node in before if isinstance(node, cells.ast.Import | cells.ast.ImportFrom)]
    known = set().union(*(cells.bound(node) for node in before)) if before else set()
    own = [node for node in own if not cells.bound(node) & known]
    whole = "\n".join([cells.text(own), found.source])
    if refuse(graded, whole, helpers, solved):
        return None
    source = "\n".join(["", *([cells.text(own)] if own else []), cells.without_package(found.source)]).lstrip("\n")
    helper_text = cells.text(cells.needed(whole, before))
    task = {"number": exercise.number, "helpers": helper_text, "source": source, "asked": exercise.answer}
    graded.key = hashlib.sha256(json.dumps([version, task]).encode()).hexdigest()[:32]
    return task


def refuse(graded: Graded, source: str, imports: list, solved: Any) -> bool:
    """Whether an answer gets no points for what its code says; the verdict is written down."""
    exercise = graded.exercise
    released = {(module, name) for node in imports for module, name, _ in cells.imports_of(node)}
    ready = [one for one in review.package_imports(source) if one not in released]
    for module, name in ready:
        graded.look.append(f"imports {name or module} of bertedu")
    graded.look += review.to_look_at(source)
    runs = strict.runs_of(exercise.number)
    behind = review.behind_the_scenes(source, runs in ("beside", "compiled"))
    if runs != "apart" and cells.parsed(source):
        behind = sorted({*behind, *strict.outside(cells.without_magics(source))})
    if ready:
        what = " and ".join(f"`{name or module}`" for module, name in ready)
        graded.verdict, graded.lines = "please look", (SAID_REFUSED.format(what=f"{what} from the package"),)
    elif behind:
        graded.look += behind
        graded.verdict, graded.lines = "please look", (SAID_HELD.format(what=", ".join(behind[:3])),)
    elif borrowed := package_names(source, imports, solved, exercise):
        graded.look.append(f"uses {', '.join(borrowed)} of bertedu")
        graded.verdict, graded.lines = (
            "please look",
            (SAID_REFUSED.format(what=f"or uses `{borrowed[0]}` of the package"),),
        )
    return graded.verdict == "please look"


def package_names(source: str, imports: list, solved: Any, exercise: AssignedExercise) -> list[str]:
    """Names that the released notebook imports from the package, and that the answer uses and the solution does not."""
    tree = cells.parsed(source)
    solution_tree = cells.parsed(stub_of(solved, exercise))
    if tree is None or solution_tree is None or not solution_tree.body:
        return []
    names = set()
    for node in imports:
        for module, _, _ in cells.imports_of(node):
            if module.startswith("bertedu") and module != "bertedu.course":
                names |= cells.bound(node)
    return sorted(names & cells.used(tree) - cells.used(solution_tree))


def examined(
    tasks: dict[str, dict], store: Path, workers: int, progress: Callable, variant: str = ""
) -> dict[str, Any]:
    """The results of all tasks: those kept from before, and those that the warm process gives now."""
    results: dict[str, Any] = {}
    if store.is_file():
        for text in store.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                earlier = json.loads(text)
                results[earlier["key"]] = earlier["result"]
            except (ValueError, KeyError, TypeError):  # the last line of a run that was killed
                continue
    open_tasks = {key: task for key, task in tasks.items() if results.get(key) is None}
    if not open_tasks:
        return results
    store.parent.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        "-m",
        "bertedu.classroom.grading.workers",
        str(min(workers, len(open_tasks))),
        "{}",
        variant,
    ]
    with (
        cleared_environment() as environment,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as warm,
        open(store, "a", encoding="utf-8") as kept_file,
    ):
        assert warm.stdin and warm.stdout
        try:
            kept_file.write("\n")
            ask(warm, open_tasks)
            for _ in progress(list(open_tasks)):
                line = warm.stdout.readline()
                if not line:
                    raise UserError("the process that grades has ended: run the same command again, it goes on there.")
                told = json.loads(line)
                results[told["key"]] = told["result"]
                kept_file.write(json.dumps(told, ensure_ascii=True) + "\n")
                kept_file.flush()
        finally:
            warm.kill()
    return results


def ask(warm: subprocess.Popen, tasks: dict[str, dict]) -> None:
    """Give the warm process its tasks, and nothing after them."""
    import threading

    def write() -> None:
        try:
            for key, task in tasks.items():
                warm.stdin.write(json.dumps({"key": key, **task}).encode() + b"\n")  # type: ignore[union-attr]
            warm.stdin.close()  # type: ignore[union-attr]
        except (OSError, ValueError):  # it has ended: the reader says so
            pass

    threading.Thread(target=write, daemon=True).start()


def judge(graded: Graded, result: Any, made: Class) -> None:
    """Take the verdict of the examiner."""
    try:
        graded.verdict, graded.lines = str(result["status"]), tuple(map(str, result["lines"]))
        made.missing += [one for one in result["missing"] if one not in made.missing]
        if result.get("trouble"):
            graded.look.append(f"the check failed on it ({result['trouble'][0]})")
    except (TypeError, LookupError, AttributeError):  # nothing came back, or what was kept of it is damaged
        graded.verdict, graded.lines = "please look", (SAID_NOT_EXAMINED,)
        graded.look.append("its examiner was ended")


def note_alike(answers: list[Graded], stubs: dict[str, str]) -> None:
    """Say of answers that several students handed in, after names and formatting are made the same."""
    groups: dict[tuple[str, str], list[Graded]] = defaultdict(list)
    for one in answers:
        mark = review.fingerprint(one.source) if one.source and one.source != stubs[one.exercise.number] else None
        if mark:
            groups[one.exercise.number, mark].append(one)
    count = Counter(one.exercise.number for one in answers if one.source)
    for (number, _), group in groups.items():
        if 1 < len(group) <= max(3, count[number] // 3):  # what half of the class writes is the way to write it
            for one in group:
                others = [other.student for other in group if other is not one]
                more = f" and {len(others) - 3} more" if len(others) > 3 else ""
                one.look.append(f"like {', '.join(others[:3])}{more}")

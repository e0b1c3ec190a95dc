"""What a teacher gets: the table, the pages, nbgrader's gradebook."""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bertedu.classroom.grading.gradebook import into_gradebook
from bertedu.classroom.grading.grading import Class
from bertedu.classroom.grading.pages import class_page, file_name, progress_page, student_page
from bertedu.classroom.grading.submissions import readable
from bertedu.errors import UserError, visible
from bertedu.files import read_text, write_text

COLUMNS = ("student", "exercise", "verdict", "points", "of", "said", "please look")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # with these begins what a spreadsheet runs
MOST_OF_A_CELL = 30_000  # characters; spreadsheets take 32,767, and put the rest into other cells
MOST_NAMES = 20  # of unused files that are printed for one reason


def write_results(made: Class, table: Path, gradebook: Path | None = None, collected: Path | None = None) -> list[str]:
    """Write everything; returns what to tell the teacher, line by line."""
    write_text(table, as_csv(made))
    pages = table.with_suffix(".pages")
    handed_in = sum(bool(one.notebooks) for one in made.submissions.values())
    look = sum(bool(one.look) for one in made.answers)
    lines = [
        f"Graded {len(made.answers)} answers of {handed_in} submissions: {table}",
        f"Feedback for each student, and the class: {pages / 'class.html'}",
    ]
    lines += written(pages / "class.html", "of the class", partial(class_page, made))
    for student in made.submissions:
        lines += written(pages / file_name(student, made), f"of {student}", partial(student_page, made, student))
    if look:
        lines.append(f"Please look at {look} answers: the last column of the table says why.")
    troubles = [f"{name}: {text}" for name, one in made.submissions.items() for text in one.troubles]
    lines += [f"Please note: {text}" for text in troubles]
    lines += not_used(made.unused)
    if made.missing:
        lines.append(f"This system could not give the answers' processes {', or '.join(made.missing)}.")
    if gradebook:
        lines.append(f"Wrote {into_gradebook(made, gradebook)} submissions into {gradebook}.")
    if collected:
        lines += written(pages / "progress.html", "of what is solved", partial(progress_page, ticks_in(collected)))
        lines.append(f"What the class has solved: {pages / 'progress.html'}")
    return lines


def written(path: Path, whose: str, make: Callable[[], str]) -> list[str]:
    """Write a page. One that cannot be made stops no other: what comes back says so."""
    try:
        text = make()
    except Exception as error:
        return [f"The page {whose} could not be made ({type(error).__name__}: {error})."]
    write_text(path, text)
    return []


def not_used(unused: dict[str, str]) -> Iterator[str]:
    """The files that were not used, by reason."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for path, reason in unused.items():
        reasons[reason].append(path)
    for reason, paths in reasons.items():
        more = f", and {len(paths) - MOST_NAMES} more, which class.html names" if len(paths) > MOST_NAMES else ""
        yield f"Not used ({reason}): {', '.join(sorted(paths)[:MOST_NAMES])}{more}"


def as_csv(made: Class) -> str:
    """The table, one line for each answer."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in made.answers:
        row = [one.student, one.exercise.number, one.verdict, f"{one.points:g}", f"{one.exercise.points:g}"]
        writer.writerow([*map(harmless, row), harmless(one.said), harmless("; ".join(one.look))])
    return text.getvalue()


def harmless(text: str) -> str:
    """A text that no spreadsheet runs as a formula, cuts in two, or cannot read."""
    plain = visible(f"'{text}" if text.lstrip(" \n\v\f\xa0\ufeff").startswith(FORMULA) else text)
    return plain if len(plain) <= MOST_OF_A_CELL else f"{plain[:MOST_OF_A_CELL]}…"


def names_in(path: Path) -> tuple[str, ...]:
    """The names in a file, one on each line."""
    names = tuple(line.strip() for line in read_text(path).splitlines() if line.strip())
    if not names:
        raise UserError(f"{path} is empty: write the name of a student on each line, as it is in the submissions.")
    return names


def ticks_in(folder: Path) -> dict[str, set[str]]:
    """The exercises that each learner has solved: STUDENT/progress.json, or STUDENT.json."""
    found = {}
    for path in sorted(Path(folder).rglob("*.json")):
        student = readable(path.parent.name if path.name == "progress.json" else path.stem)
        try:
            kept = json.loads(read_text(path))
        except (ValueError, RecursionError):  # UserError too
            continue
        if isinstance(kept, list):
            found[student] = {number for number in kept if isinstance(number, str)}
    if not found:
        raise UserError(f"{folder} has no progress.json: put each learner's into a folder with the learner's name.")
    return found

"""`bertedu grade`: the answers of a class, each in a process of its own, into a table and pages."""

from collections.abc import Iterator
from pathlib import Path

import click

from bertedu.cli.saying import PATH, Number, say

EXAMPLES = """
\b
Examples:
  bertedu grade submissions --assignment week-3 --csv week-3.csv
  bertedu grade export.zip --assignment week-3 --csv week-3.csv --almost 0.5
  bertedu grade week-3/nbgrader --assignment week-3 --csv week-3.csv --gradebook week-3/nbgrader/gradebook.db
\b
Submissions can be a folder for each student, files named STUDENT_NOTEBOOK.ipynb, nbgrader's submitted/, or a zip
file of either. Beside the table come:
  week-3.answers.jsonl    what has been graded: a run that was stopped goes on there
  week-3.pages/           class.html, and a page of feedback for each student
\b
In a container, without network and with nothing to write but the results:
  bertedu grade submissions --assignment week-3 --csv week-3.csv --container IMAGE
"""


@click.command(epilog=EXAMPLES)
@click.argument("submissions", type=PATH)
@click.option("--assignment", "assigned", type=PATH, required=True, help="The folder that `bertedu assignment` made.")
@click.option("--csv", "table", type=PATH, required=True, help="The table to write.")
@click.option("--almost", type=Number(0, 1), help="Share of the points for “almost”.  [the assignment's]")
@click.option("--students", type=PATH, help="A file with a name on each line: who should have handed in.")
@click.option("--gradebook", type=PATH, help="nbgrader's gradebook.db, which gets the points too.")
@click.option("--progress", "collected", type=PATH, help="A folder of progress.json files, for a page of the class.")
@click.option("--container", metavar="IMAGE", help="Print the docker command that does the same in a container.")
def grade(
    submissions: Path,
    assigned: Path,
    table: Path,
    almost: float | None,
    students: Path | None,
    gradebook: Path | None,
    collected: Path | None,
    container: str | None,
) -> None:
    """Grade the submissions of an assignment: a table, feedback for each student, and a page of the class."""
    if container:
        from bertedu.classroom.grading.container import command

        say(command(container, submissions, assigned, table, almost))
        return
    from bertedu.classroom.grading.grading import grade as graded_class
    from bertedu.classroom.grading.results import names_in, write_results

    made = graded_class(
        assigned,
        submissions,
        table.with_suffix(".answers.jsonl"),
        almost=almost,
        roster=names_in(students) if students else (),
        progress=bar,
    )
    for line in write_results(made, table, gradebook, collected):
        say(line)


def bar(keys: list[str]) -> Iterator[str]:
    """A progress bar over the answers that are graded now."""
    from tqdm import tqdm

    yield from tqdm(keys, desc="answers", unit="answer")

"""Points into nbgrader's gradebook, with its own library."""

from pathlib import Path

from bertedu.classroom.grading.grading import Class
from bertedu.errors import UserError, visible
from bertedu.extras import needs_extra


def into_gradebook(made: Class, path: Path) -> int:
    """Write the points and verdicts of all who handed in; the assignment must be in the gradebook. Returns how many."""
    with needs_extra("course,authors"):
        from nbgrader.api import Gradebook, MissingEntry

        from bertedu.classroom.assignment_nbgrader import in_its_way
    if not path.is_file():
        raise UserError(f"{path} does not exist: run `nbgrader generate_assignment` first, or give its gradebook.db.")
    count = 0
    with in_its_way(), Gradebook(f"sqlite:///{path.resolve()}") as book:
        name = made.assignment.name
        try:
            book.find_assignment(name)
        except MissingEntry as error:
            raise UserError(f"{path} has no assignment {name!r}: run `nbgrader generate_assignment` first.") from error
        for student, handed_in in made.submissions.items():
            if not handed_in.notebooks:
                continue
            book.update_or_create_student(student)
            book.update_or_create_submission(name, student)
            for one in made.of(student):
                notebook = one.exercise.notebook.removesuffix(".ipynb")
                try:
                    grade = book.find_grade(one.exercise.check_cell, notebook, name, student)
                except MissingEntry:
                    continue  # a notebook that is not in this assignment of the gradebook
                grade.auto_score = one.points
                grade.needs_manual_grade = one.verdict == "please look"
                comment = book.find_comment(one.exercise.answer_cell, notebook, name, student)
                comment.manual_comment = visible("\n".join((one.verdict, *one.lines)))
            count += 1
        book.db.commit()
    return count

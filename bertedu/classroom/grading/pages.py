"""Pages for students and for the class: each a single file, everything from students escaped.

One answer spoils no page: half characters and control characters, which no file or screen takes, are spelt out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from bertedu.classroom.assignment_file import AssignedExercise
from bertedu.classroom.grading.grading import Class, Graded
from bertedu.course.quiz_answers import KEPT, first_attempts
from bertedu.course.rooms import EXERCISE, in_full
from bertedu.errors import visible
from bertedu.templates import page

HERE = "classroom/grading"


def written(name: str, **values: Any) -> str:
    """A page as any file can hold it."""
    return visible(page(f"{HERE}/{name}.html.j2").render(**values).replace("\r\n", "\n")) + "\n"


def file_name(student: str, made: Class) -> str:
    """The file of a student's page: safe on every system, and different for each student: no name keeps a ~."""
    plain = re.sub(r"[^\w.-]+", "-", student).strip(".-")[:50] or "student"
    same = [
        name
        for name in made.submissions
        if (re.sub(r"[^\w.-]+", "-", name).strip(".-")[:50] or "student").lower() == plain.lower()
    ]
    number = f"~{same.index(student) + 1}" if len(same) > 1 else ""
    return f"students/{plain}{number}.html"


def student_page(made: Class, student: str) -> str:
    """What each answer of a student was told."""
    return written(
        "student",
        title=f"{made.assignment.name}: {student}",
        points=f"{made.points(student):g}",
        of=f"{made.assignment.points:g}",
        troubles=made.submissions[student].troubles,
        answers=made.of(student),
    )


def class_page(made: Class) -> str:
    """The points of all, files that were not used, which mistakes came how often, and who has not handed in."""
    return written(
        "class",
        title=f"{made.assignment.name}: the class",
        numbers=[one.number for one in made.assignment.exercises],
        points=[points_of(made, student) for student in made.submissions],
        absent=[student for student, one in made.submissions.items() if not one.notebooks],
        unused=sorted(made.unused.items()),
        exercises=[(one, *mistakes_of(one, made.answers)) for one in made.assignment.exercises],
        look=[(one.student, one.exercise.number, one.verdict, "; ".join(one.look)) for one in made.answers if one.look],
    )


def points_of(made: Class, student: str) -> list[str]:
    """A student's line in the table of points."""
    marks = {one.exercise.number: f"{one.points:g}" for one in made.of(student)}
    total = f"{made.points(student):g}" if made.submissions[student].notebooks else "–"
    return [student, *(marks[one.number] for one in made.assignment.exercises), total]


def mistakes_of(exercise: AssignedExercise, answers: list[Graded]) -> tuple[str, list[tuple[int, str]]]:
    """How an exercise went, and what was said of mistakes with how often, the most frequent first."""
    own = [one for one in answers if one.exercise == exercise]
    verdicts = Counter(one.verdict for one in own)
    told = Counter(sentence(one) for one in own if one.verdict in ("almost", "not yet"))
    rows = [(count, text) for text, count in sorted(told.items(), key=lambda item: (-item[1], item[0]))]
    return ", ".join(f"{verdict}: {count}" for verdict, count in verdicts.most_common()), rows


def sentence(one: Graded) -> str:
    """The line that explains a mistake: the last one that is not about hints."""
    lines = [line for line in one.lines if not line.startswith(("Next hint", "It happened in"))]
    return re.sub(r"-?\d+\.\d{3,}", "…", lines[-1])[:200] if lines else one.verdict


def progress_page(found: Mapping[str, set[str]]) -> str:
    """Which exercises each learner has solved, and their first attempts at the quizzes, from their progress.json."""
    numbers = sorted({tick for ticks in found.values() for tick in ticks if not KEPT.fullmatch(tick)}, key=order)
    rows = [[student, *("✓" if number in solved else "" for number in numbers)] for student, solved in found.items()]
    counts = [sum(number in solved for solved in found.values()) for number in numbers]
    attempts = {student: first_attempts(ticks) for student, ticks in found.items()}
    return written(
        "progress",
        title="What the class has solved",
        numbers=numbers,
        solved=[*rows, ["all", *counts]],
        quizzes=list(quizzes(attempts)),
    )


def quizzes(found: Mapping[str, Mapping[str, Mapping[int, bool]]]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """A table for each quiz: whose first attempt at which question was right, and at the bottom how many were."""
    for chapter in sorted({chapter for of in found.values() for chapter in of}):
        own = {student: of[chapter] for student, of in found.items() if chapter in of}
        questions = sorted({question for answers in own.values() for question in answers})
        marks = {student: {question: "✗✓"[right] for question, right in of.items()} for student, of in own.items()}
        rows = [[student, *(of.get(question, "") for question in questions)] for student, of in marks.items()]
        column = {question: [of[question] for of in own.values() if question in of] for question in questions}
        right = [f"{sum(column[question])} of {len(column[question])}" for question in questions]
        yield chapter, ["student", *(f"question {question}" for question in questions)], [*rows, ["right", *right]]


def order(number: str) -> tuple[str, int]:
    """("03", 10) for 3.10, and ("01b", 2) for 1b.2; what is no exercise comes first."""
    found = EXERCISE.fullmatch(number)
    return (in_full(found[1]), int(found[2])) if found else ("", 0)

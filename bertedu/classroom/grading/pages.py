"""Pages for students and for the class: each a single file, everything from students escaped."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape

from bertedu.classroom.grading.grading import Class, Graded
from bertedu.course.quiz_answers import KEPT, first_attempts

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 } th, td { border: 1px solid #999; padding: 0.2rem 0.6rem }
th { background: #eee; text-align: left } td.number { text-align: right }
section { border-left: 4px solid #666; padding-left: 1rem; margin: 1.5rem 0 }
section.yes { border-color: #007a5e } section.almost, section.not-yet { border-color: #b34700 }
pre { background: #f4f4f4; padding: 0.6rem; overflow-x: auto; white-space: pre-wrap } code { background: #f4f4f4 }
"""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><style>{style}</style></head>
<body><h1>{title}</h1>
{body}
</body></html>
"""


def page(title: str, body: str) -> str:
    """A whole page; it loads nothing and runs nothing."""
    return PAGE.format(title=escape(title), style=STYLE, body=body)


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
    answers = made.of(student)
    total = f"<p><strong>{made.points(student):g} of {made.assignment.points:g} points.</strong></p>"
    troubles = "".join(f"<p>{escape(text)}</p>" for text in made.submissions[student].troubles)
    return page(f"{made.assignment.name}: {student}", total + troubles + "\n".join(map(answer_section, answers)))


def answer_section(one: Graded) -> str:
    """The verdict on one answer, and the answer."""
    kind = one.verdict.replace(" ", "-")
    told = "\n".join(one.lines)
    said = "".join(f"<p>{in_code(line)}</p>" for line in told.split("\n") if line)
    code = f"<details><summary>The answer</summary><pre>{escape(one.source)}</pre></details>" if one.source else ""
    head = f"<h2>{one.exercise.number} · {escape(one.exercise.title)}</h2>"
    points = f"<p><strong>{escape(one.verdict)}</strong>, {one.points:g} of {one.exercise.points:g} points</p>"
    return f'<section class="{kind}">{head}{points}{said}{code}</section>'


def in_code(line: str) -> str:
    """A line with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(line))


def class_page(made: Class) -> str:
    """The points of all, which mistakes came how often, and who has not handed in."""
    numbers = [one.number for one in made.assignment.exercises]
    rows = []
    for student, handed_in in made.submissions.items():
        verdicts = {one.exercise.number: one for one in made.of(student)}
        marks = [f"{verdicts[number].points:g}" for number in numbers]
        total = f"{made.points(student):g}" if handed_in.notebooks else "–"
        rows.append([student, *marks, total])
    absent = [student for student, one in made.submissions.items() if not one.notebooks]
    parts = ["<h2>Points</h2>", table(["student", *numbers, "all"], rows)]
    if absent:
        parts.append(f"<h2>Not handed in</h2><p>{escape(', '.join(absent))}</p>")
    parts.append("<h2>Which mistakes, how often</h2>")
    for exercise in made.assignment.exercises:
        parts.append(mistakes_of(exercise.number, exercise.title, [a for a in made.answers if a.exercise == exercise]))
    look = [[one.student, one.exercise.number, one.verdict, "; ".join(one.look)] for one in made.answers if one.look]
    if look:
        parts += ["<h2>Please look</h2>", table(["student", "exercise", "verdict", "why"], look)]
    return page(f"{made.assignment.name}: the class", "\n".join(parts))


def mistakes_of(number: str, title: str, answers: list[Graded]) -> str:
    """How an exercise went, and the sentences that were said more than once, the most frequent first."""
    verdicts = Counter(one.verdict for one in answers)
    went = ", ".join(f"{verdict}: {count}" for verdict, count in verdicts.most_common())
    wrong = [one for one in answers if one.verdict in ("almost", "not yet")]
    told = Counter(sentence(one) for one in wrong)
    rows = [[str(count), text] for text, count in sorted(told.items(), key=lambda item: (-item[1], item[0]))]
    listed = table(["times", "what was said"], rows) if rows else ""
    return f"<h3>{number} · {escape(title)}</h3><p>{escape(went)}</p>{listed}"


def sentence(one: Graded) -> str:
    """The line that explains a mistake: the last one that is not about hints."""
    lines = [line for line in one.lines if not line.startswith(("Next hint", "It happened in"))]
    return re.sub(r"-?\d+\.\d{3,}", "…", lines[-1])[:200] if lines else one.verdict


def progress_page(found: Mapping[str, set[str]]) -> str:
    """Which exercises each learner has solved, and their first attempts at the quizzes, from their progress.json."""
    numbers = sorted({tick for ticks in found.values() for tick in ticks if not KEPT.fullmatch(tick)}, key=order)
    rows = [[student, *("✓" if number in solved else "" for number in numbers)] for student, solved in found.items()]
    counts = [str(sum(number in solved for solved in found.values())) for number in numbers]
    exercises = table(["student", *numbers], [*rows, ["all", *counts]])
    attempts = {student: first_attempts(ticks) for student, ticks in found.items()}
    return page("What the class has solved", exercises + quizzes(attempts))


def quizzes(found: Mapping[str, Mapping[str, Mapping[int, bool]]]) -> str:
    """A table for each quiz: whose first attempt at which question was right, and at the bottom how many were."""
    parts = []
    for chapter in sorted({chapter for of in found.values() for chapter in of}):
        own = {student: of[chapter] for student, of in found.items() if chapter in of}
        questions = sorted({question for answers in own.values() for question in answers})
        marks = {student: {question: "✗✓"[right] for question, right in of.items()} for student, of in own.items()}
        rows = [[student, *(of.get(question, "") for question in questions)] for student, of in marks.items()]
        column = {question: [of[question] for of in own.values() if question in of] for question in questions}
        right = [f"{sum(column[question])} of {len(column[question])}" for question in questions]
        head = ["student", *(f"question {question}" for question in questions)]
        parts.append(f"<h2>Quiz of chapter {chapter}, first attempts</h2>" + table(head, [*rows, ["right", *right]]))
    return "".join(parts)


def order(number: str) -> tuple[int, ...]:
    """(3, 10) for 3.10."""
    return tuple(int(part) if part.isdecimal() else 0 for part in number.split("."))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of texts."""
    top = "".join(f"<th>{escape(text)}</th>" for text in head)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>\n{body}</table>"

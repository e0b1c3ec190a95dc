"""Exercise 13.1: Half of the question."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "13.1",
    "Half of the question",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "Take one hypothesis. How often does each of the three labels occur with it?",
        "The hypothesis occurs three times, once with each label. The classifier sees the same input three times.",
    ),
)
def half_of_the_question(case: Case) -> None:
    """One third."""
    case.predicted(
        1 / 3,
        otherwise="Take one hypothesis. The classifier sees it three times and gives the same answer three times. "
        "How many of these answers can be right?",
        mistakes=[
            (0.5, "One half would be guessing between two labels. How many labels are there?"),
            (33, "The right idea, but in percent. Write it as a share between 0 and 1."),
            (100 / 3, "The right idea, but in percent. Write it as a share between 0 and 1."),
            (33.3, "The right idea, but in percent. Write it as a share between 0 and 1."),
            (0, "Whatever it answers for a hypothesis, that answer is right for one of the three rows."),
            (1, "It sees the same words with three different labels. It can't be right all three times."),
            (2 / 3, "It gives one answer for a hypothesis. That is right for one of its three rows, not for two."),
        ],
        tolerance=5e-3,
    )

"""Exercise 24.1: How often is it compiled?"""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "24.1",
    "How often is it compiled?",
    difficulty=1,
    minutes=4,
    kind="value",
    hints=(
        "A compiled program is kept. It fits every call with arrays of the same shapes and data types.",
        "Write shape and data type beside each of the six calls, and cross out those that stood there before.",
    ),
)
def compilations(case: Case) -> None:
    case.predicted(
        4,
        otherwise="Count the different pairs of shape and data type among the six calls.",
        mistakes=[
            (6, "6 is the number of calls. A program that fits is used again: other numbers do not matter."),
            (5, "The second and the fifth call have other numbers, and shapes that were there before."),
            (
                3,
                "One kind is missing. Does the smaller last batch fit a program for 8 sequences? And does int32 fit a "
                "program for float32?",
            ),
            (2, "The length is not all: the size of the batch and the data type are compiled in, too."),
            (1, "The program is made for one shape: a longer batch does not fit it."),
        ],
    )

"""Exercise 12.1: Which span wins?"""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "12.1",
    "Which span wins?",
    difficulty=1,
    minutes=5,
    kind="value",
    hints=(
        "Six spans of the context end where they start, or later. Write them down. Only these can be the answer.",
        "old 2.0 + 3.5, old Mr 2.0 + 1.0, old Mr Fox 2.0 + 2.0, Mr 3.0 + 1.0, Mr Fox 3.0 + 2.0, Fox 0.0 + 2.0.",
    ),
)
def winning_span(case: Case) -> None:
    """5.5."""
    case.predicted(
        5.5,
        otherwise="For each of the six valid spans of the context, add the start score of its first token and the end "
        "score of its last. Which sum is the largest?",
        mistakes=[
            (9, "9 is the score of Who, a word of the question. The answer must be in the context."),
            (
                6.5,
                "6.5 adds the best start of the context (Mr) and the best end (old). That span ends before it starts.",
            ),
            (7.5, "7.5 starts at Who, in the question, and ends at old. The whole answer must be in the context."),
            (8, "8 starts at Mr and ends at Who, in the question. The whole answer must be in the context."),
            (5, "5 is Mr Fox, the second best. Check the spans of a single word again."),
            (4, "4 is old Mr Fox, or Mr alone. One of the six scores higher."),
            (2, "2 is Fox alone, or [CLS], which stands for no answer. Another of the six spans scores higher."),
        ],
    )

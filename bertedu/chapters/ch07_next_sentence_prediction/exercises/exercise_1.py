"""Exercise 7.1: After tails."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "7.1",
    "After tails",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "Which of the three sentences are in the pair now?",
        "The second segment came from another document. What happens to the sentences that were not used?",
    ),
)
def tails(case: Case) -> None:
    """1: what was not used is put back."""
    case.predicted(
        1,
        otherwise="Which sentences of this document are in the pair? The next chunk begins with the first other one.",
        mistakes=[
            (3, "That is right after heads. After tails, sentences 1 and 2 are in no pair yet. Are they thrown away?"),
            (0, "Sentence 0 is the first segment of this pair, so it is used up. What is left?"),
            (2, "Then sentence 1 would be lost: the chunk is split after sentence 0, and 1 is in no pair yet."),
        ],
    )
    case.close_with("Only sentence 0 is in the pair. Sentences 1 and 2 are put back, so that nothing is lost.")

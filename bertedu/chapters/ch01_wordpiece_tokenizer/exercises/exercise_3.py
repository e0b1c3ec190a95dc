"""Exercise 1.3: The first merge by WordPiece score."""

from typing import Any

from bertedu.chapters.ch01_wordpiece_tokenizer.exercises.shared import SCORES
from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "1.3",
    "The first merge by WordPiece score",
    difficulty=2,
    minutes=8,
    kind="value",
    hints=(
        "A fraction is large if its denominator is small. Which pieces are the rarest in the ten words?",
        "One of the ten words occurs only once, and it has two letters that no other word has.",
    ),
)
def first_merge_by_score(case: Case) -> None:
    case.predicted(["ax", 1.0], otherwise=about_the_merge(case.answer), tolerance=0.005)


def about_the_merge(guess: Any) -> str:
    """What is said of a prediction: first about the piece, then about its score."""
    if not isinstance(guess, list | tuple) or len(guess) != 2 or not isinstance(guess[0], str):
        return 'The answer is a list of the new piece and its score, as in ["lo", 0.056].'
    unknown = (
        "A first merge joins two single characters that are neighbors in one of the ten words. Look for two that occur "
        "nearly nowhere else."
    )
    inside = "##" + guess[0]
    if guess[0] not in SCORES and inside in SCORES:
        return f"This pair stands inside a word, so its new piece is written {inside}. {SCORES[inside]}"
    return SCORES.get(guess[0], unknown)

"""Exercise 1.1: No way back."""

from typing import Any

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

FITTING = [["unh", "##app", "##y"], ["[UNK]"], ["[UNK]"]]


@exercise(
    "1.1",
    "No way back",
    difficulty=1,
    minutes=5,
    kind="value",
    hints=(
        "Which pieces of the vocabulary does unhappy begin with? Take the longest of them.",
        "After unh the rest is appy. For happy: does the vocabulary have a piece without ## that it begins with?",
    ),
)
def no_way_back(case: Case) -> None:
    case.predicted(FITTING, otherwise=about_the_first_wrong_word(case.answer))


def about_the_first_wrong_word(guess: Any) -> str:
    """What is said of a prediction: about the first word that is wrong."""
    if (
        not isinstance(guess, list | tuple)
        or len(guess) != 3
        or not all(isinstance(part, list | tuple) for part in guess)
    ):
        return 'The answer is a list of three lists, one for each word, as in [["un", "##y"], ["[UNK]"], ["un"]].'
    first, second, third = ([str(piece) for piece in part] for part in guess)
    if first != FITTING[0]:
        if first == ["un", "##happy"]:
            return (
                "un ##happy would be a good split, but the greedy rule does not compare splits: "
                "it takes the longest first piece."
            )
        if first == ["un", "happy"]:
            return (
                "The greedy rule takes the longest first piece, and unh is longer than un. "
                "Besides, a piece that continues a word is written with ##."
            )
        if first == ["unh", "app", "y"]:
            return "You cut unhappy at the right positions, but a piece that continues a word is written with ##."
        return "Look at unhappy again: what is the longest piece that it begins with, and what is left after it?"
    if second != FITTING[1]:
        if "[UNK]" in second:
            return "For unhappier you keep pieces beside [UNK]. If any part fails, the whole word becomes one [UNK]."
        return "Look at unhappier again: after unh ##app the rest is ier. Which piece begins it?"
    if third == ["##happy"]:
        return "##happy can only continue a word, and in happy nothing comes before it."
    return "Look at happy again: is there a piece without ## that it begins with?"

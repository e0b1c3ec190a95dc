"""Exercise 11.1: Nine words of ten."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "11.1",
    "Nine words of ten",
    difficulty=1,
    minutes=5,
    kind="value",
    hints=(
        "Write the entities of both tag sequences as (type, first word, word after the last). How many are in both "
        "lists?",
        "One of the two found entities is right: precision ½. One of the two gold entities was found: recall ½.",
    ),
)
def nine_of_ten(case: Case) -> None:
    """One of two entities is right, in the gold tags and in the model's: 0.5."""
    case.predicted(
        0.5,
        otherwise="Count whole entities. How many are gold, how many did the model find, and how many are both?",
        mistakes=[
            (0.9, "0.9 is the accuracy over words. Which whole entities are right?"),
            (
                0.75,
                "There are no half points. Rose Whitaker is missed, and the found entity Rose is wrong.",
            ),
            (1, "Rose Whitaker was not found: the model says that the name is Rose alone."),
            (6 / 7, "That is F1 over the words of names. An entity counts as a whole, or not at all."),
            (2 / 3, "Precision counts too: the model found the entity Rose, and that is not a gold entity."),
            (0, "Lake Garda was found, with the right type and the right boundaries."),
            (50, "Write it as a share between 0 and 1."),
            (0.25, "That is precision times recall. F1 is 2 P R / (P + R)."),
            (1 / 3, "That is the number of right entities divided by all different ones. F1 is 2 P R / (P + R)."),
        ],
    )

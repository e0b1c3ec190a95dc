"""Exercise 15.1: By rank, with a pencil."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

STEAM = ["Ġ", "st", "ea", "m"]


@exercise(
    "15.1",
    "By rank, with a pencil",
    difficulty=1,
    minutes=4,
    kind="value",
    hints=(
        "Which neighbors in Ġ s t e a m have a merge? Merge the pair whose merge was learned first, then look again.",
        "Three pairs have a merge: e a was learned first, s t third and Ġ s fifth. What is left for Ġ s after s t?",
    ),
)
def by_rank(case: Case) -> None:
    """The third merge takes the s before the fifth one can."""
    guess = case.answer
    pieces = list(guess) if isinstance(guess, list | tuple) and all(isinstance(p, str) for p in guess) else []
    whole = "".join(pieces)
    if whole and whole != "Ġsteam":
        spelled = whole.replace(" ", "Ġ").replace("##", "")
        if spelled == "Ġsteam":
            case.fail("Here a space is written Ġ, and nothing is written with ##: Ġ is a piece, or a part of one.")
        if spelled in ("Gsteam", "gsteam"):
            case.fail("Your first character is a G. The one for the space is Ġ, with a dot: copy it from the exercise.")
        if "Ġ" + spelled == "Ġsteam":
            case.fail("The Ġ is missing: the space before a word belongs to it, and it is a piece, or a part of one.")
        case.fail(f"Your pieces spell {whole!r} and not 'Ġsteam': each character belongs to exactly one piece.")
    case.predicted(
        STEAM,
        otherwise="Look only at neighbors that have one of the six merges. Merge the pair that was learned first, "
        "then look at the new neighbors.",
        mistakes=[
            (
                ["Ġs", "t", "ea", "m"],
                "That is the longest match, as in WordPiece. The merge s t was learned before Ġ s, so it comes first.",
            ),
            (["Ġ", "s", "t", "ea", "m"], "You stopped after the first merge. s t are neighbors and have one too."),
            (["Ġ", "st", "e", "a", "m"], "e a has a merge as well. It was learned before all others."),
            (["Ġst", "ea", "m"], "Ġ and st were never merged: only the six pairs of the list may be joined."),
            (["Ġ", "stea", "m"], "st and ea were never merged: only the six pairs of the list may be joined."),
            (["Ġ", "st", "eam"], "ea and m were never merged: only the six pairs of the list may be joined."),
            (["Ġsteam"], "The whole word is not in the vocabulary: no merge of the list makes it."),
            (list("Ġsteam"), "Those are the characters to start with. Which neighbors have a merge?"),
        ],
    )
    case.close_with("s t was learned before Ġ s, so the s is taken when the turn of Ġ s comes: the order decides.")

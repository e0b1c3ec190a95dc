"""Exercise 12.3: From characters to tokens."""

from bertedu.chapters.ch12_question_answering.exercises.shared import whole_number
from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "12.3",
    "From characters to tokens",
    difficulty=2,
    minutes=10,
    hints=(
        "Go through the offsets with enumerate. Which tokens share at least one character with the answer?",
        "A token (s, e) shares a character with the answer if s < end and e > start. Return the first and the last "
        "of these tokens.",
    ),
)
def token_span(case: Case) -> None:
    """One token, several, both ends of a text, answers that cut a token, and answers with spaces at their ends."""
    case.causes |= {
        "is not in list": "You look for a token that begins or ends exactly there, and there is none. Compare with < "
        "and >: which tokens share a character with the answer?",
        "list index out of range": "Your list of tokens is empty here. Which tokens share a character with the answer?",
    }
    for tried, start, end, advice in LABELS:
        got = case.call(OFFSETS, start, end, tried=tried)
        if isinstance(got, tuple | list) and len(got) == 1:
            case.fail("But it returned 1 thing, and 2 are asked for: `return first, last`.")
        first, last = case.parts(got, "first", "last")
        for name, position in (("the first token", first), ("the last token", last)):
            whole_number(case, name, position)
        shared = [number for number, (s, e) in enumerate(OFFSETS) if s < end and e > start]
        case.equal(
            "the label",
            (int(first), int(last)),
            (shared[0], shared[-1]),
            advice,
            mistakes=[
                (
                    (shared[0], shared[-1] + 1),
                    "Your last token is one too far: the label is the last token that shares a character with the "
                    "answer, not the one after it.",
                ),
                (
                    (shared[0] + 1, shared[-1] + 1),
                    "Both positions are one too high. Count in `offsets`, from 0: [CLS] is not in this list.",
                ),
                (
                    (shared[0], len(shared)),
                    "Your second number is how many tokens the answer has. Return the position of the last one.",
                ),
                ((shared[0], shared[0]), "You returned the first token twice. Where does the answer end?"),
                ((start, end), "These are positions of characters. The model needs positions of tokens."),
            ],
        )


OFFSETS = [(0, 4), (5, 9), (10, 14), (14, 15), (16, 17), (18, 23), (23, 24)]


LABELS = (
    ("an answer of one word", 5, 9, "Which token contains the characters 5 to 8?"),
    ("a word that is followed by a full stop", 10, 14, "The full stop shares no character with the answer."),
    ("an answer of three tokens", 5, 15, "An answer may have several tokens. Return the first and the last of them."),
    ("the first word of the text", 0, 4, "The first token is number 0."),
    ("the last word of the text", 18, 24, "The last token ends where the text ends."),
    (
        "an answer that is only a part of a token",
        19,
        22,
        "No token begins at character 19, but one contains it. Which tokens share a character with the answer?",
    ),
    (
        "an answer that begins in one token and ends in another",
        7,
        12,
        "A token belongs to the answer if they share at least one character, even if the answer contains only a part "
        "of the token.",
    ),
    (
        "an answer that begins with a space",
        4,
        9,
        "Character 4 is a space, and no token contains it. The first token that shares a character comes after it.",
    ),
    (
        "an answer that ends with a space",
        5,
        10,
        "Character 9 is a space, and no token contains it. The last token that shares a character comes before it.",
    ),
)

"""Exercise 14.3: The pieces of a word."""

from bertedu.before.fasttext import pieces
from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "14.3",
    "The pieces of a word",
    difficulty=2,
    minutes=8,
    without=("pieces",),
    hints=(
        "Mark the word first: <cow> has five characters. Then two loops: over lengths, and over where a piece begins.",
        "A run of n characters can begin at len(marked) - n + 1 positions. range ends before its second number.",
    ),
)
def pieces_of_a_word(case: Case) -> None:
    for word in ("cow", "horses", "a", "banana", "xylophones"):
        got = case.call(word, tried=repr(word))
        case.is_a("the result", got, list | tuple | set | frozenset, "a list of strings")
        got = sorted(map(str, got))
        marked, wanted = f"<{word}>", sorted(pieces(word))

        def runs(text: str, shortest: int, longest: int) -> list[str]:
            lengths = range(shortest, min(longest, len(text)) + 1)
            return sorted(text[i : i + n] for n in lengths for i in range(len(text) - n + 1))

        mistakes = [
            (
                sorted([*wanted, word]),
                "The word itself is no run of the marked word. fastText has a vector for it besides its pieces.",
            ),
            (runs(word, 3, 6), "The marks < and > are missing: they tell a prefix from the middle of a word."),
            (runs(marked, 3, 5), "Pieces of 6 characters are missing: range ends before its second number."),
            (runs(marked, 2, 6), "Pieces of 2 characters are too short. The shortest have 3."),
            (runs(marked, 3, len(marked)), "Pieces of more than 6 characters are too long."),
            (runs(marked, 3, 3), "These are the pieces of 3 characters. Those of 4, 5 and 6 belong to them."),
            (
                sorted({piece for piece in wanted if len(set(wanted)) < len(wanted)}),
                "A piece that occurs twice in the word stands twice in the list.",
            ),
            (
                sorted(t[:n] for t in (marked[i:] for i in range(len(marked))) for n in range(3, 7) if t),
                "Near the end of the word there are shorter runs among yours: a slice past the end gives what is left.",
            ),
            (
                [p for p in wanted if not p.endswith(">")],
                "The pieces at the end of the word are missing: how far may a piece begin?",
            ),
        ]
        case.equal(
            f"the list of {word!r}", got, wanted, "Write down all runs of <cow>: there are 6.", mistakes=mistakes
        )
    case.close_with("horse and horses have 10 pieces in common: that is how an unseen plural gets a vector.")

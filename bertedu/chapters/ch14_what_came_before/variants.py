"""Variants of chapter 14: pieces with other marks and lengths, and a mask for a prefix and a window."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import Exercise
from bertedu.course.variant import COPIED, Draws, Variant

MARKS = (("^", "$"), ("[", "]"), ("#", "#"), ("{", "}"))
LENGTHS = ((2, 4), (2, 5), (4, 6), (4, 7))


def runs(text: str, shortest: int, longest: int) -> list[str]:
    """All runs of so many characters, sorted."""
    lengths = range(shortest, min(longest, len(text)) + 1)
    return sorted(text[i : i + n] for n in lengths for i in range(len(text) - n + 1))


def marked_pieces(draws: Draws) -> Variant:
    """The pieces of a word with other marks and lengths; the marked word itself is no piece."""
    (first, last), (shortest, longest) = draws.pick(MARKS), draws.pick(LENGTHS)

    def right(word: str) -> list[str]:
        marked = f"{first}{word}{last}"
        return [piece for piece in runs(marked, shortest, longest) if piece != marked]

    def examine(case: Case) -> None:
        for word in ("cow", "horses", "ox", "banana", "xylophones"):
            got = case.call(word, tried=repr(word))
            case.is_a("the result", got, list | tuple | set | frozenset, "a list of strings")
            got, marked = sorted(map(str, got)), f"{first}{word}{last}"
            if got == runs(f"<{word}>", 3, 6):
                case.fail(COPIED.format(number="14.3"), "The marks and the lengths are others here.")
            mistakes = [
                (runs(marked, shortest, longest), "The marked word itself is no piece here."),
                (
                    [p for p in runs(marked, shortest, longest - 1) if p != marked],
                    f"The longest pieces are missing: those of {longest} characters.",
                ),
                (runs(word, shortest, longest), "The marks are missing."),
                ([p for p in runs(marked, 3, 6) if p != marked], "These are the lengths of the chapter."),
                (
                    [p for p in runs(f"<{word}>", shortest, longest) if p != f"<{word}>"],
                    "These are the marks of the chapter.",
                ),
                (sorted(set(right(word))), "A piece that occurs twice stands twice in the list."),
            ]
            case.equal(f"the pieces of {word!r}", got, right(word), "Write down the runs of a short word.",
                       mistakes=mistakes)  # fmt: skip

    text = (
        f"Write `pieces_of(word)`: mark the word with `{first}` before it and `{last}` after it, and return a list of "
        f"all runs of **{shortest}** to **{longest}** characters of the marked word, in any order, repeated ones as "
        "often as they occur. The whole marked word is not among them, whatever its length."
    )
    hints = (
        "Two loops: over the lengths, and over where a piece begins.",
        f"range({shortest}, {longest + 1}) for the lengths; a run of n characters begins at most at len(marked) - n.",
    )
    exercise = Exercise("14.11", "Pieces with other marks", 2, 10, hints, examine)
    return Variant(exercise, text, "def pieces_of(word):")


def hidden_keys(length: int, prefix: int, window: int) -> Tensor:
    """[T, T], True where the query (row) must not attend to the key (column)."""
    query, key = torch.arange(length)[:, None], torch.arange(length)
    inside = (key <= query) & (key > query - window)
    return ~((key < prefix) | inside)


def prefix_mask(draws: Draws) -> Variant:
    """A mask for a prefix that all see, and a causal window after it."""
    window, visible = draws.pick((2, 3, 4)), draws.pick((True, False))

    def examine(case: Case) -> None:
        for length, prefix in ((9, 2), (6, 0), (5, 5), (1, 1), (8, 3)):
            got = case.call(length, prefix, tried=f"{length} tokens with a prefix of {prefix}")
            case.same_shape("the mask", got, [length, length], "[T, T]: queries, then keys.")
            case.dtype("the mask", got, torch.bool, "True and False: it is not added to anything here.")
            hidden = got != visible
            right = hidden_keys(length, prefix, window)
            query, key = torch.arange(length)[:, None], torch.arange(length)
            causal = key > query
            mistakes = {
                "True and False are swapped.": ~right,
                "Queries are rows, and keys are columns: this is transposed.": right.T,
                "The window is missing: after the prefix a token sees only the nearest ones.": (
                    causal & (key >= prefix)
                ),
                "The window has one token too many: it counts the token itself.": hidden_keys(
                    length, prefix, window + 1
                ),
                "The window has one token too few: it counts the token itself.": hidden_keys(
                    length, prefix, window - 1
                ),
                "The tokens of the prefix see all of the prefix, on their right as well.": causal | right,
                "This is the causal mask of the chapter, without prefix and window.": causal,
                "Every token sees the whole prefix, however far away it is.": hidden_keys(length, 0, window)
                & ~((query < prefix) & (key < prefix)),
            }
            if not is_close(hidden.float(), right.float()):
                said = [words for words, wrong in mistakes.items() if is_close(hidden.float(), wrong.float())]
                case.fail(
                    "But some keys are hidden that should be seen, or the other way round.",
                    said[0] if said else "Draw the mask for 9 tokens and a prefix of 2, row by row.",
                )

    text = (
        "A language model reads a prefix (a question) in both directions, and then writes from left to right. Write "
        "`may_attend(length, prefix)`. It returns a mask `[T, T]` of True and False, queries by keys. Every token "
        "attends to all of the first `prefix` tokens. Besides, each token attends to itself and to the tokens on its "
        f"left inside a window of **{window}** tokens, itself included. The mask is **{visible}** where the query may "
        f"attend to the key, and {not visible} elsewhere."
    )
    hints = (
        "Two conditions joined by or: the key is in the prefix; the key is in the window.",
        f"The window: key <= query and key > query - {window}.",
    )
    exercise = Exercise("14.12", "A prefix and a window", 3, 12, hints, examine)
    return Variant(exercise, text, "def may_attend(length, prefix):")


MAKERS = {"14.11": marked_pieces, "14.12": prefix_mask}

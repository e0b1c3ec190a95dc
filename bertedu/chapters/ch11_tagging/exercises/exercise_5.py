"""Exercise 11.5: Read the right pieces."""

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "11.5",
    "Read the right pieces",
    difficulty=3,
    minutes=12,
    hints=(
        "first_pieces has a 1 where a word begins. Which entries of piece_tags belong to these positions?",
        "[tag for tag, first in zip(piece_tags, first_pieces) if first], and an O for each word without a piece.",
    ),
)
def word_tags(case: Case) -> None:
    """Split words, no split word, and a sentence that was cut off."""
    case.causes = {
        "out of range": "There may be more words than first pieces: a long sentence is cut off. Those words get O."
    }
    cases = [
        (list("cabcdefg"), [0, 1, 1, 0, 0, 1, 1, 0], 4, "4 words of 1, 3, 1 and 1 pieces"),
        (list("xpqy"), [0, 1, 1, 0], 2, "2 words of one piece"),
        (list("xrstuy"), [0, 1, 0, 1, 0, 0], 2, "2 words of 2 pieces each"),
        (["c", "B-place", "I-place", "s"], [0, 1, 1, 0], 4, "4 words of which only 2 fit in"),
    ]
    for tags, first, words, tried in cases:
        got = case.call(tags, first, words, tried=tried)
        got = got.tolist() if hasattr(got, "tolist") else got
        case.is_a("the result", got, list | tuple, "a list of tags")
        right = [tag for tag, one in zip(tags, first, strict=True) if one]
        if list(got) == right and len(right) < words:
            case.almost(
                f"There are {words} words, and you return {len(right)} tags. The other words were cut off before the "
                "model saw them. They need a tag too, or the lists don't fit together in the score. Give them O."
            )
        filled = right
        right = filled + ["O"] * (words - len(filled))
        last = [tag for tag, ends_word in zip(tags, [*first[1:], 1], strict=True) if ends_word][1:]
        ends = [i for i in range(1, len(tags) - 1) if first[i + 1] or i == len(tags) - 2]
        mistakes = [
            (
                tags[1 : 1 + words],
                "That is the colleague's version: one piece for each word, as if no word were split.",
            ),
            (tags[:words], "The first tag is that of [CLS], which is not a word. And a word may have several pieces."),
            (tags[1:-1], "That is a tag for every piece. Each word gets the tag of its first piece."),
            (
                [tags[i] for i in ends],
                "These are the tags of the last pieces. The model was trained with labels at the first pieces.",
            ),
            ([tag for tag, one in zip(tags, first, strict=True) if not one], "These are the tags of all other pieces."),
            (
                [tag if one else "O" for tag, one in zip(tags, first, strict=True)],
                "That is a tag for every token. Leave out those that are not the first piece of a word.",
            ),
            ([*filled, *[None] * (words - len(filled))], "Words without a piece need a tag too. Give them O."),
            (
                [tag for tag, one in zip(tags[1:], first, strict=False) if one] + ["O"] * (words - len(filled)),
                "Your two lists are shifted by one: first_pieces has an entry for [CLS] too, as piece_tags has.",
            ),
            (
                [tag for tag, one in zip(tags, first[1:], strict=False) if one] + ["O"] * (words - len(filled)),
                "Your two lists are shifted by one: first_pieces has an entry for [CLS] too, as piece_tags has.",
            ),
            (last, "These are the tags of the last pieces. The model was trained with labels at the first pieces."),
        ]
        known = [(wrong, said) for wrong, said in mistakes if wrong != right]
        case.equal("the list", list(got), right, "One tag for each word: that of its first piece.", mistakes=known)

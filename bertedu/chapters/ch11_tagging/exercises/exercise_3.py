"""Exercise 11.3: A label for every piece."""

from collections.abc import Sequence

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

IGNORED = -100


NUMBERS_ONLY = "None can't be a label in a tensor. The number that the loss ignores is -100."


def aligned(pieces: Sequence[Sequence[int]], labels: Sequence[int], rest: str = "ignored") -> list[int]:
    """Labels of [CLS], all pieces and [SEP], and ways in which they go wrong."""
    inside: list[int] = []
    for ids, label in zip(pieces, labels, strict=True):
        others = [IGNORED] * (len(ids) - 1)
        if rest == "last":
            inside += [*others, label]
        elif rest == "all":
            inside += [label] * len(ids)
        elif rest == "zero":
            inside += [label] + [0] * len(others)
        elif rest == "more":
            inside += [label, *others, IGNORED]
        else:
            inside += [label, *others]
    if rest == "early":
        inside = list(labels) + [IGNORED] * (sum(map(len, pieces)) - len(labels))
    edge = 0 if rest == "edges" else IGNORED
    return [edge, *inside, edge]


@exercise(
    "11.3",
    "A label for every piece",
    difficulty=2,
    minutes=10,
    hints=(
        "A word of three pieces needs three labels. Which of them should count in the loss?",
        "Begin with [-100] for [CLS]. For each word add its label, and -100 for each of its other pieces. End with "
        "-100 for [SEP].",
    ),
)
def piece_labels(case: Case) -> None:
    """Words of one, two and three pieces; no word split; all split."""
    case.causes = {
        "can only concatenate list": "A list can be added to a list only: `found += [label]`.",
        "'int' object is not iterable": "To add one number to a list, use `append`, or `+= [label]`.",
    }
    cases = [
        ([[17], [52, 9, 8], [4, 30], [5]], [0, 1, 2, 0], "4 words of 1, 3, 2 and 1 pieces"),
        ([[7], [8]], [3, 0], "2 words of one piece"),
        ([[6, 6, 6]], [1], "one word of 3 pieces"),
    ]
    for pieces, labels, tried in cases:
        got = case.call(pieces, labels, tried=tried)
        got = got.tolist() if hasattr(got, "tolist") else got
        case.is_a("the result", got, list | tuple, "a list of numbers")
        if any(isinstance(entry, list | tuple) for entry in got):
            case.fail("But the list contains lists.", "Make one flat list: `+=` or `extend` instead of `append`.")
        total = sum(map(len, pieces)) + 2
        right = aligned(pieces, labels)
        if list(got) == right[1:-1]:
            case.almost("All pieces are right. But [CLS] and [SEP] are tokens too, and they need the label -100.")
        for name, without in (("[CLS]", right[1:]), ("[SEP]", right[:-1])):
            if list(got) == without:
                case.almost(f"All pieces are right. But {name} is a token too, and it needs the label -100.")
        if len(got) in (len(labels), len(labels) + 2) and total != len(labels) + 2:
            case.fail(
                f"But there are {len(got)} labels, and the model sees {total} tokens: {total - 2} pieces, [CLS] and "
                "[SEP].",
                "Give each piece a label, not only each word.",
            )
        mistakes = [
            (
                aligned(pieces, labels, "all"),
                "Every piece has the word's label. Here only the first piece should count in the loss.",
            ),
            (aligned(pieces, labels, "last"), "The label is at the last piece of each word. Put it at the first."),
            (
                aligned(pieces, labels, "early"),
                "The labels follow each other as if no word were split, so after the first split word each of them "
                "is too early.",
            ),
            (
                aligned(pieces, labels, "zero"),
                "0 is the number of a tag (here O), so the model would learn it. The loss ignores -100.",
            ),
            ([-1 if label == IGNORED else label for label in right], "cross_entropy ignores -100, not -1."),
            ([0 if label == IGNORED else label for label in right], "0 is a tag's number: the loss ignores -100."),
            ([None if label == IGNORED else label for label in right], NUMBERS_ONLY),
            ([IGNORED, *[None if label == IGNORED else label for label in right[1:-1]], IGNORED], NUMBERS_ONLY),
            (aligned(pieces, labels, "more"), "One -100 too many: a word of n pieces has n - 1 other pieces."),
            (
                aligned(pieces, labels, "edges"),
                "[CLS] and [SEP] are not words. With 0 the model would learn the tag O there.",
            ),
        ]
        known = [(wrong, said) for wrong, said in mistakes if wrong != right]
        case.equal(
            "the list", list(got), right, "For each word: its label, then -100 for its other pieces.", mistakes=known
        )

"""Exercise 1.4: A pair that fits."""

from bertedu.course.case import Case
from bertedu.course.comparing import said
from bertedu.course.exercise import exercise


@exercise(
    "1.4",
    "A pair that fits",
    difficulty=3,
    minutes=15,
    hints=(
        "Truncate first, while you still have two lists. How many ids may both have together, beside 3 special tokens?",
        "While they are too long, pop from the longer list (from either if equal). Then build the three lists and pad. "
        "If second is None, keep first[: max_length - 2].",
    ),
)
def a_pair_that_fits(case: Case) -> None:
    ids, types, mask = _three_lists(case, [11, 12], [21, 22, 23], 8, "2 and 3 ids, which just fit in 8 positions")
    case.equal(
        "input_ids",
        ids,
        [2, 11, 12, 3, 21, 22, 23, 3],
        "The order is [CLS] first [SEP] second [SEP].",
        mistakes=[
            ([2, 11, 12, 3, 21, 22, 23], "The second text needs a [SEP] at its end too."),
            ([2, 11, 12, 3, 2, 21, 22, 23, 3], "A sequence has only one [CLS], at its beginning."),
            (
                [2, 11, 12, 3, 21, 22, 3, 0],
                "Both texts fit, so no id may be removed. Truncate only a pair that is too long.",
            ),
        ],
    )
    case.equal(
        "token_type_ids",
        types,
        [0, 0, 0, 0, 1, 1, 1, 1],
        "0 for the first text with its [CLS] and [SEP], 1 for the second text with its [SEP].",
        mistakes=[
            ([0, 0, 0, 1, 1, 1, 1, 1], "The first [SEP] closes the first text, so its type is 0."),
            ([0, 0, 0, 0, 1, 1, 1, 0], "The last [SEP] closes the second text, so its type is 1."),
            ([1, 1, 1, 1, 2, 2, 2, 2], "The types are 0 and 1: BERT has only two token type embeddings."),
        ],
    )
    case.equal("attention_mask", mask, [1] * 8, "Special tokens are real tokens too: only padding gets 0.")
    ids, types, mask = _three_lists(case, [11], [21], 8, "1 and 1 ids, which leave room in 8 positions")
    case.equal("input_ids", ids, [2, 11, 3, 21, 3, 0, 0, 0], "Pad with [PAD] at the end, up to max_length.")
    padding = "1 for tokens and 0 for padding. This mask is what hides the padding from BERT."
    case.equal("attention_mask", mask, [1] * 5 + [0] * 3, padding)
    case.equal("token_type_ids", types, [0, 0, 0, 1, 1, 0, 0, 0], "Padding has the type 0.")
    for one, two, length in ((2, 9, 9), (9, 2, 9), (5, 5, 8), (5, 5, 9), (7, 5, 10), (0, 4, 5), (3, 3, 3)):
        _check_truncated(case, one, two, length)
    _check_one_text(case)


def _check_one_text(case: Case) -> None:
    """No second text: shorter than the room, and longer."""
    case.causes["'NoneType'"] = "`second` is None where there is one text only. Ask for it first: if second is None."
    for count, kept, tried in ((2, 2, "2 ids and None, which leave room in 6 positions"), (9, 4, "9 ids and None")):
        first = list(range(11, 11 + count))
        ids, types, mask = _three_lists(case, first, None, 6, tried)
        expected = [2, *first[:kept], 3] + [0] * (4 - kept)
        mistakes = [
            ([2, *first[:kept], 3, 3, 0], "One text has one [SEP]. The second one closes a second text."),
            ([2, *first[:3], 3, 3], "One text has one [SEP]. The second one closes a second text."),
            ([2, *first[:3], 3, 0], "One text has two special tokens, so there is room for one id more."),
            ([2, *first[:kept], 3], "Pad with [PAD] at the end, up to max_length."),
        ]
        case.equal("input_ids", ids, expected, "One text is [CLS] first [SEP].", mistakes=mistakes)
        case.equal("token_type_ids", types, [0] * 6, "A single text has the type 0, from [CLS] to [SEP].")
        case.equal("attention_mask", mask, [1] * (kept + 2) + [0] * (4 - kept), "1 for tokens and 0 for padding.")


def _three_lists(case: Case, first: list[int], second: list[int] | None, max_length: int, tried: str) -> list[list]:
    result = case.call(first, second, max_length, tried=tried)
    parts = case.parts(result, "input_ids", "token_type_ids", "attention_mask")
    for name, part in zip(("input_ids", "token_type_ids", "attention_mask"), parts, strict=True):
        case.expect(hasattr(part, "__len__"), f"But {name} should be a list of numbers, and it is {said(part)}.")
    return [list(part) for part in parts]


def _check_truncated(case: Case, one: int, two: int, length: int) -> None:
    first, second = list(range(11, 11 + one)), list(range(31, 31 + two))
    ids, types, mask = _three_lists(case, first, second, length, f"{one} and {two} ids for {length} positions")
    right = longest_first(one, two, length - 3)
    if len(ids) != length:
        too_much = [kept for room in range(length - 2, length + 1) for kept in longest_first(one, two, room)]
        uncut = [[2, *first[:k], 3, *second[:p], 3] for k, p in too_much]
        forgot = "[CLS] and two [SEP] take three positions. Did you subtract all three before you truncated?"
        other = "Which of the two texts may lose an id? The one that is longer at that moment, whichever it is."
        case.fail(
            f"But input_ids has {len(ids)} numbers, and it should have exactly {length}.",
            forgot if ids in uncut else other,
        )
    sequences = {(k, p): [2, *first[:k], 3, *second[:p], 3] for k, p in right}
    found = next((kept for kept, sequence in sequences.items() if sequence == ids), None)
    if found is None:
        _explain_truncation(case, ids, first, second, length, right[0])
    kept, pair_kept = found or right[0]
    types_of_kept = [0] * (kept + 2) + [1] * (pair_kept + 1)
    case.equal("token_type_ids", types, types_of_kept, "Make the types after you truncated.")
    case.equal("attention_mask", mask, [1] * length, "A sequence that is full has no padding.")


def _explain_truncation(case: Case, ids: list, first: list, second: list, length: int, right: tuple[int, int]) -> None:
    kept, pair_kept = right
    fronts = [2, *first[len(first) - kept :], 3, *second[len(second) - pair_kept :], 3]
    mistakes = [
        (
            [2, *first, 3, *second, 3][:length],
            "You cut the finished sequence, so its last [SEP] is gone. Cut the texts.",
        ),
        (fronts, "You removed ids from the beginning of a text. Remove them from its end."),
    ]
    if pair_kept == 0 and ids.count(3) == 1 and not set(ids) & set(second):
        empty = (
            "The second [SEP] is missing. Nothing is left of the second text, but there is one: only None means that "
            "there is none."
        )
        mistakes.append((ids, empty))
    if 0 in ids:
        mistakes.append((ids, "The sequence ends in padding, so you removed more ids than necessary."))
    for k in range(len(first) + 1):
        p = length - 3 - k
        share = f"You kept {k} of {len(first)} and {p} of {len(second)} ids. "
        rule = "In each step, the text that is longer at that moment loses its last id."
        mistakes.append(([2, *first[:k], 3, *second[: max(p, 0)], 3], share + rule))
    case.equal(
        "input_ids",
        ids,
        [2, *first[:kept], 3, *second[:pair_kept], 3],
        "The longer text loses its last id, again and again, until both fit.",
        mistakes=mistakes,
    )


def longest_first(first: int, second: int, room: int) -> list[tuple[int, int]]:
    """How many ids may stay when the longer list, or one of two equal ones, loses its last again and again.

    Google's code takes it from the second of two equal lists, `transformers` does not: both are right.
    """
    if first + second <= room:
        return [(first, second)]
    if max(first, second) - min(first, second) >= first + second - room:  # only the longer one is cut
        return [(first, room - first)] if second > first else [(room - second, second)]
    half = room // 2
    return [(half, half)] if room % 2 == 0 else [(half + 1, half), (half, half + 1)]

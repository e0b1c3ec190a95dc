"""Answers to exercise 1.4: right ones, and mistakes with the words that they must hear."""


# 1.4 --------------------------------------------------------------------------------------------------------------


def by_popping(first, second, max_length):
    if second is None:
        return alone(first, max_length)
    first, second = list(first), list(second)
    while len(first) + len(second) + 3 > max_length:
        if len(first) > len(second):
            first.pop()
        else:
            second.pop()
    return finished(first, second, max_length)


def finished(first, second, max_length):
    ids = [2, *first, 3, *second, 3]
    types = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    pad = max_length - len(ids)
    return ids + [0] * pad, types + [0] * pad, [1] * len(ids) + [0] * pad


def alone(first, max_length):
    ids = [2, *first[: max_length - 2], 3]
    pad = max_length - len(ids)
    return ids + [0] * pad, [0] * max_length, [1] * len(ids) + [0] * pad


def by_counting(first, second, max_length):
    separators = 1 if second is None else 2  # one text is a pair without its second half
    keep = [len(first), len(second or ())]
    while sum(keep) > max_length - 1 - separators:
        keep[keep[0] <= keep[1]] -= 1
    ids = [2, *first[: keep[0]], 3, *([] if second is None else [*second[: keep[1]], 3])]
    types = [0] * (keep[0] + 2) + [1] * (len(ids) - keep[0] - 2)
    pad = [0] * (max_length - len(ids))
    return ids + pad, types + pad, [1] * len(ids) + pad


def cuts_the_row(first, second, max_length):
    ids, types, mask = finished(first, second, max_length)
    return ids[:max_length], types[:max_length], mask[:max_length]


def only_the_second(first, second, max_length):
    return finished(first, second[: max(0, max_length - 3 - len(first))], max_length)


def as_transformers_does(first, second, max_length):
    if second is None:
        return alone(first, max_length)
    room = max_length - 3
    if len(first) + len(second) <= room:
        return finished(first, second, max_length)
    shorter = min(len(first), len(second), room // 2)
    kept = (shorter, room - shorter) if len(first) <= len(second) else (room - shorter, shorter)
    return finished(first[: kept[0]], second[: kept[1]], max_length)


def gives_each_half(first, second, max_length):
    half = (max_length - 3) // 2
    return finished(first[:half], second[:half], max_length)


def takes_from_both_in_turn(first, second, max_length):
    first, second, turn = list(first), list(second), 0
    while len(first) + len(second) + 3 > max_length:
        one = (first, second)[turn % 2] or second or first
        one.pop()
        turn += 1
    return finished(first, second, max_length)


def gives_a_number_for_the_mask(first, second, max_length):
    ids, types, mask = by_popping(first, second, max_length)
    return ids, types, sum(mask)


def first_pays(first, second, max_length):
    if second is None:
        return alone(first, max_length)
    first, second = list(first), list(second)
    while len(first) + len(second) + 3 > max_length:
        (first if len(first) >= len(second) else second).pop()
    return finished(first, second, max_length)


def forgets_special_tokens(first, second, max_length):
    first, second = list(first), list(second)
    while len(first) + len(second) > max_length:
        (first if len(first) > len(second) else second).pop()
    return finished(first, second, max_length)


def forgets_one_separator(first, second, max_length):
    first, second = list(first), list(second)
    while len(first) + len(second) + 2 > max_length:
        (first if len(first) > len(second) else second).pop()
    return finished(first, second, max_length)


def halves_the_room(first, second, max_length):
    room = max_length - 3
    return finished(first[: room // 2], second[: room - room // 2], max_length)


def pops_the_callers_lists(first, second, max_length):
    if second is None:
        return alone(first, max_length)
    while len(first) + len(second) + 3 > max_length:
        (first if len(first) > len(second) else second).pop()
    return finished(first, second, max_length)


def separator_with_the_second(first, second, max_length):
    ids, _, mask = by_popping(first, second, max_length)
    kept = ids.index(3) - 1
    used = sum(mask)
    return ids, [0] * (kept + 1) + [1] * (used - kept - 1) + [0] * (max_length - used), mask


def padding_is_attended(first, second, max_length):
    ids, types, _ = by_popping(first, second, max_length)
    return ids, types, [1] * max_length


def without_padding(first, second, max_length):
    ids, types, mask = by_popping(first, second, max_length)
    return ids[: sum(mask)], types[: sum(mask)], mask[: sum(mask)]


def only_ids(first, second, max_length):
    return by_popping(first, second, max_length)[0]


def loses_the_beginning(first, second, max_length):
    first, second = list(first), list(second)
    while len(first) + len(second) + 3 > max_length:
        (first if len(first) > len(second) else second).pop(0)
    return finished(first, second, max_length)


def pairs_only(first, second, max_length):
    first, second = list(first), list(second)
    return by_popping(first, second, max_length)


def none_as_an_empty_text(first, second, max_length):
    return by_popping(first, second or [], max_length)


def room_for_three(first, second, max_length):
    if second is None:
        ids, types, mask = alone(first, max_length - 1)
        return [*ids, 0], [*types, 0], [*mask, 0]
    return by_popping(first, second, max_length)


def one_text_of_the_second_type(first, second, max_length):
    ids, types, mask = by_popping(first, second, max_length)
    return ids, types if second else mask, mask


def emptied_is_none(first, second, max_length):
    first, second = list(first), None if second is None else list(second)
    while second is not None and len(first) + len(second) + 3 > max_length:
        (first if len(first) > len(second) else second).pop()
    kept = second or []
    first = first[: max_length - 2]
    ids = [2, *first, 3, *kept, *([3] if kept else [])]
    types = [0] * (len(first) + 2) + [1] * (len(ids) - len(first) - 2)
    padding = [0] * (max_length - len(ids))
    return ids + padding, types + padding, [1] * len(ids) + padding


ANSWERS = {
    "1.4": {
        "accepted": [by_popping, by_counting, first_pays, as_transformers_does],
        "wrong": [
            (cuts_the_row, "its last [SEP] is gone"),
            (only_the_second, "The one that is longer at that moment"),
            (gives_each_half, "no id may be removed"),
            (takes_from_both_in_turn, "the text that is longer at that moment"),
            (gives_a_number_for_the_mask, "attention_mask should be a list of numbers"),
            (forgets_special_tokens, "take three positions"),
            (forgets_one_separator, "take three positions"),
            (halves_the_room, "more ids than necessary"),
            (pops_the_callers_lists, "in place"),
            (separator_with_the_second, "The first [SEP] closes the first text"),
            (padding_is_attended, "what hides the padding"),
            (without_padding, "Pad with [PAD] at the end"),
            (only_ids, "3 are asked for"),
            (emptied_is_none, "The second [SEP] is missing"),
            (loses_the_beginning, "from the beginning of a text"),
            (pairs_only, "`second` is None where there is one text only"),
            (none_as_an_empty_text, "One text has one [SEP]"),
            (room_for_three, "room for one id more"),
            (one_text_of_the_second_type, "A single text has the type 0"),
        ],
    }
}

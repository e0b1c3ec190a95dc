"""Answers to exercise 15.4: right ones, and mistakes with the words that they must hear."""


def by_walking(chosen, is_text):
    entries = [None] * len(chosen)
    for i, masked in enumerate(chosen):
        if masked:
            left, right = i, i
            while left >= 0 and chosen[left]:
                left -= 1
            while right < len(chosen) and chosen[right]:
                right += 1
            if left >= 0 and is_text[left] and right < len(chosen) and is_text[right]:
                entries[i] = (left, right, i - left)
    return entries


def from_runs(chosen, is_text):
    text = [False, *is_text, False]
    entries, i = [], 0
    while i < len(chosen):
        stop = i
        while stop < len(chosen) and chosen[stop]:
            stop += 1
        asked = text[i] and text[stop + 1]
        entries += [[i - 1, stop, j - i + 1] if asked else None for j in range(i, stop)]
        if stop == i:
            entries.append(None)
        i = max(stop, i + 1)
    return tuple(entries)


def changed(change):
    """The right entries, each changed: change(left, right, k, i) gives the new one."""

    def answer(chosen, is_text):
        entries = by_walking(chosen, is_text)
        return [entry and change(*entry, i) for i, entry in enumerate(entries)]

    return answer


def without_asking_for_text(chosen, is_text):
    return by_walking(chosen, [True] * len(chosen))


def left_only(chosen, is_text):
    entries = by_walking(chosen, [True] * len(chosen))
    return [entry if entry and is_text[entry[0]] else None for entry in entries]


def minus_one(chosen, is_text):
    entries = [None] * len(chosen)
    for i, masked in enumerate(chosen):
        if masked:
            left, right = i, i
            while chosen[left]:
                left -= 1
            while chosen[right]:
                right += 1
            if is_text[left] and is_text[right]:
                entries[i] = (left % len(chosen), right, i - left)
    return entries


def past_the_end(chosen, is_text):
    entries = [None] * len(chosen)
    for i, masked in enumerate(chosen):
        if masked:
            left, right = i, i
            while left >= 0 and chosen[left]:
                left -= 1
            while chosen[right]:
                right += 1
            if left >= 0 and is_text[left] and is_text[right]:
                entries[i] = (left, right, i - left)
    return entries


def nearest_text(chosen, is_text):
    entries = [None] * len(chosen)
    visible = [i for i, masked in enumerate(chosen) if is_text[i] and not masked]
    for i, masked in enumerate(chosen):
        left, right = [j for j in visible if j < i], [j for j in visible if j > i]
        if masked and left and right:
            entries[i] = (left[-1], right[0], i - left[-1])
    return entries


def max_of_nothing(chosen, is_text):
    entries = [None] * len(chosen)
    for i, masked in enumerate(chosen):
        if masked:
            left = max(j for j in range(i) if not chosen[j])
            right = min(j for j in range(i, len(chosen)) if not chosen[j])
            if is_text[left] and is_text[right]:
                entries[i] = (left, right, i - left)
    return entries


def one_span(chosen, is_text):
    masked = [i for i, yes in enumerate(chosen) if yes]
    if not masked:
        return [None] * len(chosen)
    left, right = masked[0] - 1, masked[-1] + 1
    if left < 0 or right >= len(chosen) or not is_text[left] or not is_text[right]:
        return [None] * len(chosen)
    return [(left, right, i - left) if yes else None for i, yes in enumerate(chosen)]


def masked_only(chosen, is_text):
    return [entry for entry in by_walking(chosen, is_text) if entry]


def first_only(chosen, is_text):
    return [entry if entry and entry[2] == 1 else None for entry in by_walking(chosen, is_text)]


def visible_too(chosen, is_text):
    return [entry or (i - 1, i + 1, 0) for i, entry in enumerate(by_walking(chosen, is_text))]


ANSWERS = {
    "15.4": {
        "accepted": [by_walking, from_runs],
        "wrong": [
            (changed(lambda left, right, k, i: (left, right, k - 1)), "k counts from 1: the first token"),
            (changed(lambda left, right, k, i: (left, right)), "The third number is missing"),
            (changed(lambda left, right, k, i: (left + 1, right - 1, k)), "the ends of the span itself"),
            (changed(lambda left, right, k, i: (i - 1, i + 1, 1)), "the neighbors of each token"),
            (changed(lambda left, right, k, i: (left, right, i)), "not in the text"),
            (changed(lambda left, right, k, i: (left, right, right - i)), "k runs backwards"),
            (changed(lambda left, right, k, i: (left, right, 1)), "k is 1 everywhere"),
            (left_only, "Token 7 is [SEP]"),
            (without_asking_for_text, "Token 7 is [SEP]"),
            (minus_one, "the last token"),
            (past_the_end, "no token on its right"),
            (nearest_text, "Walk past masked tokens only"),
            (max_of_nothing, "no visible token on that side"),
            (one_span, "Token 3 is visible"),
            (masked_only, "Each token needs an entry"),
            (first_only, "Only the first token"),
            (visible_too, "this token is not masked"),
        ],
    }
}

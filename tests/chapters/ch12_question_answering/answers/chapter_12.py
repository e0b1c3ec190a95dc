"""Answers to the exercises 12.1, 12.2 and 12.3: right ones, and mistakes with the words that they hear."""

import torch

# 12.2 ------------------------------------------------------------------------------------------------------------


def with_a_table(start_logits, end_logits, first, length, longest):
    position = torch.arange(len(start_logits))
    scores = start_logits[:, None] + end_logits[None, :]
    apart = position[None, :] - position[:, None]
    inside = (position >= first) & (position < first + length)
    allowed = (apart >= 0) & (apart < longest) & inside[:, None] & inside[None, :]
    start, end = divmod(scores.masked_fill(~allowed, float("-inf")).argmax().item(), len(position))
    return start, end, scores[start, end].item()


def with_loops(start_logits, end_logits, first, length, longest):
    best = None
    for i in range(first, first + length):
        for j in range(i, min(i + longest, first + length)):
            score = start_logits[i] + end_logits[j]
            if best is None or score > best[2]:
                best = (i, j, score)
    return best


def as_tensors(start_logits, end_logits, first, length, longest):
    return [torch.tensor(x) for x in with_a_table(start_logits, end_logits, first, length, longest)]


def one_by_one(start_logits, end_logits, first, length, longest):
    start = first + start_logits[first : first + length].argmax()
    end = first + end_logits[first : first + length].argmax()
    return start, end, start_logits[start] + end_logits[end]


def anywhere_in(mask_question, mask_end, limit_by=0):
    """A table that leaves out one rule."""

    def answer(start_logits, end_logits, first, length, longest):
        low = first if mask_question else 0
        high = first + length if mask_end else len(start_logits)
        start, end, score = with_loops(start_logits, end_logits, low, high - low, longest + limit_by)
        return start, end, score

    return answer


def from_token_one(start_logits, end_logits, first, length, longest):
    return with_loops(start_logits, end_logits, 1, first + length - 1, longest)


def from_the_sep(start_logits, end_logits, first, length, longest):
    return with_loops(start_logits, end_logits, first - 1, length + 1, longest)


def counted_in_the_context(start_logits, end_logits, first, length, longest):
    start, end, score = with_loops(start_logits, end_logits, first, length, longest)
    return start - first, end - first, score


def multiplied(start_logits, end_logits, first, length, longest):
    start, end, _ = with_loops(start_logits, end_logits, first, length, longest)
    return start, end, start_logits[start] * end_logits[end]


def positions_as_floats(start_logits, end_logits, first, length, longest):
    start, end, score = with_loops(start_logits, end_logits, first, length, longest)
    return float(start), float(end), score


def without_score(start_logits, end_logits, first, length, longest):
    return with_loops(start_logits, end_logits, first, length, longest)[:2]


def best_start_first(start_logits, end_logits, first, length, longest):
    start = first + start_logits[first : first + length].argmax().item()
    end = start + end_logits[start : min(start + longest, first + length)].argmax().item()
    return start, end, (start_logits[start] + end_logits[end]).item()


def best_end_first(start_logits, end_logits, first, length, longest):
    end = first + end_logits[first : first + length].argmax().item()
    low = max(first, end - longest + 1)
    start = low + start_logits[low : end + 1].argmax().item()
    return start, end, (start_logits[start] + end_logits[end]).item()


def forbidden_are_zero(start_logits, end_logits, first, length, longest):
    position = torch.arange(len(start_logits))
    apart = position[None, :] - position[:, None]
    inside = (position >= first) & (position < first + length)
    allowed = (apart >= 0) & (apart < longest) & inside[:, None] & inside[None, :]
    scores = (start_logits[:, None] + end_logits[None, :]) * allowed
    start, end = divmod(scores.argmax().item(), len(position))
    return start, end, scores[start, end].item()


def begins_with_minus_one(start_logits, end_logits, first, length, longest):
    best = (0, 0, -1)
    for i in range(first, first + length):
        for j in range(i, min(i + longest, first + length)):
            if start_logits[i] + end_logits[j] > best[2]:
                best = (i, j, start_logits[i] + end_logits[j])
    return best


def by_diagonals(start_logits, end_logits, first, length, longest):
    best = []
    for more in range(min(longest, length)):
        sums = start_logits[first : first + length - more] + end_logits[first + more : first + length]
        start = first + sums.argmax().item()
        best.append((sums.max().item(), start, start + more))
    score, start, end = max(best)
    return start, end, score


# 12.3 ------------------------------------------------------------------------------------------------------------


def shared(offsets, start, end):
    found = [number for number, (s, e) in enumerate(offsets) if s < end and e > start]
    return found[0], found[-1]


def from_both_sides(offsets, start, end):
    first = next(i for i in range(len(offsets)) if offsets[i][1] > start)
    last = next(i for i in reversed(range(len(offsets))) if offsets[i][0] < end)
    return [first, last]


def equal_only(offsets, start, end):
    return [s for s, _ in offsets].index(start), [e for _, e in offsets].index(end)


def only_the_first(offsets, start, end):
    return (shared(offsets, start, end)[0],)


def one_too_far(offsets, start, end):
    first, last = shared(offsets, start, end)
    return first, last + 1


def touching(offsets, start, end):
    found = [number for number, (s, e) in enumerate(offsets) if s <= end and e >= start]
    return found[0], found[-1]


def with_cls(offsets, start, end):
    first, last = shared(offsets, start, end)
    return first + 1, last + 1


def first_and_number(offsets, start, end):
    first, last = shared(offsets, start, end)
    return first, last - first + 1


def first_twice(offsets, start, end):
    return shared(offsets, start, end)[0], shared(offsets, start, end)[0]


def characters(offsets, start, end):
    return start, end


def token_of_a_character(offsets, position):
    return next(number for number, (s, e) in enumerate(offsets) if s <= position < e)


def characters_looked_up(offsets, start, end):
    """Raises StopIteration at a space, which belongs to no token."""
    return token_of_a_character(offsets, start), token_of_a_character(offsets, end - 1)


def never_set(offsets, start, end):
    """Leaves None where the answer begins with a space."""
    first = last = None
    for number, (s, e) in enumerate(offsets):
        if s <= start < e:
            first = number
        if s < end <= e:
            last = number
    return first, last


def last_that_begins(offsets, start, end):
    """The first token is the last one that begins at the answer's start or earlier: wrong at a space."""
    first = max(number for number, (s, _) in enumerate(offsets) if s <= start)
    return first, shared(offsets, start, end)[1]


def first_that_ends(offsets, start, end):
    """The last token is the first one that ends at the answer's end or later: wrong at a space."""
    return shared(offsets, start, end)[0], min(n for n, (_, e) in enumerate(offsets) if e >= end)


def as_arrays(offsets, start, end):
    begins, ends = torch.tensor(offsets).T
    return (ends > start).nonzero()[0], (begins < end).nonzero()[-1]


ANSWERS = {
    "12.1": {
        "accepted": [5.5, torch.tensor(5.5)],
        "wrong": [
            (9, "a word of the question"),
            (6.5, "ends before it starts"),
            (7.5, "starts at Who"),
            (8, "ends at Who"),
            (5, "second best"),
            (2, "Fox alone, or [CLS]"),
            (4, "One of the six"),
            (3, "six valid spans"),
        ],
    },
    "12.2": {
        "accepted": [with_a_table, with_loops, as_tensors, by_diagonals],
        "wrong": [
            (one_by_one, "Start and end have to be chosen together"),
            (anywhere_in(False, True), "no answer and is not a span"),
            (from_token_one, "begins in the question"),
            (from_the_sep, "or at its [SEP]"),
            (anywhere_in(True, False), "[SEP] and padding"),
            (anywhere_in(True, True, limit_by=9), "at most `longest`"),
            (anywhere_in(True, True, limit_by=-1), "exactly `longest` tokens, and that is allowed"),
            (counted_in_the_context, "counted from the first token of the context"),
            (multiplied, "sum of two logits"),
            (without_score, "3 are asked for"),
            (positions_as_floats, "the float 4.0"),
            (best_start_first, "another one has a higher score"),
            (best_end_first, "another one has a higher score"),
            (forbidden_are_zero, "Forbidden entries need minus infinity"),
            (begins_with_minus_one, "begins with minus infinity"),
        ],
    },
    "12.3": {
        "accepted": [shared, from_both_sides, as_arrays],
        "wrong": [
            (equal_only, "an answer that is only a part of a token"),
            (equal_only, "You look for a token that begins or ends exactly there"),
            (only_the_first, "it returned 1 thing, and 2 are asked for"),
            (one_too_far, "one too far"),
            (touching, "one too far"),
            (with_cls, "[CLS] is not in this list"),
            (first_and_number, "how many tokens the answer has"),
            (first_twice, "Where does the answer end?"),
            (characters, "positions of characters"),
            (characters_looked_up, "an answer that begins with a space"),
            (never_set, "the first token should be a whole number"),
            (last_that_begins, "Character 4 is a space"),
            (first_that_ends, "an answer that ends with a space"),
        ],
    },
}

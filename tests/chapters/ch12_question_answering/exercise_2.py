"""Answers to exercise 12.2: right ones, and mistakes with the words that they must hear."""

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


def until_length(start_logits, end_logits, first, length, longest):
    return with_loops(start_logits, end_logits, first, length - first, longest)


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


ANSWERS = {
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
            (until_length, "loops stop at token `length`"),
            (counted_in_the_context, "counted from the first token of the context"),
            (multiplied, "sum of two logits"),
            (without_score, "3 are asked for"),
            (positions_as_floats, "the float 6.0"),
            (best_start_first, "another one has a higher score"),
            (best_end_first, "another one has a higher score"),
            (forbidden_are_zero, "Forbidden entries need minus infinity"),
            (begins_with_minus_one, "begins with minus infinity"),
        ],
    }
}

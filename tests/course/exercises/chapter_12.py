"""Answers to the exercises of chapter 12: right ones, and mistakes with the words that they must hear."""

from itertools import pairwise

import torch

from bertedu.finetuning.windows import best_over_windows, best_spans

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


# 12.4 ------------------------------------------------------------------------------------------------------------


def earned(scores, f1s, answerable, limit):
    return sum(
        (f1 if can else 0) if score <= limit else not can
        for score, f1, can in zip(scores, f1s, answerable, strict=True)
    )


def try_all(scores, f1s, answerable):
    return max([min(scores) - 1, *scores], key=lambda limit: earned(scores, f1s, answerable, limit))


def in_one_pass(scores, f1s, answerable):
    now = best = answerable.count(False)
    threshold = float("-inf")
    for score, f1, can in sorted(zip(scores, f1s, answerable, strict=True)):
        now += f1 if can else -1
        if now > best:
            best, threshold = now, score
    return threshold


def between_two_scores(scores, f1s, answerable):
    ordered = sorted(set(scores))
    middles = [(one + other) / 2 for one, other in pairwise(ordered)]
    tried = [ordered[0] - 1, *middles, ordered[-1] + 1]
    return max(tried, key=lambda limit: earned(scores, f1s, answerable, limit))


def swept(key, reverse=False):
    """One pass that compares totals after each question, also between two with the same score."""

    def choose(scores, f1s, answerable):
        now = best = answerable.count(False)
        threshold = min(scores) - 1
        for score, f1, can in sorted(zip(scores, f1s, answerable, strict=True), key=key, reverse=reverse):
            now += f1 if can else -1
            if now > best:
                best, threshold = now, score
        return threshold

    return choose


def from_the_top(scores, f1s, answerable):
    """One pass from answering everything; each question after the other is no longer answered."""
    ordered = sorted(zip(scores, f1s, answerable, strict=True), key=lambda one: -one[0])
    now = best = sum(f1s)
    threshold = max(scores)
    for (_, f1, can), following in zip(ordered, [one[0] for one in ordered[1:]] + [min(scores) - 1], strict=True):
        now += -f1 if can else 1
        if now > best:
            best, threshold = now, following
    return threshold


def the_points(scores, f1s, answerable):
    return max(earned(scores, f1s, answerable, limit) for limit in [min(scores) - 1, *scores])


def the_mean(scores, f1s, answerable):
    return the_points(scores, f1s, answerable) / len(scores)


def always_zero(scores, f1s, answerable):
    return 0.0


def inverted(scores, f1s, answerable):
    def of(limit):
        return sum(
            (f if can else 0) if d >= limit else not can for d, f, can in zip(scores, f1s, answerable, strict=True)
        )

    return max([*scores, max(scores) + 1], key=of)


def answered_only(scores, f1s, answerable):
    def of(limit):
        return sum(f for d, f, can in zip(scores, f1s, answerable, strict=True) if can and d <= limit)

    return max(scores, key=of)


def never_below(scores, f1s, answerable):
    return max(scores, key=lambda limit: earned(scores, f1s, answerable, limit))


def strictly_below(scores, f1s, answerable):
    def of(limit):
        return sum(
            (f if can else 0) if d < limit else not can for d, f, can in zip(scores, f1s, answerable, strict=True)
        )

    return max([*scores, max(scores) + 1], key=of)


def in_tensors(scores, f1s, answerable):
    """The chosen score comes back as a float of 32 bits."""
    scores, f1s, answerable = torch.tensor(scores), torch.tensor(f1s), torch.tensor(answerable)
    limits = torch.cat([scores.min()[None] - 1, scores])
    answered = scores[None, :] <= limits[:, None]
    return limits[torch.where(answered, f1s, (~answerable).float()).sum(dim=1).argmax()]


def abstaining_always_earns(scores, f1s, answerable):
    def of(limit):
        return sum(f1 if score <= limit else 1 for score, f1 in zip(scores, f1s, strict=True))

    return max([min(scores) - 1, *scores], key=of)


# 12.5 ------------------------------------------------------------------------------------------------------------


def spans_of(found, longest=10):
    return [span for window, starts, ends in found for span in best_spans(window, starts, ends, longest=longest)]


def null_scores(found):
    return [starts[0] + ends[0] for _, starts, ends in found]


def decided(spans, null_score, context, threshold):
    best = max(spans, key=lambda span: span.score, default=None)
    return "" if best is None or null_score - best.score > threshold else context[best.start : best.end]


def over_all(found, context, threshold):
    candidates, null_score = best_over_windows(found, longest=10)
    if not candidates or null_score - candidates[0].score > threshold:
        return ""
    return context[candidates[0].start : candidates[0].end]


def by_hand(found, context, threshold):
    best, none = None, float("inf")
    for window, starts, ends in found:
        none = min(none, starts[0] + ends[0])
        for candidate in best_spans(window, starts, ends, longest=10)[:1]:
            if best is None or candidate.score > best.score:
                best = candidate
    return context[best.start : best.end] if best and none - best.score <= threshold else ""


def every_pair(found, context, threshold):
    """Without best_spans: all pairs of at most ten tokens."""
    scored = [
        (starts[window.first + i] + ends[window.first + j], window.offsets[i][0], window.offsets[j][1])
        for window, starts, ends in found
        for i in range(len(window.offsets))
        for j in range(i, min(i + 10, len(window.offsets)))
    ]
    score, start, end = max(scored)
    return "" if min(null_scores(found)) - score > threshold else context[start:end]


def without_longest(found, context, threshold):
    spans = [span for window, starts, ends in found for span in best_spans(window, starts, ends)]
    return decided(spans, min(null_scores(found)), context, threshold)


def the_span_itself(found, context, threshold):
    best = max(spans_of(found), key=lambda span: span.score, default=None)
    return "" if best is None or min(null_scores(found)) - best.score > threshold else best


def one_token_too_few(found, context, threshold):
    return decided(spans_of(found, longest=9), min(null_scores(found)), context, threshold)


def a_span_in_every_window(found, context, threshold):
    """IndexError where best_spans has nothing to offer."""
    spans = [best_spans(window, starts, ends, longest=10)[0] for window, starts, ends in found]
    return decided(spans, min(null_scores(found)), context, threshold)


def a_span_somewhere(found, context, threshold):
    """ValueError where no window has a span."""
    best = max(spans_of(found), key=lambda span: span.score)
    return "" if min(null_scores(found)) - best.score > threshold else context[best.start : best.end]


def gives_up_at_an_empty_window(found, context, threshold):
    if any(not best_spans(*one, longest=10) for one in found):
        return ""
    return over_all(found, context, threshold)


def last_wins(found, context, threshold):
    answer = ""
    for one in found:
        answer = over_all([one], context, threshold)
    return answer


def first_wins(found, context, threshold):
    return over_all(found[:1], context, threshold)


def last_that_answers(found, context, threshold):
    answer = ""
    for one in found:
        answer = over_all([one], context, threshold) or answer
    return answer


def highest_null_score(found, context, threshold):
    return decided(spans_of(found), max(null_scores(found)), context, threshold)


def null_score_of_at_most_zero(found, context, threshold):
    return decided(spans_of(found), min(0, *null_scores(found)), context, threshold)


def starts_and_ends_apart(found, context, threshold):
    lowest = min(starts[0] for _, starts, _ in found) + min(ends[0] for _, _, ends in found)
    return decided(spans_of(found), lowest, context, threshold)


def inverted_comparison(found, context, threshold):
    best = max(spans_of(found), key=lambda span: span.score, default=None)
    return "" if best is None or min(null_scores(found)) - best.score <= threshold else context[best.start : best.end]


def never_abstains(found, context, threshold):
    return decided(spans_of(found), float("-inf"), context, threshold)


def no_threshold(found, context, threshold):
    return over_all(found, context, 0.0)


def mean_null_score(found, context, threshold):
    return decided(spans_of(found), sum(null_scores(found)) / len(found), context, threshold)


def null_score_of_the_same_window(found, context, threshold):
    pairs = [(span, one[1][0] + one[2][0]) for one in found for span in best_spans(*one, longest=10)[:1]]
    best, null_score = max(pairs, key=lambda pair: pair[0].score)
    return decided([best], null_score, context, threshold)


def best_of_the_answering(found, context, threshold):
    pairs = [(span, one[1][0] + one[2][0]) for one in found for span in best_spans(*one, longest=10)[:1]]
    return decided([span for span, null in pairs if null - span.score <= threshold], -1e9, context, threshold)


def lowest_no_answer_score(found, context, threshold):
    pairs = [(span, one[1][0] + one[2][0]) for one in found for span in best_spans(*one, longest=10)[:1]]
    best, null_score = min(pairs, key=lambda pair: pair[1] - pair[0].score)
    return decided([best], null_score, context, threshold)


ANSWERS = {
    "12.1": {
        "accepted": [5.5, torch.tensor(5.5)],
        "wrong": [
            (9, "a word of the question"),
            (6.5, "ends before it starts"),
            (7.5, "starts at who"),
            (8, "ends at who"),
            (5, "second best"),
            (2, "stands for no answer"),
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
    "12.4": {
        "accepted": [try_all, in_one_pass, between_two_scores, in_tensors],
        "wrong": [
            (the_points, "You returned the points"),
            (the_mean, "or their mean"),
            (always_zero, "Try the other thresholds"),
            (inverted, "Is the comparison inverted"),
            (abstaining_always_earns, "Each answerable question then earns 0"),
            (answered_only, "never answer: take a threshold below every score"),
            (never_below, "never answer: take a threshold below every score"),
            (strictly_below, "compare with <="),
            (swept(lambda one: one[0]), "No threshold separates questions with equal scores"),
            (swept(lambda one: (one[0], not one[2])), "No threshold separates questions with equal scores"),
            (swept(lambda one: (one[0], -one[1])), "No threshold separates questions with equal scores"),
            (from_the_top, "No threshold separates questions with equal scores"),
        ],
    },
    "12.5": {
        "accepted": [over_all, by_hand, every_pair],
        "wrong": [
            (last_wins, "overwrite what an earlier one found"),
            (first_wins, "the answer in the last"),
            (last_that_answers, "Which one scores higher"),
            (highest_null_score, "One window that contains the answer is enough"),
            (null_score_of_at_most_zero, "and nothing else"),
            (starts_and_ends_apart, "Add in each window"),
            (inverted_comparison, "Is your comparison inverted"),
            (never_abstains, "there is none"),
            (no_threshold, "above the threshold"),
            (mean_null_score, "Windows don't vote"),
            (null_score_of_the_same_window, "Keep them apart until the end"),
            (best_of_the_answering, "Keep them apart until the end"),
            (lowest_no_answer_score, "Keep them apart until the end"),
            (without_longest, "An answer has at most 10 tokens here"),
            (the_span_itself, "cut out of the context"),
            (one_token_too_few, "An answer of exactly 10 tokens is allowed"),
            (a_span_in_every_window, "Such a window has no candidate"),
            (a_span_somewhere, "without any candidate the answer is the empty string"),
            (gives_up_at_an_empty_window, "but the other windows count as usual"),
        ],
    },
}

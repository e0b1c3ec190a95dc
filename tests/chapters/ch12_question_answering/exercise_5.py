"""Answers to exercise 12.5: right ones, and mistakes with the words that they must hear."""

from bertedu.finetuning.windows import best_over_windows, best_spans

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


def abstains_above_zero_too(found, context, threshold):
    return over_all(found, context, min(threshold, 0.0))


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
            (abstains_above_zero_too, "not above the threshold 30"),
            (mean_null_score, "Windows don't vote"),
            (null_score_of_the_same_window, "Keep them apart until the end"),
            (best_of_the_answering, "Keep them apart until the end"),
            (lowest_no_answer_score, "Keep them apart until the end"),
            (without_longest, "make a span of 11 tokens"),
            (without_longest, "An answer has at most 10 tokens here"),
            (the_span_itself, "cut out of the context"),
            (one_token_too_few, "An answer of exactly 10 tokens is allowed"),
            (a_span_in_every_window, "Such a window has no candidate"),
            (a_span_somewhere, "without any candidate the answer is the empty string"),
            (gives_up_at_an_empty_window, "but the other windows count as usual"),
        ],
    }
}

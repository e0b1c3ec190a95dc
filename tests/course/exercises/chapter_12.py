"""Answers to the exercises of chapter 12: right ones, and mistakes with the words that they must hear."""

import torch

from bertedu.finetuning.windows import best_over_windows, best_spans

# 12.2 ------------------------------------------------------------------------------------------------------------


def with_a_table(start_logits, end_logits, first, length, longest):
    place = torch.arange(len(start_logits))
    scores = start_logits[:, None] + end_logits[None, :]
    apart = place[None, :] - place[:, None]
    inside = (place >= first) & (place < first + length)
    allowed = (apart >= 0) & (apart < longest) & inside[:, None] & inside[None, :]
    start, end = divmod(scores.masked_fill(~allowed, float("-inf")).argmax().item(), len(place))
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


def behind_cls(start_logits, end_logits, first, length, longest):
    return with_loops(start_logits, end_logits, 1, first + length - 1, longest)


def counted_in_the_context(start_logits, end_logits, first, length, longest):
    start, end, score = with_loops(start_logits, end_logits, first, length, longest)
    return start - first, end - first, score


def multiplied(start_logits, end_logits, first, length, longest):
    start, end, _ = with_loops(start_logits, end_logits, first, length, longest)
    return start, end, start_logits[start] * end_logits[end]


def without_score(start_logits, end_logits, first, length, longest):
    return with_loops(start_logits, end_logits, first, length, longest)[:2]


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


def one_behind(offsets, start, end):
    first, last = shared(offsets, start, end)
    return first, last + 1


def touching(offsets, start, end):
    found = [number for number, (s, e) in enumerate(offsets) if s <= end and e >= start]
    return found[0], found[-1]


def first_twice(offsets, start, end):
    return shared(offsets, start, end)[0], shared(offsets, start, end)[0]


def characters(offsets, start, end):
    return start, end


# 12.4 ------------------------------------------------------------------------------------------------------------


def earned(doubts, f1s, possible, limit):
    return sum((f if can else 0) if d <= limit else not can for d, f, can in zip(doubts, f1s, possible, strict=True))


def try_all(doubts, f1s, possible):
    return max([min(doubts) - 1, *doubts], key=lambda limit: earned(doubts, f1s, possible, limit))


def in_one_pass(doubts, f1s, possible):
    now = best = possible.count(False)
    threshold = float("-inf")
    for doubt, f1, can in sorted(zip(doubts, f1s, possible, strict=True)):
        now += f1 if can else -1
        if now > best:
            best, threshold = now, doubt
    return threshold


def always_zero(doubts, f1s, possible):
    return 0.0


def turned_round(doubts, f1s, possible):
    def of(limit):
        return sum(
            (f if can else 0) if d >= limit else not can for d, f, can in zip(doubts, f1s, possible, strict=True)
        )

    return max([*doubts, max(doubts) + 1], key=of)


def answered_only(doubts, f1s, possible):
    def of(limit):
        return sum(f for d, f, can in zip(doubts, f1s, possible, strict=True) if can and d <= limit)

    return max(doubts, key=of)


def never_below(doubts, f1s, possible):
    return max(doubts, key=lambda limit: earned(doubts, f1s, possible, limit))


# 12.5 ------------------------------------------------------------------------------------------------------------


def over_all(found, context, threshold):
    candidates, none = best_over_windows(found)
    if none - candidates[0].score > threshold:
        return ""
    return context[candidates[0].start : candidates[0].end]


def by_hand(found, context, threshold):
    best, none = None, float("inf")
    for window, starts, ends in found:
        candidate = best_spans(window, starts, ends)[0]
        none = min(none, starts[0] + ends[0])
        if best is None or candidate.score > best.score:
            best = candidate
    return context[best.start : best.end] if none - best.score <= threshold else ""


def last_wins(found, context, threshold):
    answer = None
    for window, starts, ends in found:
        candidate = best_spans(window, starts, ends)[0]
        none = starts[0] + ends[0]
        answer = "" if none - candidate.score > threshold else context[candidate.start : candidate.end]
    return answer


def first_wins(found, context, threshold):
    return over_all(found[:1], context, threshold)


def last_that_answers(found, context, threshold):
    answer = ""
    for one in found:
        answer = over_all([one], context, threshold) or answer
    return answer


def surest_silence(found, context, threshold):
    best = max((best_spans(*one)[0] for one in found), key=lambda candidate: candidate.score)
    none = max(starts[0] + ends[0] for _, starts, ends in found)
    return "" if none - best.score > threshold else context[best.start : best.end]


def never_silent(found, context, threshold):
    best = max((best_spans(*one)[0] for one in found), key=lambda candidate: candidate.score)
    return context[best.start : best.end]


def no_threshold(found, context, threshold):
    return over_all(found, context, 0.0)


def mean_silence(found, context, threshold):
    best = max((best_spans(*one)[0] for one in found), key=lambda candidate: candidate.score)
    none = sum(starts[0] + ends[0] for _, starts, ends in found) / len(found)
    return "" if none - best.score > threshold else context[best.start : best.end]


def own_silence(found, context, threshold):
    best, none = max(
        ((best_spans(*one)[0], one[1][0] + one[2][0]) for one in found), key=lambda candidate: candidate[0].score
    )
    return "" if none - best.score > threshold else context[best.start : best.end]


def best_of_the_decided(found, context, threshold):
    spans = [best_spans(*one)[0] for one in found]
    pairs = zip(spans, found, strict=True)
    decided = [span for span, (_, starts, ends) in pairs if starts[0] + ends[0] - span.score <= threshold]
    best = max(decided, key=lambda span: span.score, default=None)
    return "" if best is None else context[best.start : best.end]


def least_doubt(found, context, threshold):
    spans = [best_spans(*one)[0] for one in found]
    doubts = [starts[0] + ends[0] - span.score for span, (_, starts, ends) in zip(spans, found, strict=True)]
    best = spans[doubts.index(min(doubts))]
    return "" if min(doubts) > threshold else context[best.start : best.end]


ANSWERS = {
    "12.1": {
        "accepted": [5.5, torch.tensor(5.5)],
        "wrong": [
            (9, "question's own word"),
            (6.5, "ends before it starts"),
            (5, "second best"),
            (2, "[CLS], no answer"),
            (4, "better ones"),
            (3, "six valid spans"),
        ],
    },
    "12.2": {
        "accepted": [with_a_table, with_loops, as_tensors],
        "wrong": [
            (one_by_one, "Start and end have to be chosen together"),
            (anywhere_in(False, True), "no answer and is no span"),
            (behind_cls, "begins in the question"),
            (anywhere_in(True, False), "[SEP] and padding"),
            (anywhere_in(True, True, limit_by=9), "at most `longest`"),
            (anywhere_in(True, True, limit_by=-1), "exactly `longest` tokens, and that is allowed"),
            (counted_in_the_context, "counted from the beginning of the context"),
            (multiplied, "sum of two logits"),
            (without_score, "3 are asked for"),
        ],
    },
    "12.3": {
        "accepted": [shared, from_both_sides],
        "wrong": [
            (equal_only, "an answer that is only a part of a token"),
            (one_behind, "one too far"),
            (touching, "one too far"),
            (first_twice, "Where does the answer end?"),
            (characters, "characters still"),
        ],
    },
    "12.4": {
        "accepted": [try_all, in_one_pass],
        "wrong": [
            (always_zero, "Try the other places"),
            (turned_round, "turned round"),
            (answered_only, "silence is best"),
            (never_below, "silence is best"),
        ],
    },
    "12.5": {
        "accepted": [over_all, by_hand],
        "wrong": [
            (last_wins, "wipe out"),
            (first_wins, "the answer in the last"),
            (last_that_answers, "Which scores more"),
            (surest_silence, "One window that sees the answer is enough"),
            (never_silent, "there is none"),
            (no_threshold, "above the threshold"),
            (mean_silence, "Windows are no voters"),
            (own_silence, "These may be two windows"),
            (best_of_the_decided, "These may be two windows"),
            (least_doubt, "These may be two windows"),
        ],
    },
}

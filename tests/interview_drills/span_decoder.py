"""Answers to the drill of the span decoder: right ones, and mistakes with the words that they must hear."""

import numpy as np
import torch


def with_loops(start_logits, end_logits, in_passage, longest, threshold):
    best, span = -float("inf"), None
    for i in range(len(start_logits)):
        for j in range(i, min(i + longest, len(end_logits))):
            score = float(start_logits[i] + end_logits[j])
            if in_passage[i] and in_passage[j] and score > best:
                best, span = score, (i, j)
    return (0, 0) if float(start_logits[0] + end_logits[0]) - best > threshold else span


def with_numpy(start_logits, end_logits, in_passage, longest, threshold):
    s, e, inside = start_logits.numpy(), end_logits.numpy(), in_passage.numpy()
    valid = np.triu(np.outer(inside, inside)) & ~np.triu(np.ones((len(s), len(s)), dtype=bool), longest)
    scores = np.where(valid, np.add.outer(s, e), -np.inf)
    if s[0] + e[0] > scores.max() + threshold:
        return [0, 0]
    return list(np.unravel_index(scores.argmax(), scores.shape))


def with_log_probabilities(start_logits, end_logits, in_passage, longest, threshold):
    s, e = start_logits.double().log_softmax(0), end_logits.double().log_softmax(0)
    scores = s.unsqueeze(1) + e
    valid = torch.ones_like(scores).triu().tril(longest - 1) * in_passage * in_passage[:, None]
    scores[valid == 0] = -1e9
    best = scores.flatten().argmax()
    if s[0] + e[0] - scores.max() > threshold:
        return torch.tensor([0, 0])
    return torch.stack([best // len(s), best % len(s)])


def from_each_start(start_logits, end_logits, in_passage, longest, threshold):
    ends = end_logits.masked_fill(~in_passage, -1e30)
    spans = [
        (float(start_logits[i]) + float(ends[i : i + longest].max()), i, i + int(ends[i : i + longest].argmax()))
        for i in in_passage.nonzero().flatten().tolist()
    ]
    score, *span = max(spans)
    return (0, 0) if start_logits[0] + end_logits[0] > score + threshold else tuple(span)


def each_alone(start_logits, end_logits, in_passage, longest, threshold):
    s, e = start_logits.masked_fill(~in_passage, -1e9), end_logits.masked_fill(~in_passage, -1e9)
    if start_logits[0] + end_logits[0] > s.max() + e.max() + threshold:
        return 0, 0
    return s.argmax(), e.argmax()


def swapped(start_logits, end_logits, in_passage, longest, threshold):
    start, end = each_alone(start_logits, end_logits, in_passage, longest, threshold)
    return (start, end) if start <= end else (end, start)


def start_first(start_logits, end_logits, in_passage, longest, threshold):
    s, e = start_logits.masked_fill(~in_passage, -1e9), end_logits.masked_fill(~in_passage, -1e9)
    i = int(s.argmax())
    j = i + int(e[i : i + longest].argmax())
    return (0, 0) if start_logits[0] + end_logits[0] > s[i] + e[j] + threshold else (i, j)


def looped(
    start_logits,
    end_logits,
    in_passage,
    longest,
    threshold,
    more=0,
    begin=-float("inf"),
    null=lambda s, e, best, t: s[0] + e[0] > best + t,
):
    best, span = begin, (0, 0)
    for i in range(len(start_logits)):
        for j in range(i, min(i + longest + more, len(end_logits))):
            score = start_logits[i] + end_logits[j]
            if in_passage[i] and in_passage[j] and score > best:
                best, span = score, (i, j)
    return (0, 0) if null(start_logits, end_logits, best, threshold) else span


def without_a_limit(*inputs):
    return looped(*inputs, more=100)


def one_too_many(*inputs):
    return looped(*inputs, more=1)


def one_too_few(*inputs):
    return looped(*inputs, more=-1)


def begins_with_zero(*inputs):
    return looped(*inputs, begin=0.0)


def never_abstains(*inputs):
    return looped(*inputs, null=lambda *_: False)


def without_the_threshold(*inputs):
    return looped(*inputs, null=lambda s, e, best, t: s[0] + e[0] > best)


def threshold_on_the_wrong_side(*inputs):
    return looped(*inputs, null=lambda s, e, best, t: best - (s[0] + e[0]) < t)


def inverted(*inputs):
    return looped(*inputs, null=lambda s, e, best, t: s[0] + e[0] <= best + t)


def only_the_start_of_cls(*inputs):
    return looped(*inputs, null=lambda s, e, best, t: s[0] > best + t)


def null_against_the_threshold(*inputs):
    return looped(*inputs, null=lambda s, e, best, t: s[0] + e[0] > t)


def anywhere(start_logits, end_logits, in_passage, longest, threshold):
    return looped(start_logits, end_logits, torch.ones_like(in_passage), longest, threshold)


def filled_with_zero(start_logits, end_logits, in_passage, longest, threshold):
    scores = start_logits[:, None] + end_logits
    valid = torch.ones_like(scores).triu().tril(longest - 1) * in_passage * in_passage[:, None]
    scores = scores * valid
    if start_logits[0] + end_logits[0] > scores.max() + threshold:
        return 0, 0
    return divmod(int(scores.argmax()), len(start_logits))


def of_probabilities(start_logits, end_logits, in_passage, longest, threshold):
    return looped(start_logits.softmax(-1), end_logits.softmax(-1), in_passage, longest, threshold)


def counted_in_the_passage(start_logits, end_logits, in_passage, longest, threshold):
    start, end = looped(start_logits, end_logits, in_passage, longest, threshold)
    first = int(in_passage.nonzero()[0])
    return (start - first, end - first) if end else (0, 0)


def end_after_the_span(*inputs):
    start, end = looped(*inputs)
    return (start, end + 1) if end else (0, 0)


def none_for_no_answer(*inputs):
    start, end = looped(*inputs)
    return (start, end) if end else None


def with_its_score(*inputs):
    return *looped(*inputs), 3.0


def lower_triangle(start_logits, end_logits, in_passage, longest, threshold):
    scores = start_logits[None, :] + end_logits[:, None]
    valid = torch.ones_like(scores).triu().tril(longest - 1).bool() & in_passage & in_passage[:, None]
    scores = scores.masked_fill(~valid, -torch.inf)
    if start_logits[0] + end_logits[0] > scores.max() + threshold:
        return 0, 0
    return divmod(int(scores.argmax()), len(start_logits))


ANSWERS = {
    "span-decoder": {
        "accepted": [with_loops, with_numpy, with_log_probabilities, from_each_start],
        "wrong": [
            (each_alone, "are chosen alone"),
            (swapped, "You swap start and end"),
            (start_first, "You fix the best start first"),
            (without_a_limit, "no limit on the length"),
            (one_too_many, "one token too many"),
            (one_too_few, "one token too short"),
            (begins_with_zero, "all valid scores are below 0 here"),
            (filled_with_zero, "all valid scores are below 0 here"),
            (never_abstains, "You never abstain"),
            (without_the_threshold, "The threshold is not used"),
            (threshold_on_the_wrong_side, "on the wrong side"),
            (inverted, "The decision is inverted"),
            (only_the_start_of_cls, "add end_logits[0]"),
            (null_against_the_threshold, "with the threshold alone"),
            (anywhere, "Spans outside of the passage"),
            (of_probabilities, "add logits"),
            (counted_in_the_passage, "Count from [CLS]"),
            (end_after_the_span, "the last token of the span itself"),
            (none_for_no_answer, "(0, 0) means that there is no answer"),
            (with_its_score, "2 are asked for"),
            (lower_triangle, "logits are mixed up"),
        ],
    },
}

"""Answers to the drill of recall@k and MRR@k: right ones, and mistakes with the words that they must hear."""

import numpy as np
import torch


def with_topk(scores, relevant, k):
    best = scores.topk(min(k, scores.size(1))).indices
    hits = relevant.gather(1, best)
    recall = (hits.sum(1) / relevant.sum(1)).mean()
    first = hits.float().argmax(1) + 1.0
    return recall, torch.where(hits.any(1), 1 / first, torch.zeros(len(hits))).mean()


def with_loops(scores, relevant, k):
    recalls, reciprocals = [], []
    for row, flags in zip(scores.tolist(), relevant.tolist(), strict=True):
        order = sorted(range(len(row)), key=lambda i: -row[i])[:k]
        recalls.append(sum(flags[i] for i in order) / sum(flags))
        reciprocals.append(next((1 / rank for rank, i in enumerate(order, 1) if flags[i]), 0))
    return sum(recalls) / len(recalls), sum(reciprocals) / len(reciprocals)


def with_numpy(scores, relevant, k):
    s, r = scores.numpy(), relevant.numpy()
    hits = np.take_along_axis(r, np.argsort(-s, axis=1), axis=1)[:, :k]
    weights = hits / np.arange(1, hits.shape[1] + 1)
    return [(hits.sum(1) / r.sum(1)).mean(), weights.max(1).mean()]


def by_counting(scores, relevant, k):
    ranks = 1 + (scores[:, None, :] > scores[:, :, None]).sum(-1)  # [Q, N]
    found = relevant & (ranks <= k)
    first = torch.where(relevant, ranks, 10**9).amin(1)
    return (found.sum(1).double() / relevant.sum(1)).mean(), ((first <= k) / first.double()).mean()


def both(scores, relevant, k, recall=None, reciprocal=None):
    hits = relevant.gather(1, scores.argsort(1, descending=True)[:, :k]).float()
    a = hits.sum(1) / relevant.sum(1) if recall is None else recall(hits)
    b = (reciprocal or (lambda hits: (hits / torch.arange(1, hits.shape[1] + 1)).amax(1)))(hits)
    return a.mean(), b.mean()


def hit_rate(scores, relevant, k):
    return both(scores, relevant, k, recall=lambda hits: hits.amax(1))


def precision(scores, relevant, k):
    return both(scores, relevant, k, recall=lambda hits: hits.sum(1) / k)


def capped(scores, relevant, k):
    return both(scores, relevant, k, recall=lambda hits: hits.sum(1) / relevant.sum(1).clamp(max=k))


def over_all_queries(scores, relevant, k):
    return both(scores, relevant, k, recall=lambda hits: hits.sum() / relevant.sum())


def ascending(scores, relevant, k):
    return both(-scores, relevant, k)


def unsorted(scores, relevant, k):
    return (relevant[:, :k].sum(1) / relevant.sum(1)).mean(), 0.5


def ranks_from_zero(scores, relevant, k):
    def reciprocal(hits):
        return torch.where(hits.any(1), 1 / hits.argmax(1), 0)

    return both(scores, relevant, k, reciprocal=reciprocal)


def without_a_limit(scores, relevant, k):
    return both(scores, relevant, k)[0], both(scores, relevant, scores.size(1))[1]


def all_of_them(scores, relevant, k):
    def reciprocal(hits):
        return (hits / torch.arange(1, hits.shape[1] + 1)).sum(1)

    return both(scores, relevant, k, reciprocal=reciprocal)


def argmax_of_zeros(scores, relevant, k):
    return both(scores, relevant, k, reciprocal=lambda hits: 1 / (hits.argmax(1) + 1.0))


def only_with_a_hit(scores, relevant, k):
    def reciprocal(hits):
        values = (hits / torch.arange(1, hits.shape[1] + 1)).amax(1)
        return values[values > 0]

    return both(scores, relevant, k, reciprocal=reciprocal)


def topk_without_min(scores, relevant, k):
    hits = relevant.gather(1, scores.topk(k).indices).float()
    return (hits.sum(1) / relevant.sum(1)).mean(), (hits / torch.arange(1, k + 1)).amax(1).mean()


def of_each_query(scores, relevant, k):
    hits = relevant.gather(1, scores.argsort(1, descending=True)[:, :k]).float()
    return hits.sum(1) / relevant.sum(1), hits.amax(1)


def mrr_first(scores, relevant, k):
    return both(scores, relevant, k)[::-1]


def only_recall(scores, relevant, k):
    return both(scores, relevant, k)[0]


def mean_rank(scores, relevant, k):
    hits = relevant.gather(1, scores.argsort(1, descending=True)).float()
    return both(scores, relevant, k)[0], 1 / (hits.argmax(1) + 1.0).mean()


ANSWERS = {
    "recall-and-mrr": {
        "accepted": [with_topk, with_loops, with_numpy, by_counting],
        "wrong": [
            (hit_rate, "the share of queries with a hit"),
            (precision, "That is the precision"),
            (capped, "where more than k passages are relevant"),
            (over_all_queries, "Take the recall of each query"),
            (ascending, "the k worst passages"),
            (unsorted, "Sort them by their scores first"),
            (ranks_from_zero, "Your ranks begin with 0"),
            (without_a_limit, "Your ranks have no limit"),
            (all_of_them, "Only the first one of each query counts"),
            (argmax_of_zeros, "argmax of zeros is 0"),
            (only_with_a_hit, "The others count as 0"),
            (topk_without_min, "need min(k, N)"),
            (of_each_query, "one number is expected"),
            (mrr_first, "Return the recall first"),
            (only_recall, "2 things are asked for"),
            (mean_rank, "That is 1 / the mean rank"),
        ],
    },
}

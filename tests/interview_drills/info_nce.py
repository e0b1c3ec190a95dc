"""Answers to the drill of InfoNCE: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn import functional as F


def parts(query, positive, negatives):
    q, p, n = (x / x.norm(dim=-1, keepdim=True) for x in (query, positive, negatives))
    return (q * p).sum(-1), (q[:, None] * n).sum(-1)


def with_cross_entropy(query, positive, negatives, temperature):
    pos, neg = parts(query, positive, negatives)
    logits = torch.cat([pos[:, None], neg], 1) / temperature
    return F.cross_entropy(logits, torch.zeros(len(query), dtype=torch.long))


def with_logsumexp(query, positive, negatives, temperature):
    candidates = torch.cat([negatives, positive.unsqueeze(1)], dim=1)
    scores = F.cosine_similarity(query.unsqueeze(1), candidates, dim=-1) / temperature
    return (scores.logsumexp(-1) - scores[:, -1]).mean()


def with_loops(query, positive, negatives, temperature):
    total = 0
    for q, p, n in zip(query.double(), positive.double(), negatives.double(), strict=True):
        top = torch.exp(q @ p / q.norm() / p.norm() / temperature)
        below = sum(torch.exp(q @ one / q.norm() / one.norm() / temperature) for one in n)
        total = total - torch.log(top / (top + below))
    return total / len(query)


def with_softplus(query, positive, negatives, temperature):
    pos, neg = parts(query, positive, negatives)
    return F.softplus((neg / temperature).logsumexp(1) - pos / temperature).mean().view(1)


def with_baddbmm(query, positive, negatives, temperature):
    query = query / query.norm(dim=1, keepdim=True)
    everything = F.normalize(torch.cat([positive[:, None], negatives], 1), dim=2)
    logits = torch.bmm(everything, query[:, :, None]).squeeze(2).div_(temperature)
    target = torch.zeros_like(logits)
    target[:, 0] = 1
    return F.cross_entropy(logits, target)


def dot_products(query, positive, negatives, temperature):
    pos, neg = (query * positive).sum(-1, keepdim=True), (query[:, None] * negatives).sum(-1)
    return -(torch.cat([pos, neg], 1) / temperature).log_softmax(1)[:, 0].mean()


def without_the_temperature(query, positive, negatives, temperature):
    return with_cross_entropy(query, positive, negatives, 1.0)


def times_the_temperature(query, positive, negatives, temperature):
    return with_cross_entropy(query, positive, negatives, 1 / temperature)


def temperature_before_the_norm(query, positive, negatives, temperature):
    return with_cross_entropy(query / temperature, positive, negatives, 1.0)


def only_negatives_below(query, positive, negatives, temperature):
    pos, neg = parts(query, positive, negatives)
    return (-(pos / temperature) + (neg / temperature).exp().sum(1).log()).mean()


def softmax_twice(query, positive, negatives, temperature):
    pos, neg = parts(query, positive, negatives)
    logits = (torch.cat([pos[:, None], neg], 1) / temperature).softmax(-1)
    return F.cross_entropy(logits, torch.zeros(len(query), dtype=torch.long))


def summed(query, positive, negatives, temperature):
    return with_cross_entropy(query, positive, negatives, temperature) * len(query)


def without_the_sign(query, positive, negatives, temperature):
    return -with_cross_entropy(query, positive, negatives, temperature)


def of_each_query(query, positive, negatives, temperature):
    pos, neg = parts(query, positive, negatives)
    return -(torch.cat([pos[:, None], neg], 1) / temperature).log_softmax(1)[:, 0]


def labels_that_count(query, positive, negatives, temperature):
    pos, neg = parts(query, positive, negatives)
    logits = torch.cat([pos[:, None], neg], 1) / temperature
    return F.cross_entropy(logits, torch.arange(len(query)) % logits.shape[1])


def negatives_of_all(query, positive, negatives, temperature):
    q, p, n = (F.normalize(x, dim=-1) for x in (query, positive, negatives.flatten(0, 1)))
    logits = torch.cat([(q * p).sum(-1, keepdim=True), q @ n.T], 1) / temperature
    return F.cross_entropy(logits, torch.zeros(len(query), dtype=torch.long))


def plain_exponentials(query, positive, negatives, temperature):
    pos, neg = (x.div(temperature).exp() for x in parts(query, positive, negatives))
    return -(pos / (pos + neg.sum(1))).log().mean()


def with_an_epsilon(query, positive, negatives, temperature):
    pos, neg = parts(query, positive, negatives)
    weights = (torch.cat([pos[:, None], neg], 1) / temperature).softmax(1)
    return -(weights[:, 0] + 1e-2).log().mean()


def no_axis_for_k(query, positive, negatives, temperature):
    return F.cosine_similarity(query, negatives, dim=-1).mean()


def as_a_float(query, positive, negatives, temperature):
    return with_cross_entropy(query, positive, negatives, temperature).item()


def over_the_batch(query, positive, negatives, temperature):
    pos, neg = parts(query, positive, negatives)
    return -(torch.cat([pos[:, None], neg], 1) / temperature).log_softmax(0)[:, 0].mean()


def other_positives(query, positive, negatives, temperature):
    scores = F.normalize(query, dim=-1) @ F.normalize(positive, dim=-1).T / temperature
    return F.cross_entropy(scores, torch.arange(len(query)))


def last_column(query, positive, negatives, temperature):
    pos, neg = parts(query, positive, negatives)
    return -(torch.cat([pos[:, None], neg], 1) / temperature).log_softmax(1)[:, -1].mean()


ANSWERS = {
    "info-nce": {
        "accepted": [with_cross_entropy, with_logsumexp, with_loops, with_softplus, with_baddbmm],
        "wrong": [
            (dot_products, "Those are dot products"),
            (without_the_temperature, "temperature is missing"),
            (temperature_before_the_norm, "temperature is missing"),
            (times_the_temperature, "You multiply by the temperature"),
            (only_negatives_below, "missing in the denominator"),
            (softmax_twice, "softmax runs twice"),
            (summed, "Take the mean"),
            (without_the_sign, "The sign is wrong"),
            (of_each_query, "one number is expected"),
            (labels_that_count, "Your labels are 0, 1, 2"),
            (negatives_of_all, "K negatives of its own"),
            (plain_exponentials, "subtract the maximum first"),
            (with_an_epsilon, "Compute one query by hand"),
            (no_axis_for_k, "give query an axis for K"),
            (as_a_float, "should be a tensor"),
            (over_the_batch, "runs over the batch"),
            (other_positives, "the positives of the other queries"),
            (last_column, "points at the last column"),
        ],
    },
}

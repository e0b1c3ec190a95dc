"""Answers to the drill of in-batch negatives: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn import functional as F


def mask_of(ids):
    return (ids[:, None] == ids) & ~torch.eye(len(ids), dtype=torch.bool)


def scored(queries, passages, ids, temperature, filled=-torch.inf):
    return (queries @ passages.T / temperature).masked_fill(mask_of(ids), filled)


def with_cross_entropy(queries, passages, passage_ids, temperature):
    scores, labels = scored(queries, passages, passage_ids, temperature), torch.arange(len(queries))
    return 0.5 * F.cross_entropy(scores, labels) + 0.5 * F.cross_entropy(scores.T, labels)


def with_logsumexp(queries, passages, passage_ids, temperature):
    scores = torch.einsum("id,jd->ij", queries.double(), passages.double()) / temperature
    scores = scores + mask_of(passage_ids).double() * -1e9
    return (scores.logsumexp(0) + scores.logsumexp(1) - 2 * scores.diag()).mean() / 2


def with_loops(queries, passages, passage_ids, temperature):
    total, count = 0.0, len(queries)
    for i in range(count):
        left = [j for j in range(count) if j == i or passage_ids[j] != passage_ids[i]]
        row = torch.stack([queries[i] @ passages[j] for j in left]) / temperature
        column = torch.stack([queries[j] @ passages[i] for j in left]) / temperature
        total = total - row.log_softmax(0)[left.index(i)] - column.log_softmax(0)[left.index(i)]
    return total / (2 * count)


def in_place(queries, passages, passage_ids, temperature):
    scores = F.normalize(queries, dim=1) @ F.normalize(passages, dim=1).T
    scores /= temperature
    same = passage_ids.unsqueeze(0) == passage_ids.unsqueeze(1)
    same.fill_diagonal_(False)
    scores[same] = torch.finfo(scores.dtype).min
    return -(scores.log_softmax(1) + scores.log_softmax(0)).diagonal().sum() / (2 * len(scores))


def stacked(queries, passages, passage_ids, temperature):
    scores = scored(queries, passages, passage_ids, temperature)
    labels = torch.arange(len(queries)).repeat(2)
    return F.cross_entropy(torch.cat([scores, scores.t()]), labels)


def without_a_mask(queries, passages, passage_ids, temperature):
    return with_cross_entropy(queries, passages, torch.arange(len(queries)), temperature)


def one_direction(queries, passages, passage_ids, temperature):
    return F.cross_entropy(scored(queries, passages, passage_ids, temperature), torch.arange(len(queries)))


def other_direction(queries, passages, passage_ids, temperature):
    return F.cross_entropy(scored(queries, passages, passage_ids, temperature).T, torch.arange(len(queries)))


def plainest(queries, passages, passage_ids, temperature):
    return F.cross_entropy(queries @ passages.T / temperature, torch.arange(len(queries)))


def added(queries, passages, passage_ids, temperature):
    return 2 * with_cross_entropy(queries, passages, passage_ids, temperature)


def masked_with_zero(queries, passages, passage_ids, temperature):
    scores, labels = scored(queries, passages, passage_ids, temperature, 0.0), torch.arange(len(queries))
    return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2


def multiplied_mask(queries, passages, passage_ids, temperature):
    scores = queries @ passages.T / temperature * ~mask_of(passage_ids)
    labels = torch.arange(len(queries))
    return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2


def masks_the_positive(queries, passages, passage_ids, temperature):
    scores = queries @ passages.T / temperature
    scores = scores.masked_fill(passage_ids[:, None] == passage_ids, -1e9)
    labels = torch.arange(len(queries))
    return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2


def masks_the_positive_with_infinity(queries, passages, passage_ids, temperature):
    scores = queries @ passages.T / temperature
    scores = scores.masked_fill(passage_ids[:, None] == passage_ids, -torch.inf)
    labels = torch.arange(len(queries))
    return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2


def masks_one_direction(queries, passages, passage_ids, temperature):
    scores, labels = queries @ passages.T / temperature, torch.arange(len(queries))
    masked = scores.masked_fill(mask_of(passage_ids), -torch.inf)
    return (F.cross_entropy(masked, labels) + F.cross_entropy(scores.T, labels)) / 2


def duplicates_as_positives(queries, passages, passage_ids, temperature):
    scores = queries @ passages.T / temperature
    labels = (passage_ids[:, None] == passage_ids).float()
    labels = labels / labels.sum(1, keepdim=True)
    return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2


def one_hot_times_infinity(queries, passages, passage_ids, temperature):
    scores = scored(queries, passages, passage_ids, temperature)
    one_hot = torch.eye(len(queries))
    return -((one_hot * scores.log_softmax(1)).sum(1) + (one_hot * scores.T.log_softmax(1)).sum(1)).mean() / 2


def labels_of_zero(queries, passages, passage_ids, temperature):
    scores, labels = scored(queries, passages, passage_ids, temperature), torch.zeros(len(queries)).long()
    return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2


def without_the_temperature(queries, passages, passage_ids, temperature):
    return with_cross_entropy(queries, passages, passage_ids, 1.0)


def times_the_temperature(queries, passages, passage_ids, temperature):
    return with_cross_entropy(queries, passages, passage_ids, 1 / temperature)


def twice_the_same_direction(queries, passages, passage_ids, temperature):
    scores = scored(queries, passages, passage_ids, temperature)
    return -(scores.log_softmax(1).diag() + scores.T.log_softmax(0).diag()).mean() / 2


def softmax_twice(queries, passages, passage_ids, temperature):
    scores, labels = scored(queries, passages, passage_ids, temperature), torch.arange(len(queries))
    return (F.cross_entropy(scores.softmax(1), labels) + F.cross_entropy(scores.T.softmax(1), labels)) / 2


def ids_as_labels(queries, passages, passage_ids, temperature):
    return F.cross_entropy(queries @ passages.T / temperature, passage_ids)


def not_transposed(queries, passages, passage_ids, temperature):
    return (queries @ passages / temperature).mean()


def queries_detached(queries, passages, passage_ids, temperature):
    return with_cross_entropy(queries.detach(), passages, passage_ids, temperature)


ANSWERS = {
    "in-batch-negatives": {
        "accepted": [with_cross_entropy, with_logsumexp, with_loops, in_place, stacked],
        "wrong": [
            (without_a_mask, "Duplicates are not masked"),
            (one_direction, "only the direction from queries to passages"),
            (other_direction, "only the direction from passages to queries"),
            (plainest, "and duplicates are not masked"),
            (added, "Take their mean"),
            (masked_with_zero, "e to the 0 is 1"),
            (multiplied_mask, "e to the 0 is 1"),
            (masks_the_positive, "Do you mask the positive"),
            (masks_the_positive_with_infinity, "Do you mask the positive"),
            (masks_one_direction, "You mask only the direction from queries"),
            (duplicates_as_positives, "as further positives"),
            (one_hot_times_infinity, "0 times minus infinity is nan"),
            (labels_of_zero, "All your labels are 0"),
            (without_the_temperature, "temperature is missing"),
            (times_the_temperature, "You multiply by the temperature"),
            (twice_the_same_direction, "a softmax over the queries for each passage"),
            (softmax_twice, "softmax runs twice"),
            (ids_as_labels, "Ids of passages are no columns"),
            (not_transposed, "Transpose the passages"),
            (queries_detached, "no gradient reaches queries"),
        ],
    },
}

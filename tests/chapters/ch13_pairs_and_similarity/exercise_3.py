"""Answers to exercise 13.3: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn.functional import cosine_similarity, normalize

# 13.3 ------------------------------------------------------------------------------------------------------------


def with_topk(queries, collection, k):
    cosines = normalize(queries, dim=-1) @ normalize(collection, dim=-1).T
    return cosines.topk(k, dim=-1)


def by_sorting(queries, collection, k):
    cosines = cosine_similarity(queries[:, None], collection[None], dim=-1)
    order = cosines.argsort(dim=-1, descending=True)[:, :k]
    return cosines.gather(1, order), order


def one_by_one(queries, collection, k):
    rows = [torch.tensor([(q @ c) / (q.norm() * c.norm()) for c in collection]).topk(k) for q in queries]
    return torch.stack([row.values for row in rows]), torch.stack([row.indices for row in rows])


def plain_products(queries, collection, k):
    return tuple((queries @ collection.T).topk(k))


def only_queries(queries, collection, k):
    return tuple((normalize(queries, dim=-1) @ collection.T).topk(k))


def only_collection(queries, collection, k):
    return tuple((queries @ normalize(collection, dim=-1).T).topk(k))


def wrong_axis(queries, collection, k):
    return tuple((normalize(queries, dim=0) @ normalize(collection, dim=0).T).topk(k))


def farthest(queries, collection, k):
    cosines = normalize(queries, dim=-1) @ normalize(collection, dim=-1).T
    return tuple(cosines.topk(k, largest=False))


def over_queries(queries, collection, k):
    cosines = normalize(queries, dim=-1) @ normalize(collection, dim=-1).T
    return tuple(cosines.topk(min(k, len(queries)), dim=0))


def only_first_pairs(queries, collection, k):
    return tuple(cosine_similarity(queries, collection).topk(k))


def not_transposed(queries, collection, k):
    return tuple((normalize(queries, dim=-1) @ normalize(collection, dim=-1)).topk(k))


def along_the_queries(queries, collection, k):
    return tuple((normalize(queries, dim=-1) @ normalize(collection, dim=-1).T).topk(k, dim=0))


def one_norm_for_all(queries, collection, k):
    return tuple((queries @ collection.T / queries.norm() / collection.norm()).topk(k))


def negative_distances(queries, collection, k):
    return tuple((-torch.cdist(normalize(queries, dim=-1), normalize(collection, dim=-1))).topk(k))


def always_four(queries, collection, k):
    return tuple(with_topk(queries, collection, 4))


def exchanged(queries, collection, k):
    cosines, places = with_topk(queries, collection, k)
    return places, cosines


def only_cosines(queries, collection, k):
    return with_topk(queries, collection, k)[0]


def unsorted(queries, collection, k):
    cosines = normalize(queries, dim=-1) @ normalize(collection, dim=-1).T
    return cosines[:, :k], torch.arange(k).expand(len(queries), k)


def in_the_order_of_the_collection(queries, collection, k):
    best = with_topk(queries, collection, k)
    positions, order = best.indices.sort(dim=-1)
    return best.values.gather(1, order), positions


def norms_of_one_axis(queries, collection, k):
    return tuple((queries @ collection.T / (queries.norm(dim=-1) * collection.norm(dim=-1))).topk(k))


def the_vectors_themselves(queries, collection, k):
    best = with_topk(queries, collection, k)
    return best.values, collection[best.indices]


def probabilities(queries, collection, k):
    return tuple((normalize(queries, dim=-1) @ normalize(collection, dim=-1).T).softmax(dim=-1).topk(k))


ANSWERS = {
    "13.3": {
        "accepted": [with_topk, by_sorting, one_by_one],
        "wrong": [
            (plain_products, "long vectors win"),
            (only_queries, "the collection is not"),
            (only_collection, "are no cosines"),
            (wrong_axis, "normalized the columns"),
            (farthest, "largest cosines should come first"),
            (over_queries, "along which axis"),
            (only_first_pairs, "every query with every vector"),
            (not_transposed, "Transpose the collection"),
            (along_the_queries, "fewer than k entries"),
            (one_norm_for_all, "norm of the whole matrix"),
            (negative_distances, "negative distances"),
            (always_four, "k = 1"),
            (exchanged, "cosines first"),
            (only_cosines, "2 things are asked for"),
            (unsorted, "Where do you sort"),
            (in_the_order_of_the_collection, "the best should come first"),
            (norms_of_one_axis, "the shape [N, 1]"),
            (the_vectors_themselves, "not the vectors"),
            (probabilities, "Those are probabilities"),
        ],
    }
}

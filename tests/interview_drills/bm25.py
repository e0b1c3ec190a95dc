"""Answers to the drill of BM25: right ones, and mistakes with the words that they must hear."""

import math
from collections import Counter

import numpy as np
import torch


def with_counters(query, documents, k1, b):
    N, mean = len(documents), np.mean([len(document) for document in documents])
    scores = []
    for document in documents:
        total = 0
        for word in query:
            n = sum(word in other for other in documents)
            f = document.count(word)
            idf = math.log((N + 1) / (n + 0.5))
            total += idf * f * (1 + k1) / (f + k1 * (1 - b + b * len(document) / mean))
        scores.append(total)
    return scores


def with_numpy(query, documents, k1, b):
    words = sorted(set(query))
    table = np.array([[document.count(word) for word in words] for document in documents], dtype=np.float32)
    lengths = np.array([len(document) for document in documents])
    n = (table > 0).sum(0)
    idf = np.log1p((len(documents) - n + 0.5) / (n + 0.5))
    norm = k1 * (1 - b + b * lengths / lengths.mean())
    weights = np.array([query.count(word) for word in words])
    return (idf * weights * table * (k1 + 1) / (table + norm[:, None])).sum(1)


def with_torch(query, documents, k1, b):
    table = torch.tensor([[float(document.count(word)) for word in query] for document in documents])
    lengths = torch.tensor([float(len(document)) for document in documents])
    n = table.count_nonzero(dim=0)
    idf = (1 + (len(documents) - n + 0.5) / (n + 0.5)).log()
    norm = k1 * (1 - b + b * lengths / lengths.mean()).unsqueeze(1)
    return torch.einsum("nq,q->n", table * (k1 + 1) / (table + norm), idf)


def with_an_index(query, documents, k1, b):
    index, mean = {}, sum(map(len, documents)) / len(documents)
    for i, document in enumerate(documents):
        for word, f in Counter(document).items():
            index.setdefault(word, []).append((i, f))
    scores = [0.0] * len(documents)
    for word in query:
        postings = index.get(word, [])
        idf = math.log(1 + (len(documents) - len(postings) + 0.5) / (len(postings) + 0.5))
        for i, f in postings:
            scores[i] += idf * f * (k1 + 1) / (f + k1 * (1 - b + b * len(documents[i]) / mean))
    return tuple(scores)


def general(query, documents, k1, b, idf=None, n_of=None, f_of=None, second=None):
    N, mean = len(documents), sum(map(len, documents)) / len(documents)
    idf = idf or (lambda n: math.log(1 + (N - n + 0.5) / (n + 0.5)))
    n_of = n_of or (lambda word: sum(word in other for other in documents))
    f_of = f_of or (lambda word, document: document.count(word))
    second = second or (lambda f, length: f * (k1 + 1) / (f + k1 * (1 - b + b * length / mean)))
    return [sum(idf(n_of(w)) * second(f_of(w, d), len(d)) for w in query) for d in documents]


def counts_occurrences(query, documents, k1, b):
    return general(query, documents, k1, b, n_of=lambda word: sum(d.count(word) for d in documents))


def without_the_one(query, documents, k1, b):
    N = len(documents)
    return general(query, documents, k1, b, idf=lambda n: math.log((N - n + 0.5) / (n + 0.5)))


def classic_idf(query, documents, k1, b):
    return general(query, documents, k1, b, idf=lambda n: math.log(len(documents) / n) if n else 0)


def log_of_ten(query, documents, k1, b):
    N = len(documents)
    return general(query, documents, k1, b, idf=lambda n: math.log10(1 + (N - n + 0.5) / (n + 0.5)))


def tf_idf(query, documents, k1, b):
    return general(query, documents, k1, b, second=lambda f, _: f)


def without_k1_plus_one(query, documents, k1, b):
    mean = sum(map(len, documents)) / len(documents)
    return general(query, documents, k1, b, second=lambda f, length: f / (f + k1 * (1 - b + b * length / mean)))


def without_length(query, documents, k1, b):
    return general(query, documents, k1, b, second=lambda f, _: f * (k1 + 1) / (f + k1))


def length_inverted(query, documents, k1, b):
    mean = sum(map(len, documents)) / len(documents)
    return general(query, documents, k1, b, second=lambda f, n: f * (k1 + 1) / (f + k1 * (1 - b + b * mean / n)))


def wrong_brackets(query, documents, k1, b):
    mean = sum(map(len, documents)) / len(documents)
    return general(query, documents, k1, b, second=lambda f, n: f * (k1 + 1) / (f + k1 * (1 - b * n / mean)))


def swapped(query, documents, k1, b):
    return with_counters(query, documents, b, k1)


def set_of_the_query(query, documents, k1, b):
    return with_counters(set(query), documents, k1, b)


def inside_of_words(query, documents, k1, b):
    texts = [" ".join(document) for document in documents]
    return general(
        query,
        documents,
        k1,
        b,
        n_of=lambda word: sum(word in text for text in texts),
        f_of=lambda word, document: " ".join(document).count(word),
    )


def frequency_by_length(query, documents, k1, b):
    return general(query, documents, k1, b, f_of=lambda word, document: document.count(word) / len(document))


def ranked(query, documents, k1, b):
    scores = with_counters(query, documents, k1, b)
    return sorted(range(len(scores)), key=lambda i: -scores[i])


def sorted_scores(query, documents, k1, b):
    return sorted(with_counters(query, documents, k1, b), reverse=True)


def one_number(query, documents, k1, b):
    return sum(with_counters(query, documents, k1, b))


def with_a_plain_dict(query, documents, k1, b):
    holding = {}
    for document in documents:
        for word in set(document):
            holding[word] = holding.get(word, 0) + 1
    return general(query, documents, k1, b, n_of=lambda word: holding[word])


def divides_by_each_length(query, documents, k1, b):
    scores = with_counters(query, documents, k1, b)
    return [float(score) * len(d) / len(d) for score, d in zip(scores, documents, strict=True)]


ANSWERS = {
    "bm25": {
        "accepted": [with_counters, with_numpy, with_torch, with_an_index],
        "wrong": [
            (counts_occurrences, "n counts occurrences"),
            (without_the_one, "counts negatively"),
            (classic_idf, "Your idf is ln(N / n)"),
            (log_of_ten, "Take the natural one"),
            (tf_idf, "The frequency does not saturate"),
            (without_k1_plus_one, "The factor k1 + 1"),
            (without_length, "Length is not normalized"),
            (length_inverted, "the wrong way round"),
            (wrong_brackets, "Watch the brackets"),
            (swapped, "k1 and b are swapped"),
            (set_of_the_query, "a set of the query"),
            (inside_of_words, "Compare whole words"),
            (frequency_by_length, "takes the plain count"),
            (ranked, "Those are numbers of documents"),
            (sorted_scores, "The scores are sorted"),
            (one_number, "a list of scores"),
            (with_a_plain_dict, "adds 0 to every score"),
            (divides_by_each_length, "An empty document has the score 0"),
        ],
    },
}

"""Whiteboard drill: the BM25 scores of a collection."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from bertedu.course.case import Case, plain
from bertedu.course.explaining import compare
from bertedu.interview.drills.drill import Drill

TASK = """
Write `bm25(query, documents, k1, b)`: how well each document of a collection fits a query, by BM25.

    query       a list of words; one that stands there twice counts twice
    documents   a list of N lists of words
    k1, b       floats, such as 1.5 and 0.75

The score of a document is a sum over the words of the query, each with two factors. The first is the inverse document
frequency ln(1 + (N - n + 0.5) / (n + 0.5)), where n of the N documents hold the word. The second comes from the word's
frequency f in this document: it saturates with k1 and is normalized by length with b, in the form that has k1 + 1 in
the numerator. Length is the number of words, compared with the mean length of the collection.

Return a list of N floats, in the order of the documents. A query may have words that no document has, and a document
may be empty.

Allowed: the standard library, numpy, torch.
"""

STUB = """
import math
from collections import Counter


def bm25(query, documents, k1, b):
    raise NotImplementedError
"""

SOLUTION = """
import math
from collections import Counter


def bm25(query, documents, k1, b):
    N = len(documents)
    mean = sum(len(document) for document in documents) / N
    holding = Counter(word for document in documents for word in set(document))
    scores = []
    for document in documents:
        frequency = Counter(document)
        norm = k1 * (1 - b + b * len(document) / mean)
        score = 0.0
        for word in query:
            n, f = holding[word], frequency[word]
            idf = math.log(1 + (N - n + 0.5) / (n + 0.5))
            score += idf * f * (k1 + 1) / (f + norm)
        scores.append(score)
    return scores
"""

Words = Sequence[str]


def right_idf(N: int, n: int) -> float:
    """The inverse document frequency of the task."""
    return math.log(1 + (N - n + 0.5) / (n + 0.5))


def right_norm(b: float, length: float, mean: float) -> float:
    """1 for a document of mean length."""
    return 1 - b + b * length / mean


def right_saturation(f: float, k1: float, norm: float, length: int) -> float:
    """The factor of the frequency."""
    return f * (k1 + 1) / (f + k1 * norm)


def scorer(
    idf: Callable[[int, int], float] = right_idf,
    norm: Callable[[float, float, float], float] = right_norm,
    saturation: Callable[[float, float, float, int], float] = right_saturation,
    unique: bool = False,
    occurrences: bool = False,
    within: bool = False,
    swapped: bool = False,
) -> Callable[..., list[float]]:
    """BM25 with another idf, normalization of length or saturation. unique: the words of the query once; occurrences: n
    counts words; within: words are found inside of words; swapped: k1 for b."""

    def run(query: Words, documents: Sequence[Words], k1: float, b: float) -> list[float]:
        k1, b = (b, k1) if swapped else (k1, b)
        mean, found = sum(map(len, documents)) / len(documents), []
        for document in documents:
            score = 0.0
            for word in dict.fromkeys(query) if unique else query:
                counts = [" ".join(one).count(word) if within else list(one).count(word) for one in documents]
                n = sum(counts) if occurrences else sum(count > 0 for count in counts)
                f = " ".join(document).count(word) if within else list(document).count(word)
                if f:
                    factor = saturation(f, k1, norm(b, len(document), mean), len(document))
                    score += idf(len(documents), n) * factor
            found.append(score)
        return found

    return run


def by_different_words(query: Words, documents: Sequence[Words], k1: float, b: float) -> list[float]:
    """Length as the number of different words."""
    mean = sum(len(set(document)) for document in documents) / len(documents)
    found = []
    for document in documents:
        norm, score = right_norm(b, len(set(document)), mean), 0.0
        for word in query:
            n = sum(word in other for other in documents)
            score += right_idf(len(documents), n) * right_saturation(list(document).count(word), k1, norm, 1)
        found.append(score)
    return found


RIGHT = scorer()
MISTAKES: dict[str, Callable] = {
    "n counts occurrences. It is the number of documents that hold the word, however often: count set(document).": (
        scorer(occurrences=True)
    ),
    "The 1 inside the logarithm is missing: without it, a word of more than half of the documents counts negatively.": (
        scorer(idf=lambda N, n: math.log((N - n + 0.5) / (n + 0.5)))
    ),
    "Your idf is ln(N / n). The task gives another one.": scorer(idf=lambda N, n: math.log(N / n)),
    "Your logarithm has another base. Take the natural one: math.log.": scorer(
        idf=lambda N, n: right_idf(N, n) / math.log(10)
    ),
    "Your logarithm has base 2. Take the natural one: math.log.": scorer(
        idf=lambda N, n: right_idf(N, n) / math.log(2)
    ),
    "The inverse document frequency is missing: a rare word has to count more.": scorer(idf=lambda N, n: 1.0),
    "The frequency does not saturate: that is TF-IDF. f goes through f · (k1 + 1) / (f + …).": scorer(
        saturation=lambda f, *_: f
    ),
    "The factor k1 + 1 in the numerator is missing.": scorer(saturation=lambda f, k1, norm, _: f / (f + k1 * norm)),
    "Length is not normalized: multiply k1 by 1 - b + b · length / mean length.": scorer(norm=lambda *_: 1.0),
    "Length is normalized the wrong way round, mean / length: a long document then needs fewer occurrences.": scorer(
        norm=lambda b, length, mean: 1 - b + b * mean / length
    ),
    "The normalization is missing its 1 - b: it is 1 - b + b · length / mean.": scorer(
        norm=lambda b, length, mean: b * length / mean
    ),
    "b is always 1 in your normalization: it is 1 - b + b · length / mean.": scorer(
        norm=lambda b, length, mean: length / mean
    ),
    "Watch the brackets: the length's factor is 1 - b + b · length / mean, not 1 - b · length / mean.": scorer(
        norm=lambda b, length, mean: 1 - b * length / mean
    ),
    "The normalization does not multiply k1 in the denominator: it is f + k1 · (1 - b + b · length / mean).": scorer(
        saturation=lambda f, k1, norm, _: f * (k1 + 1) / (f + k1 + norm)
    ),
    "f + k1 stands in brackets that it does not have: only k1 is multiplied by the normalization.": scorer(
        saturation=lambda f, k1, norm, _: f * (k1 + 1) / ((f + k1) * norm)
    ),
    "Your frequency is divided by the length of the document. BM25 takes the plain count; b is there for the length.": (
        scorer(saturation=lambda f, k1, norm, length: right_saturation(f / length, k1, norm, length))
    ),
    "Your length counts different words. Count every word of the document.": by_different_words,
    "k1 and b are swapped: k1 is for the saturation, b for the length.": scorer(swapped=True),
    "A word that stands twice in the query counts twice. Do you make a set of the query?": scorer(unique=True),
    "You find words inside of other words: net in nets. Compare whole words.": scorer(within=True),
    "The scores are sorted. Return them in the order of the documents.": lambda *x: sorted(RIGHT(*x), reverse=True),
    "Those are numbers of documents, the best first. Return the scores in the order of the documents.": lambda *x: (
        sorted(range(len(x[1])), key=lambda i: -RIGHT(*x)[i])
    ),
    "The scores are divided by the highest one. Return them as they are.": lambda *x: [
        score / (max(RIGHT(*x)) or 1) for score in RIGHT(*x)
    ],
}


def scores_of(case: Case, got: Any, _: Words, documents: Sequence[Words], *__: float) -> list[float]:
    """The scores as a list of floats."""
    scores = plain(got)
    if isinstance(scores, dict):
        case.fail("But the result is a dict. Return a list: the score of document 0, of document 1 and so on.")
    case.is_a("the result", scores, list, "a list of scores")
    case.expect(len(scores) == len(documents), f"But there are {len(scores)} scores for {len(documents)} documents.")
    scores = [score[0] if isinstance(score, list) and len(score) == 1 else score for score in scores]
    for score in scores:
        if isinstance(score, list):
            case.fail("But an entry is a list or a pair. Return only the scores, in the order of the documents.")
        case.is_a("a score", score, int | float, "a number")
    return [float(score) for score in scores]


TEXTS = """the boat has a net and the net has a hole
nets and boats
the harbor at night
a boat in the harbor and a boat at sea and a boat on land and no boat in the air
the sea"""
FISH = [line.split() for line in TEXTS.splitlines()]


def tries(case: Case) -> list[tuple]:
    """A collection by hand, then random ones of few words."""
    made: list[tuple] = [
        ("five documents and the query net", ["net"], FISH, 1.5, 0.75),
        ("five documents and the query boat harbor", ["boat", "harbor"], FISH, 1.2, 0.5),
        ("a query with the words of most documents", ["the", "and"], FISH, 2.0, 0.75),
        ("a query that says boat twice", ["boat", "sea", "boat"], FISH, 1.5, 0.75),
    ]
    for _ in range(6):
        documents = [
            [f"w{word}" for word in case.randint(0, 6, (length,)).tolist()]
            for length in case.randint(2, 12, (5,)).tolist()
        ]
        query = [f"w{word}" for word in case.randint(0, 6, (3,)).tolist()]
        made.append((f"five random documents and the query {' '.join(query)}", query, documents, 1.5, 0.75))
    return made


def examine(case: Case) -> None:
    """Collections by hand and at random; then unknown words, an empty document, and an empty query."""
    case.causes |= {"math domain error": "The logarithm of a number below 0 or of 0: look at the brackets of the idf."}
    advice = (
        "Take one document and one word, and write down n, f, the length and the mean length. Then the two factors."
    )
    compare(case, tries(case), RIGHT, MISTAKES, advice, names=("the list of scores",), read=scores_of)
    unknown = "A word that no document has adds 0 to every score. Is there a division by n, or a missing key?"
    empty = "An empty document has the score 0. Is there a division by its length?"
    case.causes |= {"KeyError": unknown, "division by zero": f"{unknown} {empty}", "whale": unknown}
    for given, advice in (
        (("the query whale boat", ["whale", "boat"], FISH, 1.5, 0.75), unknown),
        (("a collection with an empty document", ["sea"], [*FISH, []], 1.5, 0.75), empty),
    ):
        compare(case, [given], RIGHT, {}, advice, names=("the list of scores",), read=scores_of)
    case.close_with("Say what b = 0 and k1 = 0 do: no normalization of length, and only whether a word occurs.")


DRILL = Drill(
    name="bm25",
    title="BM25 scores",
    minutes=10,
    task=TASK,
    stub=STUB,
    solution=SOLUTION,
    chapter="13",
    section="Semantic search",
    hints=(
        "Two things are counted once for the whole collection: in how many documents each word occurs, and the mean "
        "length. The rest is a sum for each document.",
        "The second factor is f · (k1 + 1) / (f + k1 · (1 - b + b · length / mean)).",
    ),
    examine=examine,
)

"""Bags of words: how often each word stands in a text, and how rare it is. For the baselines without a network."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bertedu.segmentation import terms

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import FeatureUnion

Pair = tuple[str, str]


def bags_of_words(texts: Sequence[str], **options: Any) -> "TfidfVectorizer":
    """What turns texts into bags, knowing the words of these; where none holds a word (marks alone), their marks."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    cut = terms if any(map(terms, texts)) else str.split
    return TfidfVectorizer(tokenizer=cut, token_pattern=None, **options).fit(texts)


def bag_cosines(pairs: Sequence[Pair], known: Sequence[str]) -> np.ndarray:
    """The cosine of each pair's bags, [N]. A word weighs the more the fewer of the known texts hold it; one that none
    holds weighs most, since a rare word that both share says most: a name, a town."""
    first, second = zip(*pairs, strict=True)
    vectorizer = bags_of_words([*known, *first, *second])
    holding = np.asarray((vectorizer.transform(known) > 0).sum(axis=0)).ravel()
    vectorizer.idf_ = np.log((1 + len(known)) / (1 + holding)) + 1  # as scikit-learn does, from the known texts alone
    return np.asarray(vectorizer.transform(first).multiply(vectorizer.transform(second)).sum(axis=1)).ravel()


def compared_words(pairs: Sequence[Pair]) -> "FeatureUnion":
    """What turns pairs of texts into what counting can tell of both: the words that only one of them holds, the words
    that both hold, and how many those are. Unlike one bag of both texts it can lay word beside word."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_union
    from sklearn.preprocessing import FunctionTransformer

    return make_union(TfidfVectorizer(analyzer=words_by_place), FunctionTransformer(shares_in_common)).fit(pairs)


def words_by_place(pair: Pair) -> list[tuple[str, str]]:
    """Each word of a pair, with where it stands: in the first text, in the second, or in both."""
    first, second = map(words_in, pair)
    places = {"first": first - second, "second": second - first, "both": first & second}
    return [(place, word) for place, words in places.items() for word in sorted(words)]


def shares_in_common(pairs: Sequence[Pair]) -> np.ndarray:
    """How large a share of the words of the first text, of the second and of both together stands in both, [N, 3]."""
    shares = []
    for first, second in (map(words_in, pair) for pair in pairs):
        shares.append([len(first & second) / max(1, len(words)) for words in (first, second, first | second)])
    return np.array(shares)


def words_in(text: str) -> set[str]:
    """The words of a text, or its marks where it holds no word."""
    return set(terms(text) or text.split())

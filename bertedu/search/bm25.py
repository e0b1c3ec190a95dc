"""BM25: rare words in common. The baseline that a learned search has to beat; the library is bm25s (Lù 2024).

Robertson & Zaragoza 2009, in Lucene's form: a word's idf times f / (f + k1 (1 - b + b length / mean length)).
Shapes: Q questions, P passages.
"""

from collections.abc import Sequence
from unicodedata import normalize

import numpy as np
import regex

from bertedu.errors import UserError
from bertedu.extras import needs_extra
from bertedu.search.hits import Hits, best_hits, check_k, check_search
from bertedu.segmentation import terms

ACCENTS = regex.compile(r"(?<=\p{Latin})\p{M}+")


def words_of(text: str) -> list[str]:
    """The words of a text in small letters, and Latin ones without accents: a question need not repeat them. The marks
    are left out: each question ends in one, and says nothing by it.
    """
    text = text.lower()
    return terms(text if text.isascii() else normalize("NFC", ACCENTS.sub("", normalize("NFD", text))))


class BM25Search:
    """An index of the words of some passages.

    k1: how soon a word that is repeated counts no more; b: how much longer passages are held against them, from 0 to 1.
    """

    def __init__(self, passages: Sequence[str], k1: float = 1.5, b: float = 0.75):
        check_search(passages)
        if not (k1 >= 0 and 0 <= b <= 1):
            raise UserError(f"k1 is {k1} and b is {b}: give k1 from 0 on, and b from 0 to 1.")
        with needs_extra("production"):
            import bm25s
        self.index = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64")
        self.index.index([words_of(passage) for passage in passages], show_progress=False)
        self.size = len(passages)

    def scores(self, question: str) -> np.ndarray:
        """The score of every passage, [P]; 0 where no word is shared."""
        words = words_of(question)
        return np.asarray(self.index.get_scores(words)) if words else np.zeros(self.size)

    def search(self, questions: Sequence[str], k: int = 10) -> list[Hits]:
        """At most k hits for each question, best first: passages without a word in common are no hits."""
        check_k(k)
        return [
            [(number, score) for number, score in best_hits(self.scores(question)[None], k)[0] if score > 0]
            for question in questions
        ]

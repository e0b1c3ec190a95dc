"""Bags of words: how often each word stands in a text, and how rare it is. For the baselines without a network."""

import re
from collections.abc import Sequence
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer

WORD = r"\w+"  # scikit-learn's own pattern leaves out words of one letter
ANYTHING = r"\S+"


def bags_of_words(texts: Sequence[str], **options: Any) -> TfidfVectorizer:
    """What turns texts into bags, knowing the words of these; where none holds a word (marks alone), their marks."""
    pattern = WORD if any(re.search(WORD, text) for text in texts) else ANYTHING
    return TfidfVectorizer(token_pattern=pattern, **options).fit(texts)

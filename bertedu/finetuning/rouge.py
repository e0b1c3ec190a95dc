"""ROUGE: how many words, pairs of words, or words in order a summary shares with one written by a person.

Lin 2004. F1 of ROUGE-1, ROUGE-2 and ROUGE-L, words in small letters without stemming. A word is made of letters, with
their marks, and digits. Of texts in the letters a to z these are the scores of the library rouge_score, for which other
letters are none.
"""

from collections import Counter

import regex

from bertedu.segmentation import words

LETTERS = regex.compile(
    r"[\p{L}\p{M}\p{N}\u200c\u200d]+"
)  # rouge_score divides a word at its marks: don't is don and t


def words_of(text: str) -> list[str]:
    """The words and numbers of a text, in small letters."""
    return [part for word in words(text.lower()) for part in LETTERS.findall(word)]


def f1_of_counts(common: int, found: int, right: int) -> float:
    """F1 of `common` things shared by `found` and `right` of them."""
    return 2 * common / (found + right) if common else 0.0


def rouge_n(summary: str, reference: str, n: int) -> float:
    """The F1 of the runs of n words that both share."""
    found, right = (
        Counter(zip(*(words[i:] for i in range(n)), strict=False)) for words in (words_of(summary), words_of(reference))
    )
    return f1_of_counts((found & right).total(), found.total(), right.total())


def rouge_l(summary: str, reference: str) -> float:
    """The F1 of the longest sequence of words that stands in both in the same order, gaps allowed."""
    found, right = words_of(summary), words_of(reference)
    lengths = [0] * (len(right) + 1)  # what was read of `found` against each beginning of `right`
    for word in found:
        corner = 0
        for place, other in enumerate(right, start=1):
            above = lengths[place]
            lengths[place] = corner + 1 if word == other else max(above, lengths[place - 1])
            corner = above
    return f1_of_counts(lengths[-1], len(found), len(right))


def rouge(summary: str, reference: str) -> dict[str, float]:
    """ROUGE-1, ROUGE-2 and ROUGE-L of one summary."""
    return {
        "rouge1": rouge_n(summary, reference, 1),
        "rouge2": rouge_n(summary, reference, 2),
        "rougeL": rouge_l(summary, reference),
    }

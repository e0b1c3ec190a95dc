"""The pairs written by hand (inference, similarity): parts share nothing, labels are balanced, no template shows."""

import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from support.task_rows import DATA, rows

from bertedu.corpora.tasks.grammar import PARTS
from bertedu.tokenization import BertTokenizer

TASKS = ("inference", "similarity")


@cache
def sentences(folder: str, part: str) -> frozenset[str]:
    return frozenset(text for row in rows(folder, part) for text in (row.text, row.pair))


@cache
def openings(folder: str, words: int) -> Counter[str]:
    """How many different sentences begin with the same words."""
    texts = frozenset().union(*(sentences(folder, part) for part in PARTS))
    return Counter(" ".join(re.findall(r"[\w']+", text.lower())[:words]) for text in texts)


def likest(one: frozenset[str], other: frozenset[str]) -> tuple[float, str, str]:
    """The two sentences of two sets that share most: words in both, divided by words in either."""
    first, second = sorted(one), sorted(other)
    bags = CountVectorizer(binary=True, token_pattern=r"[\w']+", dtype=np.int32).fit([*first, *second])
    a, b = bags.transform(first), bags.transform(second)
    both = (a @ b.T).toarray()
    shares = both / (a.sum(axis=1) + b.sum(axis=1).T - both)
    row, column = np.unravel_index(np.asarray(shares).argmax(), shares.shape)
    return float(shares[row, column]), first[row], second[column]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("one", "other"), [("train", "test"), ("train", "validation"), ("validation", "test")])
def test_no_sentence_of_one_part_is_nearly_one_of_another(task, one, other):
    share, first, second = likest(sentences(task, one), sentences(task, other))
    assert share <= 0.75, f"{first} | {second}"


@pytest.mark.parametrize("task", TASKS)
def test_no_pair_comes_twice_nor_with_its_sentences_swapped(task):
    pairs = [frozenset((row.text, row.pair)) for part in PARTS for row in rows(task, part)]
    assert len(set(pairs)) == len(pairs) and all(len(pair) == 2 for pair in pairs)


@pytest.mark.parametrize(("task", "labels"), [("inference", 3), ("similarity", 6)])
def test_every_label_is_equally_frequent(task, labels):
    for part in PARTS:
        counts = Counter(row.label for row in rows(task, part))
        assert len(counts) == labels and len(set(counts.values())) == 1, counts
    assert len(rows(task, "train")) >= 1500
    assert len(rows(task, "validation")) == len(rows(task, "test")) == 300


@pytest.mark.parametrize("task", TASKS)
def test_no_template_shows(task):
    """No opening of four words comes in more than six sentences, and most sentences have one of their own."""
    found = openings(task, 4)
    assert max(found.values()) <= 6, found.most_common(3)
    assert sum(count == 1 for count in found.values()) / sum(found.values()) > 0.5
    assert max(openings(f"stress/{task}", 4).values()) > 6


@pytest.mark.parametrize("task", TASKS)
def test_sentences_are_whole_and_fit_the_model_in_the_box(task):
    tokenizer = BertTokenizer.from_pretrained(DATA / "checkpoints" / "mixed-mini")
    for part in PARTS:
        for text in sentences(task, part):
            assert re.fullmatch(r"[A-Z].*[a-z.?!]", text) and "  " not in text, text
        pairs = tokenizer.encode_lines([f"{row.text} {row.pair}" for row in rows(task, part)])
        assert max(map(len, pairs)) + 3 <= 64


def test_half_of_the_words_of_a_paraphrase_are_new():
    """Pairs with score 5 share few words, and pairs with score 2 many: sharing words does not make two texts alike."""

    def shared(score: float) -> float:
        found = [row for row in rows("similarity", "train") if row.label == score]
        bags = [[set(re.findall(r"[\w']+", text.lower())) for text in (row.text, row.pair)] for row in found]
        return float(np.mean([len(one & two) / len(one | two) for one, two in bags]))

    assert shared(5) < 0.4 < shared(2)
    assert shared(0) < shared(1) < shared(5)

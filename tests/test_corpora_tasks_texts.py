"""The texts written by hand, data/tasks/sentiment and topics: parts share nothing, no template, no word decides."""

import csv
import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from support.task_rows import DATA, rows

from bertedu.corpora.tasks.grammar import PARTS
from bertedu.tokenization import BertTokenizer

PHENOMENA = {
    "sentiment": {
        "plain",
        "negation",
        "contrast",
        "expectation",
        "comparison",
        "implied",
        "irony",
        "question",
        "fact",
        "mixed",
        "open",
    },
    "topics": {"alone", "second matter", "settled", "denied", "implied"},
}
NEVER_JUDGED = {"question", "fact", "mixed", "open"}  # of sentiment: what makes a review neutral


@cache
def lines(task: str, part: str) -> list[dict[str, str]]:
    with open(DATA / "tasks" / task / f"{part}.tsv", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def words_of(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower())


@pytest.mark.parametrize("task", PHENOMENA)
@pytest.mark.parametrize(("one", "other"), [("train", "test"), ("train", "validation"), ("validation", "test")])
def test_no_text_of_one_part_is_nearly_one_of_another(task, one, other):
    """Words in both texts, divided by words in either."""
    first, second = ([row["text"] for row in lines(task, part)] for part in (one, other))
    bags = CountVectorizer(binary=True, token_pattern=r"[\w']+", dtype=np.int32).fit([*first, *second])
    a, b = bags.transform(first), bags.transform(second)
    both = (a @ b.T).toarray()
    shares = both / (np.asarray(a.sum(axis=1)) + np.asarray(b.sum(axis=1)).T - both)
    row, column = np.unravel_index(shares.argmax(), shares.shape)
    assert shares[row, column] <= 0.75, f"{first[row]} | {second[column]}"


@pytest.mark.parametrize("task", PHENOMENA)
def test_no_text_comes_twice(task):
    texts = [" ".join(words_of(row["text"])) for part in PARTS for row in lines(task, part)]
    assert not [text for text, count in Counter(texts).items() if count > 1]


def test_the_parts_are_large_and_their_labels_as_frequent_as_the_readme_says():
    for part, least in (("train", 1600), ("validation", 350), ("test", 350)):
        counts = Counter(row.label for row in rows("sentiment", part))
        assert counts.total() >= least and set(counts) == {"positive", "neutral", "negative"}
        assert abs(counts["positive"] - counts["negative"]) <= 0.02 * counts.total()
        assert 0.18 <= counts["neutral"] / counts.total() <= 0.22
    for part, least in (("train", 1000), ("validation", 200), ("test", 200)):
        counts = Counter(row.label for row in rows("topics", part))
        assert counts.total() >= least and len(counts) == 6
        assert max(counts.values()) <= 1.2 * min(counts.values()), counts


@pytest.mark.parametrize("task", PHENOMENA)
def test_every_row_names_its_phenomenon_and_every_part_has_all(task):
    for part in PARTS:
        assert {row["phenomenon"] for row in lines(task, part)} == PHENOMENA[task]
    if task == "sentiment":
        for row in (row for part in PARTS for row in lines(task, part)):
            assert (row["label"] == "neutral") == (row["phenomenon"] in NEVER_JUDGED), row


@pytest.mark.parametrize("task", PHENOMENA)
def test_no_template_shows(task):
    """No opening of four words is frequent, and most texts have one of their own; the templates' texts fail this."""

    def openings(folder: str) -> Counter[str]:
        return Counter(" ".join(words_of(row["text"])[:4]) for part in PARTS for row in lines(folder, part))

    def alone(found: Counter[str]) -> float:
        return sum(count == 1 for count in found.values()) / found.total()

    ours, made = openings(task), openings(f"stress/{task}")
    most, most_made = (max(found.values()) / found.total() for found in (ours, made))
    assert most < 0.01 and most < most_made / 3, ours.most_common(3)
    assert alone(ours) > 0.6 > alone(made)


@pytest.mark.parametrize("task", PHENOMENA)
def test_texts_are_whole_short_and_fit_the_model_in_the_box(task):
    tokenizer = BertTokenizer.from_pretrained(DATA / "checkpoints" / "mixed-mini")
    for part in PARTS:
        texts = [row["text"] for row in lines(task, part)]
        for text in texts:
            assert re.fullmatch(r"[\"A-Z0-9].*[.?!\"]", text) and "  " not in text, text
            assert len(text.split()) <= 60
        encoded = tokenizer.encode_lines(texts)
        assert max(map(len, encoded)) + 2 <= 64
        pieces, words = sum(map(len, encoded)), sum(len(re.findall(r"\w+|[^\w\s]", text)) for text in texts)
        assert pieces < 1.15 * words  # few words are cut into pieces


@pytest.mark.parametrize("task", PHENOMENA)
def test_no_single_word_gives_the_label_away(task):
    """A word that stands in thirty training texts or more stands in texts of several labels."""
    found: dict[str, Counter[str]] = {}
    for row in lines(task, "train"):
        for word in set(words_of(row["text"])):
            found.setdefault(word, Counter())[row["label"]] += 1
    frequent = {word: counts for word, counts in found.items() if counts.total() >= 30}
    assert len(frequent) > 50
    for word, counts in frequent.items():
        assert max(counts.values()) < 0.95 * counts.total(), (word, counts)


def test_a_good_part_of_the_test_names_what_no_training_text_names():
    """More than a quarter of its texts have a word of five letters or more that stands in no training text."""
    for task in PHENOMENA:
        known = {word for row in lines(task, "train") for word in words_of(row["text"])}
        new = [any(word not in known for word in words_of(row["text"]) if len(word) > 4) for row in lines(task, "test")]
        assert sum(new) > 0.25 * len(new)

"""Nothing in the task data that ship gives the answers away: neither half of a row, nor counting its words."""

from collections import Counter

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from support.task_rows import baseline, rows

from bertedu.corpora.tasks.grammar import PARTS
from bertedu.segmentation import split_sentences


@pytest.mark.parametrize("folder", ["inference", "stress/inference"])
@pytest.mark.parametrize("part", ["validation", "test"])
def test_the_hypothesis_alone_does_not_give_the_label_away(part, folder):
    train, asked = rows(folder, "train"), rows(folder, part)
    vectorizer = TfidfVectorizer(ngram_range=(1, 2)).fit([row.pair for row in train])
    model = LogisticRegression(C=10, max_iter=1000).fit(
        vectorizer.transform([row.pair for row in train]), [row.label for row in train]
    )
    accuracy = model.score(vectorizer.transform([row.pair for row in asked]), [row.label for row in asked])
    assert accuracy <= 0.40  # chance is 0.33
    for part in PARTS:
        by_hypothesis: dict[str, list] = {}
        for row in rows(folder, part):
            by_hypothesis.setdefault(row.pair, []).append(row.label)
        assert all(sorted(labels) == ["contradiction", "entailment", "neutral"] for labels in by_hypothesis.values())


def test_the_choice_alone_does_not_give_the_answer_away():
    """No choice is right more often than it is wrong by much: each ending comes as a wrong choice, too."""
    right = Counter(row.choices[row.label] for row in rows("choices", "train"))
    offered = Counter(choice for row in rows("choices", "train") for choice in row.choices)
    assert all(count <= 0.5 * offered[choice] for choice, count in right.items())


@pytest.mark.parametrize(
    ("task", "name", "figure", "lowest", "highest"),
    [
        ("sentiment", "bag of words", "accuracy", 0.55, 0.72),
        ("stress/sentiment", "bag of words", "accuracy", 0.60, 0.85),
        ("aspects", "bag of words", "micro_f1", 0.40, 0.75),
        ("topics", "bag of words", "accuracy", 0.60, 0.80),
        ("stress/topics", "bag of words", "accuracy", 0.22, 0.60),
        ("inference", "bag of words", "accuracy", 0.30, 0.50),
        ("inference", "words compared", "accuracy", 0.35, 0.55),
        ("similarity", "cosine of bags of words", "spearman", 0.30, 0.55),
        ("stress/inference", "bag of words", "accuracy", 0.36, 0.62),
        ("stress/inference", "words compared", "accuracy", 0.55, 0.75),
        ("stress/similarity", "cosine of bags of words", "spearman", 0.60, 0.80),
        ("choices", "highest word overlap", "accuracy", 0.15, 0.40),
        ("entities", "most frequent tag of the word", "f1", 0.0, 0.15),
        ("entities", "linear model of the word and its neighbours", "f1", 0.35, 0.55),
        ("stress/entities", "most frequent tag of the word", "f1", 0.0, 0.3),
        ("parts_of_speech", "most frequent tag of the word", "accuracy", 0.75, 0.88),
        ("questions", "never an answer", "f1", 0.25, 0.4),
        ("questions", "sentence most like the question", "f1", 0.1, 0.2),
        ("stress/questions", "never an answer", "f1", 0.25, 0.45),
        ("stress/questions", "sentence most like the question", "f1", 0.1, 0.4),
        ("summaries", "lead-3", "rouge1", 0.1, 0.4),
    ],
)
def test_counting_words_solves_no_task(task, name, figure, lowest, highest):
    for part in ("validation", "test"):
        found = baseline(task, part)[name][figure]
        assert lowest <= found <= highest, f"{task} {part}: {name} has {figure} {found:.3f}"


def test_a_choice_of_sentences_can_make_the_summary():
    figures = baseline("summaries")
    assert figures["oracle"]["rouge1"] > 0.6
    for part in PARTS:
        for row in rows("summaries", part):
            assert 6 <= len(split_sentences(row.text)) <= 12 and len(split_sentences(row.summary)) == 2, row

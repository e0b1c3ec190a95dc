"""The tasks of `bertedu finetune`, by name."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bertedu.corpora.readers import Choices, LabelledText, Question, Summary, TaggedWords
from bertedu.corpora.task_data import read_choices, read_labelled, read_questions, read_summaries, read_tagged
from bertedu.errors import UserError
from bertedu.finetuning.bags import bags_of_words, compared_words
from bertedu.finetuning.classification import (
    ClassificationTask,
    TextClassifier,
    classification_figures,
    score_figures,
    target_of,
)
from bertedu.finetuning.kind import Figures, Kind
from bertedu.finetuning.multiple_choice import ChoiceModel, MultipleChoiceTask, choice_baselines
from bertedu.finetuning.question_answering import (
    QuestionAnsweringTask,
    SpanFinder,
    longest_word_overlap,
)
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.similarity import SentenceEncoder, SimilarityTask, word_cosines
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.summarization import SentenceChooser, SummarizationTask, lead_and_oracle
from bertedu.finetuning.tagging import (
    CrfTagger,
    Tagger,
    TaggingTask,
    tags_of,
)
from bertedu.finetuning.tagging_baselines import tagging_baselines
from bertedu.tokenization import Tokenizer

IN_THE_SUMMARY = "in the summary"  # the one score of a token, by which transformers opens the head
SINGLE, SEVERAL, SCORE = "single_label_classification", "multi_label_classification", "regression"


def classification_kind(name: str, problem_type: str) -> Kind:
    """Classes, sets of classes or scores for texts and pairs of texts."""

    def read(path: str, split: str = "train", train: Sequence[LabelledText] = ()) -> list[LabelledText]:
        labels = labels_of(train) if train and problem_type != SCORE else None
        rows = read_labelled(path, problem_type=problem_type, labels=labels, split=split)
        if not train and problem_type != SCORE and len(found := labels_of(rows)) < 2:
            said = f"there is no label but {found[0]!r}" if found else "no row has a label"
            raise UserError(f"{path}: {said}, so that there is nothing to tell apart: add rows of other classes.")
        return rows

    def make(train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):
        labels = labels_of([*train, *validation]) if problem_type != SCORE else ("score",)
        changes = {"labels": labels, "problem_type": problem_type, "pooling": settings.pooling}
        network = with_new_head(TextClassifier, model, settings, **changes)
        return network, ClassificationTask(train, validation, tokenizer, settings, labels, problem_type)

    def baselines(train, test) -> dict[str, Figures]:
        return classification_baselines(train, test, problem_type)

    return Kind(name, read, make, baselines, folders_by_label=problem_type == SINGLE)


def labels_of(rows: Sequence[LabelledText]) -> tuple[str, ...]:
    """All labels of some texts, in the order of the alphabet."""
    return tuple(
        sorted({str(one) for row in rows for one in (row.label if isinstance(row.label, tuple) else (row.label,))})
    )


def classification_baselines(
    train: Sequence[LabelledText], test: Sequence[LabelledText], problem_type: str
) -> dict[str, Figures]:
    """The figures of always saying the same, and of a linear model over bags of words and pairs of words; of pairs of
    texts also over which words stand in one of them and which in both.
    """
    from sklearn.linear_model import Ridge

    texts, asked = ([f"{row.text} \n {row.pair or ''}" for row in rows] for rows in (train, test))
    vectorizer = bags_of_words(texts, ngram_range=(1, 2), sublinear_tf=True)
    bags = {"bag of words": (vectorizer.transform(texts), vectorizer.transform(asked))}
    if all(row.pair for row in (*train, *test)):
        pairs, asked_pairs = ([(row.text, row.pair or "") for row in rows] for rows in (train, test))
        comparer = compared_words(pairs)
        bags["words compared"] = (comparer.transform(pairs), comparer.transform(asked_pairs))
    if problem_type == SCORE:
        scores, right = (np.array([float(row.label) for row in rows]) for rows in (train, test))  # type: ignore[arg-type]
        said = {"the mean": np.full(len(right), scores.mean())}
        said |= {name: Ridge().fit(seen, scores).predict(new) for name, (seen, new) in bags.items()}
        return {name: score_figures(values, right) for name, values in said.items()}
    labels = labels_of([*train, *test])
    targets, right = (np.array([target_of(row, labels, problem_type) for row in rows]) for rows in (train, test))
    if problem_type == SEVERAL:
        usual = np.tile(targets.mean(axis=0) - 0.5, (len(right), 1))
    else:
        usual = np.tile(np.bincount(targets, minlength=len(labels)), (len(right), 1))
    found = {"most frequent class": usual}
    for name, (seen, new) in bags.items():
        alike = len(np.unique(targets, axis=0)) < 2  # there is nothing to learn
        found[name] = usual if alike else linear_scores(seen, targets, new, len(labels))
    return {name: classification_figures(scores, right, problem_type) for name, scores in found.items()}


def linear_scores(seen: Any, targets: np.ndarray, new: Any, classes: int) -> np.ndarray:
    """What a linear model that learned the targets of the seen bags gives the classes of new ones, [N, C]."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    linear = LogisticRegression(C=10, max_iter=1000)
    if targets.ndim == 2:
        return OneVsRestClassifier(linear).fit(seen, targets).predict_proba(new) - 0.5
    model = linear.fit(seen, targets)
    scores = np.full((new.shape[0], classes), -np.inf)  # a class that validation took was not learned
    scores[:, model.classes_] = model.predict_log_proba(new)
    return scores


def tagging_kind(name: str, scheme: str | None) -> Kind:
    """Tags for words: entities (scheme BIO), or tags of any form."""

    def read(path: str, split: str = "train", train: Sequence[TaggedWords] = ()) -> list[TaggedWords]:
        rows = read_tagged(path, scheme=scheme, labels=tags_of(train) if train else None, split=split)
        if not train and len(found := tags_of(rows)) < 2:
            raise UserError(f"{path}: every word has the tag {found[0]!r}: add sentences with others.")
        return rows

    def make(train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):
        labels = tags_of([*train, *validation])
        model_class = CrfTagger if settings.crf else Tagger
        network = with_new_head(model_class, model, settings, labels=labels)
        return network, TaggingTask(train, validation, tokenizer, settings, labels)

    return Kind(name, read, make, tagging_baselines)


def read_pairs(path: str, split: str = "train", train: Sequence[LabelledText] = ()) -> list[LabelledText]:
    """Pairs of texts with scores."""
    rows = read_labelled(path, problem_type=SCORE, split=split, scale=scale_of(train) if train else None)
    if any(row.pair is None for row in rows):
        raise UserError(f"{path}: a row holds one text: similarity needs two, in columns sentence1 and sentence2.")
    return rows


def scale_of(rows: Sequence[LabelledText]) -> tuple[float, float]:
    """The scores that mean "nothing in common" (0, or the lowest) and "the same" (the highest) in some rows."""
    scores = [float(row.label) for row in rows]  # type: ignore[arg-type]
    return min(0.0, *scores), max(scores)


def make_similarity(train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):
    """A bi-encoder; the scale runs from the lowest to the highest score in the data."""
    network = with_new_head(SentenceEncoder, model, settings, pooling=settings.pooling)
    return network, SimilarityTask(train, validation, tokenizer, settings, scale_of([*train, *validation]))


def make_question_answering(train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):
    """Spans as answers; windows begin a third of max_length apart, so that they overlap by more than half."""
    network = with_new_head(SpanFinder, model, settings)
    return network, QuestionAnsweringTask(train, validation, tokenizer, settings, stride=settings.max_length // 3)


def make_multiple_choice(train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):
    """Choices that compete."""
    network = with_new_head(ChoiceModel, model, settings)
    return network, MultipleChoiceTask(train, validation, tokenizer, settings)


def make_summarization(train, validation, tokenizer: Tokenizer, model: str, settings: FinetuningSettings):
    """Summaries of three sentences."""
    labels = {"labels": (IN_THE_SUMMARY,), "problem_type": SEVERAL}  # each sentence is a yes or no of its own
    network = with_new_head(SentenceChooser, model, settings, **labels)
    return network, SummarizationTask(train, validation, tokenizer, settings)


def rows_of(read: Callable[..., list]) -> Callable[..., list]:
    """A reader that takes the split, and to which training rows say nothing."""

    def read_split(path: str, split: str = "train", train: Sequence = ()) -> list:
        return read(path, split)

    return read_split


def context_of(question: Question) -> str:
    """What questions share: the text that they ask about."""
    return question.context


def asked_about(row: Choices) -> str:
    """What choices share: the text that they go on with, or the question."""
    return row.context or row.question


def answer_baselines(train: Sequence[Question], test: Sequence[Question]) -> dict[str, Figures]:
    """Answers that need no network and learn nothing from training."""
    return longest_word_overlap(test)


def summary_baselines(train: Sequence[Summary], test: Sequence[Summary]) -> dict[str, Figures]:
    """The first sentences, and the best that any chooser of sentences can do."""
    return lead_and_oracle(test)


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        classification_kind("classification", SINGLE),
        classification_kind("multi-label", SEVERAL),
        classification_kind("regression", SCORE),
        tagging_kind("entities", "BIO"),
        tagging_kind("tagging", None),
        Kind(
            "question-answering",
            rows_of(read_questions),
            make_question_answering,
            answer_baselines,
            {"max_length": 256},
            unit=context_of,
        ),
        Kind("similarity", read_pairs, make_similarity, word_cosines, {"pooling": "mean"}),
        Kind("multiple-choice", rows_of(read_choices), make_multiple_choice, choice_baselines, unit=asked_about),
        Kind("summarization", rows_of(read_summaries), make_summarization, summary_baselines, {"max_length": 512}),
    )
}

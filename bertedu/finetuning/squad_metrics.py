"""How answers are scored in SQuAD: exact match, F1 over words, and when to say that there is no answer.

Rajpurkar et al. 2016, section 6.1, and 2018, section 5; definitions as in the official evaluation scripts.
"""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby

from bertedu.corpora.readers import Question
from bertedu.segmentation import spaced_words, split_sentences

ARTICLES = re.compile(r"\b(a|an|the)\b")
ALWAYS, NEVER = 1e9, -1e9  # thresholds with which each question gets an answer, or none
PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_answer(text: str) -> str:
    """Small letters, without punctuation, articles and extra white space."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def exact_match(prediction: str, answer: str) -> float:
    """1 when both say the same after normalization, else 0."""
    return float(normalize_answer(prediction) == normalize_answer(answer))


def f1_of_words(prediction: str, answer: str) -> float:
    """The harmonic mean of the shares of words that both have; without words on either side, whether both have none.

    Chinese characters are a word each, as in MLQA (Lewis et al. 2020).
    """
    found, right = spaced_words(normalize_answer(prediction)), spaced_words(normalize_answer(answer))
    if not found or not right:
        return float(found == right)
    common = (Counter(found) & Counter(right)).total()
    return 2 * common / (len(found) + len(right))


def answer_scores(question: Question, prediction: str) -> tuple[float, float]:
    """Exact match and F1 of a prediction: the best over the reference answers that are more than articles and marks.

    Where there is none of these, the right prediction is no answer, the empty string.
    """
    right = [answer.text for answer in question.answers if normalize_answer(answer.text)] or [""]
    return max(exact_match(prediction, text) for text in right), max(f1_of_words(prediction, text) for text in right)


def squad_figures(questions: Sequence[Question], predictions: Mapping[str, str]) -> dict[str, float]:
    """Exact match and F1 over all questions, as shares, and over those with an answer and those without.

    predictions: an answer for each question's id, "" for none.
    """
    scores = [(bool(question.answers), *answer_scores(question, predictions[question.id])) for question in questions]
    figures = {"exact_match": mean([exact for _, exact, _ in scores]), "f1": mean([f1 for _, _, f1 in scores])}
    if {has_answer for has_answer, _, _ in scores} == {True, False}:
        for name, wanted in (("has_answer", True), ("no_answer", False)):
            part = [(exact, f1) for has_answer, exact, f1 in scores if has_answer is wanted]
            figures[f"{name}_exact_match"] = mean([exact for exact, _ in part])
            figures[f"{name}_f1"] = mean([f1 for _, f1 in part])
    return figures


def best_threshold(
    questions: Sequence[Question], answers: Mapping[str, str], no_answer_scores: Mapping[str, float]
) -> tuple[float, float]:
    """The threshold above which "no answer" is said, and the F1 that it gives, the best there is on these questions.

    no_answer_scores: for each id how much the model prefers no answer to `answers`. The questions are gone through
    from the lowest no-answer score to the highest; at each, the answer replaces "no answer". Questions with the same
    score are answered together, since no threshold can part them.
    """
    if not questions:
        return 0.0, 0.0
    now = float(sum(not question.answers for question in questions))  # nothing is answered
    best, threshold = now, NEVER
    ordered = sorted(questions, key=lambda question: no_answer_scores[question.id])
    for score, equals in groupby(ordered, key=lambda question: no_answer_scores[question.id]):
        for question in equals:
            now += answer_scores(question, answers[question.id])[1] if question.answers else -bool(answers[question.id])
        if now > best:
            best, threshold = now, score
    return threshold, best / len(questions)


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def longest_word_overlap(rows: Sequence[Question]) -> dict[str, dict[str, float]]:
    """The figures of two answers that need no network: never an answer, and the sentence most like the question."""
    never = squad_figures(rows, {row.id: "" for row in rows})
    nearest = squad_figures(rows, {row.id: most_alike_sentence(row) for row in rows})
    return {"never an answer": never, "sentence most like the question": nearest}


def most_alike_sentence(row: Question) -> str:
    """The sentence of the context that shares most words with the question."""
    asked = set(spaced_words(row.question.lower()))
    sentences = split_sentences(row.context)
    return max(sentences, key=lambda sentence: len(asked & set(spaced_words(sentence.lower()))), default="")

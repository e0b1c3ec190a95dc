"""SQuAD's scores against the definitions, written a second time and in another way, on ten thousand random answers."""

import random
import re

import pytest

from bertedu.corpora.readers import Answer, Question
from bertedu.finetuning.squad_metrics import (
    NEVER,
    answer_scores,
    best_threshold,
    f1_of_words,
    normalize_answer,
    squad_figures,
)

WORDS = [
    "the",
    "The",
    "a",
    "an",
    "An,",
    "cat",
    "cats",
    "dog.",
    "dog",
    "U.S.",
    "10%",
    "10",
    "theory",
    "half-open",
    "“x”",
]


def slow_normal_form(text: str) -> list[str]:
    kept = "".join(character for character in text.lower() if character not in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    return [word for word in re.split(r"\s+", re.sub(r"\b(?:a|an|the)\b", " ", kept)) if word]


def slow_f1(prediction: str, answer: str) -> float:
    found, right = slow_normal_form(prediction), slow_normal_form(answer)
    if not found or not right:
        return 1.0 if found == right else 0.0
    left, common = list(right), 0
    for word in found:
        if word in left:
            left.remove(word)
            common += 1
    if common == 0:
        return 0.0
    precision, recall = common / len(found), common / len(right)
    return 2 * precision * recall / (precision + recall)


def phrase(rng: random.Random) -> str:
    return rng.choice(["", " "]) + " ".join(rng.choices(WORDS, k=rng.randint(0, 6)))


def made_questions(rng: random.Random, count: int) -> list[Question]:
    return [
        Question(str(i), "?", "", tuple(Answer(phrase(rng), 0) for _ in range(rng.choice([0, 0, 1, 3]))))
        for i in range(count)
    ]


@pytest.mark.slow
def test_answers_are_scored_as_by_the_slow_reference(thorough):
    rng = random.Random(0)
    for question in made_questions(rng, 10_000 if thorough else 1_000):
        prediction = phrase(rng)
        right = [answer.text for answer in question.answers if slow_normal_form(answer.text)] or [""]
        exact, f1 = answer_scores(question, prediction)
        assert exact == max(slow_normal_form(prediction) == slow_normal_form(text) for text in right)
        assert f1 == pytest.approx(max(slow_f1(prediction, text) for text in right))


def test_articles_inside_words_are_kept():
    assert normalize_answer("The theory, a theme of An Athenian") == "theory theme of athenian"
    assert f1_of_words("the cat sat", "A cat") == pytest.approx(2 / 3)


def test_both_parts_are_weighed_by_their_size():
    questions = [
        Question("1", "?", "", (Answer("cat", 0),)),
        Question("2", "?", "", (Answer("dog", 0),)),
        Question("3", "?", "", ()),
    ]
    figures = squad_figures(questions, {"1": "cat", "2": "cat", "3": ""})
    assert figures["exact_match"] == pytest.approx(2 / 3)
    assert (figures["has_answer_f1"], figures["no_answer_f1"]) == (0.5, 1.0)
    assert "no_answer_f1" not in squad_figures(questions[:2], {"1": "cat", "2": "cat"})


def test_no_other_threshold_gives_more():
    rng = random.Random(2)
    for _ in range(200):
        questions = made_questions(rng, rng.randint(1, 12))
        answers = {q.id: rng.choice([q.answers[0].text if q.answers else "x", phrase(rng)]) for q in questions}
        scores = {q.id: rng.random() for q in questions}
        threshold, f1 = best_threshold(questions, answers, scores)

        def at(limit, questions=questions, answers=answers, scores=scores):
            said = {q.id: answers[q.id] if scores[q.id] <= limit else "" for q in questions}
            # as in the official search, a question counts as answerable when it has answers at all
            return sum(answer_scores(q, said[q.id])[1] if q.answers else not said[q.id] for q in questions)

        best = max(at(limit) for limit in [-1.0, *scores.values()])
        if all(normalize_answer(answer.text) for q in questions for answer in q.answers):
            assert f1 * len(questions) == pytest.approx(best)
            assert at(threshold) == pytest.approx(best)


def test_a_threshold_does_not_part_questions_with_the_same_score():
    """Only the first of both could be answered by luck of the order: no threshold does that."""
    questions = [Question("1", "?", "", (Answer("cat", 0),)), Question("2", "?", "", ()), Question("3", "?", "", ())]
    answers = {"1": "cat", "2": "cat", "3": "cat"}
    assert best_threshold(questions, answers, {"1": 0.0, "2": 0.0, "3": 0.0}) == (NEVER, 2 / 3)
    assert best_threshold(questions, answers, {"1": 0.0, "2": 1.0, "3": 1.0}) == (0.0, 1.0)

"""Sentences whose verb agrees with a far noun: the verb is right, and nothing but the grammar tells it."""

import re

from bertedu.before.text import (
    agreement_questions,
    agreement_sentences,
    is_held_out,
    nouns,
    told,
    unseen_plurals,
)

SUBJECT = re.compile(r"the (\w+)(?: (?:near|behind|beside|under|above) the (\w+))*")


def test_the_verb_agrees_with_the_subject_and_not_the_nearest_noun():
    for sentence in agreement_sentences(300):
        subject = sentence.split()[1]
        several = subject.endswith("s") and subject[:-1] in nouns()
        assert (" are " in sentence or " were " in sentence) == several, sentence


def test_the_nearest_noun_does_not_answer_a_question():
    for question in agreement_questions(100, 2):
        subject, *others = re.findall(r"the (\w+)", question.sentence)
        several = subject[:-1] in nouns()
        assert len(others) == 2 and all((other[:-1] in nouns()) != several for other in others)
        assert question.right in (("are", "were") if several else ("is", "was"))
        assert {question.right, question.wrong} in ({"is", "are"}, {"was", "were"})


def test_always_are_is_right_half_of_the_time():
    rights = [question.right for question in agreement_questions(400, 1)]
    assert 0.4 < sum(right in ("are", "were") for right in rights) / 400 < 0.6


def test_no_question_was_shown_in_training():
    pairs = set()
    for sentence in agreement_sentences(3000):
        words = [word if word in nouns() else word[:-1] for word in re.findall(r"the (\w+)", sentence)]
        pairs |= {tuple(words[:2])} if len(words) > 1 else set()
    assert len(pairs) > 400 and not any(is_held_out(*pair) for pair in pairs)
    for question in agreement_questions(200, 1):
        pair = [word if word in nouns() else word[:-1] for word in re.findall(r"the (\w+)", question.sentence)]
        assert tuple(pair) not in pairs and is_held_out(*pair)


def test_training_shows_no_plural_that_is_to_be_unseen():
    text = " ".join(agreement_sentences(3000)).split()
    assert len(unseen_plurals()) >= 8
    for noun, plural in unseen_plurals():
        assert noun in text and plural not in text


def test_a_wrong_sentence_differs_from_the_right_one_in_the_asked_word():
    question = agreement_questions(1, 1)[0]
    right, wrong = told(question).split(), told(question, right=False).split()
    assert [(a, b) for a, b in zip(right, wrong, strict=True) if a != b] == [(question.right, question.wrong)]

"""Counts by the first word of a question, against counts by hand."""

from bertedu.chapters.ch12_question_answering.question_words import by_question_word
from bertedu.corpora.readers import Answer, Question


def test_a_question_is_counted_under_its_own_word():
    asked = (("Who came?", "Jane", "Jane"), ("When did she come?", "in May", ""), ("When did he go?", "", ""))
    questions = [
        Question(str(i), text, "", (Answer(right, 0),) * bool(right)) for i, (text, right, _) in enumerate(asked)
    ]
    predictions = {str(i): told for i, (_, _, told) in enumerate(asked)}
    assert by_question_word(questions, predictions) == {"Who": (1, 0, 1, 0, 0), "When": (1, 1, 0, 1, 1)}
    assert by_question_word(questions[2:], {"2": "in May"}) == {"When": (0, 1, 0, 0, 0)}

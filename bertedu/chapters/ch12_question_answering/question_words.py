"""How answers differ by the first word of the questions: Who, When, Why. Notebook 12."""

from collections.abc import Mapping, Sequence

from bertedu.corpora.readers import Question
from bertedu.finetuning.squad_metrics import answer_scores
from bertedu.segmentation import spaced_words


def by_question_word(questions: Sequence[Question], predictions: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
    """For the first word of the questions, five counts.

    They are: questions with an answer, questions without, exactly right where there is an answer, abstained although
    there is one, abstained where there is none. predictions: an answer for each question's id, "" for none.
    """
    counts: dict[str, list[int]] = {}
    for question in questions:
        told, here = predictions[question.id], counts.setdefault(spaced_words(question.question)[0], [0] * 5)
        if question.answers:
            here[0] += 1
            here[2] += int(answer_scores(question, told)[0])
            here[3] += not told
        else:
            here[1] += 1
            here[4] += not told
    return {word: tuple(here) for word, here in counts.items()}

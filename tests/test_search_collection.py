"""Passages cut from contexts, the one with the answer, and hard negatives."""

import pytest

from bertedu.corpora.readers import Answer, Question
from bertedu.errors import UserError
from bertedu.search.bm25 import BM25Search
from bertedu.search.collection import Asked, Collection, cut_context, passage_with, with_hard_negatives

CONTEXT = "Ann sold  a hat.\nBob drew the cap in May. The very long sentence of Carl does not fit here at all. Dan ran."


def words(text: str) -> int:
    return len(text.split())


def asked(question: str, answer: str | None) -> Question:
    answers = () if answer is None else (Answer(answer, CONTEXT.index(answer)),)
    return Question(question, question, CONTEXT, answers, answer is None)


def test_a_passage_keeps_its_size_and_every_sentence_whole():
    passages = cut_context(CONTEXT, 10, words)
    assert passages == [
        "Ann sold a hat. Bob drew the cap in May.",
        "The very long sentence of Carl does not fit here at all.",
        "Dan ran.",
    ]
    assert " ".join(passages) == " ".join(CONTEXT.split())
    assert len(cut_context(CONTEXT, 100, words)) == 1


def test_the_answer_is_looked_for_in_its_passage_where_white_space_was_lost():
    passages = cut_context(CONTEXT, 6, words)
    for answer in ("Ann", "hat.", "Bob", "May", "The", "Dan", "ran"):
        found = passage_with(passages, CONTEXT, CONTEXT.index(answer))
        assert answer in found, (answer, found)
    with pytest.raises(UserError, match="begins at character 500"):
        passage_with(passages, CONTEXT, 500)


def test_a_question_without_an_answer_is_not_asked_and_its_context_is_kept():
    collection = Collection()
    rows = collection.add_questions([asked("Who?", None), asked("When?", "May"), asked("What?", "Dan")], 10, words)
    assert rows == [Asked("When?", 0), Asked("What?", 2)]
    assert len(collection.passages) == 3


def test_one_text_stands_in_the_collection_once():
    collection = Collection()
    first = collection.add_questions([asked("When?", "May")], 10, words)
    again = collection.add_questions([asked("When?", "May")], 10, words)
    assert first == again and len(collection.passages) == 3 and collection.add("Dan ran.") == 2


def test_a_hard_negative_is_the_hardest_wrong_passage():
    passages = ["a cap in May", "a cap in June", "the cap", "a hat", "May May May"]
    search = BM25Search(passages)
    (row,) = with_hard_negatives([Asked("a cap in May", 0)], search, 2)
    best = [number for number, _ in search.search(["a cap in May"], 5)[0] if number != 0]
    assert row.negatives == tuple(best[:2]) and row.passage == 0
    (other,) = with_hard_negatives([Asked("a cap in May", 3)], search, 2)
    assert 3 not in other.negatives and other.negatives[0] == 0
    with pytest.raises(UserError, match="finds 0 wrong passages"):
        with_hard_negatives([Asked("June", 1)], search, 1)


def test_drawn_negatives_vary_and_keep_to_the_allowed_depth():
    passages = [" ".join(["cap"] * number + ["hat"] * (30 - number)) for number in range(1, 13)]
    search = BM25Search(passages)
    best = [number for number, _ in search.search(["cap"], 12)[0]]
    rows = [Asked("cap", best[1])] * 200
    drawn = [row.negatives for row in with_hard_negatives(rows, search, 2, depth=4, without={best[0], best[3]})]
    assert {number for pair in drawn for number in pair} == {best[2], best[4], best[5], best[6]}
    assert all(one != other for one, other in drawn) and len(set(drawn)) == 12  # all ordered pairs of four
    again = with_hard_negatives(rows, search, 2, depth=4, without={best[0], best[3]})
    other = with_hard_negatives(rows, search, 2, depth=4, without={best[0], best[3]}, seed=1)
    assert [row.negatives for row in again] == drawn != [row.negatives for row in other]
    missed = with_hard_negatives(rows, search, 2, depth=4, without={best[11]})  # not among the first hits anyway
    assert {number for row in missed for number in row.negatives} == {best[0], best[2], best[3], best[4]}
    (first,) = with_hard_negatives(rows[:1], search, 2, without={best[0]})
    assert first.negatives == (best[2], best[3])

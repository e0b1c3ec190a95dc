"""Questions with several choices: which choice the answer names, and contexts that some questions have."""

import csv
import json

import pytest

from bertedu.corpora.readers.labelled import Choices
from bertedu.corpora.task_data import read_choices
from bertedu.errors import UserError
from bertedu.registry import TASKS


def test_the_answer_of_a_choice_is_read_in_every_form(tmp_path):
    def read(**row) -> Choices:
        (tmp_path / "a.jsonl").write_text(json.dumps({"question": "Which?"} | row) + "\n", encoding="utf-8")
        return read_choices(tmp_path / "a.jsonl")[0]

    expected = Choices("Which?", ("cat", "dog"), 1)
    assert read(choices=["cat", "dog"], label=1) == expected
    assert read(options=["cat", "dog"], answer="B") == expected
    assert read(choices=["cat", "dog"], answer="dog") == expected
    assert read(choices={"label": ["1", "2"], "text": ["cat", "dog"]}, answerKey="2") == expected
    assert read(ending0="cat", ending1="dog", label="1", context="") == expected
    assert read(choice2="dog", choice1="cat", label="choice2") == expected
    assert read(choices=["cat", "dog"], label=1, context="Pets.").context == "Pets."
    assert read(choices=["2", "1"], label=0).label == 0
    for row in ({"label": "1"}, {"label": True}, {"label": -1}, {"label": "cat"}, {"label": None}, {"label": 1.0}):
        with pytest.raises(UserError, match="line 1: the answer"):
            read(choices=["1", "2"], **row)


def read_rights(path, stem: str, first: int, answers: list, count: int = 2) -> list[int]:
    """Which choice, from 0, is right in rows whose columns are numbered from first on."""
    names = [f"{stem}{number}" for number in range(first, first + count)]
    with open(path, "w", encoding="utf-8", newline="") as file:
        texts = [f"text of {name}" for name in names]
        csv.writer(file).writerows([["question", *names, "answer"], *(["Which?", *texts, one] for one in answers)])
    return [row.label for row in read_choices(path)]


@pytest.mark.parametrize("stem", ["option", "choice_", "ending"])
def test_an_answer_counted_from_1_is_read_so(tmp_path, stem):
    assert read_rights(tmp_path / "a.csv", stem, 1, ["1", "1"]) == [0, 0]
    assert read_rights(tmp_path / "a.csv", stem, 1, ["1", "2"]) == [0, 1]
    assert read_rights(tmp_path / "a.csv", stem, 1, ["1", "3", "2"], count=4) == [0, 2, 1]
    for answers in (["1", "3"], ["2", "0"], ["1", "9" * 5000]):
        with pytest.raises(UserError, match=r"line \d: the answer .* give a number from 1 to 2"):
            read_rights(tmp_path / "a.csv", stem, 1, answers)


def test_an_answer_of_swag_counted_from_0_is_read_so(tmp_path):
    assert read_rights(tmp_path / "a.csv", "ending", 0, ["1", "2", "0"], count=4) == [1, 2, 0]
    with pytest.raises(UserError, match=r"line 2: the answer '4' .* give a number from 0 to 3"):
        read_rights(tmp_path / "a.csv", "ending", 0, ["4"], count=4)


def test_copa_is_read(tmp_path):
    """Its columns are choice1 and choice2 and its labels 0 and 1: a 0 shows how a file counts."""
    assert read_rights(tmp_path / "a.csv", "choice", 1, ["1", "0", "1"]) == [1, 0, 1]


def test_the_number_of_a_named_choice_is_counted_as_its_name(tmp_path):
    row = {"question": "Which?", "choices": {"label": ["1", "2"], "text": ["cat", "dog"]}}
    for answer, right in ((1, 0), ("1", 0), (2, 1), ("dog", 1)):
        (tmp_path / "a.jsonl").write_text(json.dumps(row | {"answerKey": answer}) + "\n", encoding="utf-8")
        assert read_choices(tmp_path / "a.jsonl")[0].label == right


def test_a_number_without_end_is_refused_in_words(tmp_path):
    row = {"question": "Which?", "choices": ["cat", "dog"]}
    refusals = {"9" * 5000: "line 1: the answer .* names none of 2 choices", 10**4000: "a number of 4,001 digits"}
    for answer, refusal in refusals.items():
        (tmp_path / "a.jsonl").write_text(json.dumps(row | {"label": answer}) + "\n", encoding="utf-8")
        with pytest.raises(UserError, match=refusal) as caught:
            read_choices(tmp_path / "a.jsonl")
        assert len(str(caught.value)) < 300


def test_contexts_are_kept_where_the_first_question_has_none(tmp_path):
    row = {"question": "Which?", "choices": ["cat", "dog"], "label": 1}
    rows = [row, row | {"context": "Pets."}, row | {"context": None}, row | {"article": "Wild."}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert [question.context for question in read_choices(tmp_path / "a.jsonl")] == ["", "Pets.", "", "Wild."]


def test_the_premise_of_copa_is_kept(tmp_path):
    """Its question is one of two words, cause and effect: without the premise there is nothing to choose by."""
    copa = {"premise": "It rained.", "choice1": "She slept.", "choice2": "She got wet.", "idx": 0, "label": 1}
    copas = [copa | {"question": "effect"}, copa | {"question": "cause", "premise": "She ran.", "label": 0}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in copas), encoding="utf-8")
    texts = ("She slept.", "She got wet.")
    read = read_choices(tmp_path / "a.jsonl")
    assert read == [Choices("effect", texts, 1, "It rained."), Choices("cause", texts, 0, "She ran.")]
    assert [TASKS["multiple-choice"].unit(row) for row in read] == ["It rained.", "She ran."]
    (tmp_path / "a.jsonl").write_text(json.dumps(copa | {"label": "choice2"}) + "\n", encoding="utf-8")
    assert read_choices(tmp_path / "a.jsonl") == [Choices("It rained.", texts, 1)]  # now it is the question itself


def test_an_empty_context_does_not_hide_the_premise(tmp_path):
    row = {"context": "", "premise": "It rained.", "question": "effect", "choices": ["cat", "dog"], "label": 0}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert read_choices(tmp_path / "a.jsonl")[0].context == "It rained."

"""Questions to the service: answers found in passages that are longer than the model reads."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from support.small_runs import POSITIONS, WORDS, small_model, small_tokenizer

from bertedu.config import TaskConfig
from bertedu.finetuning.asking import answer_or_none, answer_question
from bertedu.finetuning.tasks.question_answering import SpanFinder
from bertedu.production.app import create_app
from bertedu.production.batching import Batching
from bertedu.production.checking import of_every_length
from bertedu.production.engine import Engine
from bertedu.production.exported import Export
from bertedu.production.onnx_export import export
from bertedu.production.questions import MOST_WINDOWS
from bertedu.production.service import Service, Settings
from bertedu.tokenization import BertTokenizer

PASSAGE = " ".join(f"{word} ," for word in WORDS.split() * 4)  # 176 tokens: fourteen windows
ASKED = [
    ("the cat", PASSAGE),
    ("paris is the capital", WORDS),
    ("a dog", "the mat"),
    ("he she", "zz"),
    ("mat", PASSAGE),
]
THRESHOLD = -0.5  # of the score of no answer: three are below it
Opened = tuple[TestClient, SpanFinder, BertTokenizer, Path]


@pytest.fixture(scope="module")
def opened(tmp_path_factory) -> Iterator[Opened]:
    """A service whose model answers some of ASKED; weights are random and large enough that its logits differ."""
    folder, tokenizer = tmp_path_factory.mktemp("models"), small_tokenizer()
    model = small_model(SpanFinder, initializer_range=0.5)
    model.task_config = TaskConfig(no_answer_threshold=THRESHOLD)
    model.save_pretrained(folder / "saved")
    tokenizer.save_pretrained(folder / "saved", POSITIONS)
    export(folder / "saved", folder / "exported")
    service = Service(Engine(folder / "exported"), Settings(batching=Batching(wait=0.0)))
    with TestClient(create_app(service)) as client:
        yield client, model, tokenizer, folder / "exported"
    service.close()


def test_a_passage_is_read_in_the_windows_and_by_the_rule_of_the_command(opened):
    client, model, tokenizer, _ = opened
    texts, pairs = zip(*ASKED, strict=True)
    answers = client.post("/answer", json={"texts": texts, "pairs": pairs}).json()["answers"]
    right = [answer_or_none(model, tokenizer, question, passage) for question, passage in ASKED]
    assert [answer["answer"] or "" for answer in answers] == right
    assert 0 < sum(map(bool, right)) < len(right), "a case that shows nothing"
    for (question, passage), answer in zip(ASKED, answers, strict=True):
        likeliest, none = answer_question(model, tokenizer, question, passage)
        assert abs(answer["no_answer"] - none) < 1e-4
        sure = likeliest[0][1] if answer["answer"] else none
        assert abs(answer["probability"] - sure) < 1e-4
        if answer["answer"]:
            assert passage[answer["start"] : answer["end"]] == answer["answer"]


def test_an_export_is_checked_on_every_window_of_a_passage(opened):
    about = Export.load(opened[-1])
    assert about.use == "answers" and about.checked["longest"] == POSITIONS and about.checked["texts"] > 20
    assert about.checked["largest_difference"] < 1e-5 and about.checked["same_choice"] == 1.0


@pytest.mark.parametrize(
    "value, words",
    [
        ({"text": "the cat"}, "send the question as text, the passage as pair"),
        ({"text": "the " * 30, "pair": "the cat"}, "the question has 30 tokens, and this model reads 24"),
        ({"text": "the", "pair": "the cat " * 900}, f"windows of {POSITIONS} tokens, and {MOST_WINDOWS} are read"),
    ],
)
def test_what_cannot_be_asked_is_refused_and_not_cut(opened, value, words):
    response = opened[0].post("/answer", json=value)
    assert response.status_code == 422 and words in response.json()["error"]


def test_the_page_has_a_field_for_the_passage(opened, tmp_path: Path):
    client = opened[0]
    assert "The passage in which to look" in client.get("/").text
    filled = client.post("/", data={"text": "a dog", "pair": "the <b> mat"})
    assert filled.status_code == 200 and "no_answer" in filled.text and "the &lt;b&gt; mat" in filled.text


def test_the_passage_grows_where_an_export_is_checked_and_not_its_question():
    asked, _ = of_every_length([("the cat", "a dog sat")] * 48, small_tokenizer(), "answers", POSITIONS)
    assert len(asked) == 48 and max(map(len, asked)) >= POSITIONS - 3
    assert {question.windows[0].first for question in asked} == {4}  # [CLS], two tokens, [SEP]

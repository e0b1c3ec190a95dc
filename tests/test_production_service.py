"""The service over HTTP, in this process: its answers, what it refuses, what it logs."""

import json
import logging
from pathlib import Path

import pytest
import torch
from fastapi.testclient import TestClient
from support.small_runs import LABELS, small_model, small_tokenizer
from transformers import AutoModelForSequenceClassification

from bertedu.errors import UserError
from bertedu.finetuning.tagging import CrfTagger, Tagger
from bertedu.model import BertForPreTraining
from bertedu.production.app import create_app
from bertedu.production.batching import Batching
from bertedu.production.engine import Engine
from bertedu.production.onnx_export import export
from bertedu.production.protocol import Limits
from bertedu.production.service import Service, Settings

TEXTS = [
    "the cat sat",
    "a dog",
    "the capital of france is paris .",
    "people speak french",
    "he returns functions on mat",
]


def opened(folder: Path, **settings) -> TestClient:
    service = Service(Engine(folder), Settings(**{"batching": Batching(wait=0.0), **settings}))
    return TestClient(create_app(service), raise_server_exceptions=False)


@pytest.fixture
def client(classifier):
    with opened(classifier / "exported", limits=Limits(body_bytes=4096, characters=600, texts=6)) as client:
        yield client
        service_of(client).close()


def service_of(client: TestClient) -> Service:
    return client.app.user_middleware[0].kwargs["service"]


def asked(client: TestClient, value: object, status: int = 200) -> dict:
    response = client.post("/answer", json=value)
    assert response.status_code == status, response.text
    return response.json()


def test_the_service_says_what_the_model_says(classifier, client):
    reference = AutoModelForSequenceClassification.from_pretrained(classifier / "saved").eval()
    answers = asked(client, {"texts": TEXTS})["answers"]
    for text, answer in zip(TEXTS, answers, strict=True):
        with torch.no_grad():
            right = reference(**small_tokenizer()(text)).logits[0].softmax(-1)
        found = torch.tensor([answer["probabilities"][label] for label in LABELS])
        assert (found - right).abs().max() < 1e-5 and answer["label"] == LABELS[int(right.argmax())]
        assert answer["probability"] == max(answer["probabilities"].values())
    pair = asked(client, {"text": TEXTS[0], "pair": TEXTS[1]})["answers"][0]
    with torch.no_grad():
        right = reference(**small_tokenizer()(TEXTS[0], TEXTS[1])).logits[0].softmax(-1)
    assert abs(pair["probability"] - float(right.max())) < 1e-5 and pair != answers[0]


HALF = '{"text": "\\ud83d"}'
BAD = [  # a body, the status code, words of the sentence
    (b"", 400, "the body is empty"),
    (b"{", 400, "not valid JSON"),
    (b'{"text": "caf\xe9"}', 400, "not UTF-8 (byte 0xe9 at position 13)"),
    ('{"text": "the cat"}'.encode("utf-16"), 400, "not UTF-8"),
    (b"[" * 2000 + b"]" * 2000, 400, "nested"),
    (b'{"text": "a", "text": "b"}', 400, "twice"),
    (b'{"text": NaN}', 400, "NaN"),
    (b'["the cat"]', 422, "a list, not an object"),
    (b"{}", 422, "either text or texts"),
    (b'{"text": "a", "texts": ["b"]}', 422, "either text or texts"),
    (b'{"txt": "a"}', 422, "there is no field 'txt'"),
    (b'{"text": 3}', 422, "text is a number"),
    (b'{"text": null}', 422, "text is null"),
    (b'{"text": ["a"]}', 422, "text is a list"),
    (b'{"text": " \\n"}', 422, "text is empty"),
    ('{"text": "\u200b\u00ad"}'.encode(), 422, "text is empty"),
    (HALF.encode(), 422, "half of a character"),
    (b'{"texts": "a"}', 422, "texts is a text"),
    (b'{"texts": []}', 422, "has 0 texts: send 1 to 6"),
    (json.dumps({"texts": ["a"] * 7}).encode(), 422, "has 7 texts: send 1 to 6"),
    (b'{"texts": ["a", true]}', 422, "texts[1] is true or false"),
    (b'{"texts": ["a", "b"], "pairs": ["c"]}', 422, "2 texts and 1 pairs"),
    (b'{"texts": ["a"], "pair": "c"}', 422, "send pairs beside texts"),
    (b'{"text": "a", "pairs": ["c"]}', 422, "send pair beside text"),
    (json.dumps({"text": "the " * 151}).encode(), 422, "604 characters, and at most 600"),
    (json.dumps({"text": "the " * 41}).encode(), 422, "43 tokens with the special ones, and this model reads 40"),
    (json.dumps({"texts": ["a", "the " * 41]}).encode(), 422, "texts[1]: the text has 43 tokens"),
    (b" " * 4097, 413, "more than 4,096 bytes"),
]


@pytest.mark.parametrize("body, status, words", BAD, ids=[words for _, _, words in BAD])
def test_a_bad_request_gets_its_code_and_a_remedy(client, body, status, words):
    response = client.post("/answer", content=body)
    assert response.status_code == status, response.text
    (name,), sentence = response.json(), response.json()["error"]
    assert name == "error" and words in sentence and sentence.endswith(".") and ": " in sentence
    assert "Traceback" not in response.text
    assert client.get("/metrics").json()["by_status"][str(status)] == 1


def test_a_body_of_unknown_length_is_not_read_to_its_end(client):
    sent = 0

    def pieces():
        nonlocal sent
        for _ in range(10_000):
            sent += 1
            yield b" " * 1024

    response = client.post("/answer", content=pieces())
    assert response.status_code == 413 and response.headers["connection"] == "close"


def test_a_compressed_body_is_refused(client):
    response = client.post("/answer", content=b"\x1f\x8b", headers={"Content-Encoding": "gzip"})
    assert response.status_code == 415


def test_no_text_is_in_the_log(client, caplog):
    secret = "secretword"
    with caplog.at_level(logging.INFO, logger="bertedu.service"):
        asked(client, {"text": f"the {secret} sat"})
        asked(client, {"text": f"the {secret} " * 41}, 422)
        asked(client, {secret: 1}, 422)
        client.get(f"/{secret}?{secret}={secret}", headers={secret: secret, "User-Agent": secret})
        client.request(secret.upper(), "/answer")
        client.post("/", data={"text": secret})
    lines = [json.loads(record.message) for record in caplog.records]
    assert len(lines) == 6 and [line["status"] for line in lines] == [200, 422, 422, 404, 405, 200]
    assert secret not in caplog.text.lower()
    assert lines[0]["characters"] == len(f"the {secret} sat") and len(lines[0]["digests"][0]) == 32


def test_a_failure_shows_no_traceback_and_quotes_no_text_in_the_log(client, caplog, monkeypatch):
    def fails(questions):
        raise KeyError("secretword")

    monkeypatch.setattr(service_of(client).batcher, "answer", fails)
    with caplog.at_level(logging.INFO, logger="bertedu.service"):
        response = client.post("/answer", json={"text": "the cat"})
    assert response.status_code == 500 and set(response.json()) == {"error", "reference"}
    assert response.json()["reference"] in response.json()["error"] and "KeyError" not in response.text
    failure, line = (json.loads(record.message) for record in caplog.records)
    assert failure["failure"] == response.json()["reference"] and failure["kind"] == "KeyError"
    assert any("test_production_service.py" in place for place in failure["at"]) and line["status"] == 500
    assert "secretword" not in caplog.text
    monkeypatch.undo()
    asked(client, {"text": "the dog"})  # the thread of the batches goes on


def test_a_page_on_the_internet_cannot_read_what_the_service_says(classifier):
    with opened(classifier / "exported", hosts=frozenset({"127.0.0.1", "::1"})) as client:
        for host, status in (("evil.example", 421), ("127.0.0.1:80", 200), ("[::1]:80", 200), ("127.0.0.1.evil", 421)):
            assert client.get("/health", headers={"Host": host}).status_code == status, host
        service_of(client).close()


def test_texts_and_labels_are_escaped_on_the_page(client):
    attack = '</textarea><script>alert("1")</script>'
    for response in (client.post("/", data={"text": attack}), client.post("/", data={"text": "a", "pair": attack})):
        assert response.status_code == 200 and "<script" not in response.text and "&lt;script&gt;" in response.text
        assert "<b>" not in response.text and "&lt;b&gt;perhaps&lt;/b&gt;" in response.text
        assert "script-src" not in response.headers["content-security-policy"]
        assert "default-src 'none'" in response.headers["content-security-policy"]
    response = client.post("/", data={"text": attack * 30})
    assert response.status_code == 422 and "characters" in response.text and "<script" not in response.text
    assert client.post("/", content=b"text=%ff").status_code == 400


def test_an_answer_from_the_cache_is_the_same_and_is_used(client):
    first = asked(client, {"texts": TEXTS[:2]})
    batches = client.get("/metrics").json()["batches"]
    assert asked(client, {"texts": [TEXTS[1], TEXTS[0]]})["answers"] == first["answers"][::-1]
    metrics = client.get("/metrics").json()
    assert metrics["batches"] == batches and metrics["from_cache"] == 2 and metrics["texts"] == 4
    partly = asked(client, {"texts": [TEXTS[2], TEXTS[1], TEXTS[2]]})["answers"]
    assert (
        partly[1] == first["answers"][1] and partly[0] == partly[2] == asked(client, {"text": TEXTS[2]})["answers"][0]
    )


def test_one_bad_text_leaves_nothing_waiting(client):
    asked(client, {"texts": ["the " * 41, "the cat", "the " * 45]}, 422)
    assert client.get("/metrics").json()["queue"]["waiting"] == 0


def test_a_full_queue_refuses_at_once(classifier):
    with opened(classifier / "exported", batching=Batching(most_waiting=3)) as client:
        response = client.post("/answer", json={"texts": TEXTS[:4]})
        assert response.status_code == 503 and int(response.headers["retry-after"]) >= 1
        asked(client, {"texts": TEXTS[:3]})
        asked(client, {"texts": TEXTS[:3]})  # what was answered makes room
        service_of(client).close()


def test_a_stopping_service_takes_no_new_requests(client):
    service_of(client).stopping = True
    response = client.post("/answer", json={"text": "the cat"})
    assert response.status_code == 503 and "retry-after" in response.headers and "stopping" in response.json()["error"]
    health = client.get("/health")
    assert health.status_code == 503 and health.json()["status"] == "stopping"
    assert service_of(client).active == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Tagger, CrfTagger])
def test_tags_stand_at_their_words(kind, tmp_path):
    model, tokenizer = small_model(kind, ("O", "B-x", "I-x"), initializer_range=0.9), small_tokenizer()
    words = ["paris", "sat", "on", "cats", ",", "the", "mat"]
    encoding = tokenizer(" ".join(words))
    first = torch.tensor([[int(token not in ("[CLS]", "[SEP]", "##s")) for token in encoding.tokens[0]]])
    inputs = (encoding.input_ids, encoding.attention_mask, encoding.token_type_ids)
    with torch.no_grad():
        model.classifier.bias -= model(*inputs).logits[0].mean(dim=0)  # so that no tag always wins
        right = model(*inputs, first_pieces=first)
    model.save_pretrained(tmp_path / "saved")
    tokenizer.save_pretrained(tmp_path / "saved")
    export(tmp_path / "saved", tmp_path / "exported")
    with opened(tmp_path / "exported") as client:
        (answer,) = asked(client, {"text": "  ".join(words)})["answers"]
        service_of(client).close()
    labels = ("O", "B-x", "I-x")
    assert [word["tag"] for word in answer["words"]] == [labels[number] for number in right.tags[0]]
    assert len(set(right.tags[0])) > 1, "a case that shows nothing"
    assert ["  ".join(words)[word["start"] : word["end"]] for word in answer["words"]] == words
    for word, probability in zip(answer["words"], right.probabilities[0], strict=True):
        assert abs(word["probability"] - probability) < 1e-4


@pytest.mark.slow
def test_masked_words_are_guessed_by_the_rule_of_the_command(tmp_path):
    model, tokenizer = small_model(BertForPreTraining, initializer_range=0.4), small_tokenizer()
    model.save_pretrained(tmp_path / "saved")
    tokenizer.save_pretrained(tmp_path / "saved")
    export(tmp_path / "saved", tmp_path / "exported")
    from bertedu.inference import fill_mask

    right = fill_mask(model, tokenizer, "the [MASK] sat on [MASK]")
    with opened(tmp_path / "exported") as client:
        (answer,) = asked(client, {"text": "the [MASK] sat on [MASK]"})["answers"]
        assert "0 [MASK]" in asked(client, {"text": "the cat"}, 422)["error"]
        service_of(client).close()
    for guesses, words in zip(answer["masks"], right, strict=True):
        assert [guess["word"] for guess in guesses] == [word for word, _ in words]
        assert all(abs(guess["probability"] - p) < 1e-4 for guess, (_, p) in zip(guesses, words, strict=True))


@pytest.mark.parametrize("wait", [float("nan"), float("inf"), -1.0])
def test_no_text_waits_for_a_time_that_never_ends(wait):
    with pytest.raises(UserError, match="cannot wait"):
        Batching(wait=wait)


def test_health_says_that_requests_fail_and_that_they_work_again(client, monkeypatch):
    def fails(questions):
        raise RuntimeError

    assert client.get("/health").status_code == 200
    monkeypatch.setattr(service_of(client).batcher, "answer", fails)
    assert client.post("/answer", json={"text": "the cat"}).status_code == 500
    health = client.get("/health")
    assert health.status_code == 503 and health.json()["status"] == "failed"
    monkeypatch.undo()
    assert client.get("/health").json()["status"] == "ok"

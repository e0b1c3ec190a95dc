"""The playground as a file: what is in it, what it may do, and what is refused. In a browser: tests/browser."""

import base64
import hashlib
import json
import re
import shutil

import pytest
from click.testing import CliRunner
from support.pages import Page
from support.small_runs import save_run
from support.web_questions import CHECKPOINTS, opened

from bertedu.cli import main
from bertedu.errors import UserError
from bertedu.files import read_text
from bertedu.inference import fill_mask
from bertedu.visualization import write_report
from bertedu.web import playground as playground_module
from bertedu.web.bundling import WEB
from bertedu.web.playground import functions, in_script, json_in_script, write_playground
from bertedu.web.samples import OF, sample, start_for

TINY = CHECKPOINTS["world-tiny"]


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> str:
    """The page with the smallest checkpoint."""
    path = write_playground(TINY, tmp_path_factory.mktemp("page") / "page.html")
    return path.read_text(encoding="utf-8")


def scripts(text: str) -> dict[str, str]:
    """What stands in the page's scripts, by id; the one that runs has none."""
    return {
        found[1] or "": found[2]
        for found in re.finditer(r'<script(?: type="[^"]*" id="(\w+)")?>(.*?)</script>', text, re.DOTALL)
    }


def test_the_page_has_the_model_whole_and_less_than_three_megabytes(text):
    parts = scripts(text)
    assert base64.b64decode(parts["weights"]) == (TINY / "model.safetensors").read_bytes()
    data = json.loads(parts["data"])
    assert data["name"] == "world-tiny" and data["files"]["vocabulary"] == read_text(TINY / "vocab.txt")
    assert len(text.encode()) < 3_000_000


def test_the_page_may_run_its_own_script_and_ask_nobody(text):
    parts = scripts(text)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    policy = policy.replace("&#39;", "'")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'" and rules["worker-src"] == "blob:"
    assert set(rules) == {"default-src", "script-src", "style-src", "worker-src", "img-src", "base-uri", "form-action"}
    for name, content in {
        "script-src": parts[""],
        "style-src": re.findall("<style>(.*?)</style>", text, re.S)[0],
    }.items():
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[name] == f"'sha256-{digest}'"
    assert not re.findall(r"https?:", re.sub(r"http://www\.w3\.org/2000/svg", "", text))
    assert not re.findall(
        r"\b(?:fetch|XMLHttpRequest|WebSocket|importScripts|innerHTML)\b", parts[""] + parts["worker"]
    )


def test_the_page_is_closed_and_names_its_fields(text):
    page = Page(re.sub(r"<!DOCTYPE html>|<link[^>]*>|<input", lambda found: "<br" if "input" in found[0] else "", text))
    assert any(tag == "html" and named["lang"] == "en" for tag, named in page.tags)
    assert "A BERT on this page" in " ".join(page.words)


def test_no_text_of_a_model_ends_the_element_around_it():
    told = json_in_script({"vocabulary": "</script><!--\n<b>"})
    assert "<" not in told and json.loads(told) == {"vocabulary": "</script><!--\n<b>"}
    with pytest.raises(UserError, match="ends the element"):
        in_script("const x = '</script>';")


def test_every_function_that_a_step_names_is_shown():
    named = re.findall(r', "(\w+)"\],', read_text(WEB / "view_steps.js"))
    found = functions(read_text(WEB / "bert.js"))
    assert len(named) == 10 and not set(named) - set(found)
    assert found["match"].startswith("/** How well each query matches each key") and found["match"].endswith("\n}")


@pytest.mark.parametrize("corpus", [*OF, "my.txt"])
def test_every_sample_hides_a_word_of_it(corpus):
    start = start_for(corpus)
    for one in start["samples"]:
        assert "*" not in one["text"] and 0 <= one["masks"][0] < len(one["text"].split())
    assert start["start"]["text"] == start["samples"][0]["text"]
    assert all(re.search(rf"\b{start['start']['word']}\b", one) for one in start["start"]["sentences"].split("\n"))
    assert sample("a *b c.") == {"text": "a b c.", "masks": [1]}


def test_the_course_checkpoint_knows_what_the_first_view_hides():
    for one in start_for("world")["samples"]:
        words = one["text"].replace(".", "").split()
        hidden = words[one["masks"][0]]
        ((answer, _),) = fill_mask(*opened("world-tiny"), one["text"].replace(hidden, "[MASK]"), top=1)[0]
        assert answer == hidden.lower()


def test_a_run_gets_its_page_beside_its_report(tmp_path):
    folder = save_run(tmp_path / "my-run")
    report = write_report(folder).read_text(encoding="utf-8")
    data = json.loads(scripts((folder / "playground.html").read_text(encoding="utf-8"))["data"])
    assert '<a href="playground.html">' in report and data["name"] == "my-run"
    corpus = json.loads((folder / "metrics.json").read_text())["corpus"]
    assert data["samples"] == start_for(corpus)["samples"]


def test_a_run_whose_weights_are_too_many_for_a_page_has_a_report_without_the_link(tmp_path, monkeypatch):
    monkeypatch.setattr(playground_module, "MOST_BYTES", 100)
    folder = save_run(tmp_path / "run")
    assert "playground" not in write_report(folder).read_text(encoding="utf-8")
    assert not (folder / "playground.html").exists()
    with pytest.raises(UserError, match="drop the folder on it"):
        write_playground(folder, tmp_path / "page.html")


def test_another_member_of_the_family_is_refused_in_words(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "roberta"}')
    with pytest.raises(UserError, match="the type 'roberta', and the page runs BERT only"):
        write_playground(tmp_path, tmp_path / "page.html")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(UserError, match=r"no model\.safetensors"):
        write_playground(tmp_path, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_a_tokenizer_with_tokens_of_its_own_is_refused_in_words(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(TINY, folder)
    added = {"5": {"content": ",", "normalized": False}}
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "added_tokens_decoder": added}))
    with pytest.raises(UserError, match="tokens of its own, such as ','"):
        write_playground(folder, tmp_path / "page.html")


def test_the_command_writes_the_page_and_opens_it(tmp_path, monkeypatch):
    opened_pages: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened_pages.append)
    path = tmp_path / "page.html"
    done = CliRunner().invoke(main, ["playground", str(TINY), "--output", str(path), "--open"])
    assert not done.exit_code and f"written: {path} (2." in done.output
    assert opened_pages == [path.as_uri()] and path.is_file()

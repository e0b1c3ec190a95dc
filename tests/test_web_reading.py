"""bert.js read aloud: the code on the page is the file, every function and every tensor has its step."""

import html
import json
import re
from pathlib import Path

import pytest
from support.pages import Page, fetches
from support.web_questions import CHECKPOINTS, ask_node

from bertedu.web.bundling import WEB
from bertedu.web.reading_aloud import keeping, read_steps, write_reading
from bertedu.website.try_it import BACK, READING, add_playground

TINY = CHECKPOINTS["world-tiny"]
MODULE = Path(__file__).parent / "support" / "web_explorables.js"
CODE = (WEB / "bert.js").read_text(encoding="utf-8")
STEPS = read_steps()


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> str:
    """The page with the smallest checkpoint."""
    return write_reading(TINY, tmp_path_factory.mktemp("page") / "page.html", BACK).read_text(encoding="utf-8")


def test_every_function_of_the_file_is_read_in_a_step():
    read = {name for step in STEPS for name, _ in step["code"]}
    assert read | {"eachRow"} == set(re.findall(r"^(?:export )?function (\w+)", CODE, re.MULTILINE))


def test_the_code_on_the_page_is_the_file(text):
    parts = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", text, re.DOTALL)
    shown = [html.unescape(re.sub(r"</?span[^>]*>", "", part)) for part in parts]
    file = CODE.replace("export function", "function")
    assert len(shown) == sum(len(step["code"]) for step in STEPS)
    assert all(part.rstrip("\n") in file for part in shown)


def test_the_file_has_the_two_hundred_lines_that_the_title_says():
    lines = re.sub(r"/\*.*?\*/", "", CODE, flags=re.DOTALL).splitlines()
    assert len([line for line in lines if line.strip()]) == 200


def test_every_tensor_of_a_model_is_shown_in_a_step_and_its_line_lit():
    (names,) = json.loads(ask_node(TINY, "names", [[2, 19, 4, 3]], MODULE))
    shown = {name for step in STEPS for name in step["tensors"]}
    assert shown == {name for name in names if not name.startswith("layer.1.")}
    for name in shown:
        assert len(keeping(name).findall(CODE)) == 1, name
    for step in STEPS:
        lit = [line for _, lines in step["code"] for kind, line in lines if kind == " lit"]
        assert all("keep(" in line or "set(" in line for line in lit), step["name"]
    assert [len([line for kind, line in lines if kind == " lit"]) for _, lines in STEPS[9]["code"]] == [5, 0]


def test_the_page_asks_nobody_and_is_small(text):
    assert len(text.encode()) < 3_000_000
    assert "default-src &#39;none&#39;" in text
    without = re.sub(r"/\*.*?\*/|<!DOCTYPE html>", "", text, flags=re.DOTALL)
    outside = [address for address in fetches(without) if not address.startswith("#")]
    assert outside == [address for address, _ in BACK]
    assert "BERT in 200 lines of JavaScript" in Page(without).words


def test_front_page_and_playground_lead_to_the_page_and_it_leads_back(tmp_path):
    add_playground(CHECKPOINTS["world-tiny"].parents[2], tmp_path)
    page = (tmp_path / "extra" / READING).read_text(encoding="utf-8")
    assert all(f'href="{address}"' in page for address, _ in BACK)
    assert f"({READING})" in (tmp_path / "playground.md").read_text(encoding="utf-8")
    assert f'href="{READING}"' in (tmp_path / "extra" / "playground.html").read_text(encoding="utf-8")

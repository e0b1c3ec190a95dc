"""Pictures that one can touch: what they compute is what the package computes, and what a notebook keeps of them."""

import json
import random
import re
from pathlib import Path

import pytest
import torch
from support.explorable_examples import EXAMPLES
from support.pages import Page, fetches
from support.web_questions import CHECKPOINTS, ask_node, opened

from bertedu.course.building.executing import WIDGET
from bertedu.course.explorable import FOLDER, STORED, explorable, kinds
from bertedu.errors import UserError
from bertedu.model.attention import attend
from bertedu.tokenization.wordpiece import split_word
from bertedu.website.chapters import touched
from bertedu.website.tree import Tree

TINY = CHECKPOINTS["world-tiny"]
MODULE = Path(__file__).parent / "support" / "web_explorables.js"


def ask(question: str, rows: list) -> list:
    return json.loads(ask_node(TINY, question, rows, MODULE))


def test_the_weighted_sum_is_the_attention_of_the_package():
    torch.manual_seed(0)
    given = [(torch.randn(d), torch.randn(length, d), torch.randn(length)) for d, length in ((4, 3), (1, 1), (64, 9))]
    rows = [{"query": q.tolist(), "key": k.tolist(), "value": v.tolist()} for q, k, v in given]
    for (query, key, value), found in zip(given, ask("sums", rows), strict=True):
        output, weights = attend(query[None], key, value[:, None])
        torch.testing.assert_close(torch.tensor(found["weights"], dtype=torch.float), weights[0])
        torch.testing.assert_close(torch.tensor(found["output"], dtype=torch.float), output.squeeze())


def test_hidden_tokens_get_no_weight_and_without_the_division_scores_are_products():
    row = {"query": [2, 2], "key": [[1, 1], [3, 0], [0, 0]], "value": [1, 5, -1]}
    ((hidden), (undivided)) = ask("sums", [{**row, "hidden": [False, True, False]}, {**row, "divided": False}])
    assert hidden["weights"][1] == 0 and sum(hidden["weights"]) == pytest.approx(1)
    assert undivided["scores"] == [4, 6, 0]


def test_the_search_finds_the_pieces_of_the_package():
    tokenizer = opened("world-tiny")[1]
    chance = random.Random(0)
    words = [
        "unhappiness",
        "capitals",
        "bananas",
        "x",
        "ö",
        *("".join(chance.choices("aeinrst", k=7)) for _ in range(40)),
    ]
    for word, steps in zip(words, ask("searches", words), strict=True):
        found = [step["found"] for step in steps]
        assert (["[UNK]"] if None in found else found) == split_word(word, tokenizer.tokens)
        for step in steps:
            longest, *_, last = step["tried"] + [step["tried"][-1]]
            assert len(step["tried"]) == len(longest) - len(last) + 1


def test_there_is_an_example_of_each():
    assert set(EXAMPLES) == set(kinds())
    for name in kinds():
        assert re.search(r"^export function show\(root, given\)", (FOLDER / f"{name}.js").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_notebook_keeps_words_and_numbers_and_no_script(name):
    one = explorable(name, **EXAMPLES[name])
    data, _ = one._repr_mimebundle_()
    kept = {kind: content for kind, content in data.items() if kind != WIDGET}
    assert WIDGET in data and kept[STORED] == {"name": name, "given": EXAMPLES[name]}
    assert "script" not in json.dumps(kept) and len(json.dumps(kept)) < 4000
    assert one.question in data["text/plain"] and len(one.told.split()) > 20


@pytest.mark.parametrize("name", EXAMPLES)
def test_its_page_asks_nobody_and_text_stays_text(name):
    text = explorable(name, **EXAMPLES[name]).page()
    assert "default-src &#39;none&#39;" in text and "<b>keys" not in text and not fetches(text)
    assert kinds()[name]["question"] in Page(text).words


def test_an_unknown_name_and_numbers_that_are_none_are_refused():
    with pytest.raises(UserError, match="no explorable 'weighted': there are weighted_sum, pieces"):
        explorable("weighted")
    with pytest.raises(UserError, match="weighted_sum was given what is no JSON"):
        explorable("weighted_sum", query=[float("nan")])
    with pytest.raises(UserError, match="no JSON"):
        explorable("weighted_sum", query=torch.ones(2))


def test_the_site_gets_a_page_for_each(tmp_path):
    output = touched(explorable("pieces", **EXAMPLES["pieces"]), "01_x.html", Tree(tmp_path, tmp_path))
    assert 'src="../explorables/01_x.html"' in output.data["text/html"]
    assert "WordPiece" in (tmp_path / "extra" / "explorables" / "01_x.html").read_text(encoding="utf-8")

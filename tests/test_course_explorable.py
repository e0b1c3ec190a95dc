"""Pictures that one can touch: what they compute is what the package computes, and what a notebook keeps of them."""

import json
import math
import random
import re
from itertools import pairwise, product
from pathlib import Path

import pytest
import torch
from support.explorable_examples import EXAMPLES
from support.pages import Page, fetches
from support.web_questions import CHECKPOINTS, ask_node, opened
from torch import nn

from bertedu.course.building.executing import WIDGET
from bertedu.course.building.versions import read_source
from bertedu.course.explorable import FOLDER, STORED, explorable, kinds
from bertedu.errors import UserError
from bertedu.model.attention import attend
from bertedu.tokenization.wordpiece import split_word
from bertedu.website.chapters import touched
from bertedu.website.tree import Tree

TINY = CHECKPOINTS["world-tiny"]
PICTURES = [name for name in EXAMPLES if name != "playground"]  # which has tests of its own
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


class Agreement(nn.Module):
    """The model of chapter 03 that learns in the page, with PyTorch's own gradients."""

    def __init__(self, words: int):
        super().__init__()
        self.token, self.position = nn.Embedding(words, 32), nn.Embedding(64, 32)
        self.query, self.key, self.value, self.output = (nn.Linear(32, 32) for _ in range(4))
        self.decide = nn.Linear(32, 2)

    def forward(self, ids, mask):
        x = self.token(ids) + self.position.weight[: ids.size(1)]  # [B, T, D]
        mixed, _ = attend(self.query(x), self.key(x), self.value(x))
        return self.decide(self.output(mixed)[:, mask])  # [B, 2]


def test_the_gradients_of_the_training_in_the_page_are_those_of_pytorch():
    torch.manual_seed(0)
    model = Agreement(12).double()
    ids, answers = torch.randint(12, (5, 7)), torch.randint(2, (5,))
    batch = [
        {"ids": one, "mask": 3, "answer": answer} for one, answer in zip(ids.tolist(), answers.tolist(), strict=True)
    ]
    weights = {name: weight.flatten().tolist() for name, weight in model.named_parameters()}
    (found,) = ask("trainings", [{"weights": weights, "batch": batch, "steps": 3}])
    loss = nn.functional.cross_entropy(model(ids, 3), answers)
    loss.backward()
    assert found["loss"] == pytest.approx(float(loss), abs=1e-12)
    for name, weight in model.named_parameters():
        torch.testing.assert_close(torch.tensor(found["gradients"][name]).double(), weight.grad.flatten(), msg=name)
    adam = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(3):
        adam.zero_grad()
        nn.functional.cross_entropy(model(ids, 3), answers).backward()
        adam.step()
    for name, weight in model.named_parameters():
        torch.testing.assert_close(torch.tensor(found["weights"][name]).double(), weight.detach().flatten(), msg=name)


def test_the_page_learns_from_the_sentences_of_the_chapter():
    (source,) = FOLDER.parents[1].glob("chapters/ch03_*/03_*.py")
    (cell,) = [cell for cell in read_source(source).cells if "def sentences(" in cell.source]
    names: dict = {}
    exec(cell.source, names)
    found = ask("made", [EXAMPLES["live_head"]])
    for part in ("train", "test"):
        texts, answers = names[f"{part}_texts"], names[f"{part}_answers"].tolist()
        assert [tuple(one) for one in found[part]] == list(zip(map(" ".join, texts), answers, strict=True))


def test_the_training_in_the_page_ends_as_in_the_chapter_and_depends_on_its_start():
    (good,) = ask("ends", [EXAMPLES["live_head"]])
    (poor,) = ask("ends", [{**EXAMPLES["live_head"], "seed": 7}])
    assert good == 1 and poor < 0.9


def test_tokens_are_masked_at_the_rates_of_the_paper_and_special_ones_never():
    tokens = ["[CLS]", *(f"word{number}" for number in range(38)), "[SEP]"]
    shares = {"rate": 0.15, "mask": 0.8, "random": 0.1}
    (draws,) = ask("fates", [{"tokens": tokens, "words": ["cup", "river"], "times": 2000, **shares}])
    fates = [[one["fate"] for one in draw] for draw in draws]
    assert all(sum(fate is not None for fate in draw) == 6 for draw in fates)  # round(0.15 · 40)
    assert not any(fate is not None for draw in fates for fate in (draw[0], draw[-1]))
    for fate, share in enumerate((0.8, 0.1, 0.1)):
        assert sum(draw.count(fate) for draw in fates) / (6 * len(fates)) == pytest.approx(share, abs=0.015)
    for draw in draws:
        for token, one in zip(tokens, draw, strict=True):
            assert one["seen"] in {None: [token], 0: ["[MASK]"], 1: ["cup", "river"], 2: [token]}[one["fate"]]
    chosen = [sum(draw[place] is not None for draw in fates) for place in range(1, 39)]
    assert min(chosen) > 220 and max(chosen) < 420  # each word as often: 6 / 38 of 2,000 is 316


def test_words_that_change_places_have_other_vectors_only_with_positions():
    tokens, positions = torch.randn(3, 4), torch.randn(3, 4)
    given = {"tokens": tokens.tolist(), "positions": positions.tolist()}
    orders = [(order, added) for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]) for added in (False, True)]
    found = ask("orders", [{**given, "order": order, "added": added} for order, added in orders])
    for (order, added), one in zip(orders, found, strict=True):
        sums = tokens[order] + positions if added else tokens[order]
        torch.testing.assert_close(torch.tensor(one["vectors"]), sums)
    assert [one["changed"] for one in found] == [0, 0, 0, 2, 0, 3]


def test_the_best_path_is_the_best_of_all_paths_and_their_sum_that_of_all():
    chance = random.Random(0)
    drawn = lambda *sizes: [[chance.uniform(0.1, 3) for _ in range(sizes[1])] for _ in range(sizes[0])]  # noqa: E731
    rows = [{"emissions": drawn(w, c), "transitions": drawn(c, c)} for w, c in ((3, 2), (1, 4), (5, 3), (6, 2))]
    for row, found in zip(rows, ask("paths", rows), strict=True):
        length, count = len(row["emissions"]), len(row["transitions"])

        def value(path, row=row):
            words = math.prod(row["emissions"][word][tag] for word, tag in enumerate(path))
            return words * math.prod(row["transitions"][a][b] for a, b in pairwise(path))

        values = {path: value(path) for path in product(range(count), repeat=length)}
        assert tuple(found["path"]) == max(values, key=values.__getitem__)
        assert found["value"] == pytest.approx(max(values.values()))
        assert found["total"] == pytest.approx(sum(values.values()))


def test_the_best_span_is_the_best_of_all_that_are_allowed():
    torch.manual_seed(0)
    rows = [
        {"start": torch.randn(7).tolist(), "end": torch.randn(7).tolist(), "longest": longest, "backwards": backwards}
        for longest in (1, 3, 7)
        for backwards in (False, True)
        for _ in range(20)
    ]
    for row, found in zip(rows, ask("spans", rows), strict=True):
        sums = torch.tensor(row["start"])[:, None] + torch.tensor(row["end"])  # [T, T]
        open_ones = torch.ones(7, 7).tril(row["longest"] - 1).triu(-7 if row["backwards"] else 0).bool()
        best = sums.masked_fill(~open_ones, float("-inf"))
        assert [found["from"], found["to"]] == list(divmod(int(best.argmax()), 7))
        assert found["score"] == pytest.approx(float(best.max()), abs=1e-6)


def test_there_is_an_example_of_each():
    assert set(EXAMPLES) == set(kinds())
    for name in PICTURES:
        assert re.search(r"^export function show\(root, given\)", (FOLDER / f"{name}.js").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_notebook_keeps_words_and_numbers_and_no_script(name):
    one = explorable(name, **EXAMPLES[name])
    data, _ = one._repr_mimebundle_()
    kept = {kind: content for kind, content in data.items() if kind != WIDGET}
    assert WIDGET in data and kept[STORED] == {"name": name, "given": EXAMPLES[name]}
    assert "script" not in json.dumps(kept) and len(json.dumps(kept)) < 4000
    assert one.question in data["text/plain"] and len(one.told.split()) > 20


@pytest.mark.parametrize("name", PICTURES)
def test_its_page_asks_nobody_and_text_stays_text(name):
    text = explorable(name, **EXAMPLES[name]).page()
    assert "default-src &#39;none&#39;" in text and "<b>keys" not in text and not fetches(text)
    assert kinds()[name]["question"] in Page(text).words


def test_an_unknown_name_and_numbers_that_are_none_are_refused():
    with pytest.raises(UserError, match="no explorable 'weighted': there are weighted_sum, pieces, "):
        explorable("weighted")
    with pytest.raises(UserError, match="weighted_sum was given what is no JSON"):
        explorable("weighted_sum", query=[float("nan")])
    with pytest.raises(UserError, match="no JSON"):
        explorable("weighted_sum", query=torch.ones(2))


def test_the_site_gets_a_page_for_each(tmp_path):
    output = touched(explorable("pieces", **EXAMPLES["pieces"]), "01_x.html", Tree(tmp_path, tmp_path))
    assert 'src="../explorables/01_x.html"' in output.data["text/html"]
    assert "WordPiece" in (tmp_path / "extra" / "explorables" / "01_x.html").read_text(encoding="utf-8")


def test_the_site_has_one_playground_opened_at_what_a_chapter_looks_at(tmp_path):
    output = touched(explorable("playground", **EXAMPLES["playground"]), "07_x.html", Tree(tmp_path, tmp_path))
    address = "../playground.html#view=next&amp;text=The+capital+of+Brazil&amp;masks=4&amp;second=Is+it+big%3F"
    assert f'src="{address}"' in output.data["text/html"] and not list(tmp_path.rglob("*.html"))

"""bertviz without a network: the page holds all that it needs, and shows our weights and our tokens."""

import json
import re
from html import unescape
from html.parser import HTMLParser

import pytest
import torch
from support.small_runs import small_model, small_tokenizer

from bertedu.errors import UserError
from bertedu.inference import attention_weights, encode
from bertedu.visualization import bertviz_views
from bertedu.visualization.bertviz_views import head_view, model_view
from bertedu.visualization.widgets.view import WIDGET

both_views = pytest.mark.parametrize("view", [head_view, model_view])
PAIR = ("the cat sat on the mat .", "a dog .")


@pytest.fixture(scope="module")
def seen():
    return attention_weights(small_model(), small_tokenizer(), *PAIR)


def page_of(view) -> str:
    return unescape(re.search(r'<iframe srcdoc="([^"]*)"', view.controls.value)[1])


def parameters(page: str) -> dict:
    text = re.search(r"const params = (\{.*?\}); // HACK", page, flags=re.S)
    return json.loads(text[1])


class Fetched(HTMLParser):
    """What a browser would fetch for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.found += [value for name, value in attrs if name in ("src", "href")]


@both_views
def test_a_view_fetches_nothing(view, seen):
    tokens, weights = seen
    page = page_of(view(weights, tokens))
    parser = Fetched()
    parser.feed(page)
    assert not parser.found
    assert "d3js.org v5" in page[:2000] and "jQuery v3" in page
    assert page.index("window.requirejs") < page.index("const params")
    assert parser.scripts == page.count("</script>") == 4


@both_views
def test_a_view_shows_its_own_weights_and_tokens(view, seen):
    tokens, weights = seen
    told = parameters(page_of(view(weights, tokens)))["attention"]
    assert len(told) == 1 and told[0]["left_text"] == told[0]["right_text"] == tokens
    assert torch.allclose(torch.tensor(told[0]["attn"]), weights, atol=6e-5)


@both_views
def test_the_second_text_begins_at_its_token(view, seen):
    tokens, weights = seen
    start = tokens.index("[SEP]") + 1
    by_name = {part["name"]: part for part in parameters(page_of(view(weights, tokens, start)))["attention"]}
    assert by_name["Sentence B -> Sentence A"]["left_text"] == ["a", "dog", ".", "[SEP]"]
    assert by_name["Sentence B -> Sentence A"]["right_text"] == tokens[:start]


@both_views
def test_the_output_of_a_model_is_accepted(view, seen):
    model, tokenizer = small_model(), small_tokenizer()
    output = model(**encode(model, tokenizer, *PAIR), output_attentions=True)
    tokens, weights = seen
    one, other = page_of(view(output.attentions, tokens)), page_of(view(weights, tokens))
    assert parameters(one)["attention"] == parameters(other)["attention"]


@both_views
def test_no_script_is_written_into_the_notebook(view, seen):
    tokens, weights = seen
    data, metadata = view(weights, tokens)._repr_mimebundle_()
    assert set(data) == {"image/png", "text/plain", WIDGET}
    assert len(json.dumps(data[WIDGET])) < 200
    assert metadata["image/png"]["alt"] == data["text/plain"] and "attention heads" in data["text/plain"]


@both_views
def test_numbers_are_short_on_the_page(view, seen):
    tokens, weights = seen
    assert not re.search(r"\d\.\d{5,}", json.dumps(parameters(page_of(view(weights, tokens)))["attention"]))


@pytest.mark.parametrize(("heads", "columns"), [(2, 6), (6, 6), (12, 12)])
def test_two_heads_fill_two_columns(heads, columns):
    page = page_of(model_view(torch.full((1, heads, 2, 2), 0.5), ["a", "b"]))
    assert parameters(page)["total_heads"] == columns


@both_views
def test_a_token_does_not_end_the_script(view):
    page = page_of(view(torch.full((1, 1, 2, 2), 0.5), ["</script>", "<"]))
    assert page.count("</script>") == 4
    assert parameters(page)["attention"][0]["left_text"] == ["<\u2060/script>", "<"]


@both_views
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tokens": ["a"]}, "and there are 1 tokens"),
        ({"sentence_b_start": 0}, "sentence_b_start is 0"),
        ({"sentence_b_start": 99}, "sentence_b_start is 99"),
        ({"attentions": [torch.ones(2, 2, 13, 13)]}, "2 texts in a batch"),
    ],
)
def test_bad_input_is_refused_in_words(view, seen, changes, words):
    tokens, weights = seen
    with pytest.raises(UserError, match=words):
        view(**{"attentions": weights, "tokens": tokens, **changes})


def test_a_missing_package_is_told_in_words(monkeypatch, seen):
    monkeypatch.setattr(bertviz_views, "LIBRARIES", (("no-such-package", "a.js"),))
    tokens, weights = seen
    with pytest.raises(UserError, match="pip install no-such-package"):
        head_view(weights, tokens)

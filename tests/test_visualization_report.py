"""Results, the report and the attention page: numbers beside their baselines, and pages that fetch nothing."""

import json
import re

import pytest
import torch
from rich.console import Console
from support.pages import Page, fetches
from support.small_runs import evaluation, metrics, save_model, save_run, small_model

from bertedu.errors import UserError
from bertedu.inference import open_model
from bertedu.visualization import attention_page, results_table, write_report
from bertedu.visualization.examples import PAIRS, PROMPTS, PROMPTS_FOR_ANY_TEXT, example_pair, fill_examples
from bertedu.visualization.page import figure_html
from bertedu.visualization.results import results, verdicts


def test_a_number_stands_beside_the_baseline_of_its_measure():
    rows = {row.measure: row for row in results(metrics())}
    counted = (("most frequent token", 0.1), ("unigram", 0.15), ("n-gram, both sides", 0.35))
    assert rows["masked words, accuracy"].baselines == counted
    assert rows["masked words, perplexity"].baselines == (("unigram", 350.0), ("n-gram, both sides", 100.0))
    assert rows["next sentence, balanced accuracy"].baselines == (("guessing", 0.5), ("word overlap", 0.84))
    assert rows["facts recalled"].baselines == (("n-gram", 0.2),)
    assert rows["senses of “bat” told apart"].baselines == (("bag of words", 0.7),)
    assert len(rows) == 7


def test_a_lower_perplexity_counts_as_better_and_a_tie_as_not_won():
    lost = verdicts(results(metrics()))
    assert lost == [
        "next sentence, balanced accuracy (held-out documents): the model 70.0%, word overlap 84.0%",
        "senses of “bat” told apart: the model 50.0%, bag of words 70.0%",
    ]
    tie = metrics(evaluation=evaluation(accuracy=0.35))
    assert any("n-gram, both sides 35.0%" in line for line in verdicts(results(tie)))


def test_sentence_order_is_called_so():
    figures = evaluation()
    del figures["held-out documents"]["nsp_accuracy_same_source"]
    measures = [row.measure for row in results(metrics(evaluation=figures))]
    assert "sentence order, balanced accuracy" in measures and not any("next sentence" in name for name in measures)


def test_the_table_shows_every_baseline_on_a_narrow_terminal():
    console = Console(width=60)
    with console.capture() as capture:
        console.print(results_table(metrics()))
    text = re.sub(r"[\s│┃|]+", "", capture.get())
    for shown in ("40.0%", "35.0%", "27.0", "350.0", "84.0%", "95.0%", "20.0%"):
        assert shown in text


@pytest.mark.parametrize("corpus", ["documentation", "world", "my <book>.txt"])
def test_the_report_fetches_nothing_and_has_words_for_every_picture(corpus, tmp_path):
    folder = save_run(tmp_path / "run", corpus="world")
    (folder / "metrics.json").write_text(json.dumps(metrics(corpus)), encoding="utf-8")
    path = write_report(folder)
    text = path.read_text("utf-8")
    assert path == folder / "report.html" and fetches(text) == ["playground.html"]
    page = Page(text)
    pictures = [named for tag, named in page.tags if tag == "img"]
    assert len(pictures) == 2 and all(len(named["alt"]) > 100 for named in pictures)
    words = " ".join(page.words)
    for told in ("40.0%", "n-gram, both sides 35.0%", "60,000 tokens", "seed", f"--model {folder}"):
        assert told in words
    assert "A note with <b>signs</b>." in words, "notes are text, not HTML"
    assert sorted(file.name for file in folder.iterdir() if file.is_file()) == [
        "attention.png",
        "curves.png",
        "metrics.json",
        "metrics.jsonl",
        "playground.html",
        "report.html",
        "run.json",
    ]
    for name in ("curves.png", "attention.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_the_report_tells_of_a_baseline_that_wins(tmp_path):
    text = write_report(save_run(tmp_path / "run")).read_text("utf-8")
    assert "Where counting or guessing is as good or better:" in text
    assert "word overlap 84.0%" in text and "beats every baseline" not in text


def test_a_run_of_a_few_steps_gets_a_report(tmp_path):
    folder = save_run(tmp_path / "run")
    (folder / "metrics.jsonl").unlink()
    assert "too short for curves" in write_report(folder).read_text("utf-8")
    assert not (folder / "curves.png").exists()


def test_a_corpus_without_held_out_text_gets_a_report(tmp_path):
    folder = save_run(tmp_path / "run", evaluation={})
    text = write_report(folder).read_text("utf-8")
    assert "too small to hold anything out" in text and "beats every baseline" not in text


@pytest.mark.parametrize("name", ["run.json", "metrics.json"])
def test_a_report_on_an_unfinished_run_is_refused_in_words(name, tmp_path):
    folder = save_run(tmp_path / "run")
    (folder / name).unlink()
    with pytest.raises(UserError, match=f"has no {name}: give the folder of a run that has ended"):
        write_report(folder)
    assert not (folder / "report.html").exists()


def test_a_report_on_damaged_figures_is_refused_in_words(tmp_path):
    folder = save_run(tmp_path / "run")
    (folder / "metrics.json").write_text('{"corpus": "world"}')
    with pytest.raises(UserError, match=r"metrics\.json lacks evaluation, run"):
        write_report(folder)
    (folder / "metrics.json").write_text('{"corpus": ')
    with pytest.raises(UserError, match=r"metrics\.json, line 1"):
        write_report(folder)


def test_the_words_below_a_picture_are_escaped():
    """They name classes and tokens, which are anybody's."""
    assert figure_html("<img>", "<script>a</script> & b") == (
        "<figure tabindex='0'><img><figcaption>&lt;script&gt;a&lt;/script&gt; &amp; b</figcaption></figure>"
    )


def test_every_prompt_has_one_mask():
    for prompts in (*PROMPTS.values(), PROMPTS_FOR_ANY_TEXT):
        assert len(prompts) == 6 and all(prompt.count("[MASK]") == 1 for prompt in prompts)
    assert set(PAIRS) == set(PROMPTS)


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_the_attention_page_shows_its_heads_and_fetches_nothing():
    weights = torch.rand(2, 3, 4, 4).softmax(dim=-1)
    page = attention_page(weights, ["[CLS]", "the", "cat", "[SEP]"])
    assert fetches(page) == []
    data = data_of(page)
    assert data["tokens"] == ["[CLS]", "the", "cat", "[SEP]"]
    assert torch.allclose(torch.tensor(data["weights"]) / 1000, weights, atol=0.0006)
    assert "2 layers of 3 heads, 4 tokens" in page


def test_a_token_does_not_end_the_script_it_stands_in():
    tokens = ["</script>", "<!--", "&amp;"]
    page = attention_page(torch.eye(3)[None, None], tokens, title="</title><script>")
    assert data_of(page)["tokens"] == tokens
    assert len([tag for tag, _ in Page(page).tags if tag == "script"]) == 2


def test_every_control_of_the_attention_page_can_be_reached_and_named():
    tags = Page(attention_page(torch.eye(3)[None, None], ["a", "b", "c"])).tags
    ids = {named["id"] for _, named in tags if "id" in named}
    assert {"layer", "head", "previous", "next", "said", "sources", "heat"} <= ids
    assert [named.get("aria-live") for _, named in tags if named.get("id") == "said"] == ["polite"]


def test_a_page_that_would_grow_to_a_gigabyte_is_refused():
    with pytest.raises(UserError, match="too many for a page"):
        attention_page(torch.zeros(12, 12, 200, 200), ["a"] * 200)


def test_the_report_of_a_model_alone_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"has no run\.json"):
        write_report(save_model(tmp_path / "model"))


@pytest.mark.parametrize(("corpus", "positions"), [("world", 8), ("book.txt", 16)])
def test_a_run_with_few_positions_has_a_report(tmp_path, corpus, positions):
    """The page's own sentences have more tokens than such a model can read."""
    folder = save_run(tmp_path, corpus)
    small_model(max_position_embeddings=positions).save_pretrained(folder / "checkpoint")
    page = Page(write_report(folder).read_text("utf-8"))
    assert "[MASK]" in "".join(page.words)
    model, tokenizer = open_model(folder)
    first, second = example_pair(corpus, model, tokenizer)
    assert first and tokenizer(first, second).input_ids.size(1) <= positions
    for prompt, answers in fill_examples(model, tokenizer, corpus):
        assert prompt.count("[MASK]") == 1 and answers
    large = small_model(max_position_embeddings=64)
    assert example_pair("world", large, tokenizer) == PAIRS["world"], "cut though it fits"

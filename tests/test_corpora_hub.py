"""Data sets through `datasets`: folders in the hub's format, columns, and what cannot be loaded."""

import json
from pathlib import Path

import datasets
import pytest

from bertedu.corpora.hub import hub_corpus, row_documents
from bertedu.errors import UserError

ARTICLES = [f"Article {n} begins here. It has a second sentence.\n\nIt has another paragraph, too." for n in range(9)]


@pytest.fixture(autouse=True)
def quiet_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hub-cache")
    datasets.disable_progress_bars()


def folder_of(folder: Path, rows: list[dict], kind: str = "jsonl") -> str:
    folder.mkdir()
    if kind == "parquet":
        datasets.Dataset.from_list(rows).to_parquet(folder / "train.parquet")
    else:
        (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(folder)


def documents_of(corpus) -> list[tuple[str, ...]]:
    parts = (corpus.train, corpus.validation, *corpus.heldout.values())
    return sorted(document.sentences for part in parts for document in part)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_folder_in_the_hubs_format_is_read(tmp_path, kind):
    name = folder_of(tmp_path / "articles", [{"text": text, "id": n} for n, text in enumerate(ARTICLES)], kind)
    corpus = hub_corpus(f"hub:{name}")
    assert corpus.name == f"hub:{name}"
    assert documents_of(corpus)[3] == (
        "Article 3 begins here.",
        "It has a second sentence.",
        "It has another paragraph, too.",
    )
    assert len(documents_of(corpus)) == 9


def test_the_only_column_of_text_is_found_and_several_are_asked_about(tmp_path):
    rows = [{"content": text, "id": 1} for text in ARTICLES]
    assert len(documents_of(hub_corpus(folder_of(tmp_path / "one", rows)))) == 9
    two = folder_of(tmp_path / "two", [{**row, "title": "A title."} for row in rows])
    with pytest.raises(UserError, match="content, title"):
        hub_corpus(two)


def test_lines_as_rows_become_whole_documents():
    rows = [
        "",
        " = Title = \n",
        "",
        "It begins here. It goes on. It ends.",
        "A line. Another one.",
        " = Next = \n",
        "",
        "So. It is.",
    ]
    assert [document.sentences for document in row_documents(rows, "set")] == [
        ("It begins here.", "It goes on.", "It ends.", "A line.", "Another one."),
        ("So.", "It is."),
    ]


def test_articles_as_rows_stay_apart():
    assert len(row_documents(["One is here. Two is here. Three is here.", None, ARTICLES[0]], "set")) == 2


def test_a_missing_set_and_no_network_are_told_in_words(tmp_path, monkeypatch):
    with pytest.raises(UserError, match=r"cannot be loaded .*check the name"):
        hub_corpus(str(tmp_path / "missing"))

    def unreachable(*arguments, **options):
        raise ConnectionError("Couldn't reach\n'someone/something'.")

    monkeypatch.setattr(datasets, "load_dataset", unreachable)
    with pytest.raises(
        UserError, match=r"hub:someone/something cannot be reached \(Couldn't reach 'someone/something'\)"
    ):
        hub_corpus("hub:someone/something")


@pytest.mark.parametrize("name", ["wikitext/raw", "someone/wikitext/raw"])
def test_a_configuration_is_no_part_of_the_name(monkeypatch, name):
    asked = []

    def load(path, configuration, split):
        asked.append((path, configuration, split))
        if configuration is None:
            raise datasets.exceptions.DatasetNotFoundError("no such set")
        return datasets.Dataset.from_dict({"text": ARTICLES})

    monkeypatch.setattr(datasets, "load_dataset", load)
    assert len(documents_of(hub_corpus(name))) == 9
    assert asked[-1] == (name.removesuffix("/raw"), "raw", "train")
    assert len(asked) == (1 if name.count("/") == 2 else 2), "a set of three names was asked for"


def test_a_set_without_sentences_is_refused(tmp_path):
    with pytest.raises(UserError, match="holds no sentence"):
        hub_corpus(folder_of(tmp_path / "empty", [{"text": ""}, {"text": "TITLE"}]))

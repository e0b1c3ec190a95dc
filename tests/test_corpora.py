"""One call for every corpus: the words it knows, and what it says to others."""

import pytest

from bertedu.corpora import documentation, hub, load_corpus, world
from bertedu.errors import UserError


def test_several_files_are_one_corpus(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"This is {name} of two. It ends.", encoding="utf-8")
    corpus = load_corpus([str(tmp_path / "a.txt"), tmp_path / "b.txt"])
    documents = [*corpus.train, *corpus.validation, *corpus.heldout["held-out documents"]]
    assert {document.source for document in documents} == {"a.txt", "b.txt"}
    assert load_corpus(str(tmp_path)).name == "2 files"
    assert load_corpus(str(tmp_path / "a.txt")).name == "a.txt"


def test_a_word_leads_to_its_corpus_and_keeps_the_seed(monkeypatch):
    for word, module in {"documentation": documentation, "world": world, "hub": hub}.items():
        monkeypatch.setattr(module, f"{word}_corpus", lambda *given, word=word: (word, *given))
    assert load_corpus("documentation") == ("documentation",)
    assert load_corpus("world", seed=3) == ("world", 3)
    assert load_corpus(["hub:someone/set"]) == ("hub", "hub:someone/set")


def test_joined_corpora_keep_their_held_out_sets_and_all_parts(tmp_path):
    (tmp_path / "a.txt").write_text("\n\n".join(f"Here is part {i}. It ends." for i in range(400)), encoding="utf-8")
    world, files = load_corpus("world"), load_corpus(tmp_path / "a.txt")
    both = load_corpus([tmp_path / "a.txt", "world"])
    assert both.name == "world and a.txt"
    assert both.train == world.train + files.train
    assert both.validation == world.validation + files.validation
    assert both.heldout == {
        "held-out documents of world": world.heldout["held-out documents"],
        "unseen templates of world": world.heldout["unseen templates"],
        "held-out documents of a.txt": files.heldout["held-out documents"],
    }
    assert (both.fact_probes, both.sense_heldout) == (world.fact_probes, world.sense_heldout)
    assert both.notes == world.notes + files.notes


@pytest.mark.parametrize("spec", ["documentatoin", "missing/file.txt", ["world", "missing.txt"], []])
def test_an_unknown_word_gets_a_list_of_the_known_ones(spec):
    with pytest.raises(UserError) as caught:
        load_corpus(spec)
    assert "\n" not in str(caught.value)
    if spec != ["world", "missing.txt"]:
        assert all(word in str(caught.value) for word in ("documentation", "world", "hub:NAME"))

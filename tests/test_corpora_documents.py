"""Documents: how much of a text is held out, and how much of that can be copied from the training text."""

import pytest

from bertedu.corpora.documents import Document, shared_ngrams, split_documents


def text(words: str) -> list[Document]:
    return [Document((words,), "made up")]


def test_the_share_that_is_held_out_is_the_one_asked_for():
    documents = [Document((f"This is document {number}.",), "made up") for number in range(10_000)]
    train, validation, heldout = split_documents(documents, validation=0.1, heldout=0.2)
    shares = [len(part) / len(documents) for part in (train, validation, heldout)]
    assert shares == pytest.approx([0.7, 0.1, 0.2], abs=0.02)
    assert sorted([*train, *validation, *heldout], key=str) == sorted(documents, key=str)
    again = {side: set(part) for side, part in zip("tvh", split_documents(documents[::-1], 0.1, 0.2), strict=True)}
    assert again == {"t": set(train), "v": set(validation), "h": set(heldout)}


def test_a_run_of_words_at_the_end_of_a_text_is_looked_for():
    assert shared_ngrams(text("b c d"), text("a b c d"), n=3) == 0.5
    assert shared_ngrams(text("x a b c"), text("a b c"), n=3) == 1.0, "a text of n words has one run"
    assert shared_ngrams(text("A B c d"), text("a b C d e"), n=4) == 0.5, "upper and lower case are alike"
    assert shared_ngrams(text("a b"), text("a b"), n=3) == 0.0, "no run is that long"

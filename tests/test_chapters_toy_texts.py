"""Toy texts: their answers follow from their words by the rule that they are said to have."""

import math
from types import SimpleNamespace

import torch

from bertedu.chapters.ch18_deberta_and_xlnet.toy_texts import (
    ARROW_WORDS,
    CITIES,
    CITY_WORDS,
    VERB_WORDS,
    cities_in_random_order,
    cities_masked,
    city_losses,
    city_texts,
    key_decides,
    palindromes,
    query_decides,
    verb_texts,
)


def words_of(ids, words):
    return [[words[i] for i in row] for row in ids.tolist()]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_a_verb_agrees_with_its_subject():
    ids, answers, plural = verb_texts(40, 3, generator(), hard=True)
    assert ids.shape == (40, 26)
    for row, answer, subjects in zip(words_of(ids, VERB_WORDS), answers.tolist(), plural.tolist(), strict=True):
        assert row[0] == "[CLS]" and row[-1] == "[SEP]"
        for n, subject in enumerate(subjects):
            _, first, near, _, second, verb, wet, dot = row[1 + 8 * n : 9 + 8 * n]
            assert (near, wet, dot) == ("near", "wet", ".")
            assert first.endswith("s") == bool(subject)
            assert verb == ("[MASK]" if n == 2 else ("is", "are")[subject])
        assert subjects[-1] == answer
        assert second.endswith("s") != bool(answer), "the second noun gives the answer away"
    assert 0 < answers.sum() < 40


def test_the_right_neighbour_is_asked_for():
    ids, letters, others = query_decides(40, generator())
    for row, letter, other in zip(words_of(ids, ARROW_WORDS), letters.tolist(), others.tolist(), strict=True):
        _, left, question, right, _ = row
        asked, rest = (left, right) if question == "left?" else (right, left)
        assert "abcdef".index(asked) == letter != other == "abcdef".index(rest)


def test_an_arrow_points_to_what_it_names():
    ids, letters, others = key_decides(40, generator())
    assert len(set(letters.tolist())) > 2
    for row, letter, other in zip(words_of(ids, ARROW_WORDS), letters.tolist(), others.tolist(), strict=True):
        _, left, _, right, _ = row
        assert left.endswith(">") == right.endswith(">")
        pointing, away = (left, right) if left.endswith(">") else (right, left)
        assert pointing.strip("<>") == "abcdef"[letter] and away.strip("<>") == "abcdef"[other]


def test_a_palindrome_has_one_side():
    ids, letters = palindromes()
    assert len({tuple(row) for row in ids.tolist()}) == 12
    for row, letter in zip(words_of(ids, ARROW_WORDS), letters.tolist(), strict=True):
        assert row[1] == row[3] and row[1].strip("<>") == "abcdef"[letter] != row[1]


def test_every_city_is_there_and_shares_no_word():
    texts = [" ".join(row) for row in words_of(city_texts(), CITY_WORDS)]
    assert texts == [f"we met in {city} today [SEP] [CLS]" for city in CITIES]
    assert len(set(CITY_WORDS)) == len(CITY_WORDS)


def test_a_masked_city_cannot_be_read():
    inputs = cities_masked(city_texts(), generator())
    assert " ".join(words_of(inputs["input_ids"], CITY_WORDS)[0]) == "we met in [MASK] [MASK] today [SEP] [CLS]"
    assert [CITY_WORDS[i] for i in inputs["labels"][0].tolist() if i != -100] == ["new", "york"]


def test_a_city_is_not_seen_before_its_turn():
    """Nobody sees the two words, but the later of the two sees the other; both orders occur."""
    inputs = cities_in_random_order(city_texts().repeat(10, 1), generator())
    assert inputs["target_mapping"].argmax(dim=-1).tolist() == [[3, 4]] * 40
    hidden = inputs["perm_mask"]
    assert hidden[:, [0, 1, 2, 5, 6, 7]][:, :, 3:5].all(), "another word sees the city"
    assert not hidden[:, :, [0, 1, 2, 5, 6, 7]].any(), "a word around the city is hidden"
    assert hidden[:, 3, 3].all() and hidden[:, 4, 4].all(), "a word sees itself"
    assert (hidden[:, 3, 4] + hidden[:, 4, 3] == 1).all(), "both see each other, or neither"
    assert 5 < hidden[:, 3, 4].sum() < 35


def test_both_words_of_the_city_are_counted():
    class Even(torch.nn.Module):
        def forward(self, labels, **others):
            return SimpleNamespace(prediction_logits=torch.zeros(int((labels >= 0).sum()), len(CITY_WORDS)))

    for inputs_of in (cities_masked, cities_in_random_order):
        losses = city_losses(Even(), inputs_of(city_texts(), generator()))
        torch.testing.assert_close(losses, torch.full((4,), 2 * math.log(len(CITY_WORDS))))

"""Offsets into the original text, against the normalized string of the `tokenizers` library."""

import pytest
from tokenizers import NormalizedString, normalizers

from bertedu.tokenization.normalization import Normalization
from bertedu.tokenization.offsets import decompose, normalize_traced, words_with_origins

TEXTS = [
    "Plain text, nothing more.",
    "É e\u0301lan\tİstanbul \x00x\u200dy  ﬁ Straße",
    "中文ab한국어",
    "a\u0301\u0323b \u1e69\u0f73 \u0344\u0323x",
    "à\u1b44 a\u0301\u1b44b \U0001d15e\u0323",  # marks that stay, and change places with marks that go
    "",
    " \u2003 ",
]


def reference_traced(text: str, normalization: Normalization) -> list[tuple[str, int]]:
    """The library's answer, for a text in which no character stands twice."""
    string = NormalizedString(text)
    normalizers.BertNormalizer(lowercase=normalization.lowercase, strip_accents=normalization.strip_accents).normalize(
        string
    )
    return [(string.normalized[i], text.index(string[i : i + 1].original)) for i in range(len(string.normalized))]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("options", [(True, None), (False, None), (True, False), (False, True)])
def test_tracing_does_not_change_the_words(text, options):
    normalization = Normalization(*options)
    assert "".join(character for character, _ in normalize_traced(text, normalization)) == normalization.normalize(text)
    assert [word for word, _ in words_with_origins(text, normalization)] == normalization.words(text)


@pytest.mark.parametrize(
    "text", ["aÉ\u200dİ\tﬁß", "x中文한국", "à\u1b44b\u0301\u1baa", "\u1e69\u0f73\u0344\u0323y\U0001d165"]
)
def test_origins_are_those_of_the_reference(text):
    assert normalize_traced(text, Normalization()) == reference_traced(text, Normalization())


def test_a_letter_that_becomes_two_points_twice_to_one_place():
    assert normalize_traced("xİ", Normalization(strip_accents=False)) == [("x", 0), ("i", 1), ("\u0307", 1)]


def test_removed_characters_shift_nothing_that_follows():
    assert list(words_with_origins("\u200ba\x00b c", Normalization())) == [("ab", [1, 3]), ("c", [5])]


def test_marks_that_change_places_keep_the_order_of_the_places():
    for after in ([], [("b", 3)]):
        swapped = decompose([("a", 0), ("\u0301", 1), ("\u0323", 2), *after])
        assert list(swapped) == [("a", 0), ("\u0323", 1), ("\u0301", 2), *after]

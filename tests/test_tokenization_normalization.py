"""Normalization and splitting, against the normalizer and pre-tokenizer of the `tokenizers` library."""

import unicodedata
from collections import Counter

import pytest
from tokenizers import normalizers, pre_tokenizers

from bertedu.tokenization.normalization import (
    Normalization,
    clean,
    lower_case,
    separate_chinese,
    split_words,
    strip_accents,
)

UNICODE_3_2 = unicodedata.ucd_3_2_0
RECLASSIFIED = {"\u166d", "\u1734", "\u1885", "\u1886", "\U000111c9"}  # known for longer, but in another category since
OLDER_TABLES = {"Po", "Mn", "Cf", "Ps", "Pe", "Pd", "Mc", "So", "Lu", "Ll", "Cn"}


def reference_words(text: str, lowercase: bool) -> list[str]:
    normalized = normalizers.BertNormalizer(lowercase=lowercase).normalize_str(text)
    return [word for word, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(normalized)]


def differing_characters(lowercase: bool) -> list[str]:
    """The assigned characters c for which "acb" becomes other words than in the reference."""
    ours = Normalization(lowercase)
    characters = map(chr, range(0xF0000))  # beyond are two planes for private use
    tried = [character for character in characters if unicodedata.category(character) not in ("Cn", "Cs")]
    differing = []
    for start in range(0, len(tried), 256):  # whole blocks first: most have no difference
        block = [f"a{character}b" for character in tried[start : start + 256]]
        text = " ".join(block)
        if ours.words(text) != reference_words(text, lowercase):
            differing += [one[1] for one in block if ours.words(one) != reference_words(one, lowercase)]
    return differing


@pytest.mark.parametrize("lowercase", [True, False])
def test_only_characters_newer_than_the_reference_differ(lowercase):
    differing = differing_characters(lowercase)
    assert len(differing) < 800
    old = {character for character in differing if UNICODE_3_2.category(character) != "Cn"}
    assert old <= RECLASSIFIED
    categories = Counter(unicodedata.category(character) for character in differing)
    assert set(categories) <= OLDER_TABLES, categories
    # Nearly all are marks that are now stripped and punctuation that is now split.
    assert categories["Mn"] + categories["Po"] + categories["Ps"] + categories["Pe"] >= 0.8 * len(differing)


def test_unassigned_code_points_are_kept_as_in_the_reference():
    assert unicodedata.category("\u0378") == "Cn"
    assert Normalization().words("a\u0378b") == ["a\u0378b"] == reference_words("a\u0378b", True)


def test_control_characters_go_but_tabs_and_line_ends_part_words():
    assert clean("a\x00b\ufffdc\u200dd\te\nf\rg\x0bh\u00a0i") == "abcd e f gh i"


def test_every_kind_of_white_space_is_one_kind():
    assert Normalization().words("a\u2003b\u3000c\u2028d\x85e") == ["a", "b", "c", "de"]


def test_chinese_characters_are_words_but_kana_and_hangul_are_not():
    assert separate_chinese("ab中文c").split() == ["ab", "中", "文", "c"]
    assert Normalization().words("ひらがな") == ["ひらかな"]  # the voicing mark of が counts as an accent
    assert len(Normalization().words("한국어")) == 1
    assert Normalization(tokenize_chinese_chars=False).words("ab中文c") == ["ab中文c"]


def test_accents_are_stripped_also_when_they_are_characters_of_their_own():
    assert strip_accents("é e\u0301 ñ Å") == "e e n A"


def test_lower_case_does_not_look_at_the_end_of_a_greek_word():
    assert lower_case("ΟΔΟΣ") == "οδοσ" != "ΟΔΟΣ".lower()


def test_cased_keeps_accents_unless_told():
    assert Normalization(lowercase=False).normalize("Élan") == "Élan"
    assert Normalization(lowercase=False, strip_accents=True).normalize("Élan") == "Elan"
    assert Normalization(lowercase=True, strip_accents=False).normalize("Élan") == "élan"


def test_ascii_symbols_are_punctuation_although_unicode_says_symbol():
    assert split_words("a$b^c~d+e") == ["a", "$", "b", "^", "c", "~", "d", "+", "e"]
    assert split_words("don't...") == ["don", "'", "t", ".", ".", "."]
    assert split_words("5€") == ["5€"]

"""Byte-level BPE, step by step: bytes, words, merges, and learning them as the `tokenizers` library does."""

import json
import random
import re
import time

import pytest
import tokenizers

from bertedu.errors import UserError
from bertedu.tokenization.byte_pair import (
    BYTE_CHARACTERS,
    MergedWords,
    count_words,
    learn_merges,
    merge_word,
    to_characters,
    to_text,
    words_pattern,
)

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
PROSE = [
    "The cats' owner said: we've 12 cats, they're    hungry; I'll feed\tthem at 7.30!\n",
    "Naïve façade — déjà vu, 東京 2020, ١٢٣ ½ Ⅷ x² 🤖🤖 e\u0301",
    "   leading and trailing   ",
]


def scrambled(seed: int, lines: int = 300) -> list[str]:
    """Lines of few different letters, so that pairs are many times equally frequent and runs overlap ("aaaa")."""
    chooser = random.Random(seed)
    return ["".join(chooser.choices("aab bc1é", k=chooser.randint(0, 30))) for _ in range(lines)]


def test_every_byte_has_the_character_of_gpt2():
    reference = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    assert len(set(BYTE_CHARACTERS)) == 256 and set(BYTE_CHARACTERS) == set(reference)
    assert to_characters(" \n\t\x00~é") == "ĠĊĉĀ~Ã©"


def test_words_are_split_as_by_the_reference():
    reference = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    odd = [
        "a\x1cb\x85c",
        "a \x1c b\x1c\x1f  c \x85 d",
        "it's it'S 'tis can't've",
        "a \n\n b",
        "  \u3000 x",
        "a1b2_c",
        "_ __ a",
        "\u00a0 \u00a0x",
        "",
    ]
    for text in [*PROSE, *odd, *scrambled(0)]:
        found = [to_characters(word) for word in words_pattern().findall(text)]
        assert found == [word for word, _ in reference.pre_tokenize_str(text)], text
        assert "".join(words_pattern().findall(text)) == text


def test_merges_are_made_in_the_order_learned():
    ranks = {("h", "u"): 0, ("u", "g"): 1, ("hu", "g"): 2, ("b", "ug"): 3, ("a", "a"): 4}
    assert merge_word("bughug", ranks) == ["bug", "hug"]
    assert merge_word("aaaaa", ranks) == ["aa", "aa", "a"]
    assert merge_word("", ranks) == [] and merge_word("x", ranks) == ["x"]


def test_the_pair_that_was_learned_first_is_merged_first():
    """By hand: (b, c) was learned first, so "abc" becomes a and bc, although (a, b) stands to its left."""
    assert merge_word("abc", {("b", "c"): 0, ("a", "b"): 1}) == ["a", "bc"]
    assert merge_word("abc", {("a", "b"): 0, ("b", "c"): 1}) == ["ab", "c"]


def test_a_merge_that_comes_back_after_later_ones_is_made():
    """ "abc" can be made in two ways; the pair (abc, d) was learned before the second."""
    ranks = {("b", "c"): 0, ("a", "bc"): 1, ("abc", "d"): 2, ("x", "b"): 3}
    assert merge_word("abcdxbabcd", ranks) == ["abcd", "xb", "abcd"]


def test_a_very_long_word_takes_seconds():
    merges = [("a", "a"), ("aa", "aa"), ("aaaa", "aaaa")]
    start = time.process_time()
    assert merge_word("a" * 200_001, {merge: rank for rank, merge in enumerate(merges)}) == ["a" * 8] * 25_000 + ["a"]
    assert time.process_time() - start < 20


@pytest.mark.parametrize("add_prefix_space", [True, False])
@pytest.mark.parametrize(
    ("lines", "vocab_size"), [(scrambled(1), 400), (scrambled(2), 2000), (PROSE * 3, 290), (PROSE * 3, 3000)]
)
def test_the_merges_learned_are_those_of_the_reference(lines, vocab_size, add_prefix_space):
    tokens, merges = learn_merges(count_words(lines, add_prefix_space), vocab_size, SPECIAL)
    reference = tokenizers.ByteLevelBPETokenizer(add_prefix_space=add_prefix_space)
    reference.train_from_iterator(lines, vocab_size, special_tokens=SPECIAL, show_progress=False)
    expected = reference.get_vocab()
    assert tokens == sorted(expected, key=expected.__getitem__)
    assert [list(merge) for merge in merges] == json.loads(reference._tokenizer.to_str())["model"]["merges"]


def test_the_order_of_the_words_does_not_decide_between_equal_pairs():
    counts = count_words(scrambled(3), True)
    shuffled = dict(random.Random(0).sample(list(counts.items()), len(counts)))
    assert learn_merges(counts, 500, SPECIAL) == learn_merges(shuffled, 500, SPECIAL)


def test_a_pair_that_stands_once_is_not_learned():
    tokens, merges = learn_merges({"abab": 1, "xy": 1}, 1000, SPECIAL)
    assert merges == [("a", "b")] and tokens[-1] == "ab"


def test_bytes_that_are_no_character_do_not_stop_the_decoding():
    robot = list(to_characters("🤖"))
    assert to_text(robot) == "🤖" and to_text(robot[:2]) == "�" and to_text([*robot[:1], "a"]) == "�a"
    assert to_text(["<s>", "Ġa", "  "]) == "<s> a  "  # an added token of real spaces stays as it is


def test_half_a_character_is_refused_in_words():
    words = MergedWords({character: index for index, character in enumerate(BYTE_CHARACTERS)}, {})
    with pytest.raises(UserError, match=re.escape(r"half a character, '\ud83d', which has no bytes: remove it")):
        words["a\ud83d"]


@pytest.mark.parametrize(
    ("counts", "vocab_size", "message"),
    [({}, 1000, "no words to learn"), ({"a": 1}, 260, "the 256 bytes already take 261: ask for at least 261")],
)
def test_what_nothing_can_be_learned_from_is_refused(counts, vocab_size, message):
    with pytest.raises(UserError, match=message):
        learn_merges(counts, vocab_size, SPECIAL)

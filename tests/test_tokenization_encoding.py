"""Cutting pairs to length, and what a model sees of an encoding."""

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers

from bertedu.errors import UserError
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.encoding import kept_lengths
from bertedu.tokenization.training import SPECIAL_TOKENS

TOKENIZER = BertTokenizer([*SPECIAL_TOKENS, "a", "b"])


def cut_one_by_one(first: int, second: int, room: int) -> tuple[int, int]:
    """Google's form: take one token after another from the longer text."""
    while first + second > room:
        if first > second:
            first -= 1
        else:
            second -= 1
    return first, second


def test_longest_first_is_cutting_one_token_after_another():
    for first in range(9):
        for second in range(9):
            for room in range(1, 19):
                kept, wanted = kept_lengths(first, second, room, "longest_first"), cut_one_by_one(first, second, room)
                assert sum(kept) == sum(wanted)
                # When both are cut, an odd token goes to the text that was longer, as in the reference.
                assert sorted(kept) == sorted(wanted)


def test_an_odd_token_stays_with_the_text_of_the_reference():
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1, "?": 2}, "?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    for room in range(2, 12):
        tokenizer.enable_truncation(room, strategy="longest_first")
        for first in range(1, 9):
            for second in range(1, 9):
                tokens = tokenizer.encode("a " * first, "b " * second).tokens
                wanted = tokens.count("a"), tokens.count("b")
                assert kept_lengths(first, second, room, "longest_first") == wanted, (first, second, room)


def test_only_first_leaves_the_second_text_whole():
    assert kept_lengths(9, 4, 10, "only_first") == (6, 4)
    assert kept_lengths(9, 4, 10, "only_second") == (9, 1)
    assert kept_lengths(9, None, 5, "only_first") == (5, 0)


@pytest.mark.parametrize(
    ("lengths", "truncation", "message"),
    [
        ((9, 4, 4), "only_first", "9 tokens too long and that text has only 9"),
        ((9, 4, 9), "only_second", "4 tokens too long and that text has only 4"),
        ((9, None, 5), "only_second", "there is no second text"),
    ],
)
def test_a_text_that_is_too_short_to_be_cut_is_refused(lengths, truncation, message):
    with pytest.raises(UserError, match=message):
        kept_lengths(*lengths, truncation)


def test_an_encoding_is_the_three_tensors_to_a_model():
    encoding = TOKENIZER(["a b", "a"])
    assert list(encoding.keys()) == ["input_ids", "token_type_ids", "attention_mask"]
    assert dict(**encoding)["input_ids"] is encoding.input_ids
    for tensor in encoding.values():
        assert tensor.shape == (2, 4) and tensor.dtype == torch.long
    with pytest.raises(KeyError):
        encoding["offsets"]


def test_padding_is_masked_and_shown():
    encoding = TOKENIZER(["a b", "a"])
    assert encoding.attention_mask.tolist() == [[1, 1, 1, 1], [1, 1, 1, 0]]
    assert encoding.tokens[1] == ["[CLS]", "a", "[SEP]", "[PAD]"]
    assert encoding.offsets[1] == [(0, 0), (0, 1), (0, 0), (0, 0)]

"""BertTokenizer against `transformers`; the whole comparison is benchmarks/tokenizer_parity.py."""

import runpy
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer
from transformers import BertTokenizer as ReferenceTokenizer

from bertedu.errors import UserError
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

PARITY = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "tokenizer_parity.py"))
STRINGS = PARITY["random_strings"](1500, seed=1)
PROSE = ["The quick brown foxes weren't jumping.", "Naïve café, 中文, [MASK] and [mask]!", "", "a\x0cb\u2028c"]
LINES = [*STRINGS, *PROSE]


@pytest.fixture(scope="module", params=[True, False], ids=["uncased", "cased"])
def tokenizer(request) -> BertTokenizer:
    return BertTokenizer.train([*LINES, *PROSE * 20], 4000, lowercase=request.param)


def test_ids_types_masks_and_offsets_are_the_references(tokenizer):
    assert PARITY["differences"](tokenizer, PARITY["reference"](tokenizer), LINES) == 0


def test_pairs_truncation_and_decoding_are_the_references(tokenizer):
    assert PARITY["pair_differences"](tokenizer, PARITY["reference"](tokenizer), LINES, samples=60) == 0


def test_the_comparison_sees_a_difference(tokenizer):
    tokens = list(tokenizer.vocab)
    swapped = BertTokenizer([*tokens[:-2], tokens[-1], tokens[-2]], tokenizer.normalization.lowercase)
    assert PARITY["differences"](swapped, PARITY["reference"](tokenizer), LINES) > 0


@pytest.mark.slow
def test_data_sets_give_the_references_ids(tokenizer, datasets_folder):
    files = ["wnut17/wnut17train.conll.gz", "wikitext-2/test.txt.gz", "xquad_en/xquad.en.json.gz"]
    lines = [line for name in files for line in list(PARITY["file_lines"](datasets_folder / name))[::60]]
    assert len(lines) > 500
    assert PARITY["differences"](tokenizer, PARITY["reference"](tokenizer), lines) == 0


def test_what_we_save_opens_in_transformers(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    again = BertTokenizer.from_pretrained(tmp_path)
    for kind in (AutoTokenizer, ReferenceTokenizer):
        reference = kind.from_pretrained(tmp_path)
        assert len(reference) == len(tokenizer) == len(again)
        assert PARITY["differences"](again, reference, LINES[::5]) == 0


def test_what_transformers_saves_opens_here(tokenizer, tmp_path):
    PARITY["reference"](tokenizer).save_pretrained(tmp_path)
    assert not (tmp_path / "vocab.txt").exists()
    again = BertTokenizer.from_pretrained(tmp_path)
    assert again.vocab == tokenizer.vocab and again.normalization == tokenizer.normalization


def test_special_tokens_have_the_names_of_transformers(tokenizer):
    reference = PARITY["reference"](tokenizer)
    for name in ("pad", "unk", "cls", "sep", "mask"):
        assert getattr(tokenizer, f"{name}_token") == getattr(reference, f"{name}_token")
        assert getattr(tokenizer, f"{name}_token_id") == getattr(reference, f"{name}_token_id")
    assert sorted(tokenizer.all_special_ids) == sorted(reference.all_special_ids) == [0, 1, 2, 3, 4]
    assert len(tokenizer) == len(reference)


def test_special_tokens_need_not_come_first():
    shuffled = BertTokenizer(["a", "[SEP]", "[MASK]", "##b", "[CLS]", "[UNK]", "[PAD]"])
    assert PARITY["differences"](shuffled, PARITY["reference"](shuffled), ["ab a [MASK]", "x"]) == 0


def test_a_mask_in_the_text_stays_whole_and_in_lower_case_does_not(tokenizer):
    assert tokenizer.tokenize("[MASK]") == ["[MASK]"]
    assert tokenizer.encode("[MASK]") == [tokenizer.mask_token_id]
    assert len(tokenizer.tokenize("[mask]")) >= 3


def test_encode_is_call_without_special_tokens(tokenizer):
    encoding = tokenizer(PROSE[0])
    assert tokenizer.encode_lines(PROSE)[0] == encoding.input_ids[0, 1:-1].tolist()
    assert encoding.tokens == [["[CLS]", *tokenizer.tokenize(PROSE[0]), "[SEP]"]]


def test_offsets_point_into_the_text_that_a_token_came_from(tokenizer):
    first, second = "Une idée naïve", "Déjà vu"
    encoding = tokenizer(first, second)
    types = encoding.token_type_ids[0].tolist()
    spans = [(second if kind else first)[a:b] for kind, (a, b) in zip(types, encoding.offsets[0], strict=True)]
    assert "".join(spans) == (first + second).replace(" ", "")


class PaddedLeft(BertTokenizer):
    """As XLNet pads."""

    padding_side = "left"
    pad_token_type_id = 3


def test_padding_stands_on_the_right_whatever_the_member_says():
    encoding = PaddedLeft([*SPECIAL_TOKENS, "a", "b"])(["a", "a b a"])
    assert encoding.input_ids.tolist() == [[0, 0, 2, 5, 3], [2, 5, 6, 5, 3]]
    assert encoding.token_type_ids[0].tolist() == [3, 3, 0, 0, 0]
    assert encoding.attention_mask[0].tolist() == [0, 0, 1, 1, 1]
    assert encoding.offsets[0] == [(0, 0), (0, 0), (0, 0), (0, 1), (0, 0)] and encoding.tokens[0][0] == "[PAD]"


def test_tokens_and_ids_are_each_others_inverse(tokenizer):
    assert tokenizer.convert_tokens_to_ids(tokenizer.convert_ids_to_tokens(list(range(50)))) == list(range(50))
    assert tokenizer.convert_tokens_to_ids("[SEP]") == 3 and tokenizer.convert_ids_to_tokens(3) == "[SEP]"
    assert tokenizer.convert_tokens_to_ids(["no such token"]) == [tokenizer.unk_token_id]


def test_decode_takes_tensors_lists_and_single_ids(tokenizer):
    ids = tokenizer("jumping foxes").input_ids[0]
    expected = "[CLS] jumping foxes [SEP]"
    assert tokenizer.decode(ids, skip_special_tokens=False) == expected
    assert tokenizer.decode(ids.tolist()) == tokenizer.decode(ids.numpy()) == tokenizer.decode(list(ids))
    assert tokenizer.decode(tokenizer.mask_token_id, skip_special_tokens=False) == "[MASK]"


@pytest.mark.parametrize("lines", ["a single string", ["", "  "]])
def test_training_on_nothing_or_on_characters_by_mistake_is_refused(lines):
    with pytest.raises(UserError):
        BertTokenizer.train(lines, 100)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("a",), {"truncation": "longest"}, "truncation is 'longest': choose one of longest_first, only_first, only_s"),
        (("a",), {"max_length": 1}, "max_length is 1, but .* take 2: ask for at least 2"),
        (("a", "b"), {"max_length": 2}, "max_length is 2, but .* take 3"),
        (("a",), {"max_length": "128"}, "max_length is '128'"),
        ((None,), {}, "a text is a string, and this is None"),
        ((["a", 7],), {}, "a text is a string, and this is 7"),
        (([],), {}, "the list is empty"),
        ((["a", "b"], ["c"]), {}, "2 first texts and 1 second texts"),
        ((["a", "b"], "c"), {}, "a list of texts with a list of second texts"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_one_sentence(arguments, options, message):
    tokenizer = BertTokenizer([*SPECIAL_TOKENS, "a", "b"])
    with pytest.raises(UserError, match=message) as caught:
        tokenizer(*arguments, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ids", [[7], [-100], torch.tensor([[1, 2]]), ["a"], 99])
def test_ids_outside_the_vocabulary_are_refused(ids):
    with pytest.raises(UserError, match=r"outside the vocabulary of 7 tokens|an id is a whole number"):
        BertTokenizer([*SPECIAL_TOKENS, "a", "b"]).decode(ids)

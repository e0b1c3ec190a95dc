"""RobertaTokenizer and ModernBertTokenizer against `transformers`; the whole comparison is
benchmarks/tokenizer_parity.py.
"""

import runpy
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

from bertedu.errors import UserError
from bertedu.tokenization import ModernBertTokenizer, RobertaTokenizer

PARITY = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "tokenizer_parity.py"))
SPELT_OUT = (
    "<s>",
    "</s>",
    "<mask>",
    "[MASK]",
    "[SEP]",
    "<|endoftext|>",
    " <mask>",
    "  ",
    "   ",
    "\n",
    "|||IP_ADDRESS|||",
)
STRINGS = PARITY["random_strings"](1200, seed=2, spelt_out=SPELT_OUT)
PROSE = [
    "The quick brown foxes weren't jumping.",
    "Naïve café, 中文,  <mask> and [MASK] <mask>!",
    "a\u0327\u0301e\u0301 \u1e69 s\u0307\u0323 \uac01\u1100\u1161\u11a8",  # marks in another order, Korean letters
    "a\u030d\u0301 e\u0301",  # a mark between a letter and the mark that there is one character for
    "a \x1c<mask> b\x1f [MASK]",  # white space to Python alone
    "def f():\n" + " " * 30 + "return 1",
    "<s>a</s>",
    *("", " ", "  a", "\n\n", "\tb"),
]
LINES = [*STRINGS, *PROSE]


@pytest.fixture(scope="module")
def learned() -> RobertaTokenizer:
    return RobertaTokenizer.train([*LINES, *PROSE * 20], 1500)


@pytest.fixture(scope="module", params=["RoBERTa", "no prefix", "mask without space", "ModernBERT", "prefix"])
def tokenizer(request, learned) -> RobertaTokenizer | ModernBertTokenizer:
    if request.param in ("ModernBERT", "prefix"):
        made = PARITY["modernbert"]([*LINES, *PROSE * 20], 1500)
        made.add_prefix_space = request.param == "prefix"
        return made
    return RobertaTokenizer(
        learned.vocab, learned.merges, request.param != "no prefix", request.param != "mask without space"
    )


def test_ids_types_masks_and_offsets_are_the_references(tokenizer):
    assert PARITY["differences"](tokenizer, PARITY["reference"](tokenizer), LINES) == 0


def test_pairs_truncation_and_decoding_are_the_references(tokenizer):
    assert PARITY["pair_differences"](tokenizer, PARITY["reference"](tokenizer), LINES, samples=40) == 0


@pytest.mark.slow
def test_data_sets_give_the_references_ids(tokenizer, datasets_folder):
    files = ["wnut17/wnut17train.conll.gz", "wikitext-2/test.txt.gz", "xquad_en/xquad.en.json.gz"]
    lines = [line for name in files for line in list(PARITY["file_lines"](datasets_folder / name))[::100]]
    assert PARITY["differences"](tokenizer, PARITY["reference"](tokenizer), lines) == 0


def test_what_we_save_opens_in_transformers(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path, model_max_length=64)
    reference = AutoTokenizer.from_pretrained(tmp_path)
    again = type(tokenizer).from_pretrained(tmp_path)
    assert len(reference) == len(tokenizer) == len(again) and reference.model_max_length == 64
    for one in (tokenizer, again):
        assert PARITY["differences"](one, reference, [line for line in LINES if len(line) < 20]) == 0
    for role in ("pad", "unk", "cls", "sep", "mask"):
        assert getattr(reference, f"{role}_token_id") == getattr(again, f"{role}_token_id")


def test_what_transformers_saves_opens_here(tokenizer, tmp_path):
    PARITY["reference"](tokenizer).save_pretrained(tmp_path)
    again = type(tokenizer).from_pretrained(tmp_path)
    assert again.vocab == tokenizer.vocab and again.merges == tokenizer.merges
    for name in ("add_prefix_space", "mask_takes_space_before"):
        assert getattr(again, name) == getattr(tokenizer, name), name
    assert {*again.added_tokens} == {*tokenizer.added_tokens}
    assert again.all_special_tokens == tokenizer.all_special_tokens


def test_a_mask_takes_the_space_before_it_or_leaves_it(learned):
    assert learned.tokenize("a  <mask> b") == ["Ġa", "<mask>", "Ġb"]
    kept = RobertaTokenizer(learned.vocab, learned.merges, mask_takes_space_before=False)
    assert kept.tokenize("a <mask> b") == ["a", "Ġ", "<mask>", "Ġb"]


def test_a_pair_has_two_separators_and_one_segment(learned):
    encoding = learned("a", "b")
    assert encoding.tokens == [["<s>", "Ġa", "</s>", "</s>", "Ġb", "</s>"]]
    assert not encoding.token_type_ids.any() and learned.layout.special_tokens(pair=True) == 4
    assert learned.pad_token_id == 1  # where RoBERTa's positions begin after


def test_a_word_of_a_sentence_is_encoded_with_the_space_before_it(learned):
    plain = RobertaTokenizer(learned.vocab, learned.merges)
    assert plain.tokenize("the")[0][0] != "Ġ"
    assert plain.encode_after_space("the") == plain.encode(" the") == learned.encode("the") == plain.encode("a the")[1:]


def test_a_comma_continues_a_word_and_a_line_end_does_not(learned):
    continues = [token for token in ("Ġthe", "the", ",", "Ċ", "ĉ", "  ", "<mask>") if learned.continues_word(token)]
    assert continues == ["the", ","]


def test_tensors_and_single_ids_are_decoded_and_half_characters_marked(learned):
    ids = learned("A robot 🤖").input_ids[0]
    assert learned.decode(ids) == " A robot 🤖" and learned.decode(ids, False) == "<s> A robot 🤖</s>"
    assert learned.decode(torch.tensor(learned.vocab["ð"])) == "�"


def test_half_a_character_in_a_text_is_refused(tokenizer):
    for encode in (tokenizer.encode, tokenizer.encode_with_offsets, tokenizer):
        with pytest.raises(UserError, match="half a character"):
            encode("a \ud83d b")


@pytest.mark.parametrize("kind", [RobertaTokenizer, ModernBertTokenizer])
def test_training_on_nothing_or_on_characters_by_mistake_is_refused(kind):
    for lines in ("a single string", ["", ""]):
        with pytest.raises(UserError):
            kind.train(lines, 1000)

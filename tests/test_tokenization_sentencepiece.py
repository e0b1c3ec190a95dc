"""AlbertTokenizer, XLNetTokenizer, XLMRobertaTokenizer and DebertaV2Tokenizer against `transformers`; the whole
comparison is benchmarks/tokenizer_parity.py.
"""

import json
import runpy
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import transformers
from transformers import AutoTokenizer

from bertedu.errors import UserError
from bertedu.tokenization.albert import AlbertTokenizer
from bertedu.tokenization.charsmap import CharsMap, graphemes
from bertedu.tokenization.deberta_v2 import DebertaV2Tokenizer
from bertedu.tokenization.xlm_roberta import XLMRobertaTokenizer
from bertedu.tokenization.xlnet import XLNetTokenizer

PARITY = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "tokenizer_parity.py"))
SPELT_OUT = ("[CLS]", "[SEP]", "[MASK]", " [MASK]", "<mask>", " <mask>", "<s>", "</s>", "<sep>", "▁", " ▁", "``", "''")
STRINGS = PARITY["random_strings"](1000, seed=3, spelt_out=SPELT_OUT)
PROSE = [
    "The quick brown foxes weren't jumping ``over'' '''it'''.",
    "Naïve café, 中文,  <mask> and [MASK] ＜mask＞ ＜s＞!",
    "a\u0327\u0301e\u0301 \u1e69 s\u0307\u0323 \uac01\u1100\u1161\u11a8",  # marks in another order, Korean letters
    "ﬁne ﬁ\u0301 \u0001\ufb01\u0001 ½ ™ ① \r\n\r x\u200by \u00a8 \u2028",  # what the table changes, drops and keeps
    *("", " ", "  a", "\n\n", "\tb", "a \u3000b", "\u3000", "a  \n b ", "▁", "a▁b ▁▁c", "\u00a0x", "\x1cx\x1d"),
]
LINES = [*STRINGS, *PROSE]
KINDS: dict[str, Any] = {
    "ALBERT": AlbertTokenizer,
    "ALBERT with capitals and accents": AlbertTokenizer,
    "ALBERT without table": AlbertTokenizer,
    "XLNet": XLNetTokenizer,
    "XLM-R": XLMRobertaTokenizer,
    "DeBERTa v2": DebertaV2Tokenizer,
}


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request):
    switches = {"do_lower_case": False, "keep_accents": True} if "capitals" in request.param else {}
    learned = KINDS[request.param].train([*LINES, *PROSE * 20], 10_500, **switches)
    return learned if "without" in request.param else PARITY["with_charsmap"](learned)


def test_ids_types_masks_and_offsets_are_the_references(tokenizer):
    assert PARITY["differences"](tokenizer, PARITY["reference"](tokenizer), LINES) == 0


def test_pairs_truncation_and_decoding_are_the_references(tokenizer):
    assert PARITY["pair_differences"](tokenizer, PARITY["reference"](tokenizer), LINES, samples=40) == 0


@pytest.mark.slow
def test_data_sets_give_the_references_ids(tokenizer, datasets_folder):
    files = ["wnut17/wnut17train.conll.gz", "wikitext-2/test.txt.gz", "xquad_en/xquad.en.json.gz"]
    lines = [line for name in files for line in list(PARITY["file_lines"](datasets_folder / name))[::200]]
    assert PARITY["differences"](tokenizer, PARITY["reference"](tokenizer), lines) == 0


def test_tokenizer_json_is_word_for_word_what_transformers_writes(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path / "ours", model_max_length=77)
    PARITY["reference"](tokenizer).save_pretrained(tmp_path / "theirs")
    ours, theirs = (json.loads((tmp_path / who / "tokenizer.json").read_text()) for who in ("ours", "theirs"))
    assert ours == theirs
    for kind in (AutoTokenizer, getattr(transformers, type(tokenizer).__name__)):
        reference = kind.from_pretrained(tmp_path / "ours")
        assert len(reference) == len(tokenizer) and reference.model_max_length == 77
        assert type(reference).__name__ == type(tokenizer).__name__
        assert PARITY["differences"](tokenizer, reference, LINES[::7]) == 0
    for who in ("ours", "theirs"):
        again = type(tokenizer).from_pretrained(tmp_path / who)
        assert again.model.pieces == tokenizer.model.pieces and again.switches == tokenizer.switches
        assert PARITY["differences"](again, PARITY["reference"](tokenizer), LINES[::7]) == 0


def test_special_tokens_have_the_names_and_ids_of_transformers(tokenizer):
    reference = PARITY["reference"](tokenizer)
    for name in ("pad", "unk", "cls", "sep", "mask"):
        assert getattr(tokenizer, f"{name}_token") == getattr(reference, f"{name}_token")
        assert getattr(tokenizer, f"{name}_token_id") == getattr(reference, f"{name}_token_id")
    assert set(tokenizer.all_special_ids) == set(reference.all_special_ids)


def tiny(kind: Any) -> Any:
    """A tokenizer with two words."""
    first, last = ([(token, 0.0) for token in tokens] for tokens in (kind.first_tokens, kind.last_tokens))
    return kind([*first, ("▁a", -1.0), ("▁b", -1.0), *last])


def test_layouts_are_those_of_the_papers():
    albert, xlnet, roberta, deberta = map(
        tiny, (AlbertTokenizer, XLNetTokenizer, XLMRobertaTokenizer, DebertaV2Tokenizer)
    )
    assert albert("a", "b").tokens == [["[CLS]", "▁a", "[SEP]", "▁b", "[SEP]"]]
    assert albert("a", "b").token_type_ids.tolist() == [[0, 0, 0, 1, 1]]
    assert xlnet("a", "b").tokens == [["▁a", "<sep>", "▁b", "<sep>", "<cls>"]]
    assert xlnet("a", "b").token_type_ids.tolist() == [[0, 0, 1, 1, 2]]
    assert xlnet(["a", "a a"]).token_type_ids.tolist()[0] == [0, 0, 0, 2]  # padded on the left
    assert xlnet(["a", "a a"]).attention_mask.tolist()[0] == [0, 1, 1, 1]
    assert roberta("a", "b").tokens == [["<s>", "▁a", "</s>", "</s>", "▁b", "</s>"]]
    assert [roberta.vocab[token] for token in ("<s>", "<pad>", "</s>", "<unk>")] == [0, 1, 2, 3]
    assert deberta("a", "b").tokens == [["[CLS]", "▁a", "[SEP]", "▁b", "[SEP]"]]
    assert deberta.mask_token_id == len(deberta) - 1


def test_only_a_token_with_a_space_begins_a_word():
    tokenizer = AlbertTokenizer.train(["ab ba"], 20)
    assert [tokenizer.continues_word(token) for token in ("▁a", "a", "▁", "[MASK]")] == [False, True, False, False]


def test_graphemes_are_those_of_unicode():
    regex = pytest.importorskip("regex")
    plain = [line for line in LINES if not any(unicodedata.combining(character) == 9 for character in line)]
    assert len(plain) > 500  # viramas make longer graphemes, of which the rules are left out
    for line in [*plain, "\u0600a \u1100\u1161\u11a8\u0301 \u0301\u0302x \r\n\r\n \u200d\u0301"]:
        wanted = [one for one in regex.findall(r"\X", line) if len(one.encode()) <= 5]
        assert [one for one in graphemes(line) if len(one.encode()) <= 5] == wanted


def test_a_short_grapheme_takes_the_replacement_of_its_first_part():
    charsmap = CharsMap(PARITY["nmt_nfkc"]())
    assert charsmap.replacements("e\u0301") == [("e\u0301", "é")]
    assert charsmap.replacements("\uff41\u0301") == [("\uff41\u0301", "a")]  # the accent is lost, as in the reference
    assert charsmap.replacements("\uff41\u0301\u0301") == [("\uff41", "a"), ("\u0301", "\u0301"), ("\u0301", "\u0301")]
    assert charsmap.replacements("\x01\r\n") == [("\x01", ""), ("\r\n", " ")]


def test_a_damaged_table_of_characters_is_refused():
    for data in (b"", b"\0\0\0\0", b"\xff\xff\xff\x7fabcd", b"\x03\0\0\0abc"):
        with pytest.raises(UserError, match="damaged"):
            CharsMap(data)


def test_a_text_alone_is_no_list_of_lines_and_options_are_checked():
    with pytest.raises(UserError, match="single string"):
        AlbertTokenizer.train("a text", 20)
    with pytest.raises(UserError, match="no switch lowercase"):
        AlbertTokenizer.train(["a text"], 20, lowercase=True)
    with pytest.raises(UserError, match="no words"):
        XLNetTokenizer.train(["", " "], 20)
    with pytest.raises(UserError, match="ask for at least 12"):
        AlbertTokenizer.train(["abcdef"], 11)

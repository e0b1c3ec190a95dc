"""The files of SentencePiece's tokenizers: what older versions wrote, SentencePiece's own file, and damaged ones."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import transformers

from bertedu.errors import UserError
from bertedu.tokenization.albert import AlbertTokenizer
from bertedu.tokenization.deberta_v2 import DebertaV2Tokenizer
from bertedu.tokenization.xlm_roberta import XLMRobertaTokenizer
from bertedu.tokenization.xlnet import XLNetTokenizer

LINES = ["the cat sat on the mat", "a dog ran to the cat", "Ça va, l'été ﬁne"] * 3
TEXTS = ["the dog sat", "", "a ﬁne  cat\u0301 [MASK] <mask> x!", "Ça\tva"]


@pytest.fixture
def saved(tmp_path) -> Path:
    AlbertTokenizer.train(LINES, 60).save_pretrained(tmp_path)
    return tmp_path


def change(path: Path, **values: Any) -> None:
    """Other values in a JSON file; "model.vocab" is inside model."""
    found = json.loads(path.read_text())
    for name, value in values.items():
        outer, _, inner = name.partition("__")
        if inner:
            found[outer][inner] = value
        else:
            found[outer] = value
    path.write_text(json.dumps(found))


def test_what_older_versions_wrote_opens(saved):
    """No "type" in the model, add_prefix_space in place of prepend_scheme, a further normalizer, no configuration."""
    path = saved / "tokenizer.json"
    found = json.loads(path.read_text())
    del found["model"]["type"], found["model"]["byte_fallback"]
    found["pre_tokenizer"]["pretokenizers"][1] = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}
    found["normalizer"]["normalizers"].append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    path.write_text(json.dumps(found))
    (saved / "tokenizer_config.json").unlink()
    ours, theirs = AlbertTokenizer.from_pretrained(saved), transformers.AlbertTokenizer.from_pretrained(saved)
    for text in TEXTS:
        assert ours(text).input_ids[0].tolist() == theirs(text).input_ids
    assert AlbertTokenizer.from_pretrained(path).vocab == ours.vocab


def test_a_mask_that_takes_the_space_before_it_is_read_and_written(saved):
    path = saved / "tokenizer.json"
    tokens = json.loads(path.read_text())["added_tokens"]
    tokens[4]["lstrip"] = True  # as in the published ALBERT
    change(path, added_tokens=tokens)
    ours, theirs = AlbertTokenizer.from_pretrained(saved), transformers.AlbertTokenizer.from_pretrained(saved)
    assert ours.encode_with_offsets("a [MASK]")[1][-1] == (1, 8)
    assert theirs("a [MASK]", return_offsets_mapping=True).offset_mapping[-2] == (1, 8)
    ours.save_pretrained(saved / "again")
    assert AlbertTokenizer.from_pretrained(saved / "again").mask_takes_space_before


def test_switches_are_read_from_the_configuration(saved):
    change(saved / "tokenizer_config.json", do_lower_case=False, keep_accents=True)
    ours, theirs = AlbertTokenizer.from_pretrained(saved), transformers.AlbertTokenizer.from_pretrained(saved)
    assert ours.switches == {"do_lower_case": False, "keep_accents": True}
    assert ours("Ça The").input_ids[0].tolist() == theirs("Ça The").input_ids


def spiece(path: Path, **options: Any) -> None:
    """A file of SentencePiece."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=model, vocab_size=60, hard_vocab_limit=False, minloglevel=2,
        **options,
    )  # fmt: skip
    path.write_bytes(model.getvalue())


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (XLMRobertaTokenizer, {}),
        (DebertaV2Tokenizer, {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3, "pad_piece": "[PAD]",
                              "bos_piece": "[CLS]", "eos_piece": "[SEP]", "unk_piece": "[UNK]"}),
        (AlbertTokenizer, {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1,
                           "control_symbols": ["[CLS]", "[SEP]", "[MASK]"]}),
        (XLNetTokenizer, {"control_symbols": ["<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"]}),
    ],
)  # fmt: skip
def test_sentencepieces_own_file_gives_the_ids_of_transformers(tmp_path, kind, options):
    spiece(tmp_path / kind.spiece_name, **options)
    ours = kind.from_pretrained(tmp_path)
    theirs = getattr(transformers, kind.__name__).from_pretrained(tmp_path)
    assert len(ours) == len(theirs) and ours.mask_token_id == theirs.mask_token_id
    for text in TEXTS:
        assert ours(text).input_ids[0].tolist() == theirs(text).input_ids, text
    ours.save_pretrained(tmp_path / "json")
    assert kind.from_pretrained(tmp_path / "json").vocab == ours.vocab


def test_a_damaged_or_another_kind_of_file_of_sentencepiece_is_refused(tmp_path):
    path = tmp_path / "spiece.model"
    for data, said in (
        (b"", "lacks"), (b"\x0a\x7f", "not a SentencePiece"), (b"text", "not a SentencePiece"),
        (b"\xff" * 9, "not a SentencePiece"), (b"\x0a\x02\x08\x01", "not a SentencePiece"),
    ):  # fmt: skip
        path.write_bytes(data)
        with pytest.raises(UserError, match=said):
            AlbertTokenizer.from_pretrained(tmp_path)
    spiece(path, model_type="bpe")
    with pytest.raises(UserError, match="not Unigram"):
        AlbertTokenizer.from_pretrained(path)
    spiece(path, user_defined_symbols=["(", "[CLS]"])
    with pytest.raises(UserError, match=r"'\('.*tokenizer.json of the same checkpoint"):
        AlbertTokenizer.from_pretrained(path)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"model__type": "BPE"}, "model is 'BPE'"),
        ({"model__vocab": {"a": 1}}, "not a list of pieces"),
        ({"model__vocab": [["a", "b"]]}, "not a list of pieces"),
        ({"model__vocab": []}, "unk_id"),
        ({"model__byte_fallback": True}, "byte_fallback is true"),
        ({"model__unk_id": 0}, "unk_id is 0, and that is not the id of <unk>"),
        ({"model__unk_id": None}, "unk_id is None"),
        ({"model__vocab": [["a", 0.0], ["<unk>", 0.0]]}, "lacks"),
        ({"model__vocab": [["<pad>", 0.0], ["<unk>", 0.0], ["<pad>", 0.0]]}, "'<pad>' has the ids 0 and 2"),
        ({"model__vocab": [["", 0.0], ["<unk>", 0.0]]}, "id 0 is ''"),
        ({"normalizer": {"type": "BertNormalizer"}}, "normalizers has 'BertNormalizer'"),
        ({"normalizer": {"type": "Sequence", "normalizers": 3}}, "normalizers is 3"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "ä"}}, "precompiled_charsmap is damaged"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}}, "table of characters is damaged"),
        ({"pre_tokenizer": {"type": "ByteLevel"}}, "pretokenizers has 'ByteLevel'"),
        ({"added_tokens": [{"id": 99, "content": "<new>"}]}, "added_tokens has '<new>'"),
        ({"added_tokens": [{"id": "x", "content": "<pad>"}]}, "has the id 'x'"),
        ({"added_tokens": [{"id": 99, "content": "[MASK]"}]}, "do not go on from"),
    ],
)
def test_a_tokenizer_json_that_cannot_be_used_is_refused_with_its_name(saved, values, said):
    change(saved / "tokenizer.json", **values)
    with pytest.raises(UserError, match=said) as caught:
        AlbertTokenizer.from_pretrained(saved)
    assert "tokenizer.json" in str(caught.value)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"do_lower_case": "yes"}, "do_lower_case is 'yes': write true or false"),
        ({"cls_token": "<s>"}, r"cls_token is '<s>', and that of AlbertTokenizer is \[CLS\]"),
        ({"added_tokens_decoder": []}, "added_tokens_decoder is"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused(saved, values, said):
    change(saved / "tokenizer_config.json", **values)
    with pytest.raises(UserError, match=said):
        AlbertTokenizer.from_pretrained(saved)


def test_deberta_that_splits_at_punctuation_is_refused(tmp_path):
    DebertaV2Tokenizer.train(LINES, 60).save_pretrained(tmp_path)
    change(tmp_path / "tokenizer_config.json", split_by_punct=True)
    with pytest.raises(UserError, match="split_by_punct is true"):
        DebertaV2Tokenizer.from_pretrained(tmp_path)


def test_a_folder_without_files_and_a_path_to_nothing_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"holds neither tokenizer\.json nor spm\.model"):
        DebertaV2Tokenizer.from_pretrained(tmp_path)
    with pytest.raises(UserError, match="does not exist"):
        AlbertTokenizer.from_pretrained(tmp_path / "nothing")

"""Vocabularies on disk: what is refused, and how it is said."""

import json

import pytest
import transformers

from bertedu.errors import UserError
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

TOKENS = [*SPECIAL_TOKENS, "a", "##b"]


def tokenizer_json(**changes) -> dict:
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    model = {**model, "max_input_chars_per_word": 100, "vocab": {token: i for i, token in enumerate(TOKENS)}}
    switches = {"clean_text": True, "lowercase": False, "strip_accents": None, "handle_chinese_chars": True}
    parts = {"normalizer": {"type": "BertNormalizer", **switches}, "pre_tokenizer": {"type": "BertPreTokenizer"}}
    return {"model": {**model, **changes}, **parts, "added_tokens": []}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"vocab.txt is empty"),
        ("\n".join([*TOKENS, "b", "a"]).encode(), r"vocab.txt, line 9: the token 'a' stands at line 6 already"),
        ("\n".join([*TOKENS, "", "b"]).encode(), r"vocab.txt, line 8: '' is not a token"),
        ("\n".join(TOKENS).replace("[MASK]\n", "").encode(), r"vocab.txt lacks \[MASK\]"),
        (b"a\nb\n", r"lacks \[PAD\], \[UNK\], \[CLS\], \[SEP\], \[MASK\]"),
        ("\n".join([*TOKENS, "é"]).encode("latin-1"), r"vocab.txt, line 8: byte 0xe9 is not UTF-8"),
    ],
)
def test_an_unusable_vocabulary_names_file_and_line(tmp_path, content, message):
    (tmp_path / "vocab.txt").write_bytes(content)
    for path in (tmp_path, tmp_path / "vocab.txt"):
        with pytest.raises(UserError, match=message) as caught:
            BertTokenizer.from_pretrained(path)
        assert "\n" not in str(caught.value)


def test_an_unusable_list_of_tokens_names_the_entry():
    with pytest.raises(UserError, match=r"vocab, entry 8: the token 'a' stands at entry 6"):
        BertTokenizer([*TOKENS, "a"])
    with pytest.raises(UserError, match=r"vocab lacks \[MASK\]"):
        BertTokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    with pytest.raises(UserError, match="vocab is empty"):
        BertTokenizer([])
    with pytest.raises(UserError, match="entry 8: 7 is not a token"):
        BertTokenizer([*TOKENS, 7])


def test_line_separators_of_unicode_and_windows_line_ends_do_not_shift_the_ids(tmp_path):
    tokens = [*TOKENS, "\u2028", "\x85", "c"]
    (tmp_path / "vocab.txt").write_bytes("\r\n".join(tokens).encode())
    assert BertTokenizer.from_pretrained(tmp_path).tokens == tokens


def test_spaces_behind_a_token_are_none_of_it(tmp_path):
    (tmp_path / "vocab.txt").write_text("".join(f"{token} \t\n" for token in TOKENS))
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    ours, theirs = BertTokenizer.from_pretrained(tmp_path), transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert ours.encode("ab a") == theirs.encode("ab a", add_special_tokens=False) == [5, 6, 5]


def test_a_cased_vocabulary_without_settings_keeps_its_capitals(tmp_path):
    for tokens, cased in (([*TOKENS, "Oslo"], True), ([*TOKENS, "oslo", "[NUM]", "ℝ"], False)):
        (tmp_path / "vocab.txt").write_text("\n".join(tokens), encoding="utf-8")
        for path in (tmp_path, tmp_path / "vocab.txt"):
            tokenizer = BertTokenizer.from_pretrained(path)
            assert tokenizer.tokenize("Oslo Á") == (["Oslo", "[UNK]"] if cased else ["oslo", "a"])


def test_the_vocabulary_overrules_the_settings_beside_it(tmp_path):
    BertTokenizer([*TOKENS, "Oslo"], lowercase=True).save_pretrained(tmp_path)
    assert BertTokenizer.from_pretrained(tmp_path).normalization.lowercase


def test_a_missing_place_and_an_empty_folder_are_refused(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        BertTokenizer.from_pretrained(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"neither vocab.txt nor tokenizer.json"):
        BertTokenizer.from_pretrained(tmp_path)


def test_a_switch_that_is_not_true_or_false_is_refused(tmp_path):
    BertTokenizer(TOKENS).save_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": "false"}')
    with pytest.raises(UserError, match=r"tokenizer_config.json: do_lower_case is 'false'"):
        BertTokenizer.from_pretrained(tmp_path)


def test_all_switches_survive_saving(tmp_path):
    for switches in [(True, None, True), (False, None, True), (False, True, False), (True, False, True)]:
        BertTokenizer(TOKENS, *switches).save_pretrained(tmp_path)
        again = BertTokenizer.from_pretrained(tmp_path)
        assert again.normalization == BertTokenizer(TOKENS, *switches).normalization
        assert again.tokens == TOKENS


def test_transformers_knows_where_to_cut_a_text(tmp_path):
    BertTokenizer(TOKENS).save_pretrained(tmp_path, model_max_length=8)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert theirs.model_max_length == 8 and len(theirs("a " * 20, truncation=True)["input_ids"]) == 8
    assert BertTokenizer.from_pretrained(tmp_path).tokens == TOKENS


def test_a_folder_with_tokenizer_json_alone_is_read(tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer_json()))
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    assert tokenizer.tokens == TOKENS and not tokenizer.normalization.lowercase


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (tokenizer_json(type="BPE"), "type is 'BPE', and BERT's is 'WordPiece'"),
        (tokenizer_json(continuing_subword_prefix="@@"), "continuing_subword_prefix is '@@'"),
        (tokenizer_json(vocab={"a": 0, "b": 2}), "ids of the vocabulary are not 0, 1, 2"),
        ({**tokenizer_json(), "normalizer": None}, "type is None, and BERT's is 'BertNormalizer'"),
        # The words of the next two would be others than those that the model was trained on.
        ({**tokenizer_json(), "pre_tokenizer": {"type": "Whitespace"}}, "type is 'Whitespace', and BERT's is"),
        ({**tokenizer_json(), "normalizer": {"type": "BertNormalizer", "clean_text": False}}, "clean_text is False"),
        (tokenizer_json(vocab={}), "tokenizer.json is empty"),
        (tokenizer_json(vocab={"a": 0}), r"tokenizer.json lacks \[PAD\]"),
        ({**tokenizer_json(), "added_tokens": [{"content": "[ENT]"}]}, "the id of an added token is None"),
        (
            {**tokenizer_json(), "added_tokens": [{"content": "[ENT]", "id": 9}]},
            r"'\[ENT\]' has the id 9, .* leave 7",
        ),
        ({**tokenizer_json(), "post_processor": None}, r"post_processor makes '' of texts, and .* \[CLS\] \$A \[SEP\]"),
        ([], "expected a JSON object"),
    ],
)
def test_a_tokenizer_of_another_kind_is_refused(tmp_path, values, message):
    (tmp_path / "tokenizer.json").write_text(json.dumps(values))
    with pytest.raises(UserError, match=message):
        BertTokenizer.from_pretrained(tmp_path)

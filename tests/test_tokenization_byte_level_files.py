"""Files of byte-level BPE: what is refused, and how it is said."""

import json

import pytest
import tokenizers

from bertedu.errors import UserError
from bertedu.tokenization import ModernBertTokenizer, RobertaTokenizer

LINES = ["the cat sat on the mat, the cat sat on the hat"] * 3


@pytest.fixture
def folder(tmp_path):
    RobertaTokenizer.train(LINES, 280).save_pretrained(tmp_path)
    return tmp_path


def changed(path, **changes) -> None:
    """Rewrite a JSON file; "model.type" names an entry inside another."""
    values = json.loads(path.read_text())
    for name, value in changes.items():
        *above, last = name.split("__")
        inner = values
        for one in above:
            inner = inner[one]
        inner[last] = value
    path.write_text(json.dumps(values))


def published(folder) -> list[str]:
    """Leave vocab.json and merges.txt alone, as RoBERTa was published. Returns the lines of merges.txt."""
    (folder / "tokenizer.json").unlink()
    return (folder / "merges.txt").read_text().split("\n")


def test_the_files_of_gpt2_are_those_that_the_library_writes(tmp_path):
    ours = RobertaTokenizer.train(LINES, 280)
    ours.save_pretrained(tmp_path)
    reference = tokenizers.ByteLevelBPETokenizer(dict(ours.vocab), list(ours.merges))
    (tmp_path / "theirs").mkdir()
    reference.save_model(str(tmp_path / "theirs"))
    assert (tmp_path / "merges.txt").read_text() == (tmp_path / "theirs" / "merges.txt").read_text()
    theirs = json.loads((tmp_path / "theirs" / "vocab.json").read_text())
    assert json.loads((tmp_path / "vocab.json").read_text()) == theirs
    again = RobertaTokenizer.from_pretrained(tmp_path / "theirs")
    assert again.vocab == ours.vocab and again.merges == ours.merges
    assert again.mask_takes_space_before and not again.add_prefix_space


def test_a_published_folder_keeps_its_settings(folder):
    published(folder)
    assert RobertaTokenizer.from_pretrained(folder).add_prefix_space
    changed(folder / "tokenizer_config.json", mask_token={"content": "<mask>", "lstrip": False})
    assert not RobertaTokenizer.from_pretrained(folder).mask_takes_space_before
    (folder / "tokenizer_config.json").unlink()
    again = RobertaTokenizer.from_pretrained(folder)
    assert not again.add_prefix_space and again.mask_takes_space_before


def test_an_older_tokenizer_json_is_read(folder):
    """As roberta-base has it: merges as text, no type of the model."""
    path = folder / "tokenizer.json"
    values = json.loads(path.read_text())
    values["model"] = {"vocab": values["model"]["vocab"], "merges": [" ".join(m) for m in values["model"]["merges"]]}
    path.write_text(json.dumps(values))
    assert RobertaTokenizer.from_pretrained(path).merges == RobertaTokenizer.train(LINES, 280).merges


@pytest.mark.parametrize(
    ("line", "content", "message"),
    [
        (2, "a b c", r"merges.txt, line 3: 'a b c' is not a pair of tokens: remove it"),
        (2, "ab", r"merges.txt, line 3: 'ab' is not a pair"),
        (3, "a zz", r"merges.txt, line 4: 'a zz' needs the token 'zz', which is not in the vocabulary"),
        (3, "z q", r"merges.txt, line 4: 'z q' needs the token 'zq'"),
    ],
)
def test_a_damaged_merge_names_file_and_line(folder, line, content, message):
    lines = published(folder)
    lines[line] = content
    (folder / "merges.txt").write_text("\n".join(lines))
    with pytest.raises(UserError, match=message) as caught:
        RobertaTokenizer.from_pretrained(folder)
    assert "\n" not in str(caught.value)


def test_windows_line_ends_are_no_part_of_the_merges(folder):
    lines = published(folder)
    (folder / "merges.txt").write_bytes("\r\n".join(lines).encode())
    assert RobertaTokenizer.from_pretrained(folder).merges == RobertaTokenizer.train(LINES, 280).merges


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model__type": "WordPiece"}, "type is 'WordPiece', and this tokenizer's is 'BPE'"),
        ({"model__dropout": 0.1}, "dropout is 0.1"),
        ({"model__byte_fallback": True}, "byte_fallback is True"),
        ({"model__ignore_merges": True}, "ignore_merges is True"),
        ({"model__end_of_word_suffix": "</w>"}, "end_of_word_suffix is '</w>'"),
        ({"normalizer": {"type": "NFC"}}, "normalizer is 'NFC', and this tokenizer's is None"),
        ({"pre_tokenizer__type": "Whitespace"}, "pre_tokenizer is 'Whitespace'"),
        ({"pre_tokenizer__use_regex": False}, "use_regex is False"),
        ({"model__merges": [["a"]]}, "tokenizer.json, merge 1: 'a' is not a pair"),
        ({"model__merges": "a b"}, "model has no vocab of tokens and ids, or no list of merges"),
        ({"model__vocab": {"a": 1}}, "the added token '<s>' has the id 0|ids of the vocabulary are not 0, 1, 2"),
        ({"model": 3}, "model is 3"),
        ({"added_tokens": [{"content": "<s>", "id": 7}]}, "the added token '<s>' has the id 7"),
        (
            {"added_tokens": [{"content": "<s>", "id": 0, "special": True, "rstrip": True}]},
            "the added token '<s>' has rstrip, which is not known here: write false",
        ),
    ],
)
def test_a_tokenizer_of_another_kind_is_refused(folder, changes, message):
    changed(folder / "tokenizer.json", **changes)
    with pytest.raises(UserError, match=message) as caught:
        RobertaTokenizer.from_pretrained(folder)
    assert "\n" not in str(caught.value) and "tokenizer.json" in str(caught.value)


def test_a_vocabulary_without_a_byte_or_a_special_token_is_refused(folder):
    vocab = list(RobertaTokenizer.from_pretrained(folder).vocab)
    for lost, message in (("Ċ", "lacks 1 of the 256 bytes, 'Ċ' among them"), ("<mask>", "lacks <mask>")):
        left = {token: index for index, token in enumerate(token for token in vocab if token != lost)}
        with pytest.raises(UserError, match=f"vocab {message}"):
            RobertaTokenizer(left, [])


def test_a_mask_token_of_another_model_is_refused(folder):
    changed(folder / "tokenizer_config.json", mask_token="[MASK]")
    with pytest.raises(UserError, match=r"tokenizer_config.json: mask_token is '\[MASK\]', .* knows '<mask>' alone"):
        RobertaTokenizer.from_pretrained(folder)


def test_one_member_does_not_open_the_folder_of_the_other(folder, tmp_path):
    with pytest.raises(UserError, match="pad_token is '<pad>'"):
        ModernBertTokenizer.from_pretrained(folder)
    ModernBertTokenizer.train(LINES, 280).save_pretrained(tmp_path / "other")
    (tmp_path / "other" / "tokenizer_config.json").unlink()
    with pytest.raises(UserError, match="normalizer is 'NFC'"):
        RobertaTokenizer.from_pretrained(tmp_path / "other")


def test_a_missing_place_and_an_empty_folder_are_refused(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        RobertaTokenizer.from_pretrained(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"holds neither tokenizer.json nor both vocab.json and merges.txt"):
        RobertaTokenizer.from_pretrained(tmp_path)

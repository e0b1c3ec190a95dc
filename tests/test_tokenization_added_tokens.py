"""Added tokens, classes and switches in folders of others: the ids of `transformers`, or a refusal."""

import json
import random
import shutil
import warnings

import pytest
import transformers
from tokenizers import AddedToken as Theirs
from transformers import AutoTokenizer
from transformers import BertTokenizer as TheirBertTokenizer

from bertedu.errors import UserError
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.added_tokens import AddedToken, AddedTokens
from bertedu.tokenization.training import SPECIAL_TOKENS

WORDS = ["the", "cat", "##s", "covid", "a", "##a", "b", "##b", "x", "##x", "-", "19", "é", "##é", "क", "##्", "##य"]
VOCAB = [*SPECIAL_TOKENS, *WORDS, "中", "한", "글"]
ADDED = ["Covid-19", "cats", "[E1]", "[/E1]", "b", "ab", "xx", "Éa", "中a", "é", "the cat", "क्य", "##zz", "X", " b"]
SPACES = [" ", "  ", "\t", "\u3000", "\n"]
PARTS = [*ADDED, *WORDS, *SPACES, "COVID-19", "THE", "CAT", "Xx", ".", "[MASK]", "[mask]", "한글", "e\u0301"]
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def random_tokenizer(rng: random.Random):
    """One of `transformers`, with switches and added tokens at random."""
    switches = {"do_lower_case": rng.random() < 0.5, "strip_accents": rng.choice([None, True, False])}
    switches["tokenize_chinese_chars"] = rng.random() < 0.5
    tokenizer = TheirBertTokenizer(vocab={token: index for index, token in enumerate(VOCAB)}, **switches)
    for content in rng.sample(ADDED, rng.randrange(1, 6)):
        plain = rng.random() < 0.4
        flags = {} if plain else {name: rng.random() < 0.3 for name in FLAGS[:3]} | {"normalized": rng.random() < 0.5}
        tokenizer.add_tokens([Theirs(content, **flags)], special_tokens=rng.random() < 0.3)
    if rng.random() < 0.3:
        tokenizer.add_special_tokens({"extra_special_tokens": ["[E1]", "[X]"]})
    return tokenizer


def as_older_files(folder, tokenizer, rng: random.Random) -> None:
    """The folder as `transformers` 4 left it, before 4.34 (added_tokens.json) or after it (added_tokens_decoder)."""
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token in VOCAB), encoding="utf-8")
    path = folder / "tokenizer_config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    added = {token.content: index for index, token in tokenizer.added_tokens_decoder.items() if index >= len(VOCAB)}
    if rng.random() < 0.5:
        extra = values.pop("extra_special_tokens", None)
        names = {name: value for name, value in values.items() if name.endswith("_token")}
        extra = {"additional_special_tokens": extra} if extra else {}
        (folder / "special_tokens_map.json").write_text(json.dumps({**names, **extra}), encoding="utf-8")
        (folder / "added_tokens.json").write_text(json.dumps(added), encoding="utf-8")
    else:
        flags = ("content", *FLAGS)
        values["added_tokens_decoder"] = {
            str(index): {name: getattr(token, name) for name in flags}
            for index, token in tokenizer.added_tokens_decoder.items()
        }
    path.write_text(json.dumps(values), encoding="utf-8")


def texts(rng: random.Random, number: int) -> list[str]:
    return ["".join(rng.choices(PARTS, k=rng.randrange(1, 9))) for _ in range(number)]


def ids_of(tokenizer, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False)["input_ids"]


@pytest.mark.slow(cases=40)
@pytest.mark.parametrize("seed", range(400))
def test_added_tokens_are_found_as_in_transformers_and_kept(seed, tmp_path):
    rng = random.Random(seed)
    theirs = random_tokenizer(rng)
    theirs.save_pretrained(tmp_path / "theirs")
    if rng.random() < 0.5:
        as_older_files(tmp_path / "theirs", theirs, rng)
    theirs = TheirBertTokenizer.from_pretrained(tmp_path / "theirs")  # what was added is sorted by now
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*stand for no text.*")
        ours = BertTokenizer.from_pretrained(tmp_path / "theirs")
        ours.save_pretrained(tmp_path / "ours")
        again = BertTokenizer.from_pretrained(tmp_path / "ours")
    reopened = AutoTokenizer.from_pretrained(tmp_path / "ours")
    assert len(ours) == len(theirs) == len(again) == len(reopened)
    for text in texts(rng, 40):
        right = ids_of(theirs, text)
        assert ours.encode(text) == right, text
        assert ours.encode_with_offsets(text)[0] == right, text
        assert again.encode(text) == right == ids_of(reopened, text), text


def test_offsets_of_added_tokens_are_those_of_transformers(tmp_path):
    theirs = TheirBertTokenizer(vocab={token: index for index, token in enumerate(VOCAB)})
    theirs.add_tokens(["Covid-19", Theirs("xx", single_word=True)])
    theirs.save_pretrained(tmp_path)
    ours = BertTokenizer.from_pretrained(tmp_path)
    for text in ("the COVID-19 cats", "axx xx é covid-19.", "xx [MASK]xx"):
        right = theirs(text, return_offsets_mapping=True, add_special_tokens=False)["offset_mapping"]
        assert ours.encode_with_offsets(text)[1] == [tuple(one) for one in right]


def test_a_word_is_not_split_into_added_tokens():
    tokenizer = BertTokenizer(VOCAB, added_tokens=[AddedToken("dog", single_word=True)])
    assert tokenizer.tokenize("dog dogs") == ["dog", "[UNK]"]


def test_special_added_tokens_are_left_out_of_what_is_decoded():
    tokenizer = BertTokenizer(VOCAB, added_tokens=[AddedToken("[E1]", normalized=False, special=True)])
    assert tokenizer.decode(tokenizer.encode("the [E1] cat")) == "the cat"


def test_of_two_tokens_that_look_alike_the_last_counts_and_a_warning_says_so():
    found = AddedTokens([("q", AddedToken("q"), 7), ("q", AddedToken("Q"), 8)])
    assert list(found.cut("a q")) == [(0, 2, None), (2, 3, 8)]
    with pytest.warns(UserWarning, match="'HIV' and 'Hiv' are the same once text is rewritten"):
        BertTokenizer(VOCAB, added_tokens=[AddedToken("HIV"), AddedToken("Hiv")])


# What is refused, by name


@pytest.fixture
def folder(tmp_path):
    """A plain folder with vocab.txt."""
    BertTokenizer(VOCAB).save_pretrained(tmp_path)
    return tmp_path


def settings(folder, **changes):
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tokenizer_class": "BertJapaneseTokenizer"}, "tokenizer_class is 'BertJapaneseTokenizer', and only BertTok"),
        ({"tokenizer_class": "KoBertTokenizer"}, "tokenizer_class is 'KoBertTokenizer'"),
        ({"tokenizer_class": "BertweetTokenizer"}, "tokenizer_class is 'BertweetTokenizer'"),
        ({"tokenizer_class": "XLMRobertaTokenizerFast"}, "tokenizer_class is 'XLMRobertaTokenizerFast'"),
        ({"word_tokenizer_type": "mecab"}, "word_tokenizer_type is 'mecab', and only 'basic'"),
        ({"subword_tokenizer_type": "character"}, "subword_tokenizer_type is 'character'"),
        ({"do_basic_tokenize": False}, "do_basic_tokenize is False, and only True"),
        ({"split_special_tokens": True}, "split_special_tokens is True"),
        ({"never_split": ["New York"]}, "never_split has 'New York'"),
        ({"mask_token": "<mask>"}, r"mask_token is '<mask>', and this tokenizer knows '\[MASK\]' alone"),
        ({"unk_token": {"content": "<unk>"}}, "unk_token is '<unk>'"),
        ({"added_tokens_decoder": {"40": {"content": "x1"}}}, "added token 'x1' has the id 40, .* leave 25 to it"),
        ({"added_tokens_decoder": {"3": {"content": "cat"}}}, "added token 'cat' has the id 3, .* leave 6 to it"),
        ({"added_tokens_decoder": {"x": {"content": "x1"}}}, "the id of an added token is 'x'"),
        ({"added_tokens_decoder": {"25": {"content": ""}}}, "is not a token: give its text"),
        ({"added_tokens_decoder": {"25": {"content": "y", "lstrip": 1}}}, "lstrip of 'y' is 1: write true or false"),
        ({"added_tokens_decoder": ["y"]}, "added_tokens_decoder is"),
    ],
)
def test_settings_that_would_give_other_ids_are_refused(folder, changes, says):
    settings(folder, **changes)
    with pytest.raises(UserError, match=says):
        BertTokenizer.from_pretrained(folder)


def test_the_class_may_stand_in_the_models_config(folder):
    settings(folder, tokenizer_class=None)
    (folder / "config.json").write_text('{"tokenizer_class": "BertJapaneseTokenizer"}', encoding="utf-8")
    with pytest.raises(UserError, match=r"config\.json: tokenizer_class is 'BertJapaneseTokenizer'"):
        BertTokenizer.from_pretrained(folder)


@pytest.mark.parametrize("name", ["BertTokenizerFast", "DistilBertTokenizer", "ElectraTokenizerFast", None])
def test_the_classes_that_took_berts_tokenizer_over_are_read(folder, name):
    settings(folder, tokenizer_class=name, never_split=["[MASK]"], do_basic_tokenize=True)
    assert BertTokenizer.from_pretrained(folder).tokens == VOCAB


def test_two_vocabularies_that_differ_are_refused(folder, tmp_path):
    TheirBertTokenizer(vocab={token: index for index, token in enumerate(VOCAB)}).save_pretrained(folder)
    assert BertTokenizer.from_pretrained(folder).tokens == VOCAB
    edited = [*VOCAB[:10], "mine", *VOCAB[11:]]
    (folder / "vocab.txt").write_text("\n".join(edited), encoding="utf-8")
    with pytest.raises(UserError, match=r"vocab\.txt and tokenizer\.json differ from the token with the id 10 on"):
        BertTokenizer.from_pretrained(folder)


def test_a_class_that_does_what_its_file_says_is_read_so(folder):
    TheirBertTokenizer(vocab={token: index for index, token in enumerate(VOCAB)}, do_lower_case=False).save_pretrained(
        folder
    )
    settings(folder, tokenizer_class="PreTrainedTokenizerFast", do_lower_case=True)
    theirs, ours = transformers.PreTrainedTokenizerFast.from_pretrained(folder), BertTokenizer.from_pretrained(folder)
    assert ours.encode("The cat é") == ids_of(theirs, "The cat é")
    path = folder / "tokenizer.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**values, "post_processor": None}), encoding="utf-8")
    with pytest.raises(UserError, match="post_processor makes '' of texts"):
        BertTokenizer.from_pretrained(folder)


def test_a_new_tokenizer_leaves_nothing_of_an_older_one(folder):
    theirs = TheirBertTokenizer(vocab={token: index for index, token in enumerate([*VOCAB, "old"])})
    theirs.save_pretrained(folder)
    (folder / "added_tokens.json").write_text('{"older": 26}', encoding="utf-8")
    BertTokenizer(VOCAB).save_pretrained(folder)
    assert BertTokenizer.from_pretrained(folder).tokens == VOCAB
    assert len(AutoTokenizer.from_pretrained(folder)) == len(VOCAB)


# A vocabulary that does not say whether its text was lower-cased


@pytest.mark.parametrize(
    ("words", "text", "tokens"),
    [
        (["한국", "##어", "the"], "한국어 The", ["한국", "##어", "the"]),  # Korean
        (["क्या", "है"], "क्या है", ["क्या", "है"]),  # Hindi
        (["ที่", "น้ำ"], "ที่ น้ำ", ["ที่", "น้ำ"]),  # Thai
        (["für", "straße"], "Für Straße", ["für", "straße"]),  # German, lower-cased
        (["が", "か"], "が か", ["が", "か"]),  # Japanese
    ],
)
def test_marks_of_a_vocabulary_are_kept_and_a_warning_says_so(words, text, tokens, tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join([*SPECIAL_TOKENS, *words]), encoding="utf-8")
    for path in (tmp_path, tmp_path / "vocab.txt"):
        with pytest.warns(UserWarning, match="have accents and marks, so these are kept"):
            assert BertTokenizer.from_pretrained(path).tokenize(text) == tokens


def test_a_vocabulary_without_capitals_and_marks_is_lower_cased_without_a_word(tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join([*SPECIAL_TOKENS, "cafe", "ᄒ", "##ᅡ"]), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert BertTokenizer.from_pretrained(tmp_path).tokenize("Café 하") == ["cafe", "ᄒ", "##ᅡ"]


def test_a_switch_by_which_tokens_become_unreachable_is_told(folder, tmp_path):
    BertTokenizer([*SPECIAL_TOKENS, "한국", "क्या"], lowercase=True).save_pretrained(folder)
    with pytest.warns(UserWarning, match="2 of 7 tokens, '한국' among them, stand for no text"):
        BertTokenizer.from_pretrained(folder)
    shutil.rmtree(folder)

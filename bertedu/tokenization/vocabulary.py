"""Vocabularies on disk: vocab.txt as Google wrote it, and the folders of `transformers`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bertedu.errors import UserError, shown
from bertedu.files import read_json_object, read_text, write_json, write_text
from bertedu.json_values import fits
from bertedu.tokenization.normalization import Normalization
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.tokenization.wordpiece import CONTINUATION, LONGEST_WORD, UNKNOWN

SWITCHES = {
    "lowercase": "do_lower_case",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "tokenize_chinese_chars",
}
# What a tokenizer.json must say of its parts for the ids to be BERT's.
BERT_PARTS: dict[str, dict[str, Any]] = {
    "model": {
        "type": "WordPiece",
        "unk_token": UNKNOWN,
        "continuing_subword_prefix": CONTINUATION,
        "max_input_chars_per_word": LONGEST_WORD,
    },
    "normalizer": {"type": "BertNormalizer", "clean_text": True},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
}


def number_tokens(tokens: list[str], source: str | Path = "vocab", line: str = "entry") -> dict[str, int]:
    """Map each token to its id, its position in the list. Raises UserError for an unusable vocabulary.

    source is where the tokens come from, and line what holds one of them there, for the messages.
    """
    if not tokens:
        raise UserError(f"{source} is empty: a vocabulary has at least the tokens {', '.join(SPECIAL_TOKENS)}.")
    vocab: dict[str, int] = {}
    for number, token in enumerate(tokens, start=1):
        if not isinstance(token, str) or not token:
            raise UserError(f"{source}, {line} {number}: {shown(token)} is not a token: remove it.")
        if token in vocab:
            raise UserError(
                f"{source}, {line} {number}: the token {shown(token)} stands at {line} {vocab[token] + 1} already: "
                "each token has one id, so remove one of the two."
            )
        vocab[token] = number - 1
    if missing := [token for token in SPECIAL_TOKENS if token not in vocab]:
        raise UserError(
            f"{source} lacks {', '.join(missing)}: BERT needs {', '.join(SPECIAL_TOKENS)}, "
            "so add what is missing or choose a BERT's vocabulary."
        )
    return vocab


def read_vocabulary(path: Path) -> dict[str, int]:
    """Read a vocab.txt: one token a line, in the order of their ids."""
    text = read_text(path).replace("\r\n", "\n")  # not splitlines: some tokens are line separators of Unicode
    return number_tokens(text.removesuffix("\n").split("\n") if text else [], path, "line")


def is_uncased(vocab: Iterable[str]) -> bool:
    """Whether no token has a capital letter, special tokens such as [CLS] or [NUM] aside.

    Text for such a vocabulary must be lower-cased: each word with a capital would become [UNK].
    """
    return all(token == token.lower() for token in vocab if not (token.startswith("[") and token.endswith("]")))


def read_folder(folder: Path) -> tuple[dict[str, int], Normalization]:
    """Read vocab.txt and tokenizer_config.json; where there is no vocab.txt, the tokenizer.json of `transformers`.

    Where nothing says whether to lower-case, as in the folders of Google's checkpoints, the vocabulary decides.
    """
    if (folder / "vocab.txt").is_file():
        config = folder / "tokenizer_config.json"
        values = read_json_object(config, {}) if config.is_file() else {}
        switches = {ours: values[theirs] for ours, theirs in SWITCHES.items() if theirs in values}
        vocab = read_vocabulary(folder / "vocab.txt")
        return vocab, checked_normalization({"lowercase": is_uncased(vocab), **switches}, config)
    if (folder / "tokenizer.json").is_file():
        return read_tokenizer_json(folder / "tokenizer.json")
    raise UserError(f"{folder} holds neither vocab.txt nor tokenizer.json: choose the folder of a saved tokenizer.")


def read_tokenizer_json(path: Path) -> tuple[dict[str, int], Normalization]:
    """Read a WordPiece tokenizer with BERT's normalization as the `tokenizers` library writes it."""
    parts: dict[str, Any] = dict.fromkeys(BERT_PARTS, dict[str, Any] | None)
    values = read_json_object(path, {**parts, "added_tokens": list[dict[str, Any]] | None})
    model, normalizer, _ = found = [values.get(name) or {} for name in parts]
    for settings, expected in zip(found, BERT_PARTS.values(), strict=True):
        for name, value in expected.items():
            if settings.get(name) != value or type(settings[name]) is not type(value):
                raise UserError(
                    f"{path}: {name} is {shown(settings.get(name))}, and BERT's is {value!r}: "
                    "choose the folder of a BERT's tokenizer."
                )
    ids: dict[str, int] = model.get("vocab")  # type: ignore[assignment]
    if not fits(ids, dict[str, int]) or set(ids.values()) != set(range(len(ids))):
        raise UserError(f"{path}: the ids of the vocabulary are not 0, 1, 2 and so on: fetch or save it again.")
    added = [token.get("content") for token in values.get("added_tokens") or []]
    if strange := [str(token)[:40] for token in added if token not in SPECIAL_TOKENS]:
        raise UserError(
            f"{path}: added_tokens has {', '.join(strange[:4])}: this tokenizer knows BERT's special tokens only."
        )
    names = {
        "lowercase": "lowercase",
        "strip_accents": "strip_accents",
        "tokenize_chinese_chars": "handle_chinese_chars",
    }
    switches = {ours: normalizer[theirs] for ours, theirs in names.items() if theirs in normalizer}
    return number_tokens(sorted(ids, key=ids.__getitem__), path), checked_normalization(switches, path)


def checked_normalization(switches: dict[str, Any], path: Path) -> Normalization:
    """The switches as a Normalization. Raises UserError where one is not true, false or, for accents, null."""
    for name, value in switches.items():
        if not isinstance(value, bool) and not (name == "strip_accents" and value is None):
            raise UserError(f"{path}: {SWITCHES[name]} is {shown(value)}: write true or false.")
    return Normalization(**switches)


def write_folder(
    folder: Path, vocab: dict[str, int], normalization: Normalization, model_max_length: int | None = None
) -> None:
    """Write vocab.txt and tokenizer_config.json so that `AutoTokenizer` of `transformers` opens the folder.

    The class is named because `transformers` 5 refuses a folder with vocab.txt that does not say what it is.
    """
    write_text(folder / "vocab.txt", "".join(f"{token}\n" for token in vocab))
    settings = {theirs: getattr(normalization, ours) for ours, theirs in SWITCHES.items()}
    names = {f"{token[1:-1].lower()}_token": token for token in SPECIAL_TOKENS}
    longest = {} if model_max_length is None else {"model_max_length": model_max_length}
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", **settings, **names, **longest})

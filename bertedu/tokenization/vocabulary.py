"""Vocabularies on disk: vocab.txt as Google wrote it, and the folders of `transformers`."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bertedu.errors import UserError, shown
from bertedu.files import read_json_object, read_text, write_json, write_text
from bertedu.json_values import fits
from bertedu.tokenization.added_tokens import AddedToken
from bertedu.tokenization.normalization import Normalization, lower_case, strip_accents
from bertedu.tokenization.settings import ADDED, CONFIG, MAP, Settings, check_template, read_settings, remove_stale
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.tokenization.wordpiece import CONTINUATION, LONGEST_WORD, UNKNOWN

# The classes of `transformers` that do what BERT's does, under the names of models that took it over.
CLASSES = (
    *("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "ConvBertTokenizer", "MobileBertTokenizer"),
    *("LayoutLMTokenizer", "LxmertTokenizer", "RealmTokenizer", "RetriBertTokenizer", "SqueezeBertTokenizer"),
    *("DPRQuestionEncoderTokenizer", "DPRContextEncoderTokenizer", "DPRReaderTokenizer"),
)
MOST_LOST = 0.01  # of a vocabulary: those of published ones are far fewer
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
    """Read a vocab.txt: one token a line, in the order of their ids. Spaces behind a token are none of it."""
    text = read_text(path).replace("\r\n", "\n")  # not splitlines: some tokens are line separators of Unicode
    lines = text.removesuffix("\n").split("\n") if text else []
    return number_tokens([line.rstrip(" \t") or line for line in lines], path, "line")


def guessed_normalization(vocab: Iterable[str], path: Path) -> Normalization:
    """What a vocabulary alone says: its text was lower-cased where no token has a capital letter, and its accents were
    stripped where no token has a mark that would be. Special tokens such as [CLS] or [NUM] say nothing.

    `transformers` does both where it is told nothing, so that words of other vocabularies become [UNK], or lose marks
    that make other words of them (in Korean, Hindi or Thai). A warning says where the guess is another one.
    """
    pieces = [token for token in vocab if not (token.startswith("[") and token.endswith("]"))]
    capitals = [token for token in pieces if token != token.lower()]
    marks = [token for token in pieces if not token.isascii() and token != strip_accents(token)]
    if capitals or marks:
        what, found = ("capitals", capitals) if capitals else ("accents and marks", marks)
        say = "do_lower_case: false" if capitals else "do_lower_case and strip_accents: false"
        warnings.warn(
            f"{path}: nothing says whether text is lower-cased; tokens such as {shown(found[0])} have {what}, so these "
            f"are kept (transformers would not): write {say} into {CONFIG} beside it.",
            stacklevel=3,
        )
    return Normalization(lowercase=not capitals, strip_accents=False if marks and not capitals else None)


def read_folder(folder: Path) -> tuple[list[str], Normalization, tuple[AddedToken, ...]]:
    """Read the vocabulary, how text is rewritten, and the added tokens (none, where there are the usual ones alone).

    The vocabulary is that of tokenizer.json, or vocab.txt; where there are both they must be the same. The switches are
    those of tokenizer_config.json, also where tokenizer.json has others, unless the class there is a general one: so
    does `transformers`. Where nothing says whether to lower-case, the vocabulary decides.
    """
    text, whole = folder / "vocab.txt", folder / "tokenizer.json"
    if not text.is_file() and not whole.is_file():
        raise UserError(f"{folder} holds neither vocab.txt nor tokenizer.json: choose the folder of a saved tokenizer.")
    vocab = list(read_vocabulary(text)) if text.is_file() else []
    said: dict[str, Any] = {}
    tokens: list[dict[str, Any]] = []
    if whole.is_file():
        found, said, tokens = read_tokenizer_json(whole)
        if vocab and vocab != found:
            place = next((at for at, pair in enumerate(zip(vocab, found, strict=False)) if len(set(pair)) > 1), -1)
            place = min(len(vocab), len(found)) if place < 0 else place
            raise UserError(
                f"{text} and {whole.name} differ from the token with the id {place} on: remove the one that is not of "
                "this model (transformers reads the second)."
            )
        vocab = found
    roles = {f"{token[1:-1].lower()}_token": token for token in SPECIAL_TOKENS}
    settings = read_settings(folder, CLASSES, tokens, roles)
    normalization = normalization_of(settings, said, vocab, text if text.is_file() else whole)
    return vocab, normalization, added_after(settings, vocab)


def normalization_of(settings: Settings, said: dict[str, Any], vocab: list[str], path: Path) -> Normalization:
    """The switches by the settings, by what tokenizer.json said, or by the vocabulary."""
    given = {ours: settings.values[theirs] for ours, theirs in SWITCHES.items() if theirs in settings.values}
    if settings.generic and said:
        return checked_normalization(said, path)
    if "lowercase" in given:
        found = checked_normalization(given, settings.path)
    elif said:
        found = checked_normalization({**said, **given}, path)
        if (found.lowercase, found.strips_accents) != (True, True):
            warnings.warn(
                f"{path}: lowercase is {found.lowercase} and strip_accents {found.strip_accents}, which is done here; "
                f"transformers strips and lower-cases unless {CONFIG} says do_lower_case: write it there.",
                stacklevel=4,
            )
    else:
        found = replace(guessed_normalization(vocab, path), **checked_switches(given, settings.path))
    if lost := lost_tokens(vocab, found):
        warnings.warn(
            f"{path}: {len(lost):,} of {len(vocab):,} tokens, {shown(lost[0])} among them, stand for no text, which "
            f"loses capitals or marks first: see do_lower_case and strip_accents in {CONFIG}.",
            stacklevel=4,
        )
    return found


def lost_tokens(vocab: Iterable[str], normalization: Normalization) -> list[str]:
    """The tokens that text cannot become, since it is rewritten first; none where they are fewer than MOST_LOST."""
    lost, number = [], 0
    for token in vocab:
        number += 1
        if token.startswith("[") and token.endswith("]"):
            continue
        stripped = strip_accents(token) if normalization.strips_accents and not token.isascii() else token
        if token != stripped or (normalization.lowercase and token != lower_case(token)):
            lost.append(token)
    return lost if len(lost) > MOST_LOST * number else []


def added_after(settings: Settings, vocab: list[str]) -> tuple[AddedToken, ...]:
    """The added tokens, where there are others than the usual ones. Raises UserError for ids that do not go on from
    the vocabulary, since `transformers` would give others.
    """
    ids = {token: index for index, token in enumerate(vocab)}
    for index, token in settings.added:
        right = ids.setdefault(token.content, len(ids))
        if index is not None and index != right:
            raise UserError(
                f"{settings.origin}: the added token {shown(token.content)} has the id {index}, and the tokens "
                f"before it leave {right} to it: save the tokenizer again, or add the tokens in between."
            )
    usual = [AddedToken(token, normalized=False, special=True) for token in SPECIAL_TOKENS]
    found = tuple(token for _, token in settings.added)
    return () if all(token in usual for token in found) and len(ids) == len(vocab) else found


def read_tokenizer_json(path: Path) -> tuple[list[str], dict[str, Any], list[dict[str, Any]]]:
    """Read a WordPiece tokenizer with BERT's normalization as the `tokenizers` library writes it: its vocabulary, its
    switches, and its added tokens.
    """
    parts: dict[str, Any] = dict.fromkeys((*BERT_PARTS, "post_processor"), dict[str, Any] | None)
    values = read_json_object(path, {**parts, "added_tokens": list[dict[str, Any]] | None})
    model, normalizer, *_ = found = [values.get(name) or {} for name in BERT_PARTS]
    model.setdefault("type", "WordPiece")  # older files do not say it
    for settings, expected in zip(found, BERT_PARTS.values(), strict=True):
        for name, value in expected.items():
            if settings.get(name) != value or type(settings[name]) is not type(value):
                raise UserError(
                    f"{path}: {name} is {shown(settings.get(name))}, and BERT's is {value!r}: "
                    "choose the folder of a BERT's tokenizer."
                )
    if "post_processor" in values:
        around = ("[CLS]", "$A", "[SEP]")
        check_template(values["post_processor"], around, (*around, "$B", "[SEP]"), path)
    ids: dict[str, int] = model.get("vocab")  # type: ignore[assignment]
    if not fits(ids, dict[str, int]) or set(ids.values()) != set(range(len(ids))):
        raise UserError(f"{path}: the ids of the vocabulary are not 0, 1, 2 and so on: fetch or save it again.")
    names = {
        "lowercase": "lowercase",
        "strip_accents": "strip_accents",
        "tokenize_chinese_chars": "handle_chinese_chars",
    }
    switches = {ours: normalizer[theirs] for ours, theirs in names.items() if theirs in normalizer}
    vocab = list(number_tokens(sorted(ids, key=ids.__getitem__), path))
    return vocab, switches, values.get("added_tokens") or []


def checked_normalization(switches: dict[str, Any], path: Path) -> Normalization:
    """The switches as a Normalization. Raises UserError where one is not true, false or, for accents, null."""
    return Normalization(**checked_switches(switches, path))


def checked_switches(switches: dict[str, Any], path: Path) -> dict[str, Any]:
    """The switches. Raises UserError where one is not true, false or, for accents, null."""
    for name, value in switches.items():
        if not isinstance(value, bool) and not (name == "strip_accents" and value is None):
            raise UserError(f"{path}: {SWITCHES[name]} is {shown(value)}: write true or false.")
    return switches


def write_folder(
    folder: Path,
    vocab: Iterable[str],
    normalization: Normalization,
    added: Mapping[int, AddedToken],
    model_max_length: int | None = None,
) -> None:
    """Write vocab.txt and tokenizer_config.json so that `AutoTokenizer` of `transformers` opens the folder.

    The class is named because `transformers` 5 refuses a folder with vocab.txt that does not say what it is. added:
    all tokens that are whole, by their ids, where there are others than the usual ones.
    """
    write_text(folder / "vocab.txt", "".join(f"{token}\n" for token in vocab))
    settings = {theirs: getattr(normalization, ours) for ours, theirs in SWITCHES.items()}
    names = {f"{token[1:-1].lower()}_token": token for token in SPECIAL_TOKENS}
    longest = {} if model_max_length is None else {"model_max_length": model_max_length}
    whole = {"added_tokens_decoder": {str(index): added[index].on_disk() for index in sorted(added)}} if added else {}
    write_json(folder / CONFIG, {"tokenizer_class": "BertTokenizer", **settings, **names, **longest, **whole})
    remove_stale(folder, ("tokenizer.json", MAP, ADDED))

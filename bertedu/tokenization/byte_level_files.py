"""Byte-level BPE on disk: tokenizer.json as the `tokenizers` library writes it, and vocab.json with merges.txt as GPT-2
and RoBERTa were published.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertedu.errors import UserError, shown
from bertedu.files import read_json_object, read_text, write_json, write_text
from bertedu.json_values import fits
from bertedu.tokenization.byte_pair import BYTE_CHARACTERS, Merge
from bertedu.tokenization.settings import content, remove_stale

VOCAB, MERGES, TOKENIZER, CONFIG = "vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json"
VERSION = "#version: 0.2"  # the first line of merges.txt
# What a tokenizer.json must say of its model for the ids to be those of byte-level BPE as it is written here; what it
# does not say, or says with null or "", is as here.
PLAIN_BPE: dict[str, Any] = {
    "type": "BPE",
    "dropout": 0.0,
    "continuing_subword_prefix": "",
    "end_of_word_suffix": "",
    "byte_fallback": False,
    "ignore_merges": False,
}


@dataclass(frozen=True)
class ByteLevelParts:
    """What a tokenizer is made of: see ByteLevelTokenizer."""

    vocab: Mapping[str, int]
    merges: Sequence[Merge]
    add_prefix_space: bool = False
    mask_takes_space_before: bool = True
    added_tokens: Sequence[str] = ()
    other_special_tokens: Sequence[str] = ()
    post_processor: Mapping[str, Any] | None = None  # what a tokenizer.json says of it


def check_parts(
    parts: ByteLevelParts,
    special_tokens: Sequence[str],
    vocab_source: str | Path = "vocab",
    merges_source: str = "merges, entry",
    first_line: int = 1,
) -> None:
    """Raise UserError for parts that do not fit together. For the message the sources say where they come from,
    "merges.txt, line" before the number of a merge, of which first_line is the first.
    """
    vocab = parts.vocab
    if not fits(vocab, dict[str, int]) or sorted(vocab.values()) != list(range(len(vocab))) or "" in vocab:
        raise UserError(f"{vocab_source}: the ids of the vocabulary are not 0, 1, 2 and so on: fetch or save it again.")
    named = (*special_tokens, *parts.added_tokens, *parts.other_special_tokens)
    if missing := [token for token in named if token not in vocab]:
        raise UserError(
            f"{vocab_source} lacks {', '.join(missing[:5])}: this tokenizer needs {', '.join(special_tokens)}, so add "
            "what is missing or choose the vocabulary of this model."
        )
    if missing := [character for character in BYTE_CHARACTERS if character not in vocab]:
        raise UserError(
            f"{vocab_source} lacks {len(missing)} of the 256 bytes, {shown(missing[0])} among them: choose the "
            "vocabulary of a byte-level tokenizer."
        )
    for number, merge in enumerate(parts.merges, start=first_line):
        if len(merge) != 2 or not all(merge):
            raise UserError(f"{merges_source} {number}: {shown(' '.join(merge))} is not a pair of tokens: remove it.")
        if unknown := [token for token in (*merge, "".join(merge)) if token not in vocab]:
            raise UserError(
                f"{merges_source} {number}: {shown(' '.join(merge))} needs the token {shown(unknown[0])}, which is "
                "not in the vocabulary: take merges and vocabulary of the same model."
            )


def read_parts(path: Path, special_tokens: Sequence[str], form: str | None, roles: Mapping[str, str]) -> ByteLevelParts:
    """Read a folder with tokenizer.json, or with vocab.json and merges.txt, or a tokenizer.json alone.

    form is the normalization form that tokenizer.json must name; roles are the special tokens by the names that
    settings have for them. Raises UserError for what is not there or another kind of tokenizer.
    """
    folder = path.parent if path.is_file() else path
    config_path = folder / CONFIG
    config = read_json_object(config_path, {"add_prefix_space": bool | None}) if config_path.is_file() else {}
    for name, token in roles.items():
        if (said := content(config.get(name))) not in (None, token):
            raise UserError(
                f"{config_path}: {name} is {shown(said)}, and this tokenizer knows {token!r} alone: write it."
            )
    if path.is_file() or (folder / TOKENIZER).is_file():
        parts = read_tokenizer_json(
            path if path.is_file() else folder / TOKENIZER, special_tokens, form, roles["mask_token"], config
        )
    elif (folder / VOCAB).is_file() and (folder / MERGES).is_file():
        mask = config.get("mask_token")
        takes_space = mask.get("lstrip") is not False if isinstance(mask, dict) else True
        merges, first_line = read_merges(folder / MERGES)
        parts = ByteLevelParts(
            read_json_object(folder / VOCAB, {}), merges, bool(config.get("add_prefix_space")), takes_space
        )
        check_parts(parts, special_tokens, folder / VOCAB, f"{folder / MERGES}, line", first_line)
    elif path.exists():
        raise UserError(
            f"{folder} holds neither {TOKENIZER} nor both {VOCAB} and {MERGES}: choose the folder of a saved tokenizer."
        )
    else:
        raise UserError(f"{path} does not exist: give a folder with {TOKENIZER} in it, or that file.")
    return parts


def read_merges(path: Path) -> tuple[list[Merge], int]:
    """The pairs of a merges.txt, one a line, and the line of the first: before it may stand "#version: 0.2"."""
    lines = read_text(path).replace("\r\n", "\n").removesuffix("\n").split("\n")
    first = int(bool(lines) and lines[0].startswith("#version"))
    return [tuple(line.split(" ")) for line in lines[first:] if line], first + 1  # type: ignore[misc]


def read_tokenizer_json(
    path: Path, special_tokens: Sequence[str], form: str | None, mask_token: str, config: Mapping[str, Any]
) -> ByteLevelParts:
    """Read byte-level BPE as the `tokenizers` library writes it. Where the settings beside it name
    add_prefix_space too, they are right, as in `transformers`.
    """
    types = {"model": dict[str, Any], "pre_tokenizer": dict[str, Any], "added_tokens": list[dict[str, Any]] | None}
    optional = dict.fromkeys(("normalizer", "post_processor"), dict[str, Any] | None)
    values = read_json_object(path, {**types, **optional})
    model, splitting = values.get("model") or {}, values.get("pre_tokenizer") or {}
    settings = {name: model.get(name) or plain for name, plain in PLAIN_BPE.items()}
    wanted = {**PLAIN_BPE, "normalizer": form, "pre_tokenizer": "ByteLevel", "use_regex": True}
    settings |= {"normalizer": (values.get("normalizer") or {}).get("type"), "pre_tokenizer": splitting.get("type")}
    settings["use_regex"] = splitting.get("use_regex", True)
    for name, value in settings.items():
        if value != wanted[name]:
            raise UserError(
                f"{path}: {name} is {shown(value)}, and this tokenizer's is {wanted[name]!r}: choose the folder of "
                "this model's tokenizer."
            )
    if not fits(model.get("vocab"), dict[str, int]) or not fits(model.get("merges"), list[str] | list[list[str]]):
        raise UserError(f"{path}: model has no vocab of tokens and ids, or no list of merges: fetch or save it again.")
    added = values.get("added_tokens") or []
    vocab = {**model["vocab"], **added_ids(added, model["vocab"], mask_token, path)}
    in_text = [token["content"] for token in added if not token.get("special")]
    special = [token["content"] for token in added if token.get("special") and token["content"] not in special_tokens]
    mask = [token.get("lstrip") for token in added if token["content"] == mask_token]
    prefix = config.get("add_prefix_space")
    parts = ByteLevelParts(
        dict(sorted(vocab.items(), key=lambda item: item[1])),
        [tuple(merge.split(" ") if isinstance(merge, str) else merge) for merge in model["merges"]],
        bool(splitting.get("add_prefix_space") if prefix is None else prefix),
        mask != [False],
        in_text,
        special,
        values.get("post_processor"),
    )
    check_parts(parts, special_tokens, path, f"{path}, merge")
    return parts


def added_ids(
    added: Sequence[Mapping[str, Any]], vocab: Mapping[str, int], mask_token: str, path: Path
) -> dict[str, int]:
    """The ids of the added tokens. Raises UserError for one that would be found in a text in another way than here."""
    ids = {}
    for token in added:
        name, index = token.get("content"), token.get("id")
        if not fits(name, str) or not name or type(index) is not int or vocab.get(name, index) != index:
            raise UserError(
                f"{path}: the added token {shown(name)} has the id {shown(index)}: give it the one that it has in the "
                "vocabulary."
            )
        flags = ("single_word", "rstrip") if name == mask_token else ("single_word", "rstrip", "lstrip")
        if found := [flag for flag in flags if token.get(flag)]:
            raise UserError(
                f"{path}: the added token {shown(name)} has {found[0]}, which is not known here: write false."
            )
        ids[name] = index
    return ids


def write_folder(
    folder: Path,
    parts: ByteLevelParts,
    form: str | None,
    post_processor: Mapping[str, Any],
    config: Mapping[str, Any],
    with_vocabulary_files: bool,
) -> None:
    """Write tokenizer.json and tokenizer_config.json so that `AutoTokenizer` of `transformers` opens the folder; and,
    where asked for, vocab.json and merges.txt.
    """
    byte_level = {"type": "ByteLevel", "add_prefix_space": parts.add_prefix_space, "trim_offsets": True}
    byte_level["use_regex"] = True
    mask = config["mask_token"]
    special = {token for name, token in config.items() if name.endswith("_token")} | {*parts.other_special_tokens}
    flags = {"single_word": False, "rstrip": False}
    added = [
        {
            "id": parts.vocab[token],
            "content": token,
            **flags,
            "lstrip": token == mask and parts.mask_takes_space_before,
            "normalized": token not in special,
            "special": token in special,
        }
        for token in sorted({*special, *parts.added_tokens}, key=parts.vocab.__getitem__)
    ]
    model = {**PLAIN_BPE, "dropout": None, "unk_token": None, "fuse_unk": False}
    model |= {"vocab": dict(parts.vocab), "merges": [list(merge) for merge in parts.merges]}
    values = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": form} if form else None,
        "pre_tokenizer": byte_level,
        "post_processor": dict(post_processor),
        "decoder": byte_level,
        "model": model,
    }
    write_json(folder / TOKENIZER, values)
    write_json(folder / CONFIG, dict(config))
    remove_stale(folder)
    if with_vocabulary_files:
        write_json(folder / VOCAB, dict(parts.vocab))
        write_text(folder / MERGES, "".join(f"{line}\n" for line in (VERSION, *map(" ".join, parts.merges))))

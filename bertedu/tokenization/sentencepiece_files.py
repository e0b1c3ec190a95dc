"""The files of SentencePiece's tokenizers: tokenizer.json with tokenizer_config.json, and the protobuf that
SentencePiece itself writes (`spiece.py`).

`transformers` 5 takes the pieces and the table of characters from tokenizer.json and the switches from
tokenizer_config.json; what else tokenizer.json says about rewriting and splitting the text gives way to what the class
does. So it is here.
"""

from base64 import b64decode
from pathlib import Path
from typing import Any

from bertedu.errors import UserError, shown
from bertedu.files import read_json_object, write_json
from bertedu.json_values import fits
from bertedu.tokenization.charsmap import CharsMap
from bertedu.tokenization.sentencepiece_parts import SentencePieceParts, check_pieces
from bertedu.tokenization.settings import check_known, read_settings, remove_stale
from bertedu.tokenization.spiece import read_spiece

JSON, CONFIG = "tokenizer.json", "tokenizer_config.json"
# What a tokenizer.json may say about rewriting and splitting the text, in `transformers` of any version.
NORMALIZERS = ("Replace", "NFKD", "NFC", "StripAccents", "Lowercase", "Precompiled", "Strip")
PRE_TOKENIZERS = ("WhitespaceSplit", "Metaspace")


def read_files(path: Path, kind: type[SentencePieceParts]) -> dict[str, Any]:
    """What makes a tokenizer: its pieces, added tokens, table of characters and switches."""
    folder = path if path.is_dir() else path.parent
    if path.is_dir():
        names = [JSON, kind.spiece_name]
        found = next((path / name for name in names if (path / name).is_file()), None)
        if found is None:
            raise UserError(f"{path} holds neither {' nor '.join(names)}: choose the folder of a saved tokenizer.")
    elif path.is_file():
        found = path
    else:
        raise UserError(f"{path} does not exist: give a folder with {JSON} or {kind.spiece_name} in it, or the file.")
    config = folder / CONFIG
    values = read_json_object(config, {"added_tokens_decoder": dict[str, dict[str, Any]]}) if config.is_file() else {}
    parts = read_tokenizer_json(found, kind) if found.suffix == ".json" else read_spiece_file(found, kind)
    tokens = parts.pop("added_tokens")
    check_pieces(parts["pieces"], parts["added"], kind, found)
    if parts["charsmap"] is not None:
        CharsMap(parts["charsmap"], str(found))  # names the file where it is damaged
    vocab = {token: index for index, token in enumerate((*(piece for piece, _ in parts["pieces"]), *parts["added"]))}
    switches = read_switches(values, config, kind)
    settings = read_settings(folder, (kind.__name__,))
    if settings.generic:
        raise UserError(f"{config}: tokenizer_class is {values['tokenizer_class']!r}: write {kind.__name__!r}.")
    check_known(settings, vocab, kind.special_tokens(), kind.mask_token)
    mask = read_mask([*values.get("added_tokens_decoder", {}).values(), values.get("mask_token"), *tokens], kind)
    return {**parts, **switches, "mask_takes_space_before": mask}


def read_switches(values: dict[str, Any], path: Path, kind: type[SentencePieceParts]) -> dict[str, bool]:
    """The switches in tokenizer_config.json. Raises UserError for those, and for special tokens, that are not read."""
    switches = {name: values[name] for name in kind.defaults if name in values}
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise UserError(f"{path}: {name} is {shown(value)}: write true or false.")
    if switches.get("split_by_punct"):
        raise UserError(f"{path}: split_by_punct is true, and only false can be read: choose another checkpoint.")
    for name in ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"):
        value = values.get(name, getattr(kind, name))
        content = value.get("content") if isinstance(value, dict) else value
        if content != getattr(kind, name):
            raise UserError(
                f"{path}: {name} is {shown(content)}, and that of {kind.__name__} is {getattr(kind, name)}: choose the "
                "folder of such a tokenizer."
            )
    return switches


def read_mask(said: list[Any], kind: type[SentencePieceParts]) -> bool | None:
    """Whether the mask takes the space before it, as the first entry that describes it says; None where none does."""
    entries = [token for token in said if isinstance(token, dict) and token.get("content") == kind.mask_token]
    return entries[0].get("lstrip") is True if entries else None


def read_tokenizer_json(path: Path, kind: type[SentencePieceParts]) -> dict[str, Any]:
    """Pieces, added tokens and the table of characters from a tokenizer.json with a Unigram model."""
    parts = dict.fromkeys(("normalizer", "pre_tokenizer"), dict[str, Any] | None)
    values = read_json_object(path, {**parts, "model": dict[str, Any], "added_tokens": list[dict[str, Any]] | None})
    model = values.get("model") or {}
    if model.get("type", "Unigram") != "Unigram" or not fits(model.get("vocab"), list[tuple[str, float]]):
        raise UserError(
            f"{path}: model is {shown(model.get('type'))}, not a list of pieces with their log probabilities under "
            f'"Unigram": choose the folder of {kind.__name__}.'
        )
    pieces = [(piece, float(score)) for piece, score in model["vocab"]]
    if model.get("byte_fallback"):
        raise UserError(f"{path}: byte_fallback is true, and only false can be read: choose another checkpoint.")
    unknown = model.get("unk_id")
    if not isinstance(unknown, int) or not 0 <= unknown < len(pieces) or pieces[unknown][0] != kind.unk_token:
        raise UserError(f"{path}: unk_id is {shown(unknown)}, and that is not the id of {kind.unk_token}: correct it.")
    steps = listed(values.get("normalizer"), "normalizers", NORMALIZERS, path)
    listed(values.get("pre_tokenizer"), "pretokenizers", PRE_TOKENIZERS, path)
    charsmap = next((step.get("precompiled_charsmap") for step in steps if step["type"] == "Precompiled"), None)
    tokens = values.get("added_tokens") or []
    return {
        "pieces": pieces,
        "added": added_after(tokens, len(pieces), kind, path),
        "charsmap": None if charsmap is None else decoded(charsmap, path),
        "added_tokens": tokens,
    }


def listed(part: dict[str, Any] | None, name: str, known: tuple[str, ...], path: Path) -> list[dict[str, Any]]:
    """The steps of a part of tokenizer.json, which may be one or a sequence. Raises UserError for an unknown one."""
    steps = [] if part is None else part.get(name) if part.get("type") == "Sequence" else [part]
    if not fits(steps, list[dict[str, Any]]):
        raise UserError(f"{path}: {name} is {shown(steps)}: give a list of objects, or fetch the file again.")
    for step in steps or []:
        if step.get("type") not in known:
            raise UserError(f"{path}: {name} has {shown(step.get('type'))}, and only {', '.join(known)} can be read.")
    return steps or []


def added_after(tokens: list[dict[str, Any]], first: int, kind: type[SentencePieceParts], path: Path) -> list[str]:
    """The added tokens with ids after the pieces, in their order. Raises UserError for gaps and unknown tokens."""
    after: dict[int, str] = {}
    for token in tokens:
        content, index = token.get("content"), token.get("id")
        if content not in kind.special_tokens():
            raise UserError(
                f"{path}: added_tokens has {shown(content)}: {kind.__name__} knows {', '.join(kind.special_tokens())} "
                "only, so choose a checkpoint without further tokens."
            )
        if not isinstance(index, int) or isinstance(index, bool):
            raise UserError(f"{path}: the added token {content} has the id {shown(index)}: write a whole number.")
        if index >= first:
            after[index] = content
    if sorted(after) != list(range(first, first + len(after))):
        raise UserError(f"{path}: the ids of added_tokens do not go on from {first}: save the tokenizer again.")
    return [after[index] for index in sorted(after)]


def decoded(charsmap: Any, path: Path) -> bytes:
    """The bytes of a table of characters, which JSON holds in base 64."""
    try:
        return b64decode(charsmap, validate=True)
    except (ValueError, TypeError) as error:
        raise UserError(f"{path}: precompiled_charsmap is damaged ({error}): fetch the file again.") from error


def read_spiece_file(path: Path, kind: type[SentencePieceParts]) -> dict[str, Any]:
    """Pieces and the table of characters from SentencePiece's own file; special tokens that it lacks come last."""
    pieces, user_defined, charsmap = read_spiece(path)
    special = kind.special_tokens()
    if strange := [piece for piece in user_defined if piece not in special]:
        raise UserError(
            f"{path}: the pieces {', '.join(map(shown, strange[:3]))} are split off before all others, which is not "
            f"read here: put the {JSON} of the same checkpoint beside it."
        )
    pieces = kind.renumbered(pieces)
    present = {piece for piece, _ in pieces}
    if kind.unk_token not in present:
        raise UserError(f"{path} lacks {kind.unk_token}: choose the file of a tokenizer for {kind.__name__}.")
    added = [token for token in special if token not in present]
    return {"pieces": pieces, "added": added, "charsmap": charsmap or None, "added_tokens": []}


def write_files(folder: Path, tokenizer: SentencePieceParts, model_max_length: int | None) -> None:
    """Write tokenizer.json and tokenizer_config.json as `transformers` writes and reads them."""
    write_json(folder / JSON, as_json(tokenizer))
    names = ("pad", "unk", "cls", "sep", "mask")
    named = {f"{name}_token": getattr(tokenizer, f"{name}_token") for name in names}
    extra = [token for token in tokenizer.special_tokens() if token not in [*named.values()]]
    extra = [token for token in extra if token not in (tokenizer.begin_token, tokenizer.end_token)]
    longest = {} if model_max_length is None else {"model_max_length": model_max_length}
    settings = {
        "tokenizer_class": type(tokenizer).__name__,
        **tokenizer.switches,
        "bos_token": tokenizer.begin_token,
        "eos_token": tokenizer.end_token,
        **named,
        "unk_id": tokenizer.unk_token_id,
        **({"extra_special_tokens": extra} if extra else {}),
        **longest,
    }
    write_json(folder / CONFIG, settings)
    remove_stale(folder)


def as_json(tokenizer: SentencePieceParts) -> dict[str, Any]:
    """What tokenizer.json holds."""
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    splits = [{"type": "WhitespaceSplit"}] if tokenizer.splits_at_white_space else []
    steps = [step.settings for step in tokenizer.steps]
    alone = len(steps) == 1 and not tokenizer.defaults
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_token(tokenizer, index) for index in sorted(tokenizer.all_special_ids)],
        "normalizer": None if not steps else steps[0] if alone else {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*splits, space]},
        "post_processor": template(tokenizer),
        "decoder": space,
        "model": {
            "type": "Unigram",
            "unk_id": tokenizer.unk_token_id,
            "vocab": [list(piece) for piece in tokenizer.model.pieces],
            "byte_fallback": False,
        },
    }


def added_token(tokenizer: SentencePieceParts, index: int) -> dict[str, Any]:
    """A special token as tokenizer.json has it."""
    content = tokenizer.tokens[index]
    takes_space = content == tokenizer.mask_token and tokenizer.mask_takes_space_before
    return {
        "id": index,
        "content": content,
        "single_word": False,
        "lstrip": takes_space,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }


def template(tokenizer: SentencePieceParts) -> dict[str, Any]:
    """Where the special tokens stand, as tokenizer.json has it."""

    def parts(layout: tuple[tuple[str, int], ...]) -> list[dict[str, Any]]:
        kinds = {"$A": ("Sequence", "A"), "$B": ("Sequence", "B")}
        named = [(*kinds.get(token, ("SpecialToken", token)), segment) for token, segment in layout]
        return [{kind: {"id": name, "type_id": segment}} for kind, name, segment in named]

    special = sorted({token for token, _ in tokenizer.single if token != "$A"})
    return {
        "type": "TemplateProcessing",
        "single": parts(tokenizer.single),
        "pair": parts(tokenizer.pair),
        "special_tokens": {
            token: {"id": token, "ids": [tokenizer.vocab[token]], "tokens": [token]} for token in special
        },
    }

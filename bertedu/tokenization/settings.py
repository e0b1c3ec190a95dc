"""What the files beside a vocabulary say: the class of the tokenizer, its special tokens, and those that were added.

They are read in the order in which `transformers` 5 reads them: added_tokens_decoder in tokenizer_config.json, or,
where that is not there, special_tokens_map.json, added_tokens.json and the added_tokens of tokenizer.json.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertedu.errors import UserError, shown
from bertedu.files import naming_failures, read_json_object
from bertedu.tokenization.added_tokens import AddedToken

CONFIG, MAP, ADDED, MODEL = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json"
JSON = "tokenizer.json"
GENERIC = ("PreTrainedTokenizer", "TokenizersBackend")  # classes that do what tokenizer.json says
ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
LISTS = ("extra_special_tokens", "additional_special_tokens")  # the names in `transformers` 5 and 4
# Switches that change the ids and can have one value only here.
FIXED = {
    "do_basic_tokenize": True,
    "do_word_tokenize": True,
    "do_subword_tokenize": True,
    "split_special_tokens": False,
    "remove_space": True,
    "word_tokenizer_type": "basic",
    "subword_tokenizer_type": "wordpiece",
}
Said = list[tuple[int | None, AddedToken]]  # tokens in the order in which they are added, with their ids where given


@dataclass(frozen=True)
class Settings:
    """What was read. values: tokenizer_config.json, and what special_tokens_map.json adds to it; added: the tokens that
    are whole; generic: the class is one that does what tokenizer.json says.
    """

    values: dict[str, Any]
    path: Path
    added: Said
    generic: bool = False

    @property
    def origin(self) -> Path:
        """The file to name where an added token is wrong."""
        beside = [self.path.parent / name for name in (ADDED, JSON)]
        return next(
            (path for path in beside if path.is_file() and "added_tokens_decoder" not in self.values), self.path
        )


def read_settings(
    folder: Path,
    known: Collection[str],
    json_tokens: Sequence[Mapping[str, Any]] = (),
    roles: Mapping[str, str] | None = None,
) -> Settings:
    """The settings of a folder. known: the classes that can be read here; json_tokens: added_tokens of tokenizer.json;
    roles: the special tokens that can be read, by the names that settings have for them.

    Raises UserError for a tokenizer of another class, and for settings that would give other ids.
    """
    path = folder / CONFIG
    types = {"added_tokens_decoder": dict[str, dict[str, Any]] | None, "tokenizer_class": str | None}
    values = read_json_object(path, {**types, "never_split": list[str] | None}) if path.is_file() else {}
    generic = check_class(values, folder, known)
    for name, value in FIXED.items():
        if values.get(name) not in (None, value):
            raise UserError(f"{path}: {name} is {shown(values[name])}, and only {value!r} can be read here.")
    if values.get("added_tokens_decoder") is None and (folder / MAP).is_file():
        values = {**values, **read_json_object(folder / MAP, {})}
    for name, token in (roles or {}).items():
        if (said := content(values.get(name))) not in (None, token):
            raise UserError(f"{path}: {name} is {shown(said)}, and this tokenizer knows {token!r} alone: write it.")
    added = said_tokens(values, folder, json_tokens)
    if split := [token for token in values.get("never_split") or () if token not in {one.content for _, one in added}]:
        raise UserError(
            f"{path}: never_split has {shown(split[0])}, which is not known here: add it to the tokenizer as a token."
        )
    return Settings(values, path, added, generic)


def check_class(values: Mapping[str, Any], folder: Path, known: Collection[str]) -> bool:
    """Whether the tokenizer is of a class that does what its tokenizer.json says. Raises UserError for one that is not
    among the known: the ids would be others.
    """
    path, model = folder / CONFIG, folder / MODEL
    name = values.get("tokenizer_class")
    if name is None and model.is_file():
        path, name = model, read_json_object(model, {"tokenizer_class": str | None}).get("tokenizer_class")
    plain = (name or "").removesuffix("Fast")
    if plain and plain not in (*known, *GENERIC):
        raise UserError(
            f"{path}: tokenizer_class is {shown(name)}, and only {', '.join(known)} can be read here: it would give "
            "other ids, so take a model with one of these."
        )
    return plain in GENERIC


def content(token: Any) -> Any:
    """A special token of the settings: its text, which may stand in an object with more about it."""
    return token.get("content") if isinstance(token, dict) else token


def said_tokens(values: Mapping[str, Any], folder: Path, json_tokens: Sequence[Mapping[str, Any]]) -> Said:
    """All tokens that the files add, each once, in the order in which `transformers` adds them."""
    place = str(folder / CONFIG)
    named = [values[name] for name in ROLES if values.get(name) is not None]
    own = [name for name in values if name.endswith("_token") and name not in ROLES and isinstance(values[name], str)]
    extra = [values[name] for name in LISTS if values.get(name)][:1]
    listed: list[Any] = [
        one for several in extra for one in (several.values() if isinstance(several, dict) else several)
    ]
    special = [
        AddedToken.of(token, place, special=True) for token in (*named, *(values[name] for name in own), *listed)
    ]
    by_id: dict[int, AddedToken] = {}
    if values.get("added_tokens_decoder") is not None:
        for index, token in values["added_tokens_decoder"].items():
            by_id[number(index, place)] = AddedToken.of(token, place)
    else:
        if (folder / ADDED).is_file():
            names = {token.content for token in special}
            for token, index in read_json_object(folder / ADDED, {}).items():
                by_id[number(index, str(folder / ADDED))] = AddedToken.of(
                    token, str(folder / ADDED), special=token in names
                )
        for one in json_tokens:
            by_id[number(one.get("id"), str(folder / JSON))] = AddedToken.of(dict(one), str(folder / JSON))
    found: dict[str, tuple[int | None, AddedToken]] = {}
    for index, token in [*sorted(by_id.items()), *((None, token) for token in special)]:
        found.setdefault(token.content, (index, token))
    return list(found.values())


def remove_stale(folder: Path, names: Iterable[str] = (MAP, ADDED)) -> None:
    """Remove what an earlier tokenizer left in a folder, and would be read with the files of the new one."""
    for name in names:
        with naming_failures(folder / name):
            (folder / name).unlink(missing_ok=True)


def number(index: Any, place: str) -> int:
    """An id as a file has it: a whole number, or its digits. Raises UserError for anything else."""
    if isinstance(index, str) and index.isascii() and index.isdigit() and len(index) < 10:
        return int(index)
    if type(index) is not int or index < 0:
        raise UserError(f"{place}: the id of an added token is {shown(index)}: give a whole number.")
    return index


def check_known(settings: Settings, vocab: Mapping[str, int], whole: Collection[str], mask: str) -> None:
    """Raise UserError for an added token that a tokenizer does not have, has with another id, would split, or would
    find in other places.
    """
    for index, token in settings.added:
        if token.single_word or token.rstrip or (token.lstrip and token.content != mask):
            flag = "single_word" if token.single_word else "rstrip" if token.rstrip else "lstrip"
            raise UserError(
                f"{settings.origin}: the added token {shown(token.content)} has {flag}, which is not known for "
                "this tokenizer: write false."
            )
        if token.content not in vocab or (index is not None and vocab[token.content] != index):
            has = f"has the id {vocab[token.content]}" if token.content in vocab else "is not there"
            raise UserError(
                f"{settings.origin}: the settings add the token {shown(token.content)}"
                f"{'' if index is None else f' with the id {index}'}, and in the vocabulary it {has}: save the "
                "tokenizer again as a tokenizer.json."
            )
        if token.content not in whole:
            raise UserError(
                f"{settings.origin}: the settings keep {shown(token.content)} whole, and the files of the "
                "vocabulary do not: save the tokenizer again as a tokenizer.json."
            )


def check_template(said: Mapping[str, Any] | None, single: Iterable[str], pair: Iterable[str], path: Path) -> None:
    """Raise UserError where a tokenizer.json puts other special tokens around a text, or around a pair, than here.
    single and pair: the special tokens in order, "$A" and "$B" the texts.
    """
    said = said or {}
    ends = [said.get(name) for name in ("cls", "sep")]
    if said.get("type") in ("BertProcessing", "RobertaProcessing"):
        cls, sep = (end[0] if isinstance(end, list) and end else None for end in ends)
        between = [sep] if said["type"] == "BertProcessing" else [sep, sep]
        found = [cls, "$A", sep], [cls, "$A", *between, "$B", sep]
    else:
        found = parts(said.get("single")), parts(said.get("pair"))
    for wanted, have in zip((list(single), list(pair)), found, strict=True):
        if have != wanted:
            raise UserError(
                f"{path}: post_processor makes {shown(' '.join(map(str, have)))} of texts, and this model's tokenizer "
                f"makes {' '.join(wanted)}: save the tokenizer with that template."
            )


def parts(template: Any) -> list[Any]:
    """The special tokens and the texts of a template in a tokenizer.json."""
    found: list[Any] = []
    for part in template if isinstance(template, list) else []:
        kind, what = next(iter(part.items())) if isinstance(part, dict) and part else ("", {})
        name = what.get("id") if isinstance(what, dict) else None
        found.append(f"${name}" if kind == "Sequence" else name)
    return found

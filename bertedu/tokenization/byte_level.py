"""ByteLevelTokenizer: what the tokenizers of RoBERTa and ModernBERT share. The algorithm is in `byte_pair.py`."""

import re
import unicodedata
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from bertedu.errors import UserError
from bertedu.tokenization.byte_level_files import ByteLevelParts, check_parts, read_parts, write_folder
from bertedu.tokenization.byte_pair import (
    BYTE_CHARACTERS,
    Merge,
    MergedWords,
    count_words,
    learn_merges,
    to_text,
    with_prefix_space,
    words_pattern,
)
from bertedu.tokenization.encoding import Offset
from bertedu.tokenization.layout import FIRST, SECOND, Layout
from bertedu.tokenization.offsets import compose
from bertedu.tokenization.settings import check_known, check_template, read_settings
from bertedu.tokenization.tokenizer import Tokenizer

SPACES = " " + "".join(BYTE_CHARACTERS[byte] for byte in b" \t\n\x0b\x0c\r")  # a token that begins so begins a word


class ByteLevelTokenizer(Tokenizer):
    """Byte-level BPE. The space before a word is part of its token: "Ġdog" is " dog", and "dog" continues a word.

    vocab maps tokens to ids 0, 1, 2 and so on; merges are the pairs in the order in which they were learned.
    add_prefix_space=True puts a space before the first word of a text, so that it is a word as any other.
    added_tokens are whole wherever they are spelt out in a text, as special tokens are, but belong to the text.
    Raises UserError for parts that do not fit together.
    """

    special_tokens: ClassVar[tuple[str, ...]]  # those that every tokenizer of this kind has, in the order of training
    form: ClassVar[str | None] = None  # Unicode's normalization form that a text is brought to first: "NFC"
    class_name: ClassVar[str]  # what `transformers` calls it
    with_vocabulary_files: ClassVar[bool]  # whether vocab.json and merges.txt are written beside tokenizer.json

    def __init__(
        self,
        vocab: Mapping[str, int],
        merges: Sequence[Merge],
        add_prefix_space: bool = False,
        mask_takes_space_before: bool = True,
        added_tokens: Sequence[str] = (),
        other_special_tokens: Sequence[str] = (),
    ):
        parts = ByteLevelParts(vocab, merges, added_tokens=added_tokens, other_special_tokens=other_special_tokens)
        check_parts(parts, self.special_tokens)
        self.other_special_tokens = tuple(other_special_tokens)
        self.mask_takes_space_before = mask_takes_space_before
        self.add_prefix_space, self.added_tokens = add_prefix_space, tuple(added_tokens)
        super().__init__({token: vocab[token] for token in sorted(vocab, key=vocab.__getitem__)})
        self.merges = [(first, second) for first, second in merges]
        self._word_ids = MergedWords(self.vocab, {merge: rank for rank, merge in enumerate(self.merges)})
        longest_first = sorted(self.added_tokens, key=len, reverse=True)
        self.layout = self.make_layout()
        self._added = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    @classmethod
    def train(cls, lines: Iterable[str], vocab_size: int = 8192, add_prefix_space: bool = True) -> Self:
        """Learn merges from lines of text, until there are vocab_size tokens or no pair is left that comes twice.

        Where a corpus is cut into sentences, add_prefix_space makes a word the same token at the beginning of one.
        Raises UserError for text without words, and for a vocab_size that has no room for the 256 bytes.
        """
        if isinstance(lines, str):
            raise UserError("lines is a single string: give a list of strings, or an open text file.")
        counts = count_words(map(cls.normalize, lines), add_prefix_space)
        tokens, merges = learn_merges(counts, vocab_size, cls.special_tokens)
        return cls({token: index for index, token in enumerate(tokens)}, merges, add_prefix_space)

    @classmethod
    def from_pretrained(cls, folder_or_file: str | Path) -> Self:
        """Open what `save_pretrained` or `transformers` wrote: a folder with tokenizer.json, or with vocab.json and
        merges.txt, or a tokenizer.json alone.
        """
        path = Path(folder_or_file)
        parts = read_parts(path, cls.special_tokens, cls.form, dict(cls.roles()))
        settings = read_settings(path if path.is_dir() else path.parent, (cls.class_name.removesuffix("Fast"),))
        whole = (*cls.special_tokens, *parts.added_tokens, *parts.other_special_tokens)
        check_known(settings, parts.vocab, whole, cls.mask_token)
        tokenizer = cls(
            parts.vocab,
            parts.merges,
            parts.add_prefix_space,
            parts.mask_takes_space_before,
            parts.added_tokens,
            parts.other_special_tokens,
        )
        if parts.post_processor is not None:
            check_template(parts.post_processor, *tokenizer.templates(), path)
        return tokenizer

    def templates(self) -> tuple[list[str], list[str]]:
        """What stands around a text and around a pair: the special tokens, and "$A" and "$B" for the texts."""
        texts = {FIRST: "$A", SECOND: "$B"}
        single, pair = (
            [texts.get(what) or self.tokens[what] for what, _ in template]
            for template in (self.layout.single, self.layout.pair)
        )
        return single, pair

    def save_pretrained(self, folder: str | Path, model_max_length: int | None = None) -> None:
        """Write tokenizer.json and tokenizer_config.json, for RoBERTa also vocab.json and merges.txt.

        model_max_length: how many tokens the model beside it can read. `transformers` cuts longer texts there.
        """
        longest = {} if model_max_length is None else {"model_max_length": model_max_length}
        config = {"tokenizer_class": self.class_name, "add_prefix_space": self.add_prefix_space}
        config |= {**dict(self.roles()), "model_input_names": ["input_ids", "attention_mask"], **longest}
        parts = ByteLevelParts(
            self.vocab,
            self.merges,
            self.add_prefix_space,
            self.mask_takes_space_before,
            self.added_tokens,
            self.other_special_tokens,
        )
        write_folder(Path(folder), parts, self.form, self.post_processor(), config, self.with_vocabulary_files)

    @classmethod
    def roles(cls) -> list[tuple[str, str]]:
        """The special tokens by what they do, as settings name them: ("mask_token", "<mask>")."""
        return [(f"{role}_token", getattr(cls, f"{role}_token")) for role in ("pad", "unk", "cls", "sep", "mask")]

    @abstractmethod
    def make_layout(self) -> Layout:
        """Where the special tokens stand around a text and a pair."""

    @abstractmethod
    def post_processor(self) -> dict[str, Any]:
        """What tokenizer.json says of them."""

    @classmethod
    def normalize(cls, text: str) -> str:
        """The text in the normalization form of this tokenizer."""
        return unicodedata.normalize(cls.form, text) if cls.form else text  # type: ignore[arg-type]

    def text_ids(self, text: str, begins: bool) -> list[int]:
        """The ids of a stretch of text without special tokens."""
        ids: list[int] = []
        for part, added in self._parts(self.normalize(text)):
            if added is None:
                prefixed = with_prefix_space(part) if self.add_prefix_space else part
                ids += [piece for word in words_pattern().findall(prefixed) for piece in self._word_ids[word]]
            else:
                ids.append(added)
        return ids

    def traced_ids(self, text: str, begins: bool) -> tuple[list[int], list[Offset]]:
        """`text_ids`, and for each token the (start, end) of its characters, the space before a word included."""
        origins: Sequence[int] = range(len(text))
        if self.normalize(text) != text:
            traced = list(compose((character, index) for index, character in enumerate(text)))
            text, origins = "".join(character for character, _ in traced), [origin for _, origin in traced]
        ids: list[int] = []
        offsets: list[Offset] = []
        start = 0
        for part, added in self._parts(text):
            own = origins[start : start + len(part)]
            start += len(part)
            if added is None:
                self._trace(part, own, ids, offsets)
            else:
                ids.append(added)
                offsets.append((own[0], own[-1] + 1))
        return ids, offsets

    def _trace(self, part: str, origins: Sequence[int], ids: list[int], offsets: list[Offset]) -> None:
        """Add the ids and offsets of a part without added tokens. A space put before it counts as its first character,
        as in the reference.
        """
        if self.add_prefix_space and not part.startswith(" "):
            part, origins = f" {part}", [origins[0], *origins]
        for match in words_pattern().finditer(part):
            word = match.group()
            pieces = self._word_ids[word]
            spans = origins[match.start() : match.end()]
            if not word.isascii():
                spans = [origin for origin, character in zip(spans, word, strict=True) for _ in character.encode()]
            position = 0
            for piece in pieces:
                length = len(self.tokens[piece])  # one character for each byte
                offsets.append((spans[position], spans[position + length - 1] + 1))
                position += length
            ids += pieces

    def _parts(self, text: str) -> Iterable[tuple[str, int | None]]:
        """Cut a text at the added tokens spelt out in it: each part, and its id where it is such a token."""
        if self._added is None:
            return [(text, None)]
        parts: list[tuple[str, int | None]] = []
        begin = 0
        for match in self._added.finditer(text):
            parts += [(text[begin : match.start()], None), (match.group(), self.vocab[match.group()])]
            begin = match.end()
        parts.append((text[begin:], None))
        return [(part, added) for part, added in parts if part]

    def encode_after_space(self, text: str) -> list[int]:
        """`encode` for a text that follows another one after a space, as the words of a sentence do."""
        return self.encode(with_prefix_space(text))

    def continues_word(self, token: str) -> bool:
        """Whether a token goes on with the word of the token before it: any without a space in front, also a comma."""
        return token[0] not in SPACES and token not in self.all_special_tokens

    def readable(self, token: str) -> str:
        """A token as a person reads it: " Zürich" for "ĠZÃ¼rich"."""
        return to_text([token])

    def join(self, tokens: Sequence[str]) -> str:
        """The text of the tokens' bytes; bytes that are no character become "�"."""
        return to_text(tokens)

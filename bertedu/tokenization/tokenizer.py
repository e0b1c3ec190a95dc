"""Tokenizer: text in, ids out, with the interface of `transformers`. Here stands what all members of the family share.

A member adds how a stretch of text becomes ids and tokens become text again, and where its special tokens stand:
BERT's WordPiece is in `bert.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import torch

from bertedu.errors import UserError
from bertedu.tokenization.added_tokens import AddedToken, AddedTokens
from bertedu.tokenization.encoding import TRUNCATIONS, Encoding, Offset, as_batch, check_text, kept_lengths
from bertedu.tokenization.layout import Layout


class Tokenizer(ABC):
    """Texts and pairs to batches, tokens to ids and back.

    vocab maps each token to its id, in the order of the ids 0, 1, 2 and so on, and has all special tokens; layout says
    where these stand in a sequence. A member of the family names its special tokens and writes the abstract methods.
    """

    pad_token: str
    unk_token: str
    cls_token: str
    sep_token: str
    mask_token: str
    other_special_tokens: tuple[str, ...] = ()
    mask_takes_space_before = False  # " <mask>" is one token, with the space
    padding_side = "right"
    cls_at_end = False  # where the layout puts [CLS]: first of all tokens, or last
    pad_token_type_id = 0

    layout: Layout
    pad_token_id: int
    unk_token_id: int
    cls_token_id: int
    sep_token_id: int
    mask_token_id: int

    def __init__(self, vocab: Mapping[str, int]):
        self.vocab = dict(vocab)
        self.tokens = list(self.vocab)
        roles = (self.pad_token, self.unk_token, self.cls_token, self.sep_token, self.mask_token)
        ids = [self.vocab[token] for token in roles]
        self.pad_token_id, self.unk_token_id, self.cls_token_id, self.sep_token_id, self.mask_token_id = ids
        self.all_special_tokens = list(dict.fromkeys((*roles, *self.other_special_tokens)))
        self.all_special_ids = [self.vocab[token] for token in self.all_special_tokens]
        self._whole = AddedTokens((one.content, one, self.vocab[one.content]) for one in self.whole_tokens())

    def whole_tokens(self) -> list[AddedToken]:
        """The tokens that are looked for in a text before anything else is done to it: the special ones."""
        spaced = self.mask_token if self.mask_takes_space_before else ""
        return [
            AddedToken(token, lstrip=token == spaced, normalized=False, special=True)
            for token in self.all_special_tokens
        ]

    @classmethod
    @abstractmethod
    def train(cls, lines: Iterable[str], vocab_size: int) -> Self:
        """Learn a vocabulary of at most vocab_size tokens from lines of text."""

    @classmethod
    @abstractmethod
    def from_pretrained(cls, folder_or_file: str | Path) -> Self:
        """Open what `save_pretrained` or `transformers` wrote. Raises UserError where nothing usable is."""

    @abstractmethod
    def save_pretrained(self, folder: str | Path, model_max_length: int | None = None) -> None:
        """Write the tokenizer's files; here and in `transformers`, `from_pretrained` opens them.

        model_max_length: how many tokens the model beside it can read. `transformers` cuts longer texts there.
        """

    @abstractmethod
    def text_ids(self, text: str, begins: bool) -> list[int]:
        """The ids of a stretch of text without special tokens. begins: the text begins with it."""

    @abstractmethod
    def traced_ids(self, text: str, begins: bool) -> tuple[list[int], list[Offset]]:
        """`text_ids`, and for each token the (start, end) of its characters in the stretch."""

    @abstractmethod
    def join(self, tokens: Sequence[str]) -> str:
        """The text that tokens stand for."""

    @abstractmethod
    def continues_word(self, token: str) -> bool:
        """Whether a token goes on with the word of the token before it, as "##ing" does."""

    def with_mask(self, text: str) -> str:
        """A text that says [MASK], with this tokenizer's own mask token instead."""
        return text.replace("[MASK]", self.mask_token)

    def readable(self, token: str) -> str:
        """A token as a person reads it: as it is, where the vocabulary holds plain text."""
        return token

    def __len__(self) -> int:
        return len(self.vocab)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without the special tokens around it. Those spelt out in it, as "[MASK]", stay whole."""
        check_text(text)
        if not self._whole.may_stand_in(text):
            return self.text_ids(text, True)
        ids: list[int] = []
        for start, stop, special in self._whole.cut(text):
            ids += self.text_ids(text[start:stop], start == 0) if special is None else [special]
        return ids

    def encode_lines(self, lines: Iterable[str]) -> list[list[int]]:
        """`encode` for every line, in one thread."""
        return [self.encode(line) for line in lines]

    def encode_after_space(self, text: str) -> list[int]:
        """`encode` for a text that follows another one after a space, as the words of a sentence do.

        The same for BERT, but not where the space before a word is part of its token.
        """
        return self.encode(text)

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[Offset]]:
        """`encode`, and for each token the (start, end) of its characters in the text."""
        check_text(text)
        ids: list[int] = []
        offsets: list[Offset] = []
        for start, stop, special in self._whole.cut(text):
            if special is None:
                found, spans = self.traced_ids(text[start:stop], start == 0)
                ids += found
                offsets += [(start + first, start + last) for first, last in spans]
            else:
                ids.append(special)
                offsets.append((start, stop))
        return ids, offsets

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text as strings, without the special tokens around it."""
        return self.convert_ids_to_tokens(self.encode(text))

    def __call__(
        self,
        text: str | Sequence[str],
        text_pair: str | Sequence[str] | None = None,
        max_length: int | None = None,
        truncation: str = "longest_first",
    ) -> Encoding:
        """Encode one text, one pair, or a batch of them, with special tokens; for BERT: [CLS] first [SEP] second [SEP].

        With max_length, texts that are too long lose tokens at their end, which one is what truncation says:
        "longest_first", "only_first" or "only_second". The batch is padded to its longest row. Returns tensors
        [B, T], also for a single text (B = 1). Raises UserError for options or texts that do not fit together.
        """
        if truncation not in TRUNCATIONS:
            raise UserError(f"truncation is {truncation!r}: choose one of {', '.join(TRUNCATIONS)}.")
        firsts, seconds = as_batch(text, text_pair)
        rows = [self._row(first, second, max_length, truncation) for first, second in zip(firsts, seconds, strict=True)]
        longest = max(len(row[0]) for row in rows)
        ids = [self._padded(row[0], longest, self.pad_token_id) for row in rows]
        return Encoding(
            input_ids=torch.tensor(ids),
            token_type_ids=torch.tensor([self._padded(row[1], longest, self.pad_token_type_id) for row in rows]),
            attention_mask=torch.tensor([self._padded([1] * len(row[0]), longest, 0) for row in rows]),
            tokens=[self.convert_ids_to_tokens(row) for row in ids],
            offsets=[self._padded(row[2], longest, (0, 0)) for row in rows],
        )

    def _padded(self, row: list[Any], length: int, filler: Any) -> list[Any]:
        padding = [filler] * (length - len(row))
        return row + padding if self.padding_side == "right" else padding + row

    def _row(self, first: str, second: str | None, max_length: int | None, truncation: str):
        """The ids, token type ids and offsets of one text or pair, not padded."""
        ids, offsets = self.encode_with_offsets(first)
        pair_ids, pair_offsets = (None, None) if second is None else self.encode_with_offsets(second)
        if max_length is not None:
            special = self.layout.special_tokens(pair=second is not None)
            if not isinstance(max_length, int) or max_length < special:
                raise UserError(
                    f"max_length is {max_length!r}, but {self.cls_token} and {self.sep_token} take {special}: ask for "
                    f"at least {special}."
                )
            second_length = None if pair_ids is None else len(pair_ids)
            kept, pair_kept = kept_lengths(len(ids), second_length, max_length - special, truncation)
            ids, offsets = ids[:kept], offsets[:kept]
            if pair_ids is not None and pair_offsets is not None:
                pair_ids, pair_offsets = pair_ids[:pair_kept], pair_offsets[:pair_kept]
        row_ids, row_types = self.layout.sequence(ids, pair_ids)
        return row_ids, row_types, self.layout.beside((0, 0), offsets, pair_offsets)

    def convert_tokens_to_ids(self, tokens: str | Sequence[str]) -> Any:
        """The id of a token, or the ids of a list of tokens; the unknown token's for one that is not there."""
        if isinstance(tokens, str):
            return self.vocab.get(tokens, self.unk_token_id)
        return [self.vocab.get(token, self.unk_token_id) for token in tokens]

    def convert_ids_to_tokens(self, ids: Any) -> Any:
        """The token of an id, or the tokens of a list of ids. Raises UserError for an id outside the vocabulary."""
        ids = ids.tolist() if hasattr(ids, "tolist") else ids  # a tensor or an array
        if isinstance(ids, int):
            return self._token(ids)
        return [self._token(index) for index in ids]

    def _token(self, index: int) -> str:
        if not hasattr(index, "__index__"):
            raise UserError(f"an id is a whole number, and this is {index!r}: give the ids of one text.")
        if not 0 <= index < len(self.tokens):
            raise UserError(
                f"the id {index} is outside the vocabulary of {len(self)} tokens: is this the right tokenizer?"
            )
        return self.tokens[index]

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
        """The text that the ids of one text stand for. What was lost on the way stays lost, such as capital letters."""
        tokens = self.convert_ids_to_tokens(ids)
        tokens = [tokens] if isinstance(tokens, str) else tokens
        if skip_special_tokens:
            tokens = [token for token in tokens if token not in self.all_special_tokens]
        return self.join(tokens)

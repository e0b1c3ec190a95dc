"""BertTokenizer: text in, ids out. What notebook 01 builds step by step, with the interface of `transformers`.

The steps are in `normalization.py` (text to words), `wordpiece.py` (words to pieces) and `training.py` (where
the pieces come from).
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from bertedu.errors import UserError
from bertedu.tokenization.encoding import TRUNCATIONS, Encoding, Offset, as_batch, check_text, kept_lengths
from bertedu.tokenization.fast import ChunkIds, WordIds, count_words, traced_words
from bertedu.tokenization.layout import Layout
from bertedu.tokenization.normalization import Normalization
from bertedu.tokenization.training import SPECIAL_TOKENS, learn_vocabulary
from bertedu.tokenization.vocabulary import is_uncased, number_tokens, read_folder, read_vocabulary, write_folder
from bertedu.tokenization.wordpiece import CONTINUATION, join_tokens

SPECIAL = re.compile(f"({'|'.join(map(re.escape, SPECIAL_TOKENS))})")  # in parentheses: split keeps them


class BertTokenizer:
    """WordPiece with BERT's normalization and special tokens.

    vocab lists the tokens in the order of their ids. lowercase=True is for uncased models; strip_accents=None follows
    lowercase. Raises UserError for a vocabulary with a token twice or without one of the five special tokens.
    """

    pad_token, unk_token, cls_token, sep_token, mask_token = SPECIAL_TOKENS

    def __init__(
        self,
        vocab: Sequence[str],
        lowercase: bool = True,
        strip_accents: bool | None = None,
        tokenize_chinese_chars: bool = True,
    ):
        self.vocab = number_tokens(list(vocab))
        self.normalization = Normalization(lowercase, strip_accents, tokenize_chinese_chars)
        self.tokens = list(self.vocab)
        ids = [self.vocab[token] for token in SPECIAL_TOKENS]
        self.pad_token_id, self.unk_token_id, self.cls_token_id, self.sep_token_id, self.mask_token_id = ids
        self.all_special_ids = ids
        self.layout = Layout.of_bert(self.cls_token_id, self.sep_token_id)
        self._word_ids = WordIds(self.vocab)
        self._chunk_ids = ChunkIds(self._word_ids, self.normalization)

    @classmethod
    def train(
        cls, lines: Iterable[str], vocab_size: int = 8192, lowercase: bool = True, method: str = "frequency"
    ) -> "BertTokenizer":
        """Learn a vocabulary of at most vocab_size tokens from lines of text; see `training.py` for the methods.

        Raises UserError for text without words, and for a vocab_size that has no room for the characters.
        """
        if isinstance(lines, str):
            raise UserError("lines is a single string: give a list of strings, or an open text file.")
        counts = count_words(lines, Normalization(lowercase))
        return cls(learn_vocabulary(counts, vocab_size, method), lowercase)

    @classmethod
    def from_pretrained(cls, folder_or_vocab_file: str | Path) -> "BertTokenizer":
        """Open what `save_pretrained` or `transformers` wrote, or a vocab.txt alone.

        A vocab.txt does not say whether its text was lower-cased. Where no setting beside it does either, the
        tokenizer lower-cases unless a token of the vocabulary has a capital letter.
        """
        path = Path(folder_or_vocab_file)
        if path.is_dir():
            vocab, normalization = read_folder(path)
        elif path.is_file():
            vocab = read_vocabulary(path)
            normalization = Normalization(lowercase=is_uncased(vocab))
        else:
            raise UserError(f"{path} does not exist: give a folder with vocab.txt in it, or a vocabulary file.")
        return cls(
            list(vocab), normalization.lowercase, normalization.strip_accents, normalization.tokenize_chinese_chars
        )

    def save_pretrained(self, folder: str | Path, model_max_length: int | None = None) -> None:
        """Write vocab.txt and tokenizer_config.json; here and in `transformers`, `from_pretrained` opens it.

        model_max_length: how many tokens the model beside it can read. `transformers` cuts longer texts there.
        """
        write_folder(Path(folder), self.vocab, self.normalization, model_max_length)

    def __len__(self) -> int:
        return len(self.vocab)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without [CLS] and [SEP]. Special tokens spelt out in it, such as "[MASK]", stay whole."""
        check_text(text)
        if "[" not in text:
            return self._chunk_ids.encode(text)
        ids: list[int] = []
        for index, part in enumerate(SPECIAL.split(text)):  # text, special token, text, special token, ..., text
            ids += [self.vocab[part]] if index % 2 else self._chunk_ids.encode(part)
        return ids

    def encode_lines(self, lines: Iterable[str]) -> list[list[int]]:
        """`encode` for every line, in one thread."""
        return [self.encode(line) for line in lines]

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[Offset]]:
        """`encode`, and for each token the (start, end) of its characters in the text."""
        check_text(text)
        ids: list[int] = []
        offsets: list[Offset] = []
        start = 0
        for index, part in enumerate(SPECIAL.split(text)):
            if index % 2:
                ids.append(self.vocab[part])
                offsets.append((start, start + len(part)))
            else:
                for word, origins in traced_words(part, self.normalization):
                    pieces = self._word_ids[word]
                    ids += pieces
                    offsets += [(start + first, start + last + 1) for first, last in self._spans(pieces, origins)]
            start += len(part)
        return ids, offsets

    def _spans(self, pieces: tuple[int, ...], origins: Sequence[int]) -> list[Offset]:
        """The origins of the first and of the last character of each piece of a word."""
        if pieces == (self.unk_token_id,):
            return [(origins[0], origins[-1])]
        spans, position = [], 0
        for piece in pieces:
            length = len(self.tokens[piece]) - (len(CONTINUATION) if position else 0)
            spans.append((origins[position], origins[position + length - 1]))
            position += length
        return spans

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text as strings, without [CLS] and [SEP]."""
        return self.convert_ids_to_tokens(self.encode(text))

    def __call__(
        self,
        text: str | Sequence[str],
        text_pair: str | Sequence[str] | None = None,
        max_length: int | None = None,
        truncation: str = "longest_first",
    ) -> Encoding:
        """Encode one text, one pair, or a batch of them: [CLS] first [SEP] or [CLS] first [SEP] second [SEP].

        With max_length, texts that are too long lose tokens at their end, which one is what truncation says:
        "longest_first", "only_first" or "only_second". The batch is padded to its longest row. Returns tensors
        [B, T], also for a single text (B = 1). Raises UserError for options or texts that do not fit together.
        """
        if truncation not in TRUNCATIONS:
            raise UserError(f"truncation is {truncation!r}: choose one of {', '.join(TRUNCATIONS)}.")
        firsts, seconds = as_batch(text, text_pair)
        rows = [self._row(first, second, max_length, truncation) for first, second in zip(firsts, seconds, strict=True)]
        longest = max(len(row[0]) for row in rows)
        padding = [longest - len(row[0]) for row in rows]
        ids = [row[0] + [self.pad_token_id] * pad for row, pad in zip(rows, padding, strict=True)]
        return Encoding(
            input_ids=torch.tensor(ids),
            token_type_ids=torch.tensor([row[1] + [0] * pad for row, pad in zip(rows, padding, strict=True)]),
            attention_mask=torch.tensor([[1] * (longest - pad) + [0] * pad for pad in padding]),
            tokens=[self.convert_ids_to_tokens(row) for row in ids],
            offsets=[row[2] + [(0, 0)] * pad for row, pad in zip(rows, padding, strict=True)],
        )

    def _row(self, first: str, second: str | None, max_length: int | None, truncation: str):
        """The ids, token type ids and offsets of one text or pair, not padded."""
        ids, offsets = self.encode_with_offsets(first)
        pair_ids, pair_offsets = (None, None) if second is None else self.encode_with_offsets(second)
        if max_length is not None:
            special = self.layout.special_tokens(pair=second is not None)
            if not isinstance(max_length, int) or max_length < special:
                raise UserError(
                    f"max_length is {max_length!r}, but [CLS] and [SEP] take {special}: ask for at least {special}."
                )
            second_length = None if pair_ids is None else len(pair_ids)
            kept, pair_kept = kept_lengths(len(ids), second_length, max_length - special, truncation)
            ids, offsets = ids[:kept], offsets[:kept]
            if pair_ids is not None and pair_offsets is not None:
                pair_ids, pair_offsets = pair_ids[:pair_kept], pair_offsets[:pair_kept]
        row_ids, row_types = self.layout.sequence(ids, pair_ids)
        return row_ids, row_types, self.layout.beside((0, 0), offsets, pair_offsets)

    def convert_tokens_to_ids(self, tokens: str | Sequence[str]) -> Any:
        """The id of a token, or the ids of a list of tokens; [UNK]'s for a token that is not in the vocabulary."""
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
        """Join the tokens of one text to a string that reads well. What lower-casing and [UNK] lost stays lost.

        Pieces are joined to their words, and some punctuation and English contractions to the word before, as the
        reference does.
        """
        tokens = self.convert_ids_to_tokens(ids)
        tokens = [tokens] if isinstance(tokens, str) else tokens
        if skip_special_tokens:
            tokens = [token for token in tokens if token not in SPECIAL_TOKENS]
        return join_tokens(tokens)

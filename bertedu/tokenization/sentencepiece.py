"""SentencePieceTokenizer: a Unigram model on text in which spaces are characters. ALBERT, XLNet, XLM-R and DeBERTa v2
and v3 differ from it by their special tokens and by what they do to the text first.

Kudo and Richardson 2018 (arXiv 1808.06226): a space is written as "▁" and belongs to the word after it, so joining
the pieces gives the text back. `unigram.py` has the model, `rewriting.py` the steps before it, `unigram_training.py`
how the pieces are learned, `sentencepiece_parts.py` what a tokenizer is made of, `sentencepiece_files.py` the files.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from bertedu.errors import UserError
from bertedu.tokenization.added_tokens import WHITE_SPACE
from bertedu.tokenization.encoding import Offset
from bertedu.tokenization.fast import CACHE_SIZE, LONGEST_CACHED, Ids, remember
from bertedu.tokenization.sentencepiece_files import read_files, write_files
from bertedu.tokenization.sentencepiece_parts import SentencePieceParts
from bertedu.tokenization.unigram_training import learn_pieces

SPACE = "▁"
WORD = re.compile(f"[^{WHITE_SPACE}]+")
PART = re.compile(f"{SPACE}?[^{SPACE}]+|{SPACE}")  # each "▁" begins a new part
# A space where both sides can be rewritten alone. If a combining mark came next, it would belong to the space.
PLAIN = "[ !-~\u00a1-\u00ac\u00ae-\u02af\u0391-\u03c9\u0410-\u044f\u4e00-\u9fff]"
CHUNK_END, PLAIN_START = re.compile(f" (?={PLAIN})"), re.compile(PLAIN)


class SentencePieceTokenizer(SentencePieceParts):
    """What the tokenizers with a Unigram model share: learning, files, text to ids and back."""

    @cached_property
    def _chunk_ids(self) -> "ChunkIds":
        return ChunkIds(self)

    @classmethod
    def train(cls, lines: Iterable[str], vocab_size: int = 8192, **switches: Any) -> Self:
        """Learn the pieces from lines of text, so that there are at most vocab_size tokens with the special ones.

        Raises UserError for text without words, and for a vocab_size that has no room for the characters.
        """
        if isinstance(lines, str):
            raise UserError("lines is a single string: give a list of strings, or an open text file.")
        special = [(token, 0.0) for token in (*cls.first_tokens, *cls.last_tokens)]
        untrained = cls(special, **switches)
        pieces = learn_pieces(untrained.count_words(lines), vocab_size, [token for token, _ in special])
        first = len(cls.first_tokens)
        return cls([*special[:first], *pieces, *special[first:]], **switches)

    def count_words(self, lines: Iterable[str]) -> Counter[str]:
        """How often each word stands in the lines, rewritten and with "▁"."""
        chunks: Counter[str] = Counter()
        for line in lines:
            chunks.update(self._chunk_ids.chunks(line))
        words: Counter[str] = Counter()
        for chunk, count in chunks.items():
            for word in self.words(chunk):
                words[word] += count
        return words

    @classmethod
    def from_pretrained(cls, folder_or_file: str | Path) -> Self:
        """Open what `save_pretrained` or `transformers` wrote: a folder, a tokenizer.json, or SentencePiece's own file.

        Raises UserError where nothing usable is.
        """
        return cls(**read_files(Path(folder_or_file), cls))

    def save_pretrained(self, folder: str | Path, model_max_length: int | None = None) -> None:
        """Write tokenizer.json and tokenizer_config.json; here and in `transformers`, `from_pretrained` opens them.

        model_max_length: how many tokens the model beside it can read. `transformers` cuts longer texts there.
        """
        write_files(Path(folder), self, model_max_length)

    def text_ids(self, text: str, begins: bool) -> list[int]:
        """The ids of a stretch of text without special tokens."""
        return [piece for chunk in self._chunk_ids.chunks(text) for piece in self._chunk_ids[chunk]]

    def words(self, text: str) -> list[str]:
        """The words of a text, rewritten and with "▁", as the model gets them."""
        for step in self.steps:
            text = step(text)
        text = self._marked(text)
        return [text[start:stop] if marked else SPACE + text[start:stop] for start, stop, marked in self._cut(text)]

    def _marked(self, text: str) -> str:
        return text if self.splits_at_white_space else text.replace(" ", SPACE)

    def _cut(self, text: str) -> Iterator[tuple[int, int, bool]]:
        """The words of a rewritten text: start, stop, and whether the "▁" before the word is there already."""
        for word in WORD.finditer(text) if self.splits_at_white_space else re.finditer("(?s).+", text):
            for part in PART.finditer(word.group()):
                start = word.start() + part.start()
                yield start, word.start() + part.end(), text[start] == SPACE

    def traced_ids(self, text: str, begins: bool) -> tuple[list[int], list[Offset]]:
        """`text_ids`, and for each token the (start, end) of its characters in the stretch."""
        ids: list[int] = []
        offsets: list[Offset] = []
        for start, chunk in self._chunk_ids.placed_chunks(text):
            found, spans = self._chunk_ids.traced(chunk)
            ids += found
            offsets += [(start + first, start + last) for first, last in spans]
        return ids, offsets

    def trace(self, text: str) -> tuple[list[int], list[Offset]]:
        """The ids and the spans of a text, step by step."""
        spans = [(index, index + 1) for index in range(len(text))]
        for step in self.steps:
            text, spans = step.traced(text, spans)
        text = self._marked(text)
        ids: list[int] = []
        offsets: list[Offset] = []
        for start, stop, marked in self._cut(text):
            word = text[start:stop] if marked else SPACE + text[start:stop]
            origins = spans[start:stop] if marked else [spans[start], *spans[start:stop]]
            for first, last, piece in self._chunk_ids.segmented(word):
                ids.append(piece)
                offsets.append((origins[first][0], origins[last - 1][1]))
        return ids, offsets

    def join(self, tokens: Sequence[str]) -> str:
        """Each "▁" is a space, but in the first token."""
        return "".join(token.replace(SPACE, " " if index else "") for index, token in enumerate(tokens))

    def continues_word(self, token: str) -> bool:
        """Whether a token goes on with the word of the token before it: without "▁" it does."""
        return not token.startswith(SPACE) and token not in self.all_special_tokens


class ChunkIds(dict[str, Ids]):
    """The ids of every chunk of text seen so far; asking for a new one rewrites it and asks the model."""

    def __init__(self, tokenizer: SentencePieceTokenizer):
        super().__init__()
        self._tokenizer = tokenizer
        table = tokenizer.charsmap
        self._by_chunks = table is None or not any(map(table, map(chr, range(0x20, 0x7F))))  # it leaves ASCII alone
        self._segmented: dict[str, tuple[tuple[int, int, int], ...]] = {}
        self._traced: dict[str, tuple[list[int], list[Offset]]] = {}

    def chunks(self, text: str) -> list[str]:
        """Cut at spaces where both sides can be rewritten alone."""
        return CHUNK_END.split(text) if self._by_chunks else [text]

    def placed_chunks(self, text: str) -> Iterator[tuple[int, str]]:
        """The same chunks with their positions, and each with the space before it, which may be part of its tokens.

        A character that the table drops at the beginning of a text shifts all spans (see `Precompiled`), so a text that
        may begin with one is a single chunk.
        """
        cut = self._by_chunks and PLAIN_START.match(text)
        edges = [0, *(match.start() for match in CHUNK_END.finditer(text))] if cut else [0]
        for start, stop in zip(edges, [*edges[1:], len(text)], strict=True):
            yield start, text[start:stop]

    def traced(self, chunk: str) -> tuple[list[int], list[Offset]]:
        """The ids of a chunk, and where each of them is from."""
        found = self._traced.get(chunk)
        if found is None:
            found = self._tokenizer.trace(chunk)
            if len(self._traced) >= CACHE_SIZE:
                self._traced.clear()
            if len(chunk) <= LONGEST_CACHED:
                self._traced[chunk] = found
        return found

    def __missing__(self, chunk: str) -> Ids:
        words = self._tokenizer.words(chunk)
        ids = tuple([piece for word in words for _, _, piece in self.segmented(word)])
        remember(self, chunk, ids)
        return ids

    def segmented(self, word: str) -> tuple[tuple[int, int, int], ...]:
        """The model's pieces of a word."""
        found = self._segmented.get(word)
        if found is None:
            found = tuple(self._tokenizer.model.segment(word))
            if len(self._segmented) >= CACHE_SIZE:
                self._segmented.clear()
            if len(word) <= LONGEST_CACHED:
                self._segmented[word] = found
        return found

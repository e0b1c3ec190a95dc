"""BertTokenizer: WordPiece. What notebook 01 builds step by step.

The steps are in `normalization.py` (text to words), `wordpiece.py` (words to pieces) and `training.py` (where
the pieces come from); what all tokenizers share is in `tokenizer.py`.
"""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from bertedu.errors import UserError
from bertedu.tokenization.added_tokens import AddedToken, AddedTokens
from bertedu.tokenization.encoding import Offset
from bertedu.tokenization.fast import ChunkIds, WordIds, count_words, traced_words
from bertedu.tokenization.layout import Layout
from bertedu.tokenization.lost_marks import watched
from bertedu.tokenization.normalization import Normalization
from bertedu.tokenization.offsets import normalize_traced, split_traced
from bertedu.tokenization.tokenizer import Tokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS, learn_vocabulary
from bertedu.tokenization.vocabulary import (
    guessed_normalization,
    number_tokens,
    read_folder,
    read_vocabulary,
    write_folder,
)
from bertedu.tokenization.wordpiece import CONTINUATION, join_tokens


class BertTokenizer(Tokenizer):
    """WordPiece with BERT's normalization and special tokens: [CLS] first [SEP] or [CLS] first [SEP] second [SEP].

    vocab lists the tokens in the order of their ids. lowercase=True is for uncased models; strip_accents=None follows
    lowercase. added_tokens are whole wherever they stand in a text; those that are not in vocab get the ids after it,
    and no word is split into them. Raises UserError for a vocabulary with a token twice or without one of the five
    special tokens.
    """

    pad_token, unk_token, cls_token, sep_token, mask_token = SPECIAL_TOKENS

    def __init__(
        self,
        vocab: Sequence[str],
        lowercase: bool = True,
        strip_accents: bool | None = None,
        tokenize_chinese_chars: bool = True,
        added_tokens: Sequence[AddedToken] = (),
    ):
        self.added_tokens, self.wordpieces = tuple(added_tokens), len(vocab)
        self.other_special_tokens = tuple(one.content for one in added_tokens if one.special)
        known = set(vocab) if added_tokens else set()
        new = [one.content for one in added_tokens if one.content not in known]
        super().__init__(number_tokens([*vocab, *new]))
        self.layout = Layout.of_bert(self.cls_token_id, self.sep_token_id)
        self.normalization = Normalization(lowercase, strip_accents, tokenize_chinese_chars)
        self._word_ids = WordIds(dict(list(self.vocab.items())[: self.wordpieces]))
        rewritten = [(self.normalization.normalize(one.content), one) for one in added_tokens if one.normalized]
        self._rewritten = AddedTokens((looks, one, self.vocab[one.content]) for looks, one in rewritten if looks)
        if alike := [one for looks, one in rewritten if looks and self._rewritten.found[looks][0] != one]:
            last = self._rewritten.found[self.normalization.normalize(alike[0].content)][0]
            warnings.warn(
                f"the added tokens {alike[0].content!r} and {last.content!r} are the same once text is rewritten: here "
                "the last one is found, and in transformers one of them by chance.",
                stacklevel=2,
            )
        self._chunk_ids = ChunkIds(self._word_ids, self.normalization)

    @classmethod
    def train(
        cls, lines: Iterable[str], vocab_size: int = 8192, lowercase: bool = True, method: str = "frequency"
    ) -> "BertTokenizer":
        """Learn a vocabulary of at most vocab_size tokens from lines of text; see `training.py` for the methods.

        Warns where lower-casing drops vowels or tones (`lost_marks.py`). Raises UserError for text without words, and
        for a vocab_size that has no room for the characters.
        """
        if isinstance(lines, str):
            raise UserError("lines is a single string: give a list of strings, or an open text file.")
        counts = count_words(watched(lines) if lowercase else lines, Normalization(lowercase))
        return cls(learn_vocabulary(counts, vocab_size, method), lowercase)

    @classmethod
    def from_pretrained(cls, folder_or_vocab_file: str | Path) -> "BertTokenizer":
        """Open what `save_pretrained` or `transformers` wrote, or a vocab.txt alone.

        A vocab.txt does not say whether its text was lower-cased. Where no setting beside it does either, the
        tokenizer lower-cases unless a token of the vocabulary has a capital letter, and strips accents unless a token
        has one; a warning says so where `transformers` would do otherwise.
        """
        path = Path(folder_or_vocab_file)
        if path.is_dir():
            vocab, rules, added = read_folder(path)
        elif path.is_file():
            vocab = list(read_vocabulary(path))
            rules, added = guessed_normalization(vocab, path), ()
        else:
            raise UserError(f"{path} does not exist: give a folder with vocab.txt in it, or a vocabulary file.")
        return cls(vocab, rules.lowercase, rules.strip_accents, rules.tokenize_chinese_chars, added)

    def save_pretrained(self, folder: str | Path, model_max_length: int | None = None) -> None:
        """Write vocab.txt and tokenizer_config.json; here and in `transformers`, `from_pretrained` opens it.

        model_max_length: how many tokens the model beside it can read. `transformers` cuts longer texts there.
        """
        own = {one.content: one for one in (*super().whole_tokens(), *self.added_tokens)}
        added = {self.vocab[name]: one for name, one in own.items()} if self.added_tokens else {}
        write_folder(Path(folder), self.tokens[: self.wordpieces], self.normalization, added, model_max_length)

    def whole_tokens(self) -> list[AddedToken]:
        """The special tokens, and those of the added ones that are looked for in a text as it is."""
        found = {one.content: one for one in (*super().whole_tokens(), *self.added_tokens)}
        return [one for one in found.values() if not one.normalized]

    def text_ids(self, text: str, begins: bool) -> list[int]:
        """The ids of a stretch of text without special tokens."""
        if self._rewritten and self._may_hold_added(text):
            return self.traced_ids(text, begins)[0]
        return self._chunk_ids.encode(text)

    def _may_hold_added(self, text: str) -> bool:
        """Whether a token that is looked for in rewritten text may stand in this one: quickly told for plain ASCII."""
        if not text.isascii() or not text.isprintable():
            return True
        seen = text.lower() if self.normalization.lowercase else text
        return any(looks in seen for looks in self._rewritten.found)

    def traced_ids(self, text: str, begins: bool) -> tuple[list[int], list[Offset]]:
        """`text_ids`, and for each token the (start, end) of its characters in the stretch."""
        if self._rewritten:
            return self._traced_around_added(text)
        ids: list[int] = []
        offsets: list[Offset] = []
        for word, origins in traced_words(text, self.normalization):
            pieces = self._word_ids[word]
            ids += pieces
            offsets += [(first, last + 1) for first, last in self._spans(pieces, origins)]
        return ids, offsets

    def _traced_around_added(self, text: str) -> tuple[list[int], list[Offset]]:
        """The same where some tokens are looked for in the rewritten text, before it is split into words."""
        characters = normalize_traced(text, self.normalization)
        ids: list[int] = []
        offsets: list[Offset] = []
        for start, stop, added in self._rewritten.cut("".join(character for character, _ in characters)):
            if added is not None:
                ids.append(added)
                offsets.append((characters[start][1], characters[stop - 1][1] + 1))
                continue
            for word, origins in split_traced(characters[start:stop]):
                pieces = self._word_ids[word]
                ids += pieces
                offsets += [(first, last + 1) for first, last in self._spans(pieces, origins)]
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

    def continues_word(self, token: str) -> bool:
        """Whether a token goes on with the word of the token before it: "##ing" does."""
        return token.startswith(CONTINUATION)

    def join(self, tokens: Sequence[str]) -> str:
        """Pieces are joined to their words, and some punctuation and English contractions to the word before, as the
        reference does. What lower-casing and [UNK] lost stays lost.
        """
        return join_tokens(tokens)

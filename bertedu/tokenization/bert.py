"""BertTokenizer: WordPiece. What notebook 01 builds step by step.

The steps are in `normalization.py` (text to words), `wordpiece.py` (words to pieces) and `training.py` (where
the pieces come from); what all tokenizers share is in `tokenizer.py`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from bertedu.errors import UserError
from bertedu.tokenization.encoding import Offset
from bertedu.tokenization.fast import ChunkIds, WordIds, count_words, traced_words
from bertedu.tokenization.layout import Layout
from bertedu.tokenization.lost_marks import watched
from bertedu.tokenization.normalization import Normalization
from bertedu.tokenization.tokenizer import Tokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS, learn_vocabulary
from bertedu.tokenization.vocabulary import is_uncased, number_tokens, read_folder, read_vocabulary, write_folder
from bertedu.tokenization.wordpiece import CONTINUATION, join_tokens


class BertTokenizer(Tokenizer):
    """WordPiece with BERT's normalization and special tokens: [CLS] first [SEP] or [CLS] first [SEP] second [SEP].

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
        super().__init__(number_tokens(list(vocab)))
        self.layout = Layout.of_bert(self.cls_token_id, self.sep_token_id)
        self.normalization = Normalization(lowercase, strip_accents, tokenize_chinese_chars)
        self._word_ids = WordIds(self.vocab)
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

    def text_ids(self, text: str, begins: bool) -> list[int]:
        """The ids of a stretch of text without special tokens."""
        return self._chunk_ids.encode(text)

    def traced_ids(self, text: str, begins: bool) -> tuple[list[int], list[Offset]]:
        """`text_ids`, and for each token the (start, end) of its characters in the stretch."""
        ids: list[int] = []
        offsets: list[Offset] = []
        for word, origins in traced_words(text, self.normalization):
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

"""Text to ids: normalization, WordPiece, learning a vocabulary, and the tokenizers that put them together."""

from bertedu.tokenization.bert import BertTokenizer
from bertedu.tokenization.encoding import Encoding
from bertedu.tokenization.tokenizer import Tokenizer

__all__ = ["BertTokenizer", "Encoding", "Tokenizer"]

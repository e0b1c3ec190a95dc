"""Text to ids: WordPiece and byte-level BPE, learning a vocabulary, and the tokenizers that put them together."""

from bertedu.tokenization.bert import BertTokenizer
from bertedu.tokenization.encoding import Encoding
from bertedu.tokenization.modernbert import ModernBertTokenizer
from bertedu.tokenization.roberta import RobertaTokenizer
from bertedu.tokenization.tokenizer import Tokenizer

__all__ = ["BertTokenizer", "Encoding", "ModernBertTokenizer", "RobertaTokenizer", "Tokenizer"]

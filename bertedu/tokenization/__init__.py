"""Text to ids: WordPiece, byte-level BPE and Unigram, learning a vocabulary, and the tokenizers made of them."""

from typing import TYPE_CHECKING

from bertedu.lazy import names_on_demand

if TYPE_CHECKING:
    from bertedu.tokenization.albert import AlbertTokenizer
    from bertedu.tokenization.bert import BertTokenizer
    from bertedu.tokenization.deberta_v2 import DebertaV2Tokenizer
    from bertedu.tokenization.encoding import Encoding
    from bertedu.tokenization.modernbert import ModernBertTokenizer
    from bertedu.tokenization.roberta import RobertaTokenizer
    from bertedu.tokenization.tokenizer import Tokenizer
    from bertedu.tokenization.xlm_roberta import XLMRobertaTokenizer
    from bertedu.tokenization.xlnet import XLNetTokenizer
else:
    __getattr__, __dir__ = names_on_demand(__name__)

__all__ = [
    "AlbertTokenizer",
    "BertTokenizer",
    "DebertaV2Tokenizer",
    "Encoding",
    "ModernBertTokenizer",
    "RobertaTokenizer",
    "Tokenizer",
    "XLMRobertaTokenizer",
    "XLNetTokenizer",
]

"""DebertaV2Tokenizer: SentencePiece with BERT's special tokens, for DeBERTa v2 and v3.

He et al. 2021 (arXiv 2006.03654v6 and 2111.09543) take a SentencePiece model of 128,000 pieces in place of the
byte-level BPE of DeBERTa v1. `transformers` 5 does not use the table of characters in that model: it composes letters
and accents (NFC) and joins white space.
"""

from typing import ClassVar

from bertedu.tokenization.rewriting import Compose, JoinSpaces, Lowercase, Step, StripRight
from bertedu.tokenization.sentencepiece import SentencePieceTokenizer


class DebertaV2Tokenizer(SentencePieceTokenizer):
    """[CLS] A [SEP], and for pairs [CLS] A [SEP] B [SEP] with B in segment 1."""

    pad_token, unk_token, cls_token, sep_token, mask_token = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
    begin_token, end_token = "[CLS]", "[SEP]"
    first_tokens, last_tokens = ("[PAD]", "[CLS]", "[SEP]", "[UNK]"), ("[MASK]",)
    single = (("[CLS]", 0), ("$A", 0), ("[SEP]", 0))
    pair = (*single, ("$B", 1), ("[SEP]", 1))
    defaults: ClassVar = {"do_lower_case": False, "split_by_punct": False}
    spiece_name = "spm.model"
    splits_at_white_space = False

    def rewriting(self) -> list[Step]:
        """Case, white space, and letters with their accents."""
        lower: list[Step] = [Lowercase()] if self.switches["do_lower_case"] else []
        return [*lower, JoinSpaces(), Compose(), StripRight()]

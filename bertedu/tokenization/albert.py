"""AlbertTokenizer: SentencePiece with BERT's special tokens and, as published, in lower case.

Lan et al. 2020 (arXiv 1909.11942), section 4.1: 30,000 pieces, "as in XLNet". Their code replaces the quotes of LaTeX
and drops accents before SentencePiece's own normalization.
"""

from typing import ClassVar

from bertedu.tokenization.rewriting import Decompose, Lowercase, Replace, Step, StripAccents
from bertedu.tokenization.sentencepiece import SentencePieceTokenizer


class AlbertTokenizer(SentencePieceTokenizer):
    """[CLS] A [SEP], and for pairs [CLS] A [SEP] B [SEP] with B in segment 1."""

    pad_token, unk_token, cls_token, sep_token, mask_token = "<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"
    begin_token, end_token = "[CLS]", "[SEP]"
    first_tokens = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    single = (("[CLS]", 0), ("$A", 0), ("[SEP]", 0))
    pair = (*single, ("$B", 1), ("[SEP]", 1))
    defaults: ClassVar = {"do_lower_case": True, "keep_accents": False}

    def rewriting(self) -> list[Step]:
        """Quotes, accents, case, and the table of characters."""
        steps: list[Step] = [Replace("``", '"'), Replace("''", '"')]
        if not self.switches["keep_accents"]:
            steps += [Decompose(), StripAccents()]
        if self.switches["do_lower_case"]:
            steps.append(Lowercase())
        return steps + self.charsmap_steps()

"""XLMRobertaTokenizer: SentencePiece with RoBERTa's special tokens.

Conneau et al. 2020 (arXiv 1911.02116), section 3: one vocabulary of 250,000 pieces for 100 languages. The ids are those
of fairseq, which counts <s>, <pad>, </s>, <unk> first, where SentencePiece has <unk>, <s>, </s>: so each piece has the
id that SentencePiece gave it plus one, and <pad> is 1, from which RoBERTa's positions count.
"""

from collections.abc import Sequence

from bertedu.tokenization.rewriting import Step
from bertedu.tokenization.sentencepiece import SentencePieceTokenizer
from bertedu.tokenization.unigram import Piece


class XLMRobertaTokenizer(SentencePieceTokenizer):
    """<s> A </s>, and for pairs <s> A </s></s> B </s>, all in segment 0. The text is not lower-cased."""

    pad_token, unk_token, cls_token, sep_token, mask_token = "<pad>", "<unk>", "<s>", "</s>", "<mask>"
    begin_token, end_token = "<s>", "</s>"
    first_tokens, last_tokens = ("<s>", "<pad>", "</s>", "<unk>"), ("<mask>",)
    single = (("<s>", 0), ("$A", 0), ("</s>", 0))
    pair = (*single, ("</s>", 0), ("$B", 0), ("</s>", 0))
    spiece_name = "sentencepiece.bpe.model"

    def rewriting(self) -> list[Step]:
        """The table of characters alone."""
        return self.charsmap_steps()

    @classmethod
    def renumbered(cls, pieces: Sequence[Piece]) -> list[Piece]:
        """fairseq's ids for the pieces of SentencePiece's own file."""
        first, last = [(token, 0.0) for token in cls.first_tokens], [(token, 0.0) for token in cls.last_tokens]
        return [*first, *pieces[3:], *last]

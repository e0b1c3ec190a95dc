"""XLNetTokenizer: SentencePiece with the special tokens at the end of a sequence, and padding before it.

Yang et al. 2019 (arXiv 1906.08237), section 2.5: [A, SEP, B, SEP, CLS]. In the authors' code the segments are 0, 1, 2
for CLS, and padding has the segment 4. `transformers` 5 pads with segment 0, though its class asks for 3; nothing
attends to padding, so both give the same vectors.
"""

from typing import ClassVar

from bertedu.tokenization.rewriting import Decompose, Lowercase, Replace, Step, StripAccents
from bertedu.tokenization.sentencepiece import SentencePieceTokenizer


class XLNetTokenizer(SentencePieceTokenizer):
    """A <sep> <cls>, and for pairs A <sep> B <sep> <cls>: A in segment 0, B in 1, <cls> in 2. Padding is on the left.

    Accents are dropped whatever keep_accents says, as `transformers` does.
    """

    pad_token, unk_token, cls_token, sep_token, mask_token = "<pad>", "<unk>", "<cls>", "<sep>", "<mask>"
    begin_token, end_token = "<s>", "</s>"
    other_special_tokens = ("<s>", "</s>", "<eop>", "<eod>")
    mask_takes_space_before = True
    first_tokens = ("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>")
    single = (("$A", 0), ("<sep>", 0), ("<cls>", 2))
    pair = (("$A", 0), ("<sep>", 0), ("$B", 1), ("<sep>", 1), ("<cls>", 2))
    defaults: ClassVar = {"do_lower_case": False, "keep_accents": False}
    padding_side = "left"
    cls_at_end = True

    def rewriting(self) -> list[Step]:
        """Quotes, accents, case, and the table of characters."""
        steps: list[Step] = [Replace("``", '"'), Replace("''", '"'), Decompose(), StripAccents()]
        if self.switches["do_lower_case"]:
            steps.append(Lowercase())
        return steps + self.charsmap_steps()

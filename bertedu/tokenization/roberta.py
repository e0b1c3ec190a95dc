"""RobertaTokenizer: GPT-2's byte-level BPE with RoBERTa's special tokens.

Liu et al. 2019, section 4.4. Special tokens, their ids and the two separators of a pair are those of fairseq.
"""

from typing import Any

from bertedu.tokenization.added_tokens import WHITE_SPACE
from bertedu.tokenization.byte_level import ByteLevelTokenizer
from bertedu.tokenization.byte_pair import BYTE_CHARACTERS
from bertedu.tokenization.encoding import Offset
from bertedu.tokenization.layout import FIRST, SECOND, Layout

SPACES = WHITE_SPACE + BYTE_CHARACTERS[ord(" ")]


class RobertaTokenizer(ByteLevelTokenizer):
    """Byte-level BPE: <s> first </s>, or <s> first </s></s> second </s>, all in segment 0.

    The mask token takes the spaces before it, so that "the <mask>" is two tokens.
    """

    special_tokens = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    cls_token, pad_token, sep_token, unk_token, mask_token = special_tokens
    class_name = "RobertaTokenizer"
    with_vocabulary_files = True

    def make_layout(self) -> Layout:
        """<s> A </s>, and </s> B </s> after it."""
        single = ((self.cls_token_id, 0), (FIRST, 0), (self.sep_token_id, 0))
        return Layout(single, (*single, (self.sep_token_id, 0), (SECOND, 0), (self.sep_token_id, 0)))

    def post_processor(self) -> dict[str, Any]:
        """What tokenizer.json says of the special tokens around a text."""
        ends = {"sep": [self.sep_token, self.sep_token_id], "cls": [self.cls_token, self.cls_token_id]}
        return {"type": "RobertaProcessing", **ends, "trim_offsets": True, "add_prefix_space": self.add_prefix_space}

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[Offset]]:
        """`encode`, and for each token the (start, end) of its characters in the text, without spaces at its ends."""
        ids, offsets = super().encode_with_offsets(text)
        special = set(self.all_special_ids)
        for place, index in enumerate(ids):
            start, end = offsets[place]
            token = text[start:end] if index in special else self.tokens[index]
            if token[0] in SPACES or token[-1] in SPACES:
                before, after = len(token) - len(token.lstrip(SPACES)), len(token) - len(token.rstrip(SPACES))
                if before == 1 and self.add_prefix_space and (place == 0 or start == 0):
                    before = 0  # the space that was put there is not in the text
                start = min(start + before, end)
                offsets[place] = start, max(start, end - after) if after <= end else end
        return ids, offsets

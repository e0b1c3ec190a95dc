"""ModernBertTokenizer: byte-level BPE with BERT's special tokens.

Warner et al. 2024, section 2.1.2: OLMo's tokenizer (which is that of GPT-NeoX, trained on code too) with BERT's special
tokens and template, so that code written for BERT goes on working. Published with 50,368 tokens.
"""

from typing import Any

from bertedu.tokenization.byte_level import ByteLevelTokenizer
from bertedu.tokenization.layout import FIRST, SECOND, Layout
from bertedu.tokenization.training import SPECIAL_TOKENS


class ModernBertTokenizer(ByteLevelTokenizer):
    """Byte-level BPE: [CLS] first [SEP], or [CLS] first [SEP] second [SEP].

    What differs from RoBERTa's besides the special tokens: the text is first brought to Unicode's form NFC (an "e" and
    its accent are one character), there are added tokens (of the published one: runs of 2 to 24 spaces, as code has
    them, and stand-ins for addresses), and the offset of a word includes the space before it.
    """

    special_tokens = SPECIAL_TOKENS
    pad_token, unk_token, cls_token, sep_token, mask_token = SPECIAL_TOKENS
    form = "NFC"
    class_name = "PreTrainedTokenizerFast"
    with_vocabulary_files = False

    def make_layout(self) -> Layout:
        """As BERT's."""
        return Layout.of_bert(self.cls_token_id, self.sep_token_id)

    def post_processor(self) -> dict[str, Any]:
        """What tokenizer.json says of the special tokens around a text: the layout."""
        names = {FIRST: "A", SECOND: "B"}

        def part(what: int, segment: int) -> dict[str, Any]:
            if what in names:
                return {"Sequence": {"id": names[what], "type_id": segment}}
            return {"SpecialToken": {"id": self.tokens[what], "type_id": segment}}

        ends = ((self.cls_token, self.cls_token_id), (self.sep_token, self.sep_token_id))
        return {
            "type": "TemplateProcessing",
            "single": [part(*one) for one in self.layout.single],
            "pair": [part(*one) for one in self.layout.pair],
            "special_tokens": {token: {"id": token, "ids": [index], "tokens": [token]} for token, index in ends},
        }

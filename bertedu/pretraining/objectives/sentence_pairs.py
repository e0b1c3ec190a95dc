"""Masked words and sentence pairs, as a task for the training loop: BERT's objective.

Does the second text follow the first (Devlin et al. 2019, section 3.1), or are two neighbours in the wrong order
(ALBERT: Lan et al. 2020, section 3.1)?
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.model import BertForPreTraining
from bertedu.pretraining.objectives.masked_words import MaskedWords
from bertedu.pretraining.sentence_pairs import Pair, PairMaker, TokenizedText


class MaskedWordsAndPairs(MaskedWords):
    """Masked-LM and next-sentence (or sentence-order) prediction over pairs that are drawn anew for each pass."""

    model_class = BertForPreTraining
    of_pairs = True

    @property
    def pairs(self) -> PairMaker:
        """What makes the pairs of the training text."""
        return self.maker

    @property
    def loss_weights(self) -> Mapping[str, float]:  # type: ignore[override]
        """The pairs' loss counts as much as the settings say."""
        return {"nsp_loss": self.settings.pair_weight}

    def maker_of(self, text: TokenizedText, same_source: bool = False) -> PairMaker:
        """What makes the pairs of a text; same_source as in `PairMaker`."""
        return PairMaker(text, self.settings.max_length, same_source=same_source, special_tokens=self.special_tokens)

    def sequences(self, maker: PairMaker, rng: random.Random) -> Sequence[Pair]:
        """One pass of pairs of the kind that the settings name."""
        return maker.sentence_order_pairs(rng) if self.settings.pairs == "order" else maker.next_sentence_pairs(rng)

    def quality(self, figures: dict[str, float]) -> float:
        """Minus the sum of both losses."""
        return super().quality(figures) - figures["nsp_loss"]

    def counts(self, batch: dict[str, Tensor]) -> dict[str, int]:
        """Masked words, and pairs."""
        return {**super().counts(batch), "nsp": len(batch["labels"])}

    def sums_of(self, output: Any, right: Tensor, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Summed losses and hits of both predictions."""
        follows, is_not_next = output.seq_relationship_logits.float(), batch["next_sentence_label"]
        return {
            **super().sums_of(output, right, batch),
            "nsp_loss": cross_entropy(follows, is_not_next, reduction="sum"),
            "nsp_accuracy": (follows.argmax(dim=-1) == is_not_next).sum(),
        }

"""Masked words and sentence pairs: BERT's objective.

Does the second text follow the first (Devlin et al. 2019, section 3.1), or are two neighbours in the wrong order
(ALBERT: Lan et al. 2020, section 3.1)?
"""

import random
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.json_values import check_object, whole
from bertedu.model import BertForPreTraining
from bertedu.model.architecture import Architecture
from bertedu.pretraining.baselines import OverlapBaseline
from bertedu.pretraining.objectives.words import MaskedWords
from bertedu.pretraining.scoring import HeldOut, score
from bertedu.pretraining.sentence_pairs import Pair, PairMaker, TokenizedText
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.training.figures import Result

HELP = "masked words, and of two texts: does the second follow, or were they swapped?"
OVERLAP_PAIRS = 4000  # training pairs from which the overlap baseline learns
NEXT, ORDER = "next sentence", "sentence order"


class MaskedWordsAndPairs(MaskedWords):
    """Masked-LM and next-sentence (or sentence-order) prediction over pairs that are drawn anew for each pass."""

    model_class = BertForPreTraining
    of_pairs = True
    section = "pairs"
    panels = MappingProxyType({**MaskedWords.panels, "nsp_accuracy": "Sentence pairs: accuracy, not balanced"})
    about_curves = (
        f"{MaskedWords.about_curves} Accuracy on pairs is not balanced here: always saying the more frequent answer "
        "would get more than 50 %."
    )
    caveat = "Accuracy on pairs is balanced, the mean over both answers, so that guessing gives 50 %."

    @classmethod
    def fits(cls, member: Architecture) -> bool:
        """None but those whose own it is: the others have no head for pairs."""
        return False

    @classmethod
    def check(cls, settings: PretrainingSettings) -> None:
        """All settings mean something."""

    @classmethod
    def check_figures(cls, figures: dict[str, Any], place: str) -> None:
        """They stand among those of masked words."""
        required, optional = {"pairs": int, "nsp_accuracy": float}, {"nsp_accuracy_same_source": float}
        if any(name in figures for name in (*required, *optional)):
            check_object(whole(figures, required, place), optional, place)

    @classmethod
    def results(cls, text: str, figures: Mapping[str, Any]) -> list[Result]:
        """The balanced accuracies, beside guessing and word overlap."""
        pairs = NEXT if "nsp_accuracy_same_source" in figures else ORDER
        names = {"nsp_accuracy": pairs, "nsp_accuracy_same_source": f"{NEXT} from the same source"}
        rows = []
        for figure, name in names.items():
            if figure in figures:
                counted = f"{figures['pairs']:,} pairs" if figure == "nsp_accuracy" else ""
                beside = ((who, of[figure]) for who, of in figures["baselines"].items() if figure in of)
                baselines = (("guessing", 0.5), *beside)
                rows.append(Result(text, f"{name}, balanced accuracy", figures[figure], baselines, counted))
        return rows

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

    def evaluate(self, model: Any, held_out: HeldOut) -> dict[str, Any]:
        """What word overlap tells about the pairs; of next sentences also the harder ones, from the same source."""
        found: dict[str, Any] = {}
        makers = {"nsp_accuracy": self.maker_of(held_out.text)}
        if self.settings.pairs == "next":
            closer = makers["nsp_accuracy_same_source"] = self.maker_of(held_out.text, same_source=True)
            found["nsp_accuracy_same_source"] = score(model, self.fixed_batches(closer))["nsp_accuracy"]
        if self.overlap:
            told = {name: self.told_by_overlap(self.overlap, maker) for name, maker in makers.items()}
            found["baselines"] = {"word overlap": told}
        return found

    @cached_property
    def overlap(self) -> OverlapBaseline | None:
        """What word overlap tells about training pairs; None where all are of one kind: documents of one sentence."""
        pairs = self.sequences(self.pairs, random.Random("overlap"))
        pairs = random.Random("overlap").sample(pairs, min(len(pairs), OVERLAP_PAIRS))
        if len({pair.label for pair in pairs}) < 2:
            return None
        return OverlapBaseline.fit(*segments(self.train_text, pairs), len(self.tokenizer))

    def told_by_overlap(self, baseline: OverlapBaseline, maker: PairMaker) -> float:
        """What the words that two segments share tell about the held-out pairs."""
        return baseline.evaluate(*segments(maker.text, self.sequences(maker, random.Random("held out"))))


def segments(text: TokenizedText, pairs: Sequence) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """First segments, second segments and labels of pairs, as ids."""
    first = [text.tokens[slice(*pair.first)] for pair in pairs]
    second = [text.tokens[slice(*pair.second)] for pair in pairs]
    return first, second, np.array([pair.label for pair in pairs])


OBJECTIVE = MaskedWordsAndPairs

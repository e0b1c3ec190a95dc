"""Replaced tokens: which words of this text did a generator put in? (ELECTRA's.)

Clark et al. 2020, section 2; google-research/electra. In Google's code masked positions are drawn with replacement, so
that a few fall together and fewer than 15 % are chosen; here they are all different.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from bertedu.checkpoints.folder import GENERATOR
from bertedu.family.electra import detection_loss
from bertedu.family.electra_pair import (
    DETECTION_WEIGHT,
    GENERATOR_SHARE,
    OF_BASE,
    GeneratorAndDiscriminator,
    PairOutput,
)
from bertedu.model.architecture import Architecture
from bertedu.pretraining.masking import WithDraws
from bertedu.pretraining.objectives.words import MaskedWords
from bertedu.pretraining.scoring import HeldOut
from bertedu.training.figures import Figures, Measure
from bertedu.training.loop import evaluate
from bertedu.training.seeds import derive_seed

HELP = (
    "a small generator fills in masked words, and the model says of every token whether it was replaced: the signal "
    "is all of the tokens"
)
INPUTS = ("input_ids", "attention_mask", "token_type_ids", "labels", "sample_at")


class WithSamples(WithDraws):
    """Batches that also bring the random numbers by which the generator's words are sampled, one for each token."""

    def __getitem__(self, index):  # type: ignore[override]
        batch = super().__getitem__(index)
        return {**batch, "sample_at": sample_numbers(batch["input_ids"].shape, derive_seed(*self.seed, "words", index))}


def sample_numbers(shape: torch.Size, seed: int) -> Tensor:
    """Numbers from 0 to 1 for a batch of this shape, [B, T]."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))


class ReplacedTokens(MaskedWords):
    """Masked words for the generator, and for the discriminator the text with the words sampled from it.

    The figures of detection, over all real tokens: rtd_loss, rtd_accuracy, rtd_replaced, the share of tokens that were
    replaced (always saying "original" is right for the rest), and rtd_found, the share that were replaced and found.
    """

    model_class = GeneratorAndDiscriminator
    few_shapes = False
    mask_share, random_share = 0.85, 0.0  # `pretrain_helpers.mask`; the rest of the chosen tokens stays as it is
    loss_weights = MappingProxyType({"rtd_loss": DETECTION_WEIGHT})
    # Every token gives the discriminator something to learn, however few are masked.
    defaults = MappingProxyType({"mask_rates": (0.15, 0.15)})
    section = "detection"
    of_baselines = ("rtd_accuracy", "rtd_recall", "rtd_f1")
    section_types = MappingProxyType(
        {"tokens": int, "rtd_replaced": float, **dict.fromkeys(of_baselines, float), "baselines": Figures}
    )
    measures = MappingProxyType(
        {
            "rtd_accuracy": Measure("replaced tokens, accuracy"),
            # Stands alone: who calls every token replaced finds all.
            "rtd_recall": Measure("replaced tokens, share that is found", baseline=""),
            "rtd_f1": Measure("replaced tokens, F1"),
        }
    )
    filler_name, filler_folder = "generator", GENERATOR
    panels = MappingProxyType({**MaskedWords.panels, "rtd_accuracy": "Replaced tokens: accuracy"})
    about_curves = (
        "Masked words are the generator's task, replaced tokens the discriminator's: is this the token of the text, "
        "or one that was sampled from the generator? The better the generator, the fewer tokens are replaced and the "
        "harder they are to find, so these figures do not tell which of two runs is better: fine-tune both and "
        "compare."
    )

    @classmethod
    def fits(cls, member: Architecture) -> bool:
        """None but ELECTRA: its discriminator is the pair's other half."""
        return False

    @classmethod
    def counted(cls, found: Mapping[str, Any]) -> str:
        """Tokens, and how many of them are replaced."""
        return f"{found['tokens']:,} tokens, {found['rtd_replaced']:.1%} of them replaced"

    @classmethod
    def summary(cls, figures: Mapping[str, Any], of_words: str) -> str:
        """What the discriminator finds: the sentence about masked words would be about its generator."""
        found = figures[cls.section]
        return (
            f"In text that it never saw the generator replaced {found['rtd_replaced']:.1%} of the tokens: it "
            f"finds {found['rtd_recall']:.1%} of them, and is right about {found['rtd_accuracy']:.1%} of all tokens. "
            f"Always saying “original” is right about {1 - found['rtd_replaced']:.1%}."
        )

    @classmethod
    def panel_baselines(cls, figures: Mapping[str, Any]) -> Figures:
        """The two answers that need no network."""
        beside = figures[cls.section]["baselines"]
        return {"rtd_accuracy": {name: of["rtd_accuracy"] for name, of in beside.items()}}

    def new_model(self, config: Any) -> GeneratorAndDiscriminator:
        """The pair; the generator has a quarter of the discriminator's width, in base a third."""
        share = OF_BASE if self.settings.preset == "base" else GENERATOR_SHARE
        return GeneratorAndDiscriminator.from_config(config, share=share)

    def filler(self, model: Any) -> Any:
        """The generator."""
        return model.generator

    def reader(self, model: Any) -> Any:
        """The discriminator."""
        return model.discriminator

    def epoch(self, number: int) -> WithSamples:
        """The batches of one pass over the text, with the random numbers for masks and samples."""
        drawn = super().epoch(number)
        return WithSamples(drawn.batches, drawn.vocab_size, *drawn.seed)

    def mask(self, batch: dict[str, Tensor], rate: float, seed: int) -> dict[str, Tensor]:
        """The batch masked, and its words sampled, with the random numbers of a seed."""
        numbers = sample_numbers(batch["input_ids"].shape, derive_seed(seed, "words"))
        return {**super().mask(batch, rate, seed), "sample_at": numbers}

    def counts(self, batch: dict[str, Tensor]) -> dict[str, int]:
        """Masked words, and real tokens."""
        return {**super().counts(batch), "rtd": int(batch["attention_mask"].sum())}

    def sums(self, model: nn.Module, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Summed losses and hits of both."""
        output: PairOutput = model(*(batch[name] for name in INPUTS))
        replaced, said = output.replaced[output.real], output.detector_logits[output.real] > 0
        return {
            **self.sums_of(output, output.labels, batch),
            "rtd_loss": detection_loss(output.detector_logits, output.replaced, output.real, reduction="sum"),
            "rtd_accuracy": (said == replaced).sum(),
            "rtd_replaced": replaced.sum(),
            "rtd_found": (said & replaced).sum(),
        }

    def validate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """Also how well replaced tokens are found; nothing where the text is too small for validation."""
        figures = super().validate(model, device)
        return {**figures, **found_figures(figures)} if figures else {}

    def quality(self, figures: dict[str, float]) -> float:
        """Minus the joint loss."""
        return super().quality(figures) - DETECTION_WEIGHT * figures["rtd_loss"]

    def evaluate(self, model: nn.Module, held_out: HeldOut) -> dict[str, Any]:
        """The figures of detection."""
        return {self.section: self.detection(model, held_out.batches)}

    def detection(self, model: nn.Module, batches: list[dict[str, Tensor]]) -> dict[str, Any]:
        """The figures of detection on masked batches, beside those of the two answers that need no network."""
        figures = evaluate(model, self, batches, next(model.parameters()).device)
        replaced = figures["rtd_replaced"]
        return {
            "tokens": sum(self.counts(batch)["rtd"] for batch in batches),
            **{name: figures[name] for name in ("rtd_loss", "rtd_accuracy", "rtd_replaced")},
            **found_figures(figures),
            "baselines": {
                "always “original”": {"rtd_accuracy": 1 - replaced, "rtd_recall": 0.0, "rtd_f1": 0.0},
                "always “replaced”": {
                    "rtd_accuracy": replaced,
                    "rtd_recall": 1.0,
                    "rtd_f1": 2 * replaced / (1 + replaced),
                },
            },
        }


def found_figures(figures: dict[str, float]) -> dict[str, float]:
    """Recall and F1 of replaced tokens, from shares of all tokens: the accuracy, those replaced and those found.

    F1 is 2 found / (2 found + missed + false alarms), and what is not right is missed or a false alarm. Both are 0
    where no token was replaced.
    """
    found, replaced = figures["rtd_found"], figures["rtd_replaced"]
    if not replaced > 0:
        return {"rtd_recall": 0.0, "rtd_f1": 0.0}
    return {"rtd_recall": found / replaced, "rtd_f1": 2 * found / (2 * found + 1 - figures["rtd_accuracy"])}


OBJECTIVE = ReplacedTokens

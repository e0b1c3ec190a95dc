"""Hidden spans: which words were hidden, and what tells the boundary of their span?

SpanBERT's objective: Joshi et al. 2020, section 3. Masking: `span_masking.py`; both heads: `family/spanbert.py`.
"""

import math
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.family.spanbert import NO_BOUNDARY, SpanBert, SpanOutput
from bertedu.inference import perplexity
from bertedu.json_values import whole
from bertedu.model.heads import IGNORED
from bertedu.pretraining.masking import Draws
from bertedu.pretraining.objectives.words import MaskedWords
from bertedu.pretraining.scoring import HeldOut
from bertedu.pretraining.span_masking import WithSpans, apply_span_masks, boundaries, draw_lengths, span_starts
from bertedu.training.figures import Figures, Measure
from bertedu.training.loop import evaluate
from bertedu.training.seeds import derive_seed

HELP = (
    "words hidden in spans of 1 to 10, and a second head that guesses each of them from the two visible tokens around "
    "its span"
)
OF_SPANS = {"words": int, "span_length": float}
INPUTS = ("input_ids", "attention_mask", "token_type_ids", "labels", "left", "right")


class Spans(MaskedWords):
    """Masked words where whole spans are hidden, and the same words by the boundary of their span alone.

    The figures beside those of masked words: sbo_loss and sbo_accuracy, over the words that the boundary is asked for;
    sbo_mlm, the share of these very words that the masked-word head gets right; and span_length, the mean number of
    words in a span, of which those that touch are one.
    """

    model_class = SpanBert
    few_shapes = False
    defaults = MappingProxyType({"mask_rates": (0.15, 0.15)})  # with more of the tokens masked, spans grow together
    section = "boundary"
    section_types = MappingProxyType(
        {
            **OF_SPANS,
            **{"sbo_accuracy": float, "sbo_perplexity": float, "mlm_accuracy": float},
            "baselines": Figures,
        }
    )
    of_baselines = ("mlm_accuracy",)
    measures = MappingProxyType(
        {
            "sbo_accuracy": Measure("words in spans, accuracy by the boundary alone", baseline="mlm_accuracy"),
            "sbo_perplexity": Measure(
                "words in spans, perplexity by the boundary alone", True, ",.1f", baseline="perplexity"
            ),
            "mlm_accuracy": Measure("the same words, accuracy of the masked-word head"),
        }
    )
    panels = MappingProxyType({**MaskedWords.panels, "sbo_accuracy": "Words by the boundary of their span: accuracy"})
    about_curves = (
        "Spans of neighbouring words are hidden together. The masked-word head guesses each word from its own "
        "vector, the boundary head from the vectors of the two visible tokens around the span alone. It is asked for "
        "fewer words (none in spans at either end of a text), so compare the two heads in the table above, which has "
        "them on the same words."
    )
    caveat = (
        "Words in spans are harder to fill in than single ones, so their accuracy does not compare with that of a "
        "run whose words were hidden one by one; and in a tenth of the spans the words stand as they are, for both "
        "heads. The boundary objective is meant to help afterwards, where answers are spans: in its paper it added "
        "0.1 points of F1 on SQuAD 2.0, which a short run cannot show."
    )

    @classmethod
    def check_figures(cls, figures: dict[str, Any], place: str) -> None:
        """Where the boundary is asked for no word, there is nothing but that."""
        if cls.section in figures and whole(figures[cls.section], OF_SPANS, f"{place}, {cls.section}")["words"]:
            super().check_figures(figures, place)

    @classmethod
    def counted(cls, found: Mapping[str, Any]) -> str:
        """The words of both heads are the same."""
        return f"{found['words']:,} words"

    @classmethod
    def about_words(cls, figures: Mapping[str, Any]) -> str:
        """How long the spans are in which they are hidden."""
        return f", {figures[cls.section]['span_length']:.1f} words in a span"

    @classmethod
    def summary(cls, figures: Mapping[str, Any], of_words: str) -> str:
        """How long the spans are, and what both heads tell of them."""
        found = figures[cls.section]
        said = f"{of_words} They are hidden in spans of {found['span_length']:.1f} words on average."
        if found["words"]:
            said += (
                f" Of those that have a boundary, the boundary alone tells {found['sbo_accuracy']:.1%}, and the "
                f"masked-word head {found['mlm_accuracy']:.1%}."
            )
        return said

    @classmethod
    def panel_baselines(cls, figures: Mapping[str, Any]) -> Figures:
        """Counting, at the words that the boundary is asked for."""
        beside = figures[cls.section].get("baselines", {})
        return {"sbo_accuracy": {name: of["mlm_accuracy"] for name, of in beside.items()}}

    def filler(self, model: Any) -> Any:
        """The model of masked words, without the boundary head."""
        return model.words

    def reader(self, model: Any) -> Any:
        """The same."""
        return model.words

    @cached_property
    def special(self) -> Tensor:
        """Which tokens are special, also where a text spells one out, [V]. An unknown word is none."""
        names = set(self.tokenizer.all_special_tokens) - {self.tokenizer.unk_token}
        return torch.tensor([token in names for token in self.tokenizer.vocab])

    def epoch(self, number: int) -> WithSpans:
        """The batches of one pass over the text, with the random numbers for their spans."""
        drawn = super().epoch(number)
        return WithSpans(drawn.batches, drawn.vocab_size, *drawn.seed)

    def mask(self, batch: dict[str, Tensor], rate: float, seed: int) -> dict[str, Tensor]:
        """The batch masked with the random numbers of a seed."""
        lengths = draw_lengths(batch["input_ids"].shape, derive_seed(seed, "lengths"))
        return super().mask({**batch, "span_lengths": lengths}, rate, seed)

    def masked(self, batch: dict[str, Tensor], rate: float, draws: Draws) -> dict[str, Tensor]:
        """The batch with spans hidden; labels, and left and right, the boundaries, [B, T] each, are added."""
        rest = {name: tensor for name, tensor in batch.items() if name != "span_lengths"}
        input_ids, tokenizer = batch["input_ids"], self.tokenizer
        candidates = batch["attention_mask"].bool() & ~self.special[input_ids]
        masked, chosen = apply_span_masks(
            input_ids,
            candidates,
            rate=rate,
            mask_token_id=tokenizer.mask_token_id,
            draws=self.drawn_for(input_ids, draws),
            lengths=batch["span_lengths"],
            continuation=self.continuation[input_ids],
            special_tokens=self.special_tokens,
        )
        left, right = boundaries(chosen, candidates)
        labels = input_ids.masked_fill(~chosen, IGNORED)
        return {**rest, "input_ids": masked, "labels": labels, "left": left, "right": right}

    def counts(self, batch: dict[str, Tensor]) -> dict[str, int]:
        """Masked words, those that the boundary is asked for, and spans."""
        chosen, asked = batch["labels"] != IGNORED, batch["left"] != NO_BOUNDARY
        return {**super().counts(batch), "sbo": int(asked.sum()), "span": int(span_starts(chosen).sum())}

    def sums(self, model: nn.Module, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Summed losses and hits of both heads, and the words in all spans."""
        output: SpanOutput = model(*(batch[name] for name in INPUTS))
        by_boundary, labels = output.boundary_logits.float(), output.boundary_labels
        by_word = output.prediction_logits.argmax(dim=-1)[output.asked]
        return {
            **self.sums_of(output, output.labels, batch),
            "sbo_loss": cross_entropy(by_boundary, labels, reduction="sum"),
            "sbo_accuracy": (by_boundary.argmax(dim=-1) == labels).sum(),
            "sbo_mlm": (by_word == labels).sum(),
            "span_length": self.words_in_spans(batch["labels"]).sum(),
        }

    def words_in_spans(self, labels: Tensor) -> Tensor:
        """Where words begin that are hidden, [B, T]: at the first piece of each, and at the first token of a span."""
        chosen = labels != IGNORED
        goes_on = self.continuation.to(labels.device)[labels.clamp_min(0)]
        return chosen & (~goes_on | span_starts(chosen))

    def quality(self, figures: dict[str, float]) -> float:
        """Minus the joint loss; without the boundary's where it was asked for no word."""
        boundary = figures["sbo_loss"]
        return super().quality(figures) - (0.0 if math.isnan(boundary) else boundary)

    def evaluate(self, model: nn.Module, held_out: HeldOut) -> dict[str, Any]:
        """What the boundaries of spans tell about the words inside, beside counting in the training text."""
        figures: dict[str, Any] = self.by_boundary(model, held_out.batches)
        if figures["words"]:
            figures["baselines"] = held_out.counting.words(self.asked(held_out.batches))
        return {self.section: figures}

    def by_boundary(self, model: nn.Module, batches: list[dict[str, Tensor]]) -> dict[str, float]:
        """The figures of the boundary head on masked batches, mlm_accuracy being that of the masked-word head on the
        same words; none of the two heads where the boundary is asked for no word.
        """
        figures = evaluate(model, self, batches, next(model.parameters()).device)
        words = sum(self.counts(batch)["sbo"] for batch in batches)
        found = {"words": words, "span_length": figures["span_length"]}
        if not words:
            return found
        return {
            **found,
            "sbo_accuracy": figures["sbo_accuracy"],
            "sbo_perplexity": perplexity(figures["sbo_loss"]),
            "mlm_accuracy": figures["sbo_mlm"],
        }

    @staticmethod
    def asked(batches: list[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
        """The same batches with the labels that the boundary is asked for, and no others."""
        return [
            {**batch, "labels": batch["labels"].masked_fill(batch["left"] == NO_BOUNDARY, IGNORED)} for batch in batches
        ]


OBJECTIVE = Spans

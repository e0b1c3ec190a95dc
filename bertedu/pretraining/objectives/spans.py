"""Hidden spans, as a task for the training loop: which words were hidden, and what tells the boundary of their span?

SpanBERT's objective: Joshi et al. 2020, section 3. Masking: `span_masking.py`; both heads: `family/spanbert.py`.
"""

import math
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.family.spanbert import NO_BOUNDARY, SpanBert, SpanOutput
from bertedu.inference import perplexity
from bertedu.model.heads import IGNORED
from bertedu.pretraining.masking import Draws
from bertedu.pretraining.objectives.masked_words import MaskedWords
from bertedu.pretraining.span_masking import WithSpans, apply_span_masks, boundaries, draw_lengths, span_starts
from bertedu.training.loop import evaluate
from bertedu.training.seeds import derive_seed

INPUTS = ("input_ids", "attention_mask", "token_type_ids", "labels", "left", "right")


class Spans(MaskedWords):
    """Masked words where whole spans are hidden, and the same words by the boundary of their span alone.

    The figures beside those of masked words: sbo_loss and sbo_accuracy, over the words that the boundary is asked for;
    sbo_mlm, the share of these very words that the masked-word head gets right; and span_length, the mean number of
    words in a span, of which those that touch are one.
    """

    model_class = SpanBert

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

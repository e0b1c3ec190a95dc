"""Variants of chapter 25: the parameters of another encoder, and the gradient of another loss."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from bertedu.chapters.ch25_the_interview.exercises.exercise_1 import parts
from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import compare
from bertedu.course.variant import COPIED, Draws, Variant

SIZES = ((30_522, 512, 768, 3_072, 12), (1_000, 64, 16, 40, 3), (50_368, 8_192, 768, 1_152, 22), (90, 11, 6, 7, 1))


@dataclass(frozen=True)
class Encoder:
    """An encoder whose parameters are counted, without segments; F is the width of its feed-forward."""

    gated: bool  # three matrices: two that widen to F, and one back
    biases: bool  # in all linear layers
    shift: bool  # normalization has a shift beside its scale
    table: bool  # of positions
    shared: bool  # one layer's weights are used L times
    norms: int = 2  # in each layer
    pooler: bool = False
    segments: bool = False

    def count(self, V: int, P: int, D: int, F: int, L: int) -> int:
        """All parameters."""
        norm, wide = D * (1 + self.shift), 1 + self.gated
        attention = 4 * (D * D + D * self.biases)
        feed_forward = wide * (D * F + F * self.biases) + F * D + D * self.biases
        layers = (1 if self.shared else L) * (attention + feed_forward + self.norms * norm)
        return (V + P * self.table + 2 * self.segments) * D + norm + layers + self.pooler * (D * D + D)


def counting(draws: Draws) -> Variant:
    """The parameters of an encoder that differs from BERT in several parts."""
    one = Encoder(*(draws.pick((True, False)) for _ in range(5)))
    bias = "has a bias" if one.biases else "has no bias"

    def flipped(sentence: str, **changed: Any) -> tuple[str, Callable[..., Any]]:
        return sentence, replace(one, **changed).count

    mistakes = dict(
        (
            (COPIED.format(number="25.1"), lambda *sizes: sum(parts(*sizes).values())),
            flipped(f"There are {3 if one.gated else 2} matrices in a feed-forward here.", gated=not one.gated),
            flipped(f"A linear layer {bias} here.", biases=not one.biases),
            flipped(f"A normalization has {'2·D' if one.shift else 'D'} parameters here.", shift=not one.shift),
            flipped(f"There is {'a' if one.table else 'no'} table of positions here.", table=not one.table),
            flipped(f"The layers {'share' if one.shared else 'do not share'} their weights.", shared=not one.shared),
            flipped("There is no pooler here.", pooler=True),
            flipped("There are no segments here.", segments=True),
            flipped("There is neither a pooler nor a table of segments here.", pooler=True, segments=True),
            flipped("A layer has two normalizations.", norms=1),
            flipped("The normalizations of the layers are missing.", norms=0),
            (
                "The normalization after the embeddings is missing.",
                lambda V, P, D, F, L: one.count(V, P, D, F, L) - D * (1 + one.shift),
            ),
            (
                "That is the estimate, 12·D²·L + V·D. Here every parameter counts.",
                lambda V, P, D, F, L: 12 * D * D * L + V * D,
            ),
        )
    )

    def examine(case: Case) -> None:
        rows = [("V = {:,}, P = {:,}, D = {:,}, F = {:,} and L = {}".format(*sizes), *sizes) for sizes in SIZES]
        advice = "Count the embeddings, one attention, one feed-forward and one normalization, each on its own line."
        compare(case, rows, one.count, mistakes, advice)

    positions = "one of **P positions**" if one.table else "**rotary positions** in place of a second table"
    feed_forward = (
        "a **gated** feed-forward with three matrices: two from D to F numbers, and one back"
        if one.gated
        else "a feed-forward with two matrices, from D to F numbers and back"
    )
    text = (
        "Write `parameters(V, P, D, F, L)`: the number of parameters of this encoder, a whole number. "
        f"It has a table of V tokens and {positions}, and one normalization after them. There are neither "
        "segments nor a pooler. Each of the L layers has attention with "
        f"four matrices D × D (queries, keys, values, output) and {feed_forward}. Each linear layer **{bias}**. Each "
        "layer has two normalizations, one for attention and one for the feed-forward; a normalization has "
        f"**{'a scale and a shift' if one.shift else 'a scale only'}**. All layers "
        f"**{'share one set of weights' if one.shared else 'have their own weights'}**."
    )
    hints = (
        "Give each part a line: embeddings, attention, feed-forward, normalization. Then add the layers up.",
        "A matrix from D to F has D·F weights, and F biases if it has any. Which parts are counted L times?",
    )
    exercise = Exercise("25.11", "Every parameter of another encoder", 2, 10, hints, examine)
    return Variant(exercise, text, "def parameters(V, P, D, F, L):")


@dataclass(frozen=True)
class Loss:
    """Cross-entropy of softmax(logits / temperature) with smoothed labels, summed or averaged over rows that count."""

    temperature: float
    smoothing: float
    none: int
    summed: bool

    def gradient(self, logits: Tensor, labels: Tensor) -> Tensor:
        """By autograd."""
        with torch.enable_grad():
            leaf = logits.detach().clone().requires_grad_()
            reduction = "sum" if self.summed else "mean"
            options: dict[str, Any] = {"ignore_index": self.none, "label_smoothing": self.smoothing}
            cross_entropy(leaf / self.temperature, labels, reduction=reduction, **options).backward()
        assert leaf.grad is not None
        return leaf.grad

    def with_targets(self, logits: Tensor, labels: Tensor, own: float, other: float) -> Tensor:
        """The gradient with targets of one's own: for the label, and for each other class."""
        counts = labels != self.none
        hot = one_hot(labels.clamp_min(0) * counts, logits.size(1))
        rows = ((logits / self.temperature).softmax(-1) - hot * (own - other) - other) * counts[:, None]
        return rows / self.temperature / (1 if self.summed else counts.sum())


def wrong_gradients(one: Loss) -> dict[str, Callable[..., Any]]:
    """Known mistakes, by the sentence that explains each."""
    t, e = one.temperature, one.smoothing
    bare, sharp = Loss(1.0, 0.0, one.none, False), replace(one, temperature=1.0)
    counts = "are added here" if one.summed else "are averaged over the rows that count"

    def all_rows(logits: Tensor, labels: Tensor) -> Tensor:
        return one.gradient(logits, labels) * (labels != one.none).sum() / len(labels)

    def nothing_ignored(logits: Tensor, labels: Tensor) -> Tensor:
        real = labels != one.none
        right, each = one.gradient(logits, labels), (logits / t).softmax(-1) / t
        scale = 1 if one.summed else int(real.sum())
        return torch.where(real[:, None], right, (each - e / logits.size(1) / t) / scale)

    return {
        COPIED.format(number="25.3"): bare.gradient,
        f"The factor 1/{t:g} is missing: the logits are divided by the temperature, so their gradient is too.": (
            lambda logits, labels: one.gradient(logits, labels) * t
        ),
        f"The temperature is missing: softmax of the logits divided by {t:g}.": sharp.gradient,
        f"The probabilities lack the temperature: softmax of the logits divided by {t:g}.": (
            lambda logits, labels: sharp.gradient(logits, labels) / t
        ),
        f"You multiplied the logits by {t:g}. Divide.": replace(one, temperature=1 / t).gradient,
        "The labels are not smoothed.": replace(one, smoothing=0.0).gradient,
        f"The label's target is {1 - e:g} + {e:g}/K: it has its part of the equal shares too.": (
            lambda logits, labels: one.with_targets(logits, labels, 1 - e, e / logits.size(1))
        ),
        f"You gave the label {1 - e:g} and shared the rest among the others. Here all K classes share {e:g}.": (
            lambda logits, labels: one.with_targets(logits, labels, 1 - e, e / (logits.size(1) - 1))
        ),
        f"Only the label's target is smoothed. Every other class has the target {e:g}/K.": (
            lambda logits, labels: one.with_targets(logits, labels, 1 - e, 0.0)
        ),
        f"The losses of the rows {counts}.": replace(one, summed=not one.summed).gradient,
        "The sign is wrong: probabilities minus targets.": lambda logits, labels: -one.gradient(logits, labels),
        f"You divided by all rows. Rows with the label {one.none} don't count.": all_rows,
        f"Rows with the label {one.none} don't count: all their entries are 0.": nothing_ignored,
    }


def deriving(draws: Draws) -> Variant:
    """The gradient of cross-entropy with a temperature and smoothed labels."""
    one = Loss(
        draws.pick((0.5, 2.0, 4.0)), draws.pick((0.1, 0.2, 0.3)), draws.pick((-1, -7)), draws.pick((True, False))
    )

    def examine(case: Case) -> None:
        case.causes = {
            "does not require grad": "Write the formula yourself: autograd is switched off here.",
            **dict.fromkeys(
                ("out of bounds", "out of range", "non-negative"),
                f"The label {one.none} is no class. Set it aside before you use labels as an index.",
            ),
        }
        logits, large = case.randn(4, 5), torch.tensor([[4000.0, 0.0], [0.0, -4000.0]])
        rows = [
            ("logits [4, 5] with four labels", logits, torch.tensor([1, 0, 4, 2])),
            (f"the same logits, two labels of {one.none}", logits, torch.tensor([1, one.none, 4, one.none])),
            (f"logits [3, 7], one label of {one.none}", case.randn(3, 7), torch.tensor([6, one.none, 0])),
            ("logits of 4000", large, torch.tensor([0, 1])),
        ]
        advice = "Probabilities minus targets, 0 for rows that don't count, and one factor from the temperature."
        with torch.no_grad():  # so that autograd gives no answer
            compare(case, rows, one.gradient, wrong_gradients(one), advice, names=("the gradient",))

    total = "Their **sum**" if one.summed else "Their **mean** over the rows that count"
    text = (
        "Write `gradient(logits, labels)` for logits `[N, K]` and labels `[N]`, without autograd: the gradient of the "
        f"loss with respect to the logits, `[N, K]`. The probabilities are the softmax of the logits divided by the "
        f"temperature **{one.temperature:g}**. The labels are **smoothed by {one.smoothing:g}**: the target is "
        f"{1 - one.smoothing:g} times the one-hot label plus {one.smoothing:g}/K for each of the K classes. A row's "
        f"loss is the cross-entropy of targets and probabilities. Rows with the label **{one.none}** don't count. "
        f"{total} is the loss. At least one row counts."
    )
    hints = (
        "The gradient with respect to logits / τ is probabilities minus targets. And with respect to the logits?",
        "Build the targets [N, K] first. Replace the label of rows that don't count before you use it as an index.",
    )
    exercise = Exercise("25.12", "The gradient of another loss", 3, 12, hints, examine)
    return Variant(exercise, text, "def gradient(logits, labels):")


MAKERS = {"25.11": counting, "25.12": deriving}

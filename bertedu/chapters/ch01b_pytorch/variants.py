"""Variants of chapter 01b: softmax by other conventions, and a loss by other conventions."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import Exercise
from bertedu.course.explaining import Mistakes, compare
from bertedu.course.variant import COPIED, Draws, Variant

SIZES = ((3, 4), (4, 3), (5, 5), (1, 6))


@dataclass(frozen=True)
class Shares:
    """Softmax: which axis holds the scores of one text, what the scores are divided by, and which base is raised."""

    axis: int
    divisor: float
    base: float
    after: bool = False  # a mistake: the powers are divided by the divisor, not the scores

    def __call__(self, scores: Tensor) -> Tensor:
        powers = self.base**scores if self.after else self.base ** (scores / self.divisor)
        return powers / powers.sum(dim=self.axis, keepdim=True)


def sharing(draws: Draws) -> Variant:
    """Softmax of a batch whose axes, base and temperature are others."""
    rule = Shares(draws.pick((0, 1)), draws.pick((2.0, 4.0, 0.5)), draws.pick((2.0, 3.0, 10.0)))
    shown, a_text = ("[V, B]", "column") if rule.axis == 0 else ("[B, V]", "row")

    def examine(case: Case) -> None:
        mistakes: Mistakes = {
            COPIED.format(number="1b.2"): Shares(1, 1.0, math.e),
            f"Each text is a {a_text} here: the shape is {shown}.": replace(rule, axis=1 - rule.axis),
            f"The base is {rule.base:g} here, not e.": replace(rule, base=math.e),
            f"The scores are divided by {rule.divisor:g} before anything is raised.": replace(rule, divisor=1.0),
            f"You multiply by {rule.divisor:g} where the text divides.": replace(rule, divisor=1 / rule.divisor),
            "The powers of a text do not sum to 1 yet.": lambda x: rule.base ** (x / rule.divisor),
        }
        rows = [(f"scores of shape {list(size)}", case.randn(*size)) for size in SIZES]
        compare(case, rows, rule, mistakes, f"Each {a_text} should have positive numbers that sum to 1.")
        case.gradient_flows(rows[0][1], names=("scores",), tried="the first scores again")

    text = (
        f"Write `shares(scores)` for scores of shape `{shown}`: each **{a_text}** belongs to one text. Divide the "
        f"scores by **{rule.divisor:g}**, raise **{rule.base:g}** to them (not *e*), and divide by the sum, so that "
        "the numbers of each text sum to 1. Return the shape of `scores`. Don't use PyTorch's softmax."
    )
    hints = (
        f"Which axis of {shown} holds the scores of one text? sum takes it, and keepdim=True.",
        f"{rule.base:g} ** x raises the base to each number of a tensor x.",
    )
    without = ("softmax", "log_softmax")
    exercise = Exercise("1b.11", "Shares with another base", 2, 8, hints, examine, without=without)
    return Variant(exercise, text, "def shares(scores):")


@dataclass(frozen=True)
class Loss:
    """Cross-entropy: its unit, what is done with the losses of the texts, and the answer that does not count."""

    bits: bool
    total: bool  # the sum instead of the mean
    ignored: int
    counts_all: bool = False  # a mistake: divided by all texts, also those that do not count

    def __call__(self, logits: Tensor, answers: Tensor) -> Tensor:
        counted = answers != self.ignored
        log_p = logits.log_softmax(dim=-1)[torch.arange(len(answers)), answers.clamp(min=0)]
        each = -log_p / (math.log(2) if self.bits else 1.0)
        divisor = 1 if self.total else len(answers) if self.counts_all else counted.sum()
        return each[counted].sum() / divisor


def losing(draws: Draws) -> Variant:
    """The loss of a batch in another unit, with texts that do not count."""
    rule = Loss(*draws.pick(((True, True), (True, False), (False, True))), draws.pick((-1, 0, 3)))
    unit = "bits (the logarithm to the base 2)" if rule.bits else "nats (the natural logarithm)"
    over = "sum" if rule.total else "mean"

    def examine(case: Case) -> None:
        mistakes: Mistakes = {
            COPIED.format(number="1b.5"): Loss(False, False, -100),
            f"The answer {rule.ignored} does not count: leave such texts out.": replace(rule, ignored=-100),
            f"It should be the {over} over the texts that count.": replace(rule, total=not rule.total),
            "Texts that do not count are left out of the sum, and you divide by all texts.": (
                replace(rule, counts_all=True)
            ),
            f"The unit is {unit}.": replace(rule, bits=not rule.bits),
            "The sign is wrong: the logarithm of a probability is negative.": lambda *inputs: -rule(*inputs),
        }
        rows = []
        for count in (6, 8, 5):
            answers = case.randint(0, 5, (count,))
            answers[0], answers[1] = rule.ignored, 2  # one that does not count, and one that does
            rows.append((f"{count} texts with 5 logits each", 2 * case.randn(count, 5), answers))
        compare(case, rows, rule, mistakes, f"The {over} of minus the logarithm of p(right word), in {unit}.")

    text = (
        "Write `loss(logits, answers)` for logits `[B, V]` and answers `[B]`. A text whose answer is "
        f"**{rule.ignored}** does not count. For the others compute the cross-entropy in **{unit}**, and return the "
        f"**{over}** over the texts that count, as a tensor with one number."
    )
    hints = (
        f"answers != {rule.ignored} is True where a text counts; a tensor can be indexed with it.",
        "cross_entropy(…, reduction='none') gives one loss for each text, in nats. A bit is ln 2 = 0.693 nats.",
    )
    exercise = Exercise("1b.12", "A loss by other conventions", 3, 10, hints, examine)
    return Variant(exercise, text, "def loss(logits, answers):")


MAKERS = {"1b.11": sharing, "1b.12": losing}

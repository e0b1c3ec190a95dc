"""Variants of chapter 9: attention rollout by other rules, and the entropy of heads without special tokens."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import Exercise
from bertedu.course.variant import COPIED, Draws, Variant

JOINS = {"mean": "mean", "max": "largest", "min": "smallest"}


@dataclass(frozen=True)
class Rollout:
    """How attention is followed through the layers. As it stands here it is that of the chapter."""

    keep: float = 0.5
    join: str = "mean"
    last_first: bool = False
    normalized: bool = True
    swapped: bool = False
    transposed: bool = False

    def of(self, attentions: list[Tensor]) -> Tensor:
        """How much of each word is in each token after the last layer, [B, T, T]."""
        identity = torch.eye(attentions[0].size(-1))
        shares = identity
        for weights in reversed(attentions) if self.last_first else attentions:  # [B, H, T, T]
            heads = {"mean": weights.mean(1), "max": weights.amax(1), "min": weights.amin(1)}[self.join]
            if self.normalized:
                heads = heads / heads.sum(-1, keepdim=True)
            mixed = (1 - self.keep) * heads + self.keep * identity
            shares = shares @ mixed if self.swapped else mixed @ shares
        return shares.mT if self.transposed else shares


def rolling(draws: Draws) -> Variant:
    """Rollout with another share of the residual connection, other heads, and the layers in the other order."""
    keep, join = draws.pick((0.2, 0.3, 0.6, 0.7)), draws.pick(("max", "min", "mean"))
    rules = Rollout(keep, join, draws.pick((True, False)))
    order = "last" if rules.last_first else "first"
    changed = (
        (Rollout(), COPIED.format(number="9.2")),
        (replace(rules, keep=0.5), f"The residual connection passes on {keep:g} here, not one half."),
        (replace(rules, keep=1 - keep), f"The shares are swapped: {keep:g} belongs to the residual connection."),
        (replace(rules, keep=0.0), "Where is the residual connection?"),
        (replace(rules, last_first=not rules.last_first), f"The {order} layer stands first in the list."),
        (
            replace(rules, swapped=True),
            "The layers are multiplied in reverse order: a later layer belongs on the left.",
        ),
        (replace(rules, transposed=True), "Rows and columns are swapped: row i is what token i contains."),
        (replace(rules, normalized=False), "Divide each row by its sum after you join the heads."),
        *((replace(rules, join=other), f"Take the {JOINS[join]} weight of the heads.") for other in JOINS),
    )

    def examine(case: Case) -> None:
        for layers, heads, length in ((3, 4, 5), (1, 2, 3), (4, 1, 6)):
            attentions = [case.randn(2, heads, length, length).mul(2).softmax(-1) for _ in range(layers)]
            tried = (
                f"{layers} layer{'s' * (layers > 1)} with {heads} head{'s' * (heads > 1)}, 2 texts of {length} tokens"
            )
            got, right = case.call(attentions, tried=tried), rules.of(attentions)
            case.same_shape("the result", got, right, "One matrix for each text: neither layers nor heads are left.")
            known = [said for one, said in changed if is_close(got, one.of(attentions))]
            case.close("the result", got, right, *(known[:1] or ["Compute one layer by hand first."]))
            sums = got.sum(-1)
            case.close("the sum of each row", sums, torch.ones_like(sums), "Every row should sum to 1.")

    joined = "Average over the heads." if join == "mean" else (
        f"Of the heads, take the **{JOINS[join]}** weight at each entry of the matrix, and then divide each row by its "
        "sum, so that it sums to 1."
    )  # fmt: skip
    text = (
        "Write `rollout(attentions)`. It gets a list of L tensors `[B, H, T, T]`, the attention weights of each layer "
        f"(row i: the weights of query i), with the **{order}** layer of the model at the beginning of the list. "
        f"{joined} Assume that the residual connection of each layer passes on **{keep:g}** of what a token contains, "
        f"and attention the other {1 - keep:g}. Return one tensor `[B, T, T]`: row i says how much of each word is in "
        "token i after the last layer of the model. Before the first layer each token is its own word."
    )
    hints = (
        "Make one matrix of each layer first: heads joined, rows that sum to 1, the residual connection added.",
        f"mixed = {1 - keep:g} · A + {keep:g} · I. Then go through the model from its first layer: shares = mixed @ "
        "shares.",
    )
    exercise = Exercise("9.11", "Rollout by other rules", 2, 12, hints, examine)
    return Variant(exercise, text, "def rollout(attentions):")


@dataclass(frozen=True)
class Entropies:
    """How the entropy of heads is measured. The fields after the third are True in every right answer."""

    unit: str
    hidden: tuple[int, ...]  # positions of special tokens, which count neither as queries nor as keys
    by_text: bool
    renormalized: bool = True
    without_queries: bool = True
    without_keys: bool = True
    knows_padding: bool = True

    def of(self, weights: Tensor, mask: Tensor) -> Tensor:
        """The mean entropy of each head, [H], from weights [B, H, T, T] and the mask [B, T]."""
        real = mask.bool() if self.knows_padding else torch.ones_like(mask, dtype=torch.bool)
        words = real.clone()
        for row, length in zip(words, mask.sum(1).tolist(), strict=True):
            row[[at if at >= 0 else length + at for at in self.hidden]] = False
        queries, keys = words if self.without_queries else real, words if self.without_keys else real
        kept = weights * keys[:, None, None, :]
        if self.renormalized:
            kept = kept / kept.sum(-1, keepdim=True).clamp_min(1e-30)
        entropy = -(kept * kept.clamp_min(1e-30).log()).sum(-1)  # [B, H, T], in nats
        if self.unit == "bits":
            entropy = entropy / math.log(2)
        if self.unit == "share":
            entropy = entropy / keys.sum(1)[:, None, None].log()
        asked = (entropy * queries[:, None]).sum(-1)  # [B, H]
        if self.by_text:
            return (asked / queries.sum(1, keepdim=True)).mean(0)
        return asked.sum(0) / queries.sum()


UNITS = {
    "bits": "in **bits** (logarithm to base 2)",
    "nats": "in **nats** (natural logarithm)",
    "share": "as a **share** of the largest that is possible, the logarithm of the number of words of the text",
}
HIDDEN = (
    ((0, -1), "the first and the last real token of each text, [CLS] and [SEP]"),
    ((0,), "the first token of each text, [CLS]"),
    ((-1,), "the last real token of each text, [SEP]"),
)


def measuring(draws: Draws) -> Variant:
    """The mean entropy of each head over words, without special tokens and padding."""
    unit, (hidden, special), by_text = draws.pick(list(UNITS)), draws.pick(HIDDEN), draws.pick((True, False))
    rules = Entropies(unit, hidden, by_text)
    average = "over the words of each text, then over the texts" if by_text else "over all words of all texts"
    changed = (
        *((replace(rules, unit=other), f"Give the entropy {UNITS[unit]}.") for other in UNITS if other != unit),
        (replace(rules, renormalized=False), "The weights that are left don't sum to 1: divide them by their sum."),
        (replace(rules, hidden=()), "Special tokens are still in it, as queries and as keys."),
        (replace(rules, without_queries=False), "The entropy of the special tokens' own weights is in your mean."),
        (replace(rules, without_keys=False), "The weights for special tokens as keys are still there."),
        (replace(rules, by_text=not by_text), f"Take the mean {average}."),
        (replace(rules, knows_padding=False), "Padding counts too. The mask says which tokens are real."),
        *(
            (replace(rules, hidden=other), f"What doesn't count is {special}.")
            for other, _ in HIDDEN
            if other != hidden
        ),
    )

    def examine(case: Case) -> None:
        for lengths in ((7, 5, 4), (6, 6), (4, 8, 5, 7)):
            mask = torch.tensor([[1] * n + [0] * (max(lengths) - n) for n in lengths])
            scores = case.randn(len(lengths), 3, max(lengths), max(lengths)).mul(2)
            weights = scores.masked_fill(mask[:, None, None] == 0, -math.inf).softmax(-1)
            tried = f"3 heads and texts of {', '.join(map(str, lengths))} tokens"
            got, right = case.call(weights, mask, tried=tried), rules.of(weights, mask)
            case.same_shape("the result", got, right, "One number for each head.")
            if bool(got.isnan().any()):
                case.fail("But there is a nan: a weight of 0 adds 0, and 0 · log 0 is nan in PyTorch.")
            known = [said for one, said in changed if is_close(got, one.of(weights, mask))]
            advice = known[:1] or ["Compute one query by hand first."]
            negative = "An entropy is not negative: where is the minus?"
            case.close("the entropy", got, right, *advice, mistakes={negative: -right})

    text = (
        "Write `head_entropies(weights, mask)`: attention weights `[B, H, T, T]` (row i: the weights of query i) and a "
        "mask `[B, T]`, 1 for real tokens and 0 for padding, which stands at the end and gets the weight 0. In many "
        "heads, special tokens get much of the attention, and hide what the head does with words. So leave them out: "
        f"**{special}**, count neither as queries nor as keys. Divide the weights that are left to each query by their "
        f"sum, and take their entropy **−Σ p log p**, {UNITS[unit]}. A weight of 0 adds 0. Return one number for each "
        f"head, `[H]`: the mean **{average}**. A word is any real token that is left; every text has at least two."
    )
    hints = (
        "Make a mask of words first: the mask of real tokens, with special positions set to 0. It is needed twice.",
        "mask.sum(1) is the number of real tokens, so the last one is at mask.sum(1) - 1. torch.special.entr(p) is "
        "−p · ln p, and 0 for p = 0.",
    )
    exercise = Exercise("9.12", "The entropy of heads over words", 3, 15, hints, examine)
    return Variant(exercise, text, "def head_entropies(weights, mask):")


MAKERS = {"9.11": rolling, "9.12": measuring}

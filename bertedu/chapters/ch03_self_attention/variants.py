"""Variants of chapter 3: attention in another layout, and a softmax with another mask."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import Exercise
from bertedu.course.variant import COPIED, Draws, Variant

LAYOUTS = ("BTHd", "THBd", "HBTd", "BdHT")
SIZES = {"B": 2, "T": 5, "H": 3, "d": 8}


def public_attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """What the chapter's solution computes, whatever the axes are."""
    weights = (query @ key.mT / query.size(-1) ** 0.5).softmax(-1)
    return weights @ value, weights


def attention(draws: Draws) -> Variant:
    """Attention for another order of axes and another temperature, the weights first."""
    layout, temperature = draws.pick(LAYOUTS), draws.pick((0.5, 2.0, 3.0, 4.0))
    inward = [layout.index(axis) for axis in "BHTd"]
    outward = ["BHTd".index(axis) for axis in layout]

    def reference(query: Tensor, key: Tensor, value: Tensor, factor: float) -> tuple[Tensor, Tensor]:
        query, key, value = (x.permute(inward) for x in (query, key, value))
        weights = (query @ key.mT / (factor * query.size(-1) ** 0.5)).softmax(-1)
        return weights, (weights @ value).permute(outward)

    def examine(case: Case) -> None:
        shown = "[" + ", ".join(layout) + "]"
        for sizes in (SIZES, {"B": 3, "T": 4, "H": 2, "d": 6}):
            query, key, value = (case.randn(*(sizes[axis] for axis in layout)) for _ in range(3))
            result = case.call(query, key, value, tried=f"tensors {shown} of sizes {list(query.shape)}")
            first, second = case.parts(result, "weights", "outputs")
            expected, outputs = reference(query, key, value, temperature)
            copied = public_attention(query, key, value)
            if is_close(first, copied[0]) and is_close(second, copied[1]):
                case.fail(COPIED.format(number="3.2"), f"The axes are {shown}, and the weights are returned first.")
            if isinstance(first, Tensor) and isinstance(second, Tensor) and is_close(second, expected):
                case.fail("But the two come in the wrong order: return the weights first, then the outputs.")
            case.same_shape("weights", first, expected, "The weights are [B, H, T, T].")
            usual = {f"The scores are divided by √d only. Divide by {temperature:g}·√d.": (
                reference(query, key, value, 1.0)[0]
            ), f"The scores are divided by {temperature:g} only. Divide by √d too.": (
                reference(query, key, value, temperature / sizes["d"] ** 0.5)[0]
            )}  # fmt: skip
            case.close("weights", first, expected, "Check axes, divisor and softmax.", mistakes=usual)
            case.close("outputs", second, outputs, f"The outputs are in the layout of the inputs, {shown}.")

    letters = ", ".join(layout)
    text = (
        f"Write `attend(query, key, value)` for three tensors of shape `[{letters}]`: B sentences of T tokens, H heads "
        f"of size d. Divide the scores by {temperature:g}·√d, where d is read from the shape. Return the weights "
        f"`[B, H, T, T]` first, then the outputs `[{letters}]`."
    )
    hints = (
        "Bring the axes into the order [B, H, T, d] first. Which method of a tensor takes all axes in a new order?",
        "permute on the way in, and on the way out the permutation that undoes it.",
    )
    exercise = Exercise("3.11", "Attention in another layout", 2, 15, hints, examine)
    return Variant(exercise, text, "def attend(query, key, value):")


def softmax(draws: Draws) -> Variant:
    """A softmax with a mask that says what is hidden, over a drawn axis, and a drawn value where all is hidden."""
    axis, uniform = draws.pick((1, 2)), draws.pick((True, False))

    def reference(scores: Tensor, hidden: Tensor) -> Tensor:
        lowest = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(hidden, lowest).softmax(axis)
        return weights if uniform else weights.masked_fill(hidden, 0.0)

    def examine(case: Case) -> None:
        scores = 2 * case.randn(3, 4, 5)
        hidden = torch.zeros(3, 4, 5, dtype=torch.bool)
        hidden.select(axis, 0)[1] = True
        hidden.select(axis, 2)[2] = True
        got = case.call(scores, hidden, tried=f"scores [3, 4, 5], two keys along axis {axis} hidden")
        case.same_shape("weights", got, scores)
        lowest = torch.finfo(scores.dtype).min
        inverted = [scores.masked_fill(~hidden, lowest).softmax(along) for along in (axis, -1)]
        if any(is_close(got.nan_to_num(), one * kept) for one in inverted for kept in (1, hidden, ~hidden)):
            case.fail("But only hidden keys get attention.", COPIED.format(number="3.4"), "True means hidden here.")
        other = 3 - axis
        mistakes = {
            f"Softmax runs over axis {other}, and the keys lie along axis {axis}.": (
                scores.masked_fill(hidden, lowest).softmax(other).masked_fill(hidden & (not uniform), 0.0)
            ),
            "These are the weights without a mask.": scores.softmax(axis),
            "A score of 0 is not hidden: e to the 0 is 1.": (scores * ~hidden).softmax(axis),
            "The hidden weights were removed after the softmax: the rest no longer sums to 1.": (
                scores.softmax(axis) * ~hidden
            ),
        }
        case.close("weights", got, reference(scores, hidden), "Hide the keys before the softmax.", mistakes=mistakes)
        hidden = torch.ones(3, 4, 5, dtype=torch.bool)
        got = case.call(scores, hidden, tried="scores of which every key is hidden")
        wanted = torch.full_like(scores, 1 / scores.size(axis) if uniform else 0.0)
        advice = "every key gets the same weight" if uniform else "every weight is 0"
        case.close("weights", got, wanted, f"Where all keys are hidden, {advice}.")

    wanted = "all its keys get the same weight" if uniform else "all its weights are 0"
    text = (
        f"Write `hidden_softmax(scores, hidden)` for scores `[B, 4, 5]` of any sizes. The keys that one query chooses "
        f"from lie along **axis {axis}**. `hidden` has the shape of the scores and is True where a key must **not** be "
        f"attended to. Hidden keys get exactly 0. Where all keys of a query are hidden, {wanted}, and nothing is `nan`."
    )
    hints = (
        "Hide the keys before the softmax, with a number that stays finite.",
        f"masked_fill with torch.finfo(scores.dtype).min, then softmax over axis {axis}. And a query without keys?",
    )
    exercise = Exercise("3.12", "A softmax that knows what is hidden", 3, 15, hints, examine)
    return Variant(exercise, text, "def hidden_softmax(scores, hidden):")


MAKERS = {"3.11": attention, "3.12": softmax}

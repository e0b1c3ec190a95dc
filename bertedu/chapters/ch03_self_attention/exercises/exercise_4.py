"""Exercise 3.4: A softmax that knows a mask."""

import torch
from torch import Tensor

from bertedu.chapters.ch03_self_attention.exercises.shared import TOO_LARGE, is_shaped
from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise


@exercise(
    "3.4",
    "A softmax that knows a mask",
    difficulty=3,
    minutes=20,
    without=("torch.masked",),
    hints=(
        "Hide the keys before the softmax, with a finite number. Then only rows with no visible key are wrong.",
        "masked_fill(~keep, torch.finfo(scores.dtype).min), softmax; what does multiplying the weights by keep change?",
    ),
)
def masked_softmax(case: Case) -> None:
    case.causes |= TOO_LARGE
    scores = 3 * case.randn(2, 3, 4, 4)
    keep = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]]).bool()[:, None, None, :]  # [B, 1, 1, T]
    weights = case.call(scores, keep, tried="2 texts of 4 tokens, the last of the first one padding")
    case.same_shape("weights", weights, scores)
    if bool(weights.isnan().any()):
        case.fail("But the weights contain nan, although every row has a key that is not hidden.")
    inverted(case, weights, scores, keep)
    hidden = weights[0, :, :, 3]
    reference = scores.masked_fill(~keep, -torch.inf).softmax(-1)
    plain = scores.softmax(-1)
    sums = weights[0].sum(-1)
    if is_close(weights[1], reference[1]) and not bool(hidden.any()) and bool((sums < 0.9999).any()):
        row = sums.argmin()
        case.fail(
            f"But row {int(row) % 4} of head {int(row) // 4} sums to {sums.min():.2f}, and every row should sum to 1.",
            "Softmax gave a part of the attention to padding, and you removed that part afterwards. "
            "Hide the keys before the softmax.",
        )
    if is_close(weights, (scores * keep).softmax(-1)):
        case.fail(
            f"But padding gets {hidden[0, 0]:.2f} of the attention, and should get 0.",
            "You set the hidden scores to 0, and a score of 0 is not hidden: e to the 0 is 1.",
        )
    if is_close(weights, plain):
        case.fail(
            f"But padding gets {hidden[0, 0]:.2f} of the attention: these are the weights without a mask.",
            "Did you create a new tensor and continue with the old one? masked_fill returns its result.",
        )
    if bool((hidden != 0).any()):
        case.fail(f"But padding gets up to {hidden.max():.2g} of the attention, and should get exactly 0.")
    case.close("weights", weights, reference, "Padding is hidden. Does softmax run over the last axis?")
    masked_after_softmax(case)
    all_padding(case)
    sixteen_bits(case)


def inverted(case: Case, weights: Tensor, scores: Tensor, keep: Tensor) -> None:
    """The mask with True and False swapped, in one of the steps or in all."""
    sentence = "Your mask is inverted: keep is True for the keys that may be attended to."
    if bool((weights[0, ..., 3] > 0.99).all()):
        case.fail("But all attention goes to padding. " + sentence)
    if not bool(weights[0].any()):
        case.fail("But all weights of the text with padding are 0. " + sentence)
    if is_close(weights, scores.softmax(-1) * ~keep):
        case.fail("But only padding keeps its weight. " + sentence)


def masked_after_softmax(case: Case) -> None:
    """Softmax first, then the mask and a division: right on paper, lost where the padding has a high score."""
    keep = torch.tensor([[1, 1, 0]]).bool()[:, None, None, :]
    scores = torch.tensor([0.0, 1.0, 200.0]).expand(1, 1, 3, 3).clone()
    weights = case.call(scores, keep, tried="padding with a score of 200")
    case.same_shape("weights", weights, scores)
    if bool(weights.isnan().any()) or not is_close(weights.sum(-1), torch.ones(1, 1, 3), 1e-3):
        shown = ", ".join(f"{w:.2g}" for w in weights[0, 0, 0].tolist())
        case.fail(
            f"But row 0 of the weights is [{shown}], and it should sum to 1, with 0 for padding.",
            "e to the 200 does not fit into float32. In a softmax the other powers round to 0 beside it, and too "
            "little is left to divide by. Hide the keys first, before any power or maximum is computed.",
        )


def all_padding(case: Case) -> None:
    """A text in which every key is hidden, in the forward and in the backward pass."""
    scores, keep = case.randn(2, 1, 3, 3), torch.tensor([[1, 1, 0], [0, 0, 0]]).bool()[:, None, None, :]
    weights = case.call(scores, keep, tried="a text that is all padding")
    case.same_shape("weights", weights, scores)
    empty = weights[1]
    if bool(empty.isnan().any()):
        case.fail(
            "But its weights are nan, the result of 0 / 0: in a row where every key is hidden, all powers are 0.",
            "Does your code add -inf to a whole row, or divide by a sum that can be 0?",
        )
    if is_close(empty, torch.full_like(empty, 1 / 3)):
        case.almost("A text that is all padding gets equal weights of 0.33. That is finite, but it should get zeros.")
    if bool((empty != 0).any()):
        case.fail(
            f"But row 0 of its weights is {[round(w, 2) for w in empty[0, 0].tolist()]}, and should be all zeros."
        )
    expected = scores[0].masked_fill(~keep[0], -torch.inf).softmax(-1)
    case.close("the weights of the other text", weights[0], expected, "The other text of the batch must not change.")
    leaf = scores.clone().requires_grad_()
    case.begin("I called masked_softmax on a text that is all padding and asked for the gradient.", "its gradient")
    result = case.protected(case.answer, leaf.clone(), keep.clone())
    if not result.requires_grad:
        case.fail("But no gradient can reach the scores: is there a detach or a no_grad?")
    gradient = torch.autograd.grad((result * case.randn(*result.shape)).sum(), leaf)[0]
    if bool(gradient.isnan().any()):
        case.almost(
            "The weights are right, but the gradient is nan. If you replace a nan, with nan_to_num or where, that "
            "repairs the forward pass only.",
            "Fill with a finite number, so that no nan arises.",
        )


def sixteen_bits(case: Case) -> None:
    """Large scores, and float16."""
    keep = torch.tensor([[1, 1, 0]]).bool()[:, None, None, :]
    scores = torch.tensor([-20000.0, -20001.0, 20000.0]).expand(1, 1, 3, 3).clone()
    weights = case.call(scores, keep, tried="scores of ±20000")
    if is_shaped(weights, [1, 1, 3, 3]) and bool((weights[..., 2] != 0).any() | (weights[..., 0] < 0.5).any()):
        powers_of_low_scores(case)
        case.almost("With scores of ±20000 softmax gives attention to padding: your fill is not negative enough.")
    scores = case.randn(1, 1, 3, 3).half() - 20
    weights = case.call(scores, keep, tried="float16")
    case.dtype("weights", weights, torch.float16)
    expected = scores.float().masked_fill(~keep, -torch.inf).softmax(-1)
    case.close("weights", weights.float(), expected, "Does your fill fit the dtype of the scores?", tolerance=2e-3)


def powers_of_low_scores(case: Case) -> None:
    """A softmax by hand that does not subtract the largest score: no fill is to blame for it."""
    scores = torch.tensor([-20000.0, -20001.0, -20002.0]).expand(1, 1, 3, 3).clone()
    sums = case.protected(case.answer, scores, torch.ones(1, 1, 1, 3).bool()).sum(-1)
    if not is_close(sums, torch.ones_like(sums), 1e-3):
        tried = "scores of -20000 to -20002, without padding"
        case.begin(f"I called {case.name} on {tried}.", tried)
        case.almost(
            f"But row 0 of the weights sums to {sums[0, 0, 0]:.2g}, and should sum to 1.",
            "e to such a score rounds to 0. Subtract the largest visible score of the row first, or use softmax.",
        )

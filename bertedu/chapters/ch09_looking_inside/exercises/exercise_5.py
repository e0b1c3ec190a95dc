"""Exercise 9.5: A mean of real tokens."""

from typing import Any

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

DTYPE = (
    "The mask or the divisor is float32. Convert both to the dtype of the states. (A sum of whole numbers plus 1e-9 is "
    "float32, too: clamp_min(1) keeps the type.)"
)


def mean_mistakes(states: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """What wrong means return, by the sentence that explains them."""
    real = mask[:, :, None].float()
    total, count = (states * real).sum(dim=1), real.sum(dim=1)
    others = states.sum(dim=1) - total
    later = real.clone()
    later[:, 0] = 0
    return {
        "The 50s of the padding are in your mean. Multiply by the mask first.": states.mean(dim=1),
        "The padding adds nothing now, but you still divide by T. How many real tokens does a short text have?": (
            total / states.size(1)
        ),
        "That is the sum of the real tokens. A mean divides by their number.": total,
        "You divide by the number of real tokens in the whole batch. Each text has its own number.": total / real.sum(),
        "That is the vector of the first token, [CLS]. Compute the mean over all real tokens.": states[:, 0],
        "You divide by the number of entries that are not 0. A real token may have a 0: count with the mask.": (
            total / (states * real != 0).sum(dim=1).clamp_min(1)
        ),
        "The padding is in the sum, and only the divisor uses the mask.": states.sum(dim=1) / count,
        "That is the mean of the padding: the mask is 1 for real tokens and 0 for padding.": (
            others / (states.size(1) - count).clamp_min(1)
        ),
        "−∞ is in your sum. It hides tokens in a softmax; in a sum, 0 hides them.": states.masked_fill(
            mask[:, :, None] == 0, -torch.inf
        ).mean(dim=1),
        "Your divisor is a little too large. clamp_min(1) also avoids a division by 0, and changes no other number.": (
            total / (count + 0.01)
        ),
        "Your divisor is one too many. To avoid a division by 0, use clamp_min(1) instead of + 1.": total / (count + 1),
        "The first token is missing. It is a real token too.": (
            (states * later).sum(dim=1) / later.sum(dim=1).clamp_min(1)
        ),
    }


def mean_advice(got: Any, states: Tensor) -> str:
    """What is said of a result of the wrong shape."""
    if isinstance(got, Tensor) and got.ndim == 1:
        return "That mixes the tokens of all texts. Return one vector for each text."
    if isinstance(got, Tensor) and list(got.shape) == list(states.shape[:2]):
        return "That is one number for each token. Which axis holds the tokens? Average over that one."
    return "Return one vector for each text."


@exercise(
    "9.5",
    "A mean of real tokens",
    difficulty=3,
    minutes=12,
    hints=(
        "Multiply the states by the mask, [B, T, 1], before you sum. By how many tokens do you divide for each text?",
        "(states * mask).sum(dim=1) / mask.sum(dim=1).clamp_min(1), with the mask in the dtype of the states.",
    ),
)
def masked_mean(case: Case) -> None:
    """Padding full of large numbers, a text of padding only, half precision, gradients."""
    case.causes = {
        "must match the size of tensor": "The states are [B, T, D] and the mask is [B, T]: attention_mask[:, :, None] "
        "has the shape [B, T, 1]. The sums over the tokens are [B, D], so the divisor should be [B, 1].",
        "is invalid for input of size": "The texts have different numbers of real tokens, so their tokens alone do not "
        "fit into one tensor. Keep all tokens and multiply by the mask.",
        "with a bool tensor": "The mask may hold True and False, too. Convert it first, or use attention_mask == 0.",
        "boolean": "The mask holds the numbers 1 and 0 here. attention_mask == 1 makes booleans of them.",
    }
    states, mask = case.randn(3, 6, 4), torch.tensor([[1] * 6, [1] * 4 + [0] * 2, [1] + [0] * 5])
    states = torch.where(mask[:, :, None] == 1, states, torch.tensor(50.0))
    states[0, 2, 1] = 0  # an entry of a real token
    got = case.call(states, mask, tried="3 texts of 6, 4 and 1 tokens, with 50s on the padding")
    case.same_shape("the result", got, [3, 4], mean_advice(got, states))
    weights = mask[:, :, None].float()
    expected = (states * weights).sum(dim=1) / weights.sum(dim=1)
    advice = "Compare the text with one token: its mean should be that token's vector."
    case.close("the result", got, expected, advice, mistakes=mean_mistakes(states, mask))
    booleans = case.call(states, mask.bool(), tried="the same with a mask of booleans")
    case.close("the result", booleans, expected, "A mask of True and False should work as well as 1 and 0.")
    empty = case.call(states[:1], torch.zeros(1, 6, dtype=torch.long), tried="a text that is all padding")
    if isinstance(empty, Tensor) and empty.isnan().any():
        case.almost("All padding gave NaN, 0 divided by 0. Make the divisor at least 1, or return zeros there.")
    case.close("the result", empty, torch.zeros(1, 4), "Return zeros for a text without tokens.")
    half = case.call(states.half(), mask, tried="states in float16")
    case.dtype("the result", half, torch.float16, DTYPE)
    answer, case.answer = case.answer, lambda x: case.protected(answer, x, mask.clone())  # its parameters may be named
    case.gradient_flows(states, names=("states",), tried="3 texts")  # otherwise than in the exercise
    case.answer = answer

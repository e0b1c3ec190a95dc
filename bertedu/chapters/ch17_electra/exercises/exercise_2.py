"""Exercise 17.2: Sample by Gumbel."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


def gumbel(u: Tensor) -> Tensor:
    """Gumbel noise from numbers between 0 and 1."""
    return -(-u.log()).log()


@exercise(
    "17.2",
    "Sample by Gumbel",
    difficulty=2,
    minutes=8,
    hints=(
        "Compute the noise −ln(−ln u), add it to the scores, and look for the largest sum in each row.",
        "noise = -(-u.log()).log(), then argmax over the last axis: which axis holds the words?",
    ),
)
def gumbel_sample(case: Case) -> None:
    """Against the argmax of scores plus noise, with the noises that people mix up."""
    case.causes["dimension specified as"] = "scores is [N, V]. Which of its two axes holds the words?"
    scores, u = 2 * case.randn(300, 7), torch.rand(300, 7, generator=case.generator)
    tried = "300 tokens and 7 words"
    sampled = case.call(scores, u, tried=tried)
    if isinstance(sampled, tuple) and len(sampled) == 2:
        case.fail("But it returned two things, values and positions, as max does. Return the positions: the ids.")
    case.is_a("the result", sampled, Tensor, "a tensor of ids")
    if list(sampled.shape) == [300, 7]:
        case.fail(
            "But the result is [300, 7], a number for each word. Return one id for each token: the position of the "
            "largest sum in its row."
        )
    if list(sampled.shape) == [7]:
        case.fail("But the result is [7]: your argmax runs over the tokens. Which axis holds the words of one token?")
    if list(sampled.shape) == [300, 1]:
        case.fail(
            "But the result is [300, 1], and [300] is expected: remove the last axis, for example by squeeze(-1)."
        )
    case.same_shape("ids", sampled, [300], "One id for each token.")
    if sampled.is_floating_point():
        case.fail(
            "But these are not ids, which are whole numbers. Return the position of the largest sum, not the sum."
        )
    again = case.call(scores, u, tried=tried)
    if not torch.equal(again, sampled):
        case.fail(
            "But a second call with the same u gave other ids: you drew random numbers of your own.",
            "Make the noise from u.",
        )
    mistakes = {
        "These are the most probable words: the noise has no effect.": scores.argmax(-1),
        "The sign of the noise is wrong. It is −ln(−ln u): add it, or subtract ln(−ln u).": (scores - gumbel(u)).argmax(
            -1
        ),
        "There is one logarithm too few: −ln u is exponential noise, and −ln(−ln u) is Gumbel noise.": (
            scores - u.log()
        ).argmax(-1),
        "You added ln u. Gumbel noise is −ln(−ln u), with two logarithms and two changes of sign.": (
            scores + u.log()
        ).argmax(-1),
        "ln u is negative, so ln(ln u) is nan. The noise is −ln(−ln u), with a minus inside too.": (
            scores - u.log().log()
        ).argmax(-1),
        "You added u itself. First turn it into noise: −ln(−ln u).": (scores + u).argmax(-1),
        "You added the noise to the probabilities. It belongs on the scores, before any softmax.": (
            scores.softmax(-1) + gumbel(u)
        ).argmax(-1),
        "You multiplied the scores by the noise. Add it.": (scores * gumbel(u)).argmax(-1),
        "This is the word with the largest noise. Where are the scores?": u.argmax(-1),
        "That is the word with the smallest sum.": (scores + gumbel(u)).argmin(-1),
    }
    right = (scores + gumbel(u)).argmax(-1)
    advice = "Each number of u belongs to one word of one token: noise −ln(−ln u), plus the score, then the largest."
    case.close("ids", sampled, right, advice, mistakes=mistakes)
    one, single = case.randn(1, 4), torch.rand(1, 4, generator=case.generator)
    case.close("ids", case.call(one, single, tried="a single token"), (one + gumbel(single)).argmax(-1), advice)
    case.close_with("You need V random numbers for each token. sample_tokens gets by with one.")

"""Exercises 17.1 to 17.3: what is replaced, sampled and asked. 17.4 and 17.5 are in chapter_17_pair.py."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "17.1",
    "Count the ones",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "How many tokens are chosen? For each of them a word is sampled, whether it was masked or not.",
        "Of the 9 chosen tokens, one in three gets its own word back. Which label has that token?",
    ),
)
def count_the_ones(case: Case) -> None:
    case.predicted(
        6,
        otherwise="First compute how many tokens are chosen. At which of them does another word stand afterwards?",
        mistakes=[
            (9, "9 tokens are chosen. But where the generator samples the right word, nothing was replaced."),
            (3, "3 is the number of lucky guesses. Their label is 0, because the right word stands there."),
            (5.1, "You counted the masked tokens only. A word is sampled for each chosen token, masked or not."),
            (7.65, "7.65 tokens are masked. A word is sampled for every chosen token, and some samples are right."),
            (
                2.55,
                "Those are the lucky guesses at masked tokens. The question is how many words are wrong afterwards.",
            ),
            (5.8, "15 % are chosen of all 60 tokens, [CLS] and [SEP] included."),
            (8, "Are those the masked tokens, rounded? A word is sampled for every chosen token, masked or not."),
            (54, "54 is the number of original tokens: their label is 0."),
            (51, "51 tokens are not chosen, and their label is 0."),
            (40, "15 % are chosen first. A word is sampled for these tokens only, not for all 60."),
            (0.1, "That is the share of the text. How many of its 60 tokens is that?"),
            (10, "If you mean 10 percent: how many of the 60 tokens is that?"),
        ],
        tolerance=0.005,
    )


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


def wrong_losses(logits: Tensor, seen: Tensor, text: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """What known mistakes give, by the sentence that explains each."""
    real, replaced = mask.bool(), (seen != text).float()
    each = binary_cross_entropy_with_logits(logits, replaced, reduction="none")
    rows = zip(each, real, strict=True)
    return {
        "Your mean includes the padding. Only real tokens count.": each.mean(),
        "You removed the padding from the sum, but you still divide by B·T. Divide by the number of real tokens.": (
            (each * mask).mean()
        ),
        "You set the logits of the padding to 0, and each of them costs ln 2. Take the padding out of the mean.": (
            binary_cross_entropy_with_logits(logits * mask, replaced * mask)
        ),
        "That is the sum over the real tokens. The loss is their mean.": each[real].sum(),
        "Your labels are swapped: the label is 1 where the word was replaced, and 0 where it is original.": (
            binary_cross_entropy_with_logits(logits[real], 1 - replaced[real])
        ),
        "You took the mean of each text, and then the mean of those. Each real token should count the same.": (
            torch.stack([row[there].mean() for row, there in rows]).mean()
        ),
        "You divided by the number of texts. Divide by the number of real tokens.": each[real].sum() / len(each),
        "Your sigmoid is applied twice: the function with_logits already contains one.": (
            binary_cross_entropy_with_logits(logits[real].sigmoid(), replaced[real])
        ),
        "Your loss asks only at the replaced tokens. Every real token is a question, the original ones too.": (
            each[replaced.bool()].mean()
        ),
        "You counted the replaced tokens only. The original ones cost −ln (1 − σ(z)).": (
            (each * replaced)[real].sum() / real.sum()
        ),
        "The 50 belongs to the sum of both losses, not in here.": 50 * each[real].mean(),
        "attention_mask holds whole numbers, so indexing with it picks texts 0 and 1. Make it boolean first.": (
            binary_cross_entropy_with_logits(logits[mask], replaced[mask])
        ),
        "That is the squared error of the probability. Take −ln of the probability of the right answer.": (
            (logits[real].sigmoid() - replaced[real]).square().mean()
        ),
    }


@exercise(
    "17.3",
    "The loss of the discriminator",
    difficulty=2,
    minutes=12,
    hints=(
        "Where does another word stand than in the text? That comparison gives all labels, lucky guesses included.",
        "real = attention_mask.bool() picks the real tokens: logits[real] and labels[real] are [N]. "
        "binary_cross_entropy_with_logits wants labels as floats.",
    ),
)
def detection_loss(case: Case) -> None:
    """Against the mean over real tokens, with lengths so different that every other mean shows."""
    case.causes["can't be cast to the desired output type Long"] = "The labels must be floats: use .float()."
    case.causes["bool tensor"] = "The labels must be floats, and they are booleans: use .float()."
    case.causes["must be the same as input size"] = (
        "Logits and labels must have the same shape. Did you index only one of them?"
    )
    case.causes["all elements of input should be between 0 and 1"] = (
        "binary_cross_entropy wants probabilities. Its sister with_logits takes the logits as they are."
    )
    text = case.randint(5, 40, (3, 8))
    mask = torch.tensor([[1] * 8, [1] * 3 + [0] * 5, [1] * 5 + [0] * 3])
    text = text * mask
    seen = text.clone()
    for row, column in ((0, 1), (0, 6), (1, 2), (2, 3)):
        seen[row, column] = 41
    logits = 2 * case.randn(3, 8)
    result = case.call(logits, seen, text, mask, tried="3 texts of 8, 3 and 5 real tokens, 4 of them replaced")
    case.is_a("the loss", result, (int, float, Tensor), "one number, as a tensor")
    if isinstance(result, Tensor) and result.ndim:
        case.fail(f"But the loss has the shape {list(result.shape)}. It should be one number: the mean.")
    real, replaced = mask.bool(), (seen != text).float()
    expected = binary_cross_entropy_with_logits(logits[real], replaced[real])
    advice = "It should be the mean of the binary cross-entropies of all real tokens, with the label 1 for replaced."
    case.close("the loss", result, expected, advice, mistakes=wrong_losses(logits, seen, text, mask))
    sure = torch.tensor([[200.0, -200.0]])
    same = torch.tensor([[7, 8]])
    result = case.call(
        sure, same, same, torch.ones(1, 2).long(), tried="a discriminator that is very certain, and wrong"
    )
    if not bool(torch.isfinite(torch.as_tensor(result))) or abs(float(result) - 100) > 0.5:
        case.almost(
            f"The loss is right for ordinary logits, but for 200 and −200 it is {float(result):.3g} in place of 100.",
            "The probability is rounded to 0 or 1 before the logarithm. binary_cross_entropy_with_logits does both "
            "steps at once.",
        )
    answer = case.answer
    case.answer = lambda x: case.protected(answer, x, seen.clone(), text.clone(), mask.clone())
    case.gradient_flows(logits, names=("logits",), tried="the same texts")
    case.answer = answer

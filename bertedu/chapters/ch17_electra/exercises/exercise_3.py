"""Exercise 17.3: The loss of the discriminator."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


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

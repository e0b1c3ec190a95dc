"""Exercise 7.5: Repair the losses."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

SCORES_FIRST = "cross_entropy gets scores first, and then the labels. argmax gives no scores."


def losses(words: Tensor, labels: Tensor, pairs: Tensor, pair_labels: Tensor) -> tuple[Tensor, Tensor]:
    """Both losses as they should be."""
    return cross_entropy(words, labels, ignore_index=0), cross_entropy(pairs, pair_labels)


@exercise(
    "7.5",
    "Repair the losses",
    difficulty=3,
    minutes=10,
    hints=(
        "Write down what the number 0 means as a label of a word, and what it means as a label of a pair.",
        "Words: cross_entropy with ignore_index=0, as before. Pairs: every pair counts, so nothing is ignored.",
    ),
)
def repaired_losses(case: Case) -> None:
    """Each loss against its mistakes; then a batch with one kind of pairs."""
    words, pairs = case.randn(9, 30), case.randn(6, 2)
    labels, pair_labels = torch.tensor([0, 4, 0, 0, 17, 0, 29, 0, 1]), torch.tensor([0, 1, 1, 0, 1, 0])
    right = losses(words, labels, pairs, pair_labels)
    case.causes = {
        "is out of bounds": "Pairs have two classes, and their labels are 0 and 1. Leave the labels as they are.",
        "Expected floating point": SCORES_FIRST,
        "not implemented for 'Long'": SCORES_FIRST,
        "expected target dtype": "The labels are whole numbers. Leave them as they are.",
    }
    result = case.call(words, labels, pairs, pair_labels, tried="9 words, 4 of them with a label, and 6 pairs")
    masked, following = case.parts(result, "masked_words", "next_sentence")
    case.close(
        "the loss of the masked words",
        masked,
        right[0],
        "It was right in the colleague's version.",
        mistakes={
            "Words with the label 0 count now. For words, 0 still means: nothing to predict here.": cross_entropy(
                words, labels
            ),
            "That is the loss of the pairs. Return the loss of the words first.": right[1],
            "That is the sum over the words. BERT's loss is the mean.": 4 * right[0],
            "That is divided by all words. The mean is over those with a label.": 4 / 9 * right[0],
        },
    )
    case.close(
        "the loss of the pairs",
        following,
        right[1],
        "It should be the mean of −ln p(label) over all pairs.",
        mistakes={
            "Pairs with the label 0, IsNext, are still not counted.": cross_entropy(pairs, pair_labels, ignore_index=0),
            "Now pairs with the label 1, NotNext, are not counted.": cross_entropy(pairs, pair_labels, ignore_index=1),
            "The labels are reversed: in BERT 0 is IsNext, and the first score belongs to it.": cross_entropy(
                pairs, 1 - pair_labels
            ),
            "cross_entropy applies softmax itself. Give it the scores.": cross_entropy(pairs.softmax(-1), pair_labels),
            "That is the sum over the pairs. BERT's loss is the mean.": 6 * right[1],
        },
    )
    same = torch.zeros(6, dtype=torch.long)
    _, following = case.call(words, labels, pairs, same, tried="a batch in which all pairs are IsNext")
    case.close("the loss of the pairs", following, losses(words, labels, pairs, same)[1], "All pairs should count.")
    leaves = words.clone().requires_grad_(), pairs.clone().requires_grad_()
    result = case.protected(case.answer, leaves[0], labels, leaves[1], pair_labels)
    for name, loss in zip(("masked words", "pairs"), result, strict=True):
        cut_off = f"But the loss of the {name} is cut off from its scores: is there an `.item()` or a `.detach()`?"
        case.expect(isinstance(loss, Tensor) and loss.requires_grad, cut_off)

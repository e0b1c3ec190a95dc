"""Exercise 6.3: The loss, without cross_entropy."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.chapters.ch06_masked_language_model.exercises.shared import VOCAB
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.heads import IGNORED


def mean_over_texts(logits: Tensor, labels: Tensor) -> Tensor:
    """The mistake of averaging each text first."""
    return torch.stack([cross_entropy(row, right) for row, right in zip(logits, labels, strict=True)]).mean()


def wrong_losses(logits: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """What known mistakes give, by the sentence that explains each."""
    asked, positive = labels != IGNORED, labels > 0
    log_p = logits.log_softmax(-1)[asked][torch.arange(int(asked.sum())), labels[asked]]
    all_words = "You took the mean over all V words. In each row, pick the log-probability of the right word."
    return {
        all_words: -logits[asked].log_softmax(-1).mean(),
        f"{all_words} And the label 0 is missing: compare with -100.": -logits[positive].log_softmax(-1).mean(),
        "You left out the label 0. Every id from 0 on is a valid label: compare with -100.": (
            cross_entropy(logits[positive], labels[positive])
        ),
        "You picked the words of all labels in every row, N times N numbers. Pick one word in each row.": (
            -logits.log_softmax(-1)[asked][:, labels[asked]].mean()
        ),
        "You divided by all tokens. Tokens without a label do not count in the mean.": (-log_p.sum() / labels.numel()),
        "That is the sum over the labels. The loss is their mean.": -log_p.sum(),
        "You divided by the number of texts. Divide by the number of labels.": -log_p.sum() / len(labels),
        "You took the mean of each text, and then the mean of those. So the only label of the second text has the "
        "same weight as the three of the first. Each label should count the same.": mean_over_texts(logits, labels),
        "Check the sign: log-probabilities are negative, and a loss is positive.": log_p.mean(),
        "You took the logarithm of the mean probability. Take the mean of the logarithms.": -log_p.exp().mean().log(),
        "Those are probabilities. The loss is minus their logarithm.": log_p.exp().mean(),
        "You used the raw scores. First turn them into log-probabilities, over the vocabulary.": (
            -logits[asked][torch.arange(6), labels[asked]].mean()
        ),
        "Your softmax runs over the tokens. The probabilities of all *words* should sum to 1 for each token.": (
            -logits.log_softmax(1)[asked][torch.arange(6), labels[asked]].mean()
        ),
    }


@exercise(
    "6.3",
    "The loss, without cross_entropy",
    difficulty=2,
    minutes=12,
    without=("cross_entropy",),
    hints=(
        "Which tokens have a label? asked = labels != -100 is [B, T]; logits[asked] is [N, V], labels[asked] is [N].",
        "log_softmax over V turns scores into log-probabilities. Pick the right one in each row with "
        "[torch.arange(N), labels[asked]], change the sign, and take the mean.",
    ),
)
def mlm_loss(case: Case) -> None:
    """Against cross_entropy, with every other mean that people take."""
    logits = 2 * case.randn(3, 6, VOCAB)
    labels = torch.full((3, 6), IGNORED)
    for row, column in ((0, 1), (0, 2), (0, 4), (1, 3), (2, 0), (2, 5)):
        labels[row, column] = int(case.randint(1, VOCAB, (1,)))
    labels[0, 4] = 0  # a valid label
    result = case.call(
        logits, labels, function=without_raw_errors(case), tried="3 texts of 6 tokens with 3, 1 and 2 labels"
    )
    asked = labels != IGNORED
    expected = cross_entropy(logits[asked], labels[asked])
    case.is_a("the loss", result, (int, float, Tensor), "one number, as a tensor")
    case.close(
        "the loss",
        result,
        expected,
        "It should be the mean of minus the log-probability of the right word, over the tokens with a label.",
        mistakes=wrong_losses(logits, labels),
    )
    sure = torch.zeros(1, 2, VOCAB)
    sure[0, 0, 7] = 300.0
    result = case.call(sure, torch.tensor([[8, IGNORED]]), tried="a model that is very certain, and wrong")
    if not torch.isfinite(torch.as_tensor(result)):
        case.almost(
            f"The loss is right for ordinary scores, but here it became {float(result)}.",
            "The probability is so small that it is rounded to 0 before the logarithm. "
            "log_softmax does both steps at once.",
        )
    case.close(
        "the loss",
        result,
        torch.tensor(300.0),
        "The scores differ by 300, and so should the log-probabilities.",
        "Is there a small number inside your logarithm, or a limit? It cuts large losses off, and their gradients too.",
        tolerance=1e-3,
    )
    answer, case.answer = case.answer, lambda x: case.protected(answer, x, labels.clone())
    case.gradient_flows(logits, names=("logits",), tried="the same texts")
    case.answer = answer


def without_raw_errors(case: Case) -> Callable:
    """The answer, with torch's sentence about indexing by -100 replaced."""

    @wraps(case.answer)
    def run(*inputs: Tensor) -> Any:
        try:
            return case.answer(*inputs)
        except (IndexError, RuntimeError) as error:
            if str(IGNORED) in str(error):
                case.fail(
                    f"But {case.name} used {IGNORED} as an index, and no word has that id.",
                    "First keep only the tokens that have a label, then pick by their labels.",
                )
            if "out of bounds" in str(error):
                case.fail(
                    f"But {case.name} used a label as an index of the wrong axis: {error}.",
                    "[N, V] indexed by labels picks rows, and you need one word in each row.",
                )
            raise

    return run

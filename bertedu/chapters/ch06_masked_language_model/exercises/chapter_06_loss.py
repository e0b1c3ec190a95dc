"""Exercises 6.3 and 6.5: the loss, and the batch that it is computed on."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bertedu.chapters.ch06_masked_language_model.exercises.chapter_06 import FIRST_WORD, MASK, VOCAB
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
    return {
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


@exercise(
    "6.5",
    "The batch, repaired",
    difficulty=3,
    minutes=10,
    hints=(
        "Print the labels of one text below what the model sees. How many labels ask for a token that it can see?",
        "Two variables hold ids. Which of them does the last line return?",
    ),
)
def repaired_batch(case: Case) -> None:
    """A chosen token is hidden and has its label, and nothing else is changed."""
    ids = case.randint(FIRST_WORD, VOCAB, (2, 8))
    ids[:, 0], ids[:, -1] = 2, 3
    special = ids < FIRST_WORD
    chosen = torch.zeros(2, 8, dtype=torch.bool)
    chosen[0, 2:4] = chosen[1, 5] = True
    result = case.call(ids, chosen, special, tried="2 texts of 8 tokens, of which 2 and 1 are chosen")
    if not hasattr(result, "keys") or set(result.keys()) != {"input_ids", "labels"}:
        case.fail('But it should return what the broken function returned: a dict with "input_ids" and "labels".')
    seen, labels = result["input_ids"], result["labels"]
    case.same_shape("input_ids", seen, ids)
    case.same_shape("labels", labels, ids)
    hidden = ids.masked_fill(chosen, MASK)
    case.close(
        "input_ids",
        seen,
        hidden,
        "The chosen tokens should be [MASK], and all others unchanged.",
        mistakes={"That is what the broken function returns: the model sees every word that it is asked for.": ids},
    )
    case.close(
        "labels",
        labels,
        ids.masked_fill(~chosen, IGNORED),
        f"A label is the original id where a token was chosen, and {IGNORED} everywhere else.",
        mistakes={
            "It asks for every word now, and most are visible. The labels were right before: leave them.": (
                ids.masked_fill(special, IGNORED)
            ),
            "Even [CLS] and [SEP] have a label now.": ids,
            "Those labels say [MASK]: they were taken from what the model sees, after masking.": (
                hidden.masked_fill(~chosen, IGNORED)
            ),
            "The labels are where the tokens were *not* chosen: the mask is inverted.": ids.masked_fill(
                chosen | special, IGNORED
            ),
            f"Where nothing is asked you put 0, the id of [PAD]. cross_entropy ignores {IGNORED}.": (
                ids.masked_fill(~chosen, 0)
            ),
        },
    )
    case.close_with("Now every token that has a label is hidden.")

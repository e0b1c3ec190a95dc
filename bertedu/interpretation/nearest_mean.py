"""The nearest mean as a classifier: can two senses of a word be told apart by its vectors?

Shapes: N vectors of D numbers, each with one of two labels.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from bertedu.errors import UserError
from bertedu.interpretation.contexts import check_labels


def nearest_mean_accuracy(vectors: Tensor, labels: Sequence) -> float:
    """How often a vector [N, D] has a higher cosine with the mean of its own label than with that of the other label.

    One vector of each label is left out: the one that is asked about, and one of the other label, so that the two
    means are of equally many. The result is the mean over all choices of the two; a tie counts half. Labels that mean
    nothing give 0.5 on average. Raises UserError unless there are two labels, each of them at least twice.
    """
    check_labels(vectors, labels)
    first = torch.tensor([label == labels[0] for label in labels], dtype=torch.bool)
    if len(set(labels)) != 2 or min(first.sum(), (~first).sum()) < 2:
        raise UserError("nearest means are of two labels, each of them at least twice: give other labels.")
    unit = normalize(vectors.double(), dim=-1)
    accuracies = []
    for own, other in ((unit[first], unit[~first]), (unit[~first], unit[first])):
        own_means = normalize(own.sum(dim=0) - own, dim=-1)  # row i: the mean without vector i
        other_means = normalize(other.sum(dim=0) - other, dim=-1)
        to_own = (own * own_means).sum(dim=-1, keepdim=True)  # [n, 1]: each vector with its own mean
        gains = to_own - own @ other_means.T  # column j: against the other mean without its vector j
        accuracies.append((gains.round(decimals=6).sign() + 1).mean() / 2)  # 1 right, ½ a tie, 0 wrong
    return (accuracies[0] + accuracies[1]).item() / 2

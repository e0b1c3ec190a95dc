"""One word in many sentences: its vector layer by layer, and how vectors of one sense or another compare.

Vectors of a word are the means over its pieces. Cosines between two sentences alone mislead; averages over many
do not. Anisotropy: Ethayarajh 2019, section 4.1.
Shapes: N sentences or vectors, L layers (with the embeddings L + 1), D hidden size, T tokens.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from bertedu.errors import UserError
from bertedu.inference import span_vectors, word_vectors

__all__ = ["anisotropy", "mean_cosines", "nearest", "span_vectors", "word_vectors"]


def mean_cosines(vectors: Tensor, labels: Sequence[str]) -> dict[str, Tensor]:
    """The mean cosine of all pairs of one label ("within") and of two labels ("across"), layer by layer: [L + 1] each.

    vectors [N, L + 1, D] with a label each, such as the sense of the word. No vector is compared with itself. Raises
    UserError where either kind of pair is missing.
    """
    check_labels(vectors, labels)
    unit = normalize(vectors.float(), dim=-1).transpose(0, 1)  # [L + 1, N, D]
    cosines = unit @ unit.transpose(1, 2)  # [L + 1, N, N]
    numbers = torch.tensor([sorted(set(labels)).index(label) for label in labels])
    same = numbers[:, None] == numbers
    within, across = same & ~torch.eye(len(labels), dtype=torch.bool), ~same
    if not within.any() or not across.any():
        raise UserError("cosines within and across labels need two labels, and one of them twice: give more sentences.")
    return {"within": cosines[:, within].mean(dim=1), "across": cosines[:, across].mean(dim=1)}


def nearest(vectors: Tensor, query: Tensor, labels: Sequence[str], k: int = 5) -> list[tuple[str, float]]:
    """The labels and cosines of the k vectors [N, D] that point most nearly where the query [D] points, best first."""
    check_labels(vectors, labels)
    cosines = normalize(vectors.float(), dim=-1) @ normalize(query.float(), dim=-1)  # [N]
    best = cosines.topk(min(k, len(labels)))
    return [(labels[index], cosine) for index, cosine in zip(best.indices.tolist(), best.values.tolist(), strict=True)]


def anisotropy(vectors: Tensor) -> float:
    """The mean cosine of all pairs of different vectors [N, D]: 0 when they point everywhere, 1 when all point one way.

    Ethayarajh takes random pairs; the mean over all of them follows from the sum of the unit vectors: |Σu|² counts
    every ordered pair and N times a vector with itself.
    """
    count = len(vectors)
    if count < 2:
        raise UserError(f"anisotropy is a mean over pairs of vectors, and there are {count}: give at least 2.")
    total = normalize(vectors.double(), dim=-1).sum(dim=0)
    return float((total @ total - count) / (count * (count - 1)))


def check_labels(vectors: Tensor, labels: Sequence) -> None:
    """Raise UserError where vectors and labels are not of one number."""
    if len(vectors) != len(labels):
        raise UserError(f"there are {len(vectors)} vectors and {len(labels)} labels: give one label for each.")

"""Vectors of many numbers as points in a plane: principal components (Pearson 1901).

The plane is the one in which the points lie widest apart; what it leaves out is told by its share of the variance.
"""

import torch
from torch import Tensor

from bertedu.errors import UserError


def principal_components(vectors: Tensor, count: int = 2) -> tuple[Tensor, Tensor]:
    """Points [N, count] of vectors [N, D] along the directions in which they differ most, and the share of each.

    The shares [count] are of the whole variance. A direction and its opposite are equally good: taken is the one in
    which the largest of its D entries is positive. Raises UserError for fewer vectors than directions plus one,
    vectors that are all alike, and vectors that hold no numbers.
    """
    if vectors.dim() != 2 or len(vectors) <= count or vectors.size(1) < count:
        raise UserError(
            f"the vectors have the shape {list(vectors.shape)}: {count} principal components need [N, D] with N of at "
            f"least {count + 1} and D of at least {count}."
        )
    centred = vectors.detach().cpu().double()
    centred = centred - centred.mean(dim=0)
    if not torch.isfinite(centred).all() or not centred.any():
        raise UserError("the vectors are all alike or hold no numbers: there is no direction in which they differ.")
    _, widths, directions = torch.linalg.svd(centred, full_matrices=False)
    directions = directions[:count]
    largest = directions.abs().argmax(dim=1, keepdim=True)
    directions = directions * directions.gather(1, largest).sign()
    shares = widths[:count].square() / widths.square().sum()
    return (centred @ directions.T).float(), shares.float()

"""Rotary position embeddings (RoPE): a query and a key are rotated by an angle that grows with their position.

Su et al. 2021 (RoFormer), section 3.4.2. BERT adds a learned vector for each position to the words' vectors, once, at
the input. Here every layer rotates its queries and keys: their dot product then depends on how far apart the two tokens
stand, and not on where. Nothing is learned, and there is no table that ends at some length.

Shapes: T tokens, d size of a head.
"""

import torch
from torch import Tensor

Rotation = tuple[Tensor, Tensor]  # cosines and sines, [T, d/2] each


def rotation(positions: Tensor, head_size: int, theta: float) -> Rotation:
    """The cosine and sine of every pair's angle at each position: [T] to twice [T, d/2].

    Pair j turns by theta^(-2j/d) a token: the first pair by one radian, the last ones so slowly that a larger theta
    tells positions apart over a longer text. Computed in float32 also where the model computes in 16 bits: bfloat16
    has no number between 256 and 258.
    """
    pairs = torch.arange(0, head_size, 2, device=positions.device).float()
    speeds = 1.0 / theta ** (pairs / head_size)  # [d/2]
    angles = positions.float()[:, None] * speeds  # [T, d/2]
    return angles.cos(), angles.sin()


def rotate(vectors: Tensor, by: Rotation) -> Tensor:
    """Turn the vectors of each position by its angles: [..., T, d] to [..., T, d].

    Entry j is paired with entry j + d/2, half a vector away, and not with its neighbour as in the paper. Both ways are
    the same model with its weights in another order, but weights trained for the one mean nothing in the other.
    """
    cosine, sine = by
    first, second = vectors.float().chunk(2, dim=-1)  # [..., T, d/2] each
    turned = torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)
    return turned.type_as(vectors)

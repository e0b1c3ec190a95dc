"""Exercise 13.3: The nearest sentences."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "13.3",
    "The nearest sentences",
    difficulty=2,
    minutes=10,
    hints=(
        "A cosine is the dot product of two vectors of length 1, so normalize each vector first. Then one matrix "
        "product gives all cosines, [N, M].",
        "cosines = normalize(queries, dim=-1) @ normalize(collection, dim=-1).T, then topk(k) along the last axis.",
    ),
)
def nearest(case: Case) -> None:
    """Several queries, then a single one with another k."""
    case.causes = {
        "must match the size": "If you compare row by row: compare every query with every vector of the collection. If "
        "you divide by the norms: those of the queries need the shape [N, 1], those of the collection [M].",
        "out of range": "That axis has fewer than k entries. Along which axis is the collection?",
        "cannot be multiplied": "Transpose the collection, [M, D] to [D, M]: then the product is [N, M].",
    }
    queries = case.randn(3, 8)
    collection = case.randn(10, 8) * torch.linspace(0.2, 6, 10).unsqueeze(-1)  # lengths that mislead a dot product
    result = case.call(queries, collection, 4, tried="3 queries and a collection of 10 vectors, with k = 4")
    cosines, positions = case.parts(result, "cosines", "positions")
    if isinstance(cosines, Tensor) and not cosines.is_floating_point():
        case.fail("But the first part contains whole numbers: return the cosines first, then the positions.")
    across = "Each query chooses from the collection: along which axis should topk run?"
    case.same_shape("cosines", cosines, [3, 4], across)
    if isinstance(positions, Tensor) and positions.shape == (3, 4, 8):
        case.fail("But the second part contains vectors. Return their positions in the collection, not the vectors.")
    case.same_shape("positions", positions, [3, 4], across)
    ours, theirs = normalize(queries, dim=-1), normalize(collection, dim=-1)
    every = ours @ theirs.T  # [3, 10]
    right = every.topk(4)
    columns = normalize(queries, dim=0) @ normalize(collection, dim=0).T
    mistakes = {
        "Those are dot products: long vectors win, whatever they mean. What makes a dot product a cosine?": (
            queries @ collection.T
        ).topk(4)[0],
        "The queries are normalized, the collection is not.": (ours @ collection.T).topk(4)[0],
        "The collection is normalized, the queries are not. The order is right, but these numbers are no cosines.": (
            queries @ theirs.T
        ).topk(4)[0],
        "You divided by the norm of the whole matrix. Each vector has a length of its own: norm needs an axis.": (
            queries @ collection.T / queries.norm() / collection.norm()
        ).topk(4)[0],
        "Those are negative distances. The task asks for cosines.": (-torch.cdist(ours, theirs)).topk(4)[0],
        "You normalized the columns. Along which axis are the numbers of one vector?": columns.topk(4)[0],
        "Those are the farthest ones. The largest cosines should come first.": every.topk(4, largest=False)[0],
        "Those are distances. The task asks for cosines.": torch.cdist(ours, theirs).topk(4, largest=False)[0],
        "Those are the first four of the collection. Where do you sort?": every[:, :4],
        "The right four in the wrong order: the best should come first.": right[0].flip(-1),
        "The right four, in the order of the collection: the best should come first.": every.gather(
            1, right[1].sort(dim=-1)[0]
        ),
        "Those are probabilities. The task asks for the cosines, before any softmax.": every.softmax(dim=-1).topk(4)[0],
    }
    case.close("cosines", cosines, right[0], "Is each vector divided by its own length?", mistakes=mistakes)
    if not torch.equal(positions.long(), right[1]):
        case.fail("But the positions don't belong to the cosines: topk returns both, in the same order.")
    one = case.call(queries[:1], collection, 1, tried="a single query with k = 1")
    case.close("cosines", one[0], every[:1].topk(1)[0], "One query with k = 1 gives [1, 1].")

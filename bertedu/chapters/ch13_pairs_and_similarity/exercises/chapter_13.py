"""Exercises 13.1 to 13.3: pairs, their cost and search. The others are in chapter_13_labels.py."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "13.1",
    "Half of the question",
    difficulty=1,
    minutes=3,
    kind="value",
    hints=(
        "Take one hypothesis. How often does each of the three labels occur with it?",
        "The hypothesis occurs three times, once with each label. The classifier sees the same input three times.",
    ),
)
def half_of_the_question(case: Case) -> None:
    """One third."""
    case.predicted(
        1 / 3,
        otherwise="Take one hypothesis. The classifier sees it three times and gives the same answer three times. "
        "How many of these answers can be right?",
        mistakes=[
            (0.5, "One half would be guessing between two labels. How many labels are there?"),
            (33, "The right idea, but in percent. Write it as a share between 0 and 1."),
            (100 / 3, "The right idea, but in percent. Write it as a share between 0 and 1."),
            (33.3, "The right idea, but in percent. Write it as a share between 0 and 1."),
            (0, "Whatever it answers for a hypothesis, that answer is right for one of the three rows."),
            (1, "It sees the same words with three different labels. It can't be right all three times."),
            (2 / 3, "It gives one answer for a hypothesis. That is right for one of its three rows, not for two."),
        ],
        tolerance=5e-3,
    )


@exercise(
    "13.2",
    "A thousand sentences",
    difficulty=2,
    minutes=5,
    kind="value",
    hints=(
        "The cross-encoder needs a pass for each pair. 4 sentences make 3 + 2 + 1 = 6 pairs.",
        "n sentences make n (n − 1) / 2 pairs. The bi-encoder needs a pass for each sentence.",
    ),
)
def a_thousand_sentences(case: Case) -> None:
    """n (n - 1) / 2 passes against n."""
    wrong = {
        1_000_000: "You pair each sentence with all of them, itself included, and you count each pair twice.",
        999_000: "You count each pair twice: (a, b) and (b, a) are the same pair here.",
        500_500: "You also pair each sentence with itself.",
    }
    case.predicted(
        [499_500, 1000],
        otherwise="Try it with 4 sentences on paper. How many pairs are there, and how many sentences?",
        mistakes=[
            *(([count, 1000], line) for count, line in wrong.items()),
            ([1000, 499_500], "The right numbers. Which of the two encoders reads pairs, and which single sentences?"),
            ([499_500, 999_000], "The bi-encoder reads a sentence once and keeps its vector for all of its pairs."),
            ([499_500, 499_500], "The bi-encoder reads a sentence once and keeps its vector. A cosine is not a pass."),
            (
                [499_500, 2000],
                "Both sides of the bi-encoder share their weights, so a sentence has one vector: read it once.",
            ),
            ([499_500], "That is the cross-encoder's number. The list needs a second one, for the bi-encoder."),
            ([499_500, 2], "A pass reads one text or one pair here. How many texts are there?"),
            ([1000, 1000], "The cross-encoder needs both sentences at once. How many pairs are there?"),
        ],
        tolerance=1e-6,
    )


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

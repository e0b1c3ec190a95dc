"""Exercises 18.1, 18.2 and 18.4: DeBERTa's distances. 18.3 is in chapter_18_order.py."""

import numpy as np
import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise
from bertedu.family.deberta.attention import position_scores


def rows(length: int, span: int) -> Tensor:
    """The row of the table for each pair, [T, T]."""
    positions = torch.arange(length)
    return (positions[:, None] - positions + span).clamp(0, 2 * span - 1)


@exercise(
    "18.1",
    "The row of a distance",
    difficulty=1,
    minutes=6,
    hints=(
        "torch.arange(length)[:, None] is a column of positions. What do you get if you subtract a row of positions?",
        "The column minus the row is i − j. Add span, then clamp the result to 0 … 2 · span − 1.",
    ),
)
def relative_index(case: Case) -> None:
    """Six tokens with span 3, where both ends are clamped, then other sizes."""
    case.causes = {
        "unsqueeze": "torch.arange gives a tensor with one axis; [:, None] makes it a column.",
        "must be Number": "clamp takes two numbers, the smallest and the largest that may come out.",
    }
    length, span = 6, 3
    got = case.call(length, span, tried=f"length = {length} and span = {span}")
    got = torch.tensor(got) if isinstance(got, list) and got and isinstance(got[0], list) else got
    got = torch.from_numpy(got) if isinstance(got, np.ndarray) else got
    case.is_a("the result", got, Tensor, "a tensor of integers (torch.arange makes one)")
    case.expect(
        list(got.shape) != [2 * length - 1], "But you return a row for each distance. Each *pair* of tokens needs one."
    )
    case.same_shape("index", got, [length, length], "A row for each query, a column for each key.")
    case.expect(
        not got.is_floating_point() and got.dtype != torch.bool,
        f"But the result has the type {str(got.dtype)[6:]}. Rows of a table are numbered by integers (int64).",
    )
    known_rows(case, got, length, span)
    differing(case, got, rows(length, span))
    case.equal("index", got, rows(length, span), "Distance, plus span, then clamped: which of the three differs?")
    for length, span in ((4, 8), (1, 1), (9, 2)):
        got = case.call(length, span, tried=f"length = {length} and span = {span}")
        got = torch.from_numpy(got) if isinstance(got, np.ndarray) else got
        case.equal("index", got, rows(length, span), "Use the two arguments, and no number from the first call.")


def differing(case: Case, got: Tensor, expected: Tensor) -> None:
    """Show the first row that differs."""
    for i, (mine, right) in enumerate(zip(got.tolist(), expected.tolist(), strict=True)):
        if mine != right:
            case.fail(
                f"But the row of query {i} is {mine}, and should be {right}.",
                "Distance, plus span, then clamped: which of the three differs?",
            )


def known_rows(case: Case, got: Tensor, length: int, span: int) -> None:
    """Tell known mistakes by what they give."""
    positions = torch.arange(length)
    distance = positions[:, None] - positions
    edges = (0, 2 * span - 1)
    mistakes = [
        (
            (-distance + span).clamp(*edges),
            "This is j − i: row and column are swapped. The query i runs along the rows, the key j along the columns, "
            "and a key to the left has a positive distance.",
        ),
        (
            distance + span,
            "Nothing is clamped: the table has the rows 0 to 2s − 1 only, and some of your numbers lie outside.",
        ),
        (
            distance.clamp(-span, span - 1),
            "These are the clamped distances, and some are negative. A row of a table starts at 0: add the span.",
        ),
        (distance.clamp(*edges), "Distance 0 should get row s, in the middle. Which step is missing?"),
        (
            distance.clamp(*edges) + span,
            "You clamped to 0 … 2s − 1 before you added s, so all keys to the right share one row. First add, "
            "then clamp.",
        ),
        (
            distance.abs().clamp(max=edges[1]),
            "Without its sign, a distance to the left and one to the right get the same row.",
        ),
        ((distance.abs() + span).clamp(*edges), "The sign of the distance is lost: left and right get the same row."),
        (
            (distance + span).clamp(0, 2 * span),
            "The largest row should be 2s − 1: a table with 2s rows, numbered from 0, has no row 2s.",
        ),
        (
            (-distance + span).clamp(0, 2 * span),
            "This is j − i: row and column are swapped. And the largest row should be 2s − 1.",
        ),
        (
            (distance + span).clamp(1, 2 * span),
            "Rows are numbered from 0: the table's first row is 0, and its last one 2s − 1.",
        ),
        (
            (distance + span).clamp(0, span - 1),
            "The table has 2s rows. You clamp as if it had s, so everything from distance 0 on shares a row.",
        ),
        (
            (distance + length).clamp(0, 2 * length - 1),
            "You used the length as the span. The table's size is 2 · span, whatever the text's length.",
        ),
        ((distance + span) % (2 * span), "What leads out of the table should get the nearest row, not start again."),
    ]
    for wrong, sentence in mistakes:
        if torch.equal(got, wrong):
            case.fail(
                f"But the row of query 5 is {got[5].tolist()}, and that of query 0 is {got[0].tolist()}.", sentence
            )


@exercise(
    "18.2",
    "Which bucket?",
    difficulty=2,
    minutes=6,
    kind="value",
    hints=(
        "Is the distance at most m = 4 (without its sign)? Then it is its own bucket. If not, use the formula with 4 "
        "and M − 1 = 32, and put the sign back at the end.",
        "For 7: ln(7/4) / ln(32/4) is 0.27. Times m − 1 = 3 is 0.81. Round up, add 4, and mind the sign of −7.",
    ),
)
def which_bucket(case: Case) -> None:
    """4, −5, 6 and 7."""
    case.predicted(
        [4, -5, 6, 7],
        otherwise="Take them one by one: up to 4 (without the sign) a distance is its own bucket; beyond, it is 4 plus "
        "⌈ ln(n/4) / ln 8 · 3 ⌉.",
        mistakes=[
            ([4, 5, 6, 7], "The sizes are right. But left and right are told apart: what happens to the sign of −7?"),
            ([4, -4, 5, 6], "You rounded down. ⌈ ⌉ means up: 0.81 becomes 1."),
            ([4, -5, 5, 6], "You rounded down. ⌈ ⌉ means up: for 15 it is 1.9, which becomes 2."),
            ([4, -4, 6, 7], "Is −7 rounded with its sign? Compute with 7: 0.81 becomes 1. The sign comes at the end."),
            ([4, -5, 6, 6], "You rounded to the nearest. ⌈ ⌉ means up: 2.3 becomes 3."),
            ([5, -5, 6, 7], "Distance 4 is not beyond m = 4, so it is its own bucket."),
            ([4, -1, 2, 3], "You left out the m: the far buckets begin after the near ones."),
            ([0, -1, 2, 3], "You left out the m: the far buckets begin after the near ones."),
            (
                [4, -7, 8, 8],
                "That clamps the distances at the last bucket. Far distances share buckets, by their logarithm.",
            ),
            (
                [4, -7, 7, 7],
                "That clamps the distances at the last bucket. Far distances share buckets, by their logarithm.",
            ),
            ([4, -7, 6, 7], "The limit is m = b / 2 = 4, not b = 8: the distance 7 is beyond it."),
            ([4, -7, 15, 20], "Those are the distances. From m = 4 on several distances share a bucket."),
            ([4, -5, 6.0, 7.3], "Almost: a bucket is an integer. ⌈ ⌉ means: round up."),
            ([12, 3, 14, 15], "Those are the rows in the table (bucket + b). The question is about the buckets."),
        ],
        tolerance=1e-6,
    )


def mistaken_scores(q: Tensor, k: Tensor, q_position: Tensor, k_position: Tensor, index: Tensor) -> dict[str, Tensor]:
    """What to say of scores that a mistake in p2c, or a change of c2p, gives: [B, H, T, T] each."""
    pairs = index.expand(*q.shape[:2], *index.shape)
    c2p = (q @ k_position.mT).gather(-1, pairs)
    by_key = k @ q_position.mT
    back = by_key.gather(-1, pairs.mT).mT
    opposite = (8 - index).clamp(0, 7)
    expected = c2p + back
    return {
        "This is still the colleague's p2c: it asks for the distance j − i, so left and right are swapped. (Did you "
        "transpose the result only? The pairs of key j are column j of index, so it has to be transposed too.)": (
            c2p + by_key.gather(-1, opposite.mT.expand(pairs.shape)).mT
        ),
        "You gathered with the transposed index, but did not transpose the result: row j of it belongs to key j, and "
        "scores have a row for each query.": c2p + by_key.gather(-1, pairs.mT),
        "Neither the index nor the result is transposed: row j of k @ q_position.mT belongs to key j, not query j.": (
            c2p + by_key.gather(-1, pairs)
        ),
        "Now c2p has the opposite distance too. The model was trained with i − j in both terms.": (
            (q @ k_position.mT).gather(-1, opposite.expand(pairs.shape)) + back
        ),
        "p2c is right, but c2p has the opposite distance now. It was right before.": (
            (q @ k_position.mT).gather(-1, pairs.mT) + back
        ),
        "Your p2c compares the *queries* with q_position. Position to content means: the keys' words, k.": (
            c2p + (q @ q_position.mT).gather(-1, pairs.mT).mT
        ),
        "Your p2c uses k_position. The distances have queries of their own, q_position.": (
            c2p + (k @ k_position.mT).gather(-1, pairs.mT).mT
        ),
        "Your p2c compares the *queries* with q_position, without transposing. Position to content means: the keys' "
        "words, k.": c2p + (q @ q_position.mT).gather(-1, pairs),
        "The two distance terms are right. But you added content to content, and the reader does that itself.": (
            expected + q @ k.mT
        ),
        "2s − 1 − index mirrors the table about the wrong row: row s belongs to distance 0, and should stay there.": (
            c2p + (q_position @ k.mT).gather(-2, (7 - index).expand(pairs.shape))
        ),
        "The scores are right, but divided already. The reader divides afterwards.": expected / 15**0.5,
    }


@exercise(
    "18.4",
    "Which way is left?",
    difficulty=3,
    minutes=12,
    without=("position_scores",),
    hints=(
        "opposite is the row of the distance j − i. The weights were trained with the row of i − j, for p2c too. If "
        "you gather with index instead: which axis of your table holds the keys?",
        "(k @ q_position.mT) has a row for each key: gather with index.T along the last axis and transpose the result. "
        "Or keep (q_position @ k.mT) and gather with index along −2.",
    ),
)
def repaired_terms(case: Case) -> None:
    """Seven tokens, where no distance is clamped, then with clamped ones."""
    case.causes = {
        "Index tensor must have the same": "gather needs an index with as many axes as the table: index.expand(pairs).",
        "Size does not match": "Except along the axis of gather, the index must not be larger than the table.",
        "out of bounds": "A row number is outside the table of 2s rows: along which axis do the distances lie?",
        "cannot be multiplied": "Which two axes should meet in the product? Both have the length d.",
        "must match the size": "The two terms have different shapes: compare their last two axes.",
    }
    index = rows(4, 4)
    q, k = case.randn(2, 3, 4, 5), case.randn(2, 3, 4, 5)
    q_position, k_position = case.randn(3, 8, 5), case.randn(3, 8, 5)
    inputs = (q, k, q_position, k_position, index)
    got = case.call(*inputs, tried="2 texts of 4 tokens with 3 heads, and a table of 8 distances")
    if isinstance(got, tuple | list) and len(got) == 2:
        case.fail("But it returned two things, c2p and p2c? Return one: their sum.")
    case.same_shape("scores", got, [2, 3, 4, 4], "A row for each query, a column for each key.")
    expected = position_scores(*inputs)
    pairs = index.expand(2, 3, 4, 4)
    c2p = (q @ k_position.mT).gather(-1, pairs)
    back = (k @ q_position.mT).gather(-1, pairs.mT).mT
    if is_close(got, c2p, 1e-4):
        case.fail("But this is c2p alone. p2c is missing: from which distance does a key want to be found?")
    if is_close(got, back, 1e-4):
        case.fail("But this is p2c alone, and it is right. Add c2p.")
    case.close(
        "scores",
        got,
        expected,
        "The colleague's c2p is right. Which pair gets which entry of p2c?",
        mistakes=mistaken_scores(*inputs),
    )
    where_clamped(case)
    case.gradient_flows(
        *(case.randn(1, 2, 4, 3), case.randn(1, 2, 4, 3), case.randn(2, 8, 3), case.randn(2, 8, 3)),
        names=("q", "k", "q_position", "k_position"),
        tried="1 text of 4 tokens",
        index=rows(4, 4),
    )


def where_clamped(case: Case) -> None:
    """More distances than the table has rows."""
    index = rows(9, 2)
    q, k = case.randn(1, 1, 9, 3), case.randn(1, 1, 9, 3)
    inputs = (q, k, case.randn(1, 4, 3), case.randn(1, 4, 3), index)
    got = case.call(*inputs, tried="1 text of 9 tokens and a table of 4 distances, so that far distances are clamped")
    far = (4 - index).clamp(0, 3)
    wrong = (q @ inputs[3].mT).gather(-1, index[None, None]) + (k @ inputs[2].mT).gather(-1, far[None, None]).mT
    advice = (
        "It was right where nothing is clamped. The opposite rows can't be computed from a clamped index: 2s − index "
        "is not the row of the opposite distance there. Use index itself, or its transpose."
    )
    case.close("scores", got, position_scores(*inputs), advice, mistakes={advice: wrong})

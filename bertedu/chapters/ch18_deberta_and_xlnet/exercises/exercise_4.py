"""Exercise 18.4: Which way is left?"""

from torch import Tensor

from bertedu.chapters.ch18_deberta_and_xlnet.exercises.shared import rows
from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise
from bertedu.family.deberta.attention import position_scores


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

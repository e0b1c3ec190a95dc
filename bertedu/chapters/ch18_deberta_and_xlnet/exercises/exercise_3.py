"""Exercise 18.3: The mask of an order."""

import numpy as np
import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise

ORDER = [2, 4, 1, 0, 3]  # not its own inverse, nor a mirror image of it


def masks_of(when: Tensor) -> tuple[Tensor, Tensor]:
    """Content mask and query mask, [T, T] each, from the time at which each position comes."""
    query = when[None, :] < when[:, None]
    return query | torch.eye(len(when), dtype=torch.bool), query


@exercise(
    "18.3",
    "The mask of an order",
    difficulty=2,
    minutes=12,
    hints=(
        "order says which position comes first. You need the opposite: when does position i come? With the order "
        "[2, 0, 3, 1] position 0 comes second.",
        "when = torch.tensor(order).argsort(). Word i may see word j if when[j] < when[i]: when[None, :] < when[:, "
        "None]. The content mask also has the diagonal.",
    ),
)
def stream_masks(case: Case) -> None:
    """An order of five words, then another one, and a single word."""
    case.causes = {
        "only integer tensors": "`order` is a list: torch.tensor(order) makes a tensor of it.",
        "list indices must be": "`order` is a list: torch.tensor(order) makes a tensor of it.",
        "'list' object has no attribute": "`order` is a list: torch.tensor(order) makes a tensor of it.",
    }
    result = case.call(list(ORDER), tried=f"the order {ORDER}")
    content, query = case.parts(result, "content mask", "query mask")
    content, query = tables(case, content), tables(case, query)
    case.same_shape("content mask", content, [5, 5], "A row for each word that sees, a column for each that is seen.")
    case.same_shape("query mask", query, [5, 5])
    content, query = content.bool(), query.bool()
    when = torch.tensor(ORDER).argsort()
    right = masks_of(when)
    if torch.equal(content, right[1]) and torch.equal(query, right[0]):
        case.fail("But the two masks come in the wrong order: the content mask first, then the query mask.")
    if torch.equal(content, ~right[0]) and torch.equal(query, ~right[1]):
        case.fail("But True stands where a word may *not* be seen. Here True means: may see.")
    for wrong, sentence in (
        (
            torch.tensor(ORDER),
            "You compared the entries of `order` themselves. order[0] is a position, not a time: which step of the "
            "order has position 0?",
        ),
        (torch.arange(5), "You used the order of the text. The words should come in the order that is given."),
        (-when, "Each word sees what comes *after* it in the order: rows and columns are swapped, or < and > are."),
        (-torch.tensor(ORDER), "order[0] is a position, not a time. And each word should see what comes before it."),
    ):
        if torch.equal(query, masks_of(wrong)[1]) or torch.equal(content, masks_of(wrong)[0]):
            case.fail(
                f"But word 0 may see {seen(query[0])} in your query mask, and should see {seen(right[1][0])}.", sentence
            )
    if torch.equal(query, right[0]):
        case.fail(
            "But in your query mask a word may see itself: the diagonal is True. Then it can read its own answer.",
            "Which of the two masks contains the word itself?",
        )
    if torch.equal(content, right[1]):
        case.fail(
            "But in your content mask a word may not see itself: the diagonal is False.",
            "The content vector represents the word for others. How can it, without the word?",
        )
    if torch.equal(content, torch.ones_like(content)):
        case.fail("But your content mask is True everywhere. The order holds for the content stream too.")
    for i, (mine, wanted) in enumerate(zip(query, right[1], strict=True)):
        if not torch.equal(mine, wanted):
            case.fail(
                f"But word {i} may see {seen(mine)} in your query mask, and should see {seen(wanted)}.",
                "Word i may see word j if j comes before i in the order. Rows are positions in the text, not steps.",
            )
    case.equal("the content mask", content, right[0], "The query mask, and the diagonal.")
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 2, 0], [0]):
        result = case.call(list(order), tried=f"the order {order}")
        content, query = case.parts(result, "content mask", "query mask")
        expected = masks_of(torch.tensor(order).argsort())
        advice = "It was right for five words. Does anything depend on their number?"
        case.equal("the query mask", tables(case, query).bool(), expected[1], advice)
        case.equal("the content mask", tables(case, content).bool(), expected[0], advice)


def tables(case: Case, mask: object) -> Tensor:
    """A mask as a tensor, also from lists of lists, an array, and zeros and ones."""
    mask = torch.from_numpy(mask) if isinstance(mask, np.ndarray) else mask
    if isinstance(mask, list) and mask and all(isinstance(row, list) for row in mask):
        mask = torch.tensor(mask)
    case.is_a("a mask", mask, Tensor, "a tensor of booleans")
    assert isinstance(mask, Tensor)
    case.expect(
        bool(((mask == 0) | (mask == 1)).all()),
        "But a mask contains other numbers than 0 and 1. True (or 1) means: may see.",
    )
    return mask


def seen(row: Tensor) -> str:
    """The words that a row of a mask may see."""
    return ", ".join(str(i) for i in row.nonzero().flatten().tolist()) or "nothing"

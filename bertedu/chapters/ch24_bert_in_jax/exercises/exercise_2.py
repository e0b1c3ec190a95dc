"""Exercise 24.2: Write for one, map over all."""

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bertedu.chapters.ch24_bert_in_jax.exercises.shared import CAUSES, as_tensor, in_jax
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.attention import attend


def without_numbers_of_objects(answer: Callable) -> Callable:
    """The answer, with JAX's messages freed of what differs from call to call."""

    def call(*inputs: Any) -> Any:
        try:
            return answer(*inputs)
        except Exception as error:
            error.args = tuple(re.sub(r" with object id \d+", "", str(one)) for one in error.args)
            raise

    return call


def hidden_scores(mask: Tensor) -> Tensor:
    """What is added to scores so that padding gets no weight: [B, T] to [B, 1, 1, T]."""
    return torch.where(mask, 0.0, torch.finfo(torch.float32).min / 2)[:, None, None, :]


@exercise(
    "24.2",
    "Write for one, map over all",
    difficulty=2,
    minutes=12,
    without=("dot_product_attention",),
    runs="compiled",
    hints=(
        "Write a function for query, key, value [T, d] and mask [T]. Which inputs have an axis of heads?",
        "jax.vmap(one, in_axes=(0, 0, 0, None)) maps over the heads; a second jax.vmap around it maps over the batch.",
    ),
)
def attention_by_vmap(case: Case) -> None:
    import jax

    case.causes = CAUSES
    query, key, value = (case.randn(3, 2, 5, 4) for _ in range(3))
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]).bool()
    inputs = [in_jax(tensor) for tensor in (query, key, value, mask)]
    answer = without_numbers_of_objects(case.answer)
    got = case.call(*inputs, tried="3 sequences of 5 tokens with 2 heads", function=answer)
    mixed = as_tensor(case, "the result", got)
    right = attend(query, key, value, hidden_scores(mask))[0]
    scores = query @ key.mT / 2  # √4
    hidden = ~mask[:, None, None, :]
    known = {
        "The weights are sharper than they should be. By what are the scores divided?": attend(
            2 * query, key, value, hidden_scores(mask)
        )[0],
        "Padding gets attention: the mask is not used.": attend(query, key, value)[0],
        "Your columns sum to 1, so the softmax runs over the queries. Which axis holds the keys?": (
            scores.masked_fill(hidden, -1e9).softmax(-2) @ value
        ),
        "A masked score of 0 still gets a weight: e to the 0 is 1. Give it a very large negative number.": (
            scores.masked_fill(hidden, 0.0).softmax(-1) @ value
        ),
        "The mask comes after the softmax here, so the weights that are left no longer sum to 1.": (
            scores.softmax(-1).masked_fill(hidden, 0.0) @ value
        ),
        "Here the queries are masked: rows of the scores. It is the keys of padding that nobody may attend to.": (
            scores.masked_fill(hidden.mT, -1e9).softmax(-1) @ value
        ),
        "The mask is the wrong way round: here True means text, so jnp.where(mask, score, hidden).": (
            scores.masked_fill(~hidden, -1e9).softmax(-1) @ value
        ),
        "The scores are divided by √T. Their standard deviation grows with √d, the length of a query.": (
            (scores * 2 / 5**0.5).masked_fill(hidden, -1e9).softmax(-1) @ value
        ),
        "Padding is hidden as a query too. Only the keys of padding have to be hidden.": (
            scores.masked_fill(hidden | hidden.mT, -1e9).softmax(-1) @ value
        ),
        "Padding still gets a little attention: −10 leaves it a weight of about e to the −10. Take −1e9.": (
            (scores - 10.0 * hidden).softmax(-1) @ value
        ),
        "This is the mean of the values, weighted alike: are the scores used?": attend(
            0 * query, key, value, hidden_scores(mask)
        )[0],
    }
    case.close("the result", mixed, right, "Compare one head of one sequence with a pencil.", mistakes=known)
    empty = [in_jax(tensor) for tensor in (query, key, value, torch.zeros_like(mask))]
    finite = as_tensor(case, "the result", case.call(*empty, tried="sequences of padding", function=answer))
    if not finite.isfinite().all():
        case.almost(
            "A sequence that is all padding gives nan: softmax of nothing but -inf is 0 / 0.",
            "Use a large negative number that is finite.",
        )
    compiled = case.call(*inputs, tried="the same inside jit", function=jax.jit(case.answer))
    case.close("the result inside jit", as_tensor(case, "the result", compiled), right, "It was right outside of jit.")
    case.close_with(
        "With vmap, a function for one head says nothing about batches, and XLA still computes one large product."
    )

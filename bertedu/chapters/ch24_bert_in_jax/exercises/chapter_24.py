"""Exercises of chapter 24: what is compiled, and attention for one sequence mapped over all.

JAX is imported inside the functions: the course works without the extra `jax`.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.attention import attend

NUMBERS_UNKNOWN = "Inside jit and vmap an array has a shape and no numbers yet. Choose with jnp.where instead."
CAUSES = {
    "boolean conversion of traced array": NUMBERS_UNKNOWN,
    "Array boolean indices must be concrete": "How many entries are kept is not known inside jit or vmap: the shape "
    "must not depend on numbers. Keep all of them, and use jnp.where.",
    "concrete value is expected": "Inside jit there are no numbers yet: no float(…), no .item().",
    "JAX arrays are immutable": "A JAX array never changes. x.at[…].set(…) gives a new one.",
    "object does not support item assignment": "A JAX array never changes. x.at[…].set(…) gives a new one.",
    "got inconsistent sizes for array axes": "vmap takes slices along the first axis of each input, and these have "
    "other lengths there. in_axes says for each input which axis is mapped; None hands it on whole.",
    "not a valid JAX type": "jit takes arrays. A function must be named as static: static_argnums.",
    "dot_general requires contracting dimensions": "Does a transpose stand here? In JAX transpose takes the new order "
    "of all axes: use keys.T for a matrix, or swapaxes(-2, -1).",
    "argument 'dim'": "What PyTorch calls dim is called axis here, as in NumPy.",
    "Tracer has no attribute": "JAX arrays have the methods of NumPy. What PyTorch has as methods are functions here: "
    "jax.nn.softmax(x, axis=-1), jnp.where(mask, a, b), x[:, None].",
    "__array__() was called on traced array": "np computes with numbers, and inside jit and vmap there are none yet: "
    "use jnp in place of np.",
}


def in_jax(tensor: Tensor) -> Any:
    """A tensor as a JAX array."""
    import jax.numpy as jnp

    return jnp.asarray(tensor.numpy())


def without_numbers_of_objects(answer: Callable) -> Callable:
    """The answer, with JAX's messages freed of what differs from call to call."""

    def call(*inputs: Any) -> Any:
        try:
            return answer(*inputs)
        except Exception as error:
            error.args = tuple(re.sub(r" with object id \d+", "", str(one)) for one in error.args)
            raise

    return call


def as_tensor(case: Case, name: str, value: Any) -> Tensor:
    """A JAX array that came back, as a tensor; anything else ends the check in words."""
    import jax

    if isinstance(value, Tensor):
        case.fail(f"But {name} is a PyTorch tensor: use jnp and jax.nn, or grad and jit cannot see what happens.")
    if isinstance(value, np.ndarray | np.generic):
        case.fail(f"But {name} is a NumPy array: use jnp in place of np, or grad and jit cannot see what happens.")
    case.is_a(name, value, jax.Array, "a JAX array")
    return torch.tensor(np.asarray(value))


@exercise(
    "24.1",
    "How often is it compiled?",
    difficulty=1,
    minutes=4,
    kind="value",
    hints=(
        "A compiled program is kept. It fits every call with arrays of the same shapes and data types.",
        "Write shape and data type beside each of the six calls, and cross out those that stood there before.",
    ),
)
def compilations(case: Case) -> None:
    case.predicted(
        4,
        otherwise="Count the different pairs of shape and data type among the six calls.",
        mistakes=[
            (6, "6 is the number of calls. A program that fits is used again: other numbers do not matter."),
            (5, "The second and the fifth call have other numbers, and shapes that were there before."),
            (
                3,
                "One kind is missing. Does the smaller last batch fit a program for 8 sequences? And does int32 fit a "
                "program for float32?",
            ),
            (2, "The length is not all: the size of the batch and the data type are compiled in, too."),
            (1, "The program is made for one shape: a longer batch does not fit it."),
        ],
    )


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

"""Exercises of chapter 24: what is compiled, attention for one sequence mapped over all, a pure training step.

JAX is imported inside the functions: the course works without the extra `jax`.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.comparing import is_close
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
            (3, "One kind is missing: does the smaller last batch fit a program for 8 sequences? Do whole numbers?"),
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
    case.close_with("The function for one head says nothing about batches, and XLA still computes one large product.")


def small_problem(case: Case) -> tuple[Any, Any, Any, Any]:
    """A loss, weights as a tree, a velocity like them, and a batch."""
    import jax
    import jax.numpy as jnp

    def tree() -> dict:
        layer = {"kernel": in_jax(case.randn(3, 4)), "bias": in_jax(case.randn(4))}
        return {"layers": [layer, {"kernel": in_jax(case.randn(4, 2))}], "scale": in_jax(case.randn(2))}

    def loss(weights: Any, batch: Any) -> jax.Array:
        first, last = weights["layers"]
        hidden = jnp.tanh(batch["x"] @ first["kernel"] + first["bias"])
        return ((hidden @ last["kernel"] * weights["scale"] - batch["y"]) ** 2).mean()

    return loss, tree(), tree(), {"x": in_jax(case.randn(6, 3)), "y": in_jax(case.randn(6, 2))}


@exercise(
    "24.3",
    "A pure training step",
    difficulty=3,
    minutes=15,
    hints=(
        "jax.value_and_grad(loss) gives a function of weights and batch: loss and gradients. The gradients are a tree "
        "like the weights.",
        "jax.tree.map(lambda v, g: …, velocity, gradients) makes a new tree from two. Do the velocity first.",
    ),
)
def pure_step(case: Case) -> None:
    import jax

    case.causes = CAUSES
    loss, weights, velocity, batch = small_problem(case)
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    right_velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
    right_weights = jax.tree.map(lambda w, v: w - 0.1 * v, weights, right_velocity)
    right = (right_weights, right_velocity, before)
    plain = jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)
    mistakes = (
        {
            "This step used the velocity of before: the gradient of this batch has to be in it already.": (
                jax.tree.map(lambda w, v: w - 0.1 * v, weights, velocity)
            ),
            "This is a step of plain gradient descent: where is the velocity?": plain,
            "The loss grows in this direction: the step goes against the gradient.": (
                jax.tree.map(lambda w, v: w + 0.1 * v, weights, right_velocity)
            ),
            "This is the velocity. Return the weights first.": right_velocity,
            "These are the weights of before.": weights,
        },
        {
            "Here the gradient counts a tenth. In this rule (PyTorch's and optax's) it counts in full.": (
                jax.tree.map(lambda v, g: 0.9 * v + 0.1 * g, velocity, gradients)
            ),
            "These are the gradients. The velocity also keeps 0.9 of what it was.": gradients,
            "This is the velocity of before: the next step needs the new one.": velocity,
        },
        {"This is the loss after the update. Return what value_and_grad gave.": loss(right_weights, batch)},
    )

    def compare(result: Any) -> None:
        parts = case.parts(result, "weights", "velocity", "loss")
        for name, got, wanted, known in zip(("weights", "velocity", "loss"), parts, right, mistakes, strict=True):
            leaves_close(case, f"the {name}", got, wanted, known)

    compare(case.call(loss, weights, velocity, batch, 0.1, tried="a model of two layers"))
    compare(case.call(loss, weights, velocity, batch, 0.1, tried="the same inputs a second time"))
    compiled = jax.jit(case.answer, static_argnums=0)
    compare(case.call(loss, weights, velocity, batch, 0.1, tried="the same inside jit", function=compiled))
    case.close_with("optax.sgd(0.1, momentum=0.9) is this rule, with its velocity in a tree called the state.")


def leaves_close(case: Case, name: str, got: Any, wanted: Any, mistakes: dict[str, Any]) -> None:
    """Compare two trees, leaf by leaf. A known mistake is named where all leaves are the mistake's."""
    import jax

    if jax.tree.structure(got) != jax.tree.structure(wanted):  # type: ignore[operator]
        case.fail(
            f"But {name} should be a tree like the one that came in, with keys {sorted(wanted)}."
            if isinstance(wanted, dict)
            else f"But {name} should be one number, a JAX array.",
            "jax.tree.map keeps dictionaries and lists as they are.",
        )
    leaves = [as_tensor(case, name, leaf) for leaf in jax.tree.leaves(got)]
    targets = [torch.tensor(np.asarray(leaf)) for leaf in jax.tree.leaves(wanted)]
    if all(map(is_close, leaves, targets)):
        return
    for sentence, wrong in mistakes.items():
        if all(map(is_close, leaves, (torch.tensor(np.asarray(leaf)) for leaf in jax.tree.leaves(wrong)))):
            case.fail(f"But {name} differ from what they should be.", sentence)
    for leaf, target in zip(leaves, targets, strict=True):
        case.close(f"a leaf of {name}", leaf, target, "Do the rule for one number with a pencil.")

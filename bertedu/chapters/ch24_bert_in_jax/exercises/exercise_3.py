"""Exercise 24.3: A pure training step."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from bertedu.chapters.ch24_bert_in_jax.exercises.shared import CAUSES, as_tensor, in_jax
from bertedu.course.case import Case
from bertedu.course.comparing import is_close
from bertedu.course.exercise import exercise

RATE = 0.25  # not 0.1: a tenth of the gradient is a mistake of its own


IS_A_TREE = (
    "The weights are a tree: dictionaries and lists, with arrays at the leaves. jax.tree.map computes leaf by leaf."
)


OF_TREES = {
    "and 'dict'": IS_A_TREE,
    "'dict' and": IS_A_TREE,
    "can't multiply sequence": IS_A_TREE,
    "and 'list'": IS_A_TREE,
    "Expected a callable value": "value_and_grad takes the function itself, not its result: "
    "jax.value_and_grad(loss)(weights, batch).",
    "pytree structure error": "jax.tree.map got trees of different forms. value_and_grad gives two things, first the "
    "loss and then the gradients, and it differentiates by its first argument, the weights.",
    "has no attribute 'backward'": "Arrays in JAX remember nothing. jax.value_and_grad(loss) is a function that gives "
    "loss and gradients.",
    "no attribute 'tree_map'": "It is called jax.tree.map now.",
}


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


def mixed(one: Any, factor: float, other: Any) -> Any:
    """one + factor · other, leaf by leaf."""
    import jax

    return jax.tree.map(lambda a, b: a + factor * b, one, other)


def known_mistakes(weights: Any, velocity: Any, gradients: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """For the weights and for the velocity: what known mistakes give, by the sentence that explains them."""
    import jax

    kept = jax.tree.map(lambda v: 0.9 * v, velocity)
    right = mixed(kept, 1.0, gradients)
    averaged, with_rate = mixed(kept, 0.1, gradients), mixed(kept, RATE, gradients)
    in_full = "Here the gradient counts a tenth, as in Adam's running mean. In this rule it counts in full."
    rate_inside = (
        "The learning rate is inside the velocity here. It belongs to the weights: weights − learning rate · velocity."
    )
    for_weights = {
        "This step used the velocity of before: the gradient of this batch has to be in it already.": (
            mixed(weights, -RATE, velocity)
        ),
        "This is a step of plain gradient descent: where is the velocity?": mixed(weights, -RATE, gradients),
        "The loss grows in this direction: the step goes against the gradient.": mixed(weights, RATE, right),
        "This is the velocity. Return the weights first.": right,
        "These are the weights of before.": weights,
        in_full: mixed(weights, -RATE, averaged),
        rate_inside: mixed(weights, -1.0, with_rate),
        "This is Nesterov's momentum. Here the step is learning rate · velocity, with nothing added.": (
            mixed(mixed(weights, -RATE * 0.9, right), -RATE, gradients)
        ),
        "The learning rate is missing in the step.": mixed(weights, -1.0, right),
    }
    for_velocity = {
        in_full: averaged,
        rate_inside: with_rate,
        "These are the gradients. The velocity also keeps 0.9 of what it was.": gradients,
        "This is the velocity of before: the next step needs the new one.": velocity,
    }
    return for_weights, for_velocity


@exercise(
    "24.3",
    "A pure training step",
    difficulty=3,
    minutes=15,
    without=("optax", "flax"),
    runs="compiled",
    hints=(
        "jax.value_and_grad(loss) gives a function of weights and batch: loss and gradients. The gradients are a tree "
        "like the weights.",
        "jax.tree.map(lambda v, g: …, velocity, gradients) makes a new tree from two. Do the velocity first.",
    ),
)
def pure_step(case: Case) -> None:
    import jax

    case.causes = OF_TREES | CAUSES
    loss, weights, velocity, batch = small_problem(case)
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    right_velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
    right_weights = mixed(weights, -RATE, right_velocity)
    right = (right_weights, right_velocity, before)
    mistakes = (
        *known_mistakes(weights, velocity, gradients),
        {"This is the loss after the update. Return what value_and_grad gave.": loss(right_weights, batch)},
    )

    def compare(result: Any) -> None:
        parts = case.parts(result, "weights", "velocity", "loss")
        for name, got, wanted, known in zip(("weights", "velocity", "loss"), parts, right, mistakes, strict=True):
            leaves_close(case, name, got, wanted, known)

    inputs = (loss, weights, velocity, batch, RATE)
    compare(case.call(*inputs, tried="a model of two layers"))
    compare(case.call(*inputs, tried="the same inputs a second time"))
    compiled, kept = watched(case.answer)
    compare(case.call(*inputs, tried="the same inside jit", function=compiled))
    gc.collect()
    if any(one() is not None for one in kept):
        case.almost(
            "The numbers are right. But something that was computed inside jit is kept outside of the function: in a "
            "global, a list or a dictionary.",
            "A pure step changes nothing outside of itself. It hands everything back as a result.",
        )
    case.close_with("optax.sgd(0.1, momentum=0.9) is this rule, with its velocity in a tree called the state.")


def watched(answer: Callable) -> tuple[Callable, list[weakref.ref]]:
    """The answer inside jit, and references to the tracers that it returns: nobody else may keep those alive."""
    import jax

    kept: list[weakref.ref] = []

    def traced(*inputs: Any) -> Any:
        result = answer(*inputs)
        kept.extend(weakref.ref(leaf) for leaf in jax.tree.leaves(result) if isinstance(leaf, jax.core.Tracer))
        return result

    return jax.jit(traced, static_argnums=0), kept


def leaves_close(case: Case, name: str, got: Any, wanted: Any, mistakes: dict[str, Any]) -> None:
    """Compare two trees, leaf by leaf. A known mistake is named where all leaves are the mistake's."""
    import jax

    verb = "are" if name == "weights" else "is"
    if jax.tree.structure(got) != jax.tree.structure(wanted):  # type: ignore[operator]
        case.fail(
            f"But the {name} should be a tree like the one that came in, with keys {sorted(wanted)}."
            if isinstance(wanted, dict)
            else f"But the {name} should be one number, a JAX array.",
            "Is the order weights, velocity, loss? And jax.tree.map keeps dictionaries and lists as they are.",
        )
    leaves = [as_tensor(case, f"the {name}", leaf) for leaf in jax.tree.leaves(got)]
    targets = [torch.tensor(np.asarray(leaf)) for leaf in jax.tree.leaves(wanted)]
    if all(map(is_close, leaves, targets)):
        return
    for sentence, wrong in mistakes.items():
        if all(map(is_close, leaves, (torch.tensor(np.asarray(leaf)) for leaf in jax.tree.leaves(wrong)))):
            case.fail(f"But the {name} {verb} not what the rule gives.", sentence)
    for leaf, target in zip(leaves, targets, strict=True):
        case.close(f"a leaf of the {name}", leaf, target, "Do the rule for one number with a pencil.")

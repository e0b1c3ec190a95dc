"""What several exercises of chapter 24 share."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertedu.course.case import Case

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


def as_tensor(case: Case, name: str, value: Any) -> Tensor:
    """A JAX array that came back, as a tensor; anything else ends the check in words."""
    import jax

    if isinstance(value, Tensor):
        case.fail(f"But {name} is a PyTorch tensor: use jnp and jax.nn, or grad and jit cannot see what happens.")
    if isinstance(value, np.ndarray | np.generic):
        case.fail(f"But {name} is a NumPy array: use jnp in place of np, or grad and jit cannot see what happens.")
    case.is_a(name, value, jax.Array, "a JAX array")
    return torch.tensor(np.asarray(value))

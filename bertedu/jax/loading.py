"""PyTorch's weights into the JAX model: names are mapped, and the kernels of linear layers are transposed.

Both models call their layers alike, so only the last part of a name differs:

    PyTorch, in a linear layer   weight [out, in]   here  kernel [in, out], transposed
    PyTorch, in an embedding     weight [V, D]      here  embedding [V, D]
    PyTorch, in a LayerNorm      weight [D]         here  scale [D]
    PyTorch, anywhere            bias               here  bias
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from torch import Tensor, nn

from bertedu.config import BertConfig
from bertedu.errors import UserError

Model = TypeVar("Model", bound=nnx.Module)
TIED = "masked_lm.decoder.weight"  # the table of token embeddings once more


def from_torch(model: nn.Module, model_class: Callable[..., Model]) -> Model:
    """The JAX model with the config and the weights of a PyTorch model of the same name.

    Shapes only are made first (`nnx.eval_shape`): no random number is drawn for a weight that is replaced.
    """
    config: Any = model.config
    if type(config) is not BertConfig:
        raise UserError(
            f"this is a model of the type {config.model_type!r}, and only 'bert' is written in bertedu.jax: give a "
            "BertModel or a BertForMaskedLM."
        )
    empty = nnx.eval_shape(lambda: model_class(config, rngs=nnx.Rngs(0)))
    copy_weights(empty, model.state_dict())
    return empty


def copy_weights(model: nnx.Module, tensors: Mapping[str, Tensor]) -> None:
    """Fill the JAX model with PyTorch's tensors, by the names of bertedu's `state_dict()`.

    Raises UserError where a weight is missing, left over, or of another shape. Weights of any float type become
    float32.
    """
    left = {name: tensor for name, tensor in tensors.items() if name != TIED}
    weights: Any = nnx.to_flat_state(nnx.state(model, nnx.Param))
    for path, weight in weights:
        name = torch_name(path)
        if name not in left:
            raise UserError(f"the PyTorch model lacks {name}, which the JAX model has: give a model of the same class.")
        array = to_jax(left.pop(name).float())
        if path[-1] == "kernel":
            array = array.T  # [out, in] to [in, out]
        if array.shape != weight.shape:
            raise UserError(
                f"{name} becomes {list(array.shape)}, and the JAX model has {list(weight.shape)} there: give a model "
                "with the same config."
            )
        place: Any = model
        for part in path[:-1]:
            place = place[part] if isinstance(part, int) else getattr(place, part)
        getattr(place, str(path[-1])).set_value(array)
    if left:
        raise UserError(f"the JAX model has no place for {', '.join(left)}: give a model of the same class.")


def torch_name(path: tuple[str | int, ...]) -> str:
    """("layers", 0, "query", "kernel") to "layers.0.query.weight"."""
    *places, last = map(str, path)
    return ".".join([*places, "bias" if last == "bias" else "weight"])


def to_jax(tensor: Tensor) -> jax.Array:
    """A PyTorch tensor as a JAX array of the same shape: a copy. 64-bit numbers become 32-bit ones, JAX's default."""
    numbers: np.ndarray = tensor.detach().cpu().numpy()
    if numbers.dtype == np.int64:
        numbers = numbers.astype(np.int32)
    elif numbers.dtype == np.float64:
        numbers = numbers.astype(np.float32)
    return jnp.array(numbers)

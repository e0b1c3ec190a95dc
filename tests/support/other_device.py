"""A device that is not the CPU, on a machine that has no other: `with other_device(): …`.

Its tensors say that they lie on the device "other"; each holds a tensor on the CPU that the work is done on. As on a
GPU, an operation that mixes both is refused, but for copies and for single numbers. So a forgotten `.to(device)` fails
here too. torch keeps the name PrivateUse1 for devices that are added from outside, and since 2.10 lets Python add one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch.utils import backend_registration
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map

NAME = "other"
MAY_MIX = {torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default}
AVAILABLE = hasattr(backend_registration, "_setup_privateuseone_for_python_backend")


class Elsewhere(torch.Tensor):
    """A tensor on the other device."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor):
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=torch.device(NAME, 0),
        )
        made.inner = inner
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    def tolist(self) -> Any:
        """torch knows no list of a tensor of a class of one's own."""
        return self.inner.tolist()

    def __format__(self, form: str) -> str:
        """Nor of a single number to be printed."""
        return self.inner.__format__(form)

    def numpy(self, *, force: bool = False) -> Any:
        """As on a GPU: NumPy gets no tensor that does not lie on the CPU."""
        if force:
            return self.inner.detach().numpy()
        raise TypeError(f"can't convert {NAME}:0 device type tensor to numpy: use Tensor.cpu() first")

    def __array__(self, *how: Any, **more: Any) -> Any:
        return self.numpy()

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return compute(operation, args, kwargs or {})


class Mode(TorchDispatchMode):
    """Sees the operations that make tensors, too."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        return compute(operation, args, kwargs or {})


def there(device: Any) -> bool:
    return device is not None and torch.device(device).type == NAME


def compute(operation: Any, args: tuple, kwargs: dict) -> Any:
    """The operation on the tensors inside; where a tensor on the CPU meets one that is not, a RuntimeError."""
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    elsewhere = any(isinstance(tensor, Elsewhere) for tensor in tensors)
    if elsewhere and operation not in MAY_MIX:
        for tensor in tensors:
            if not isinstance(tensor, Elsewhere) and tensor.dim():
                raise RuntimeError(
                    f"{operation}: expected all tensors to be on the same device, but found at least two devices, "
                    f"{NAME}:0 and {tensor.device}"
                )
    goes = there(kwargs["device"]) if kwargs.get("device") is not None else elsewhere
    inside = {**kwargs, "device": torch.device("cpu")} if kwargs.get("device") is not None else kwargs
    if operation is torch.ops.aten.copy_.default:
        goes = isinstance(args[0], Elsewhere)
    found = operation(*tree_map(unwrap, args), **tree_map(unwrap, inside))
    if not goes:
        return found
    wrapped = tree_map(lambda leaf: Elsewhere(leaf) if isinstance(leaf, torch.Tensor) else leaf, found)
    return return_and_correct_aliasing(operation, args, kwargs, wrapped)


def unwrap(leaf: Any) -> Any:
    return leaf.inner if isinstance(leaf, Elsewhere) else leaf


class Backend:
    """What torch asks the module of a device."""

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def device_count() -> int:
        return 1

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def _is_in_bad_fork() -> bool:
        return False

    @staticmethod
    def manual_seed_all(seed: int) -> None:
        pass

    @staticmethod
    def get_amp_supported_dtype() -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]


@cache
def register() -> None:
    """Tell torch of the device, once in a process."""
    backend_registration._setup_privateuseone_for_python_backend(NAME, backend_module=Backend())


@contextmanager
def other_device() -> Iterator[torch.device]:
    """Inside the block there is the other device; a weight that moves there stays the same object, as on a GPU."""
    register()
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        with Mode():
            yield torch.device(NAME, 0)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)

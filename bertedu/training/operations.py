"""What a training step asks of a device: its operations, counted one by one.

On a GPU each operation is a kernel that Python has to launch, which takes some microseconds whatever the kernel does;
and one that needs a number of the device makes Python wait until the device has come so far.
"""

from collections import Counter
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# The answer of a device is a number for Python, or the shape of a tensor: no more can be asked before it is there.
WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "item", "is_nonzero", "equal")
NO_WORK = frozenset(
    """
    view t transpose expand unsqueeze slice select permute detach alias as_strided split unbind squeeze _unsafe_view
    split_with_sizes diagonal lift_fresh _reshape_alias _record_function_enter_new _record_function_exit
    """.split()  # noqa: SIM905
)
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm")


def by_booleans(argument: Any) -> bool:
    """Whether an argument of an operation is a list of tensors to index with, one of them of booleans."""
    tensors = argument if isinstance(argument, list | tuple) else ()
    return any(isinstance(tensor, torch.Tensor) and tensor.dtype == torch.bool for tensor in tensors)


class CountedOperations(TorchDispatchMode):
    """`with CountedOperations() as counted: …` counts the operations of the block, those of its backward passes too.

    of: how often each was called, by its name without "aten.".
    """

    def __init__(self) -> None:
        super().__init__()
        self.of: Counter[str] = Counter()

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = operation.overloadpacket.__name__
        self.of[name] += 1
        if "index" in name and any(by_booleans(argument) for argument in args):
            self.of["nonzero"] += 1  # what it does first
        return operation(*args, **(kwargs or {}))

    @property
    def kernels(self) -> int:
        """Operations that compute: all but other ways to look at the same memory, and notes of the profiler."""
        return sum(count for name, count in self.of.items() if name not in NO_WORK)

    @property
    def products(self) -> int:
        """Products of matrices."""
        return sum(self.of[name] for name in PRODUCTS)

    @property
    def waits(self) -> dict[str, int]:
        """The operations for whose result Python has to wait."""
        return {name: self.of[name] for name in WAITING if self.of[name]}

"""What several exercises of chapter 03 share."""

from torch import Tensor


def is_shaped(value: object, size: list[int]) -> bool:
    """Whether it is a tensor of that shape."""
    return isinstance(value, Tensor) and list(value.shape) == size


TOO_LARGE = {
    "without overflow": "This number does not fit into the dtype. Which is the smallest number of the dtype that came?"
}

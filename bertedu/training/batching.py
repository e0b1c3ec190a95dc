"""Batches of things of about one length, so that little of them is padding."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def bucketed(items: Sequence[Item], size: Callable[[Item], int], batch_size: int, pool: int) -> list[list[Item]]:
    """The items in batches: `pool` of them at a time are sorted by size, the shortest first, and cut into batches.

    A pool of all items leaves least padding; a smaller one leaves it to chance which items meet in a batch.
    """
    pools = (sorted(items[start : start + pool], key=size) for start in range(0, len(items), pool))
    return [of_pool[i : i + batch_size] for of_pool in pools for i in range(0, len(of_pool), batch_size)]

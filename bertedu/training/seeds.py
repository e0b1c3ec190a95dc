"""A seed for each part of a run that draws random numbers."""

import hashlib


def derive_seed(*parts: int | str) -> int:
    """A number from 0 up to 2**63 that depends on every part, and is the same on every machine.

    Python's `hash` will not do: hash((-1, 0)) equals hash((-2, 0)), and other Pythons may hash otherwise.
    """
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "big") >> 1

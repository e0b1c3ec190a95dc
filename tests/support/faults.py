"""How a rule that goes over many files reports: every fault, one a line, and not the first alone."""

from collections.abc import Iterable


def assert_none(faults: Iterable[object]) -> None:
    """Fail with all faults, if there are any."""
    found = [str(fault) for fault in faults]
    assert not found, "\n".join([f"{len(found)} found:", *found])

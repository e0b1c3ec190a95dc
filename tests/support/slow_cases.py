"""Which cases of a slow test run in `make test`: a few that stay the same; `--thorough` runs them all."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

import pytest

Case = TypeVar("Case")


def evenly(cases: Sequence[Case], count: int) -> list[Case]:
    """So many of the cases, spread evenly from the first on; all, if there are no more."""
    return list(cases) if count >= len(cases) else [cases[n * len(cases) // count] for n in range(count)]


def asked_for(request: pytest.FixtureRequest, name: str) -> list:
    """The values of a parameter with which the tests of this module run: what a fixture of the module has to make."""
    items = [item for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    return list(dict.fromkeys(item.callspec.params[name] for item in items if name in item.callspec.params))


def divided(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Test cases to run and to leave out: of a test marked `slow(cases=3)` three run."""
    groups = defaultdict(list)
    for item in items:
        marker = item.get_closest_marker("slow")
        if marker and "cases" in marker.kwargs:
            groups[item.nodeid.partition("[")[0], marker.kwargs["cases"]].append(item)
    left = {item for (_, count), cases in groups.items() for item in set(cases) - set(evenly(cases, count))}
    return [item for item in items if item not in left], [item for item in items if item in left]

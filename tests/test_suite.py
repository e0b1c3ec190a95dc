"""The suite itself: a small fixed part of the slow tests runs by default, and all of them with --thorough."""

import pytest
from support.slow_cases import evenly

pytest_plugins = ["pytester"]
SLOW = """
import pytest

@pytest.mark.slow(cases=2)
@pytest.mark.parametrize("n", range(6))
def test_many(n):
    assert n in (0, 3)

@pytest.mark.slow(cases=0)
def test_nightly():
    assert False

@pytest.mark.slow
@pytest.mark.parametrize("n", range(2))
def test_all(n, thorough):
    assert not thorough

def test_quick():
    pass
"""


@pytest.fixture
def suite(pytester, request):
    pytester.makeconftest((request.config.rootpath / "tests" / "conftest.py").read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\nmarkers = slow\naddopts = --strict-markers -p no:cacheprovider")
    pytester.makepyfile(test_slow=SLOW)
    return pytester


@pytest.mark.parametrize(
    ("asked", "passed", "failed", "left"),
    [
        ([], 5, 0, 5),
        (["-m", "not slow"], 1, 0, 9),
        (["-k", "many and not 0"], 1, 1, 8),  # 1 and 3 of those asked for
        (["--thorough"], 3, 7, 0),
        (["test_slow.py::test_many[3]"], 1, 0, 0),
    ],
)
def test_a_small_fixed_part_of_the_slow_tests_runs_by_default(suite, asked, passed, failed, left):
    suite.runpytest_inprocess(*asked).assert_outcomes(passed=passed, failed=failed, deselected=left)


def test_cases_are_spread_evenly():
    assert evenly("abcdef", 2) == ["a", "d"]
    assert evenly("abcde", 3) == ["a", "b", "d"]
    assert evenly("abc", 5) == ["a", "b", "c"]
    assert evenly("abc", 0) == []

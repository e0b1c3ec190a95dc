"""The list of planted bugs fits the package and its tests. Planting them is the work of benchmarks/family_bugs.py."""

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
BENCHMARKS = str(REPOSITORY / "benchmarks")


@pytest.fixture(scope="module")
def harness() -> Iterator[ModuleType]:
    sys.path.insert(0, BENCHMARKS)
    yield import_module("family_bugs")
    sys.path.remove(BENCHMARKS)


@pytest.mark.parametrize("which", ["FAMILY", "LIBRARY"])
def test_every_bug_fits_its_file_and_breaks_only_what_it_says(harness, which):
    """Its text occurs once, and what takes its place is Python; no two bugs are one."""
    bugs = harness.read_bugs(path=getattr(harness, which))
    for bug in bugs:
        ast.parse(bug.planted((REPOSITORY / bug.file).read_text(encoding="utf-8")), f"{bug.file}: {bug.trap}")
    assert len({(bug.file, bug.old, bug.new) for bug in bugs}) == len({(bug.member, bug.trap) for bug in bugs})
    assert len({(bug.member, bug.trap) for bug in bugs}) == len(bugs) >= 24


def test_the_test_that_should_fail_is_there(harness):
    functions: dict[str, set[str]] = {}
    for bug in (*harness.read_bugs(), *harness.read_bugs(path=harness.LIBRARY)):
        file, _, name = bug.test.partition("::")
        if file not in functions:
            found = ast.parse((REPOSITORY / file).read_text(encoding="utf-8")).body
            functions[file] = {node.name for node in found if isinstance(node, ast.FunctionDef)}
        assert name in functions[file], bug.test


def test_a_bug_is_planted_only_where_its_text_occurs_once(harness):
    bug = harness.Bug("BERT", "two is three", "sums.py", "2", "3", "tests/test_sums.py::test_two")
    assert bug.planted("1 + 2") == "1 + 3"
    for text in ("2 + 2", "1 + 1"):
        with pytest.raises(SystemExit, match=r"BERT, 'two is three': .* occurs [02] times in sums\.py"):
            bug.planted(text)


def test_a_test_that_never_ran_does_not_count_as_one_that_failed(harness):
    verdicts = {code: harness.Outcome(code, "", 1.0).verdict for code in (0, 1, 2, 4, 5, None)}
    assert verdicts == {0: "ALIVE", 1: "dead", **dict.fromkeys((2, 4, 5, None), "broken")}


def test_the_bugs_of_javascript_fit_their_files_and_their_tests_are_there(harness):
    bugs = harness.read_bugs(path=harness.FAMILY.with_name("web_bugs.toml"))
    assert len({(bug.file, bug.old, bug.new) for bug in bugs}) == len(bugs)
    assert len([bug for bug in bugs if bug.file.endswith("bert.js")]) >= 10
    for bug in bugs:
        file, _, name = bug.test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (REPOSITORY / file).read_text(encoding="utf-8"), bug.test

"""How the package is built: what imports what, how long files are, what explains itself, what is tested."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.repository import PACKAGE, PROJECT, REPOSITORY, everything, specifiers

# Imports run one way: a row imports only from its own folder and from rows above it.
ROWS = (
    "errors",
    "extras",
    "utf8",
    "json_values",
    "files",
    "config",
    "checkpoints",
    "tokenization",
    "model",
    "family",
    "jax",
    "inference",
    "corpora",
    "training",
    "pretraining",
    "before",
    "finetuning",
    "interpretation",
    "production",
    "search",
    "visualization",
    "course",
    "interview",
    "classroom",
    "doctor",
    "cli",
    "__main__",
)
# The rows that may use what only the extras install.
WITH_EXTRAS = ("jax", "production", "search", "visualization", "course", "interview", "classroom")
MOST_LINES_OF_A_FILE = 300
MOST_LINES_OF_A_FUNCTION = 60


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def modules(folder: Path = PACKAGE) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """All that a file imports, in functions too; `from a.b import c` is a.b.c."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}, line {node.lineno}: name the module from its root: from bertedu.… import …"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def providers() -> dict[str, list[str]]:
    return dict(packages_distributions())  # "sklearn" comes from "scikit-learn"


def imported_distributions(path: Path) -> set[str]:
    """The distributions that a file imports from, without the standard library and bertedu itself."""
    found = set()
    for name in imports(path):
        if name.startswith("torch.utils.tensorboard"):  # torch's writer, which needs the other package
            found.add("tensorboard")
        root = name.partition(".")[0]
        if root not in sys.stdlib_module_names and root != "bertedu":
            found |= {canonicalize_name(provider) for provider in providers().get(root, [root])}
    return found


def row(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_an_imported_package_is_missing_from_pyproject():
    for path in modules():
        allowed = everything() if row(path) in WITH_EXTRAS else specifiers()
        missing = imported_distributions(path) - set(allowed)
        assert not missing, f"{path.relative_to(REPOSITORY)} imports {sorted(missing)}: declare it in pyproject.toml"


def test_a_notebook_needs_a_package_that_only_the_tests_install():
    allowed = set(specifiers("course", "production", "jax"))
    for path in sorted((REPOSITORY / "notebooks" / "source").glob("[0-9]*.py")):
        for name in imports(path):
            root = name.partition(".")[0]
            if root not in sys.stdlib_module_names and root != "bertedu":
                needed = {canonicalize_name(provider) for provider in providers().get(root, [root])}
                assert needed & allowed, f"{path.name} imports {name}: declare it in the extra of the notebooks"


def test_two_lines_declare_one_package_or_one_of_them_is_overlooked():
    for lines in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        names = [canonicalize_name(Requirement(line).name) for line in lines]
        assert len(names) == len(set(names)) and names == sorted(names), f"twice, or out of order: {names}"


def test_a_test_needs_a_package_that_is_declared_nowhere():
    for path in [*modules(REPOSITORY / "tests"), *modules(REPOSITORY / "benchmarks")]:
        siblings = {canonicalize_name(other.stem) for other in path.parent.glob("*.py")} | {"support", "benchmarks"}
        missing = imported_distributions(path) - set(everything()) - siblings
        assert not missing, f"{path.relative_to(REPOSITORY)} imports {sorted(missing)}: declare it in pyproject.toml"


def test_no_test_file_imports_another():
    for path in modules(REPOSITORY / "tests"):
        for name in imports(path):
            assert not any(part.startswith("test_") for part in name.split(".")[:-1] or [name]), (
                f"{path.relative_to(REPOSITORY)} imports {name}: move what both need to tests/support/"
            )


def test_a_dependency_is_declared_and_never_used():
    used = set().union(*map(imported_distributions, modules()))
    unused = set(specifiers()) - used
    assert not unused, f"pyproject.toml declares {sorted(unused)}, which nothing in bertedu/ imports"


def test_an_import_runs_against_the_order_of_the_rows():
    for path in modules():
        if path == PACKAGE / "__init__.py":
            continue
        own = row(path)
        assert own in ROWS, f"bertedu/{own} has no row: give it its place in ROWS"
        for name in imports(path):
            if name.split(".")[0] != "bertedu":
                continue
            other = name.split(".")[1]
            if other not in ROWS:
                other = "cli"  # a name of the package itself: it imports everything else, so only the last rows may
            assert ROWS.index(other) <= ROWS.index(own), (
                f"{path.relative_to(REPOSITORY)} imports {name}: {own} may import only from "
                f"{', '.join(ROWS[: ROWS.index(own) + 1])}"
            )


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_or_function_outgrows_its_reader(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES_OF_A_FILE, f"{lines} lines: the house's limit is {MOST_LINES_OF_A_FILE}, aim for 250"
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= MOST_LINES_OF_A_FUNCTION, (
                f"{node.name} has {length} lines: the house's limit is {MOST_LINES_OF_A_FUNCTION}, aim for 40"
            )


def is_exercise(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether this is the check of an exercise, which its title and hints explain."""
    return any(isinstance(mark, ast.Call) and ast.unparse(mark.func) == "exercise" for mark in node.decorator_list)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_learner_opens_a_class_that_explains_nothing(path):
    assert ast.get_docstring(syntax(path)), "begin the file with a docstring: what lives here"
    for node in syntax(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_") and not is_exercise(node):
            assert ast.get_docstring(node), f"{node.name}, line {node.lineno}, has no docstring"


def test_a_module_has_no_tests():
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef)
    rows = {row(path) for path in modules() if any(isinstance(node, definitions) for node in ast.walk(syntax(path)))}
    tests = {path.stem for path in (REPOSITORY / "tests").glob("test_*.py")}
    for name in sorted(rows - {"__init__"}):
        assert any(re.fullmatch(rf"test_{name}(_\w+)?", test) for test in tests), f"write tests/test_{name}.py"

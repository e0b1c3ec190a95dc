"""How the package is built: what imports what, how long files are, what explains itself, what is tested."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.faults import assert_none
from support.repository import PACKAGE, PROJECT, REPOSITORY, everything, specifiers

from bertedu.course.rooms import sources_in
from bertedu.lazy import imported_for_types

# Imports run one way: a row imports only from its own folder and from rows above it.
ROWS = (
    "lazy",
    "errors",
    "address",
    "registry",
    "extras",
    "utf8",
    "json_values",
    "templates",
    "files",
    "segmentation",
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
    "web",
    "visualization",
    "course",
    "chapters",
    "mine",
    "interview",
    "classroom",
    "website",
    "doctor",
    "cli",
    "__main__",
)
# The rows that may use what only the extras install.
WITH_EXTRAS = (
    "jax",
    "production",
    "search",
    "visualization",
    "course",
    "chapters",
    "mine",
    "interview",
    "classroom",
    "website",
)
# The files of other rows that use an extra where it is installed, in a function, and say or do something else without.
OPTIONAL = {
    "bertedu/corpora/hub.py": ("hub",),
    "bertedu/corpora/hub_rows.py": ("hub",),
    "bertedu/training/metrics.py": ("tensorboard",),
}
MOST_LINES_OF_A_FILE = 300
MOST_LINES_OF_A_FUNCTION = 60


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def modules(folder: Path = PACKAGE) -> list[Path]:
    """The modules in a folder, without the sources of notebooks, 03_self_attention.py and the like."""
    return sorted(path for path in folder.rglob("*.py") if not path.name[0].isdigit())


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


def name_of(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def undeclared(path: Path, allowed: Iterable[str]) -> list[str]:
    """A sentence where a file imports from packages that are not among those allowed."""
    missing = imported_distributions(path) - set(allowed)
    return [f"{name_of(path)} imports {sorted(missing)}: declare it in pyproject.toml"] if missing else []


def test_every_imported_package_is_declared():
    faults = []
    for path in modules():
        own = everything() if row(path) in WITH_EXTRAS else specifiers(*OPTIONAL.get(name_of(path), ()))
        faults += undeclared(path, own)
    assert_none(faults)


def test_a_notebook_needs_only_packages_that_a_learner_installs():
    allowed = set(specifiers("course", "production", "jax"))
    faults = []
    for path in sources_in(PACKAGE / "chapters"):
        for name in imports(path):
            root = name.partition(".")[0]
            if root not in sys.stdlib_module_names and root != "bertedu":
                needed = {canonicalize_name(provider) for provider in providers().get(root, [root])}
                if not needed & allowed:
                    faults.append(f"{path.name} imports {name}: declare it in the extra of the notebooks")
    assert_none(faults)


def test_dependencies_are_declared_once_and_in_order():
    for lines in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        names = [canonicalize_name(Requirement(line).name) for line in lines]
        assert len(names) == len(set(names)) and names == sorted(names), f"twice, or out of order: {names}"


def test_every_package_that_a_test_imports_is_declared():
    faults = []
    for path in [*modules(REPOSITORY / "tests"), *modules(REPOSITORY / "benchmarks")]:
        siblings = {canonicalize_name(other.stem) for other in path.parent.glob("*.py")} | {
            "support",
            "chapters",
            "benchmarks",
        }
        faults += undeclared(path, [*everything(), *siblings])
    assert_none(faults)


def test_no_test_file_imports_another():
    assert_none(
        f"{name_of(path)} imports {name}: move what both need to tests/support/"
        for path in modules(REPOSITORY / "tests")
        for name in imports(path)
        if any(part.startswith("test_") for part in name.split(".")[:-1] or [name])
    )


def test_helpers_of_tests_are_in_one_folder():
    """What pytest collects is called test_*, but for `device_steps.py`, which needs a process of its own."""
    others = {path.name for path in (REPOSITORY / "tests").glob("*.py") if not path.name.startswith("test_")}
    assert others == {"conftest.py", "device_steps.py"}, "move helpers to tests/support/"


def test_every_declared_dependency_is_used():
    used = set().union(*map(imported_distributions, modules()))
    unused = set(specifiers()) - used
    assert not unused, f"pyproject.toml declares {sorted(unused)}, which nothing in bertedu/ imports"


def test_imports_run_in_the_order_of_the_rows():
    faults = []
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
            if ROWS.index(other) > ROWS.index(own):
                allowed = ", ".join(ROWS[: ROWS.index(own) + 1])
                faults.append(f"{name_of(path)} imports {name}: {own} may import only from {allowed}")
    assert_none(faults)


def too_long(path: Path) -> Iterator[str]:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    if lines > MOST_LINES_OF_A_FILE:
        yield f"{name_of(path)} has {lines} lines: the house's limit is {MOST_LINES_OF_A_FILE}, aim for 250"
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MOST_LINES_OF_A_FUNCTION:
                limit = f"the house's limit is {MOST_LINES_OF_A_FUNCTION}, aim for 40"
                yield f"{name_of(path)}, line {node.lineno}: {node.name} has {length} lines: {limit}"


def test_no_file_or_function_outgrows_its_reader():
    assert_none(fault for path in modules() for fault in too_long(path))


def is_exercise(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether this is the check of an exercise, which its title and hints explain."""
    return any(isinstance(mark, ast.Call) and ast.unparse(mark.func) == "exercise" for mark in node.decorator_list)


def unexplained(path: Path) -> Iterator[str]:
    if not ast.get_docstring(syntax(path)):
        yield f"{name_of(path)}: begin the file with a docstring: what lives here"
    for node in syntax(path).body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_") or is_exercise(node):
            continue
        if not ast.get_docstring(node):
            yield f"{name_of(path)}, line {node.lineno}: {node.name} has no docstring"


def test_every_file_class_and_public_function_explains_itself():
    assert_none(fault for path in modules() for fault in unexplained(path))


@pytest.mark.parametrize(
    ("code", "faults"),
    [
        ('"""A file."""\n' + 299 * "x = 1\n", []),
        ('"""A file."""\n' + 300 * "x = 1\n", ["301 lines"]),
        ("def f():\n    pass\n", ["begin the file with a docstring", "f has no docstring"]),
        (
            '"""A file."""\nclass A:\n    def f(self):\n' + 60 * "        pass\n",
            ["f has 61 lines", "A has no docstring"],
        ),
        ('"""A file."""\n@exercise("1.1")\ndef f():\n    pass\ndef _g():\n    pass\n', []),
    ],
    ids=["long", "too long", "without docstrings", "a long method", "an exercise"],
)
def test_the_rules_find_what_is_too_long_or_unexplained(code, faults, tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "REPOSITORY", tmp_path)
    (tmp_path / "planted.py").write_text(code)
    found = [*too_long(tmp_path / "planted.py"), *unexplained(tmp_path / "planted.py")]
    assert len(found) == len(faults) and all(fault in told for fault, told in zip(faults, found, strict=True))


def test_every_module_has_tests():
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef)
    rows = {row(path) for path in modules() if any(isinstance(node, definitions) for node in ast.walk(syntax(path)))}
    tests = {path.stem for path in (REPOSITORY / "tests").glob("test_*.py")}
    tested = {folder.name for folder in (REPOSITORY / "tests").iterdir()} | tests
    assert_none(
        f"write tests/test_{name}.py"
        for name in sorted(rows - {"__init__", "__main__"})
        if name not in tested and not any(re.fullmatch(rf"test_{name}(_\w+)?", test) for test in tests)
    )


# What is found by its name names modules, too -----------------------------------------------------------------------

MODULES = {
    ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__"): path for path in modules()
}


@cache
def on_demand(package: str) -> dict[str, str]:
    """The names that a package finds in its modules when they are asked for, and in which."""
    code = MODULES[package].read_text(encoding="utf-8")
    return imported_for_types(code) if "names_on_demand(__name__)" in code else {}


def module_of(name: str) -> str:
    """The module that a dotted name is, or is something of; "" for one that is nothing of the package."""
    package, _, last = name.rpartition(".")
    if package in MODULES and last in on_demand(package):
        return on_demand(package)[last]
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name


def is_for_types(node: ast.AST) -> bool:
    """Whether this is what only a checker of types reads."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imported(node: ast.AST) -> Iterator[str]:
    """What is imported in a part of a file."""
    for one in ast.walk(node):
        if isinstance(one, ast.ImportFrom):
            yield from (f"{one.module}.{alias.name}" for alias in one.names)


def reached(path: Path) -> Iterator[str]:
    """The modules that a file names: by an import, by a string, or as the files of a package that fills a registry."""
    lazily = "names_on_demand(__name__)" in path.read_text(encoding="utf-8")  # what it imports for types it only offers
    offered = {name for node in ast.walk(syntax(path)) if lazily and is_for_types(node) for name in imported(node)}
    for name in set(imports(path)) - offered:
        yield module_of(name)
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Constant) and re.fullmatch(r"bertedu(\.\w+)+", str(node.value)):
            yield module_of(str(node.value))
        if isinstance(node, ast.Attribute) and node.attr == "add_files" and path.name == "__init__.py":
            yield from (
                module_of(".".join(other.relative_to(REPOSITORY).with_suffix("").parts))
                for other in modules(path.parent)
                if other != path
            )


def graph() -> dict[str, set[str]]:
    """Each module of the library and the modules that it names. The root names all that is found by name."""
    rows = ROWS[: ROWS.index("course")]
    library = {name for name in MODULES if name != "bertedu" and row(MODULES[name]) in rows}
    return {name: set(reached(MODULES[name])) & library - {name} for name in library}


def test_a_text_names_modules_in_the_order_of_the_rows():
    for name, others in graph().items():
        for other in others:
            assert ROWS.index(row(MODULES[other])) <= ROWS.index(row(MODULES[name])), f"{name} names {other}"


def test_no_modules_need_each_other_in_a_circle():
    """Also one that no import shows, where a table of names leads back to where it is read, and one of types alone."""
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(f"each names the one before it: {', '.join(error.args[1])}")

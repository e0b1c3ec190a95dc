"""What `make check` runs: the test files that belong to what differs from main, and a few that any change can fail.

    python tests/support/changed.py     prints them, one a line, and on stderr how many of how many

A test file belongs to a changed file if it is that file, bears the name of its folder (`test_model_*.py` to all of
`bertedu/model/`), imports it, or has its name in its text.
"""

import ast
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.slow_cases import evenly

REPOSITORY = Path(__file__).resolve().parents[2]
ALWAYS = ("house", "imports", "notebooks", "repository", "suite", "voice")
# The tests that go over all chapters and drills, for what belongs to one of them.
ROOMS = ("chapters", "classroom_pictures", "classroom_slides", "classroom_teaching", "classroom_variants")
ROOMS += ("course_exercises", "course_quizzes", "interview_drills", "interview_in_chapters", "mine_answers")
CHAPTER = re.compile(r"(?:bertedu|tests)/chapters/ch(\d\w+)/|notebooks/(?:solutions/)?(\d\w+)\.ipynb")
DRILL = re.compile(r"(?:bertedu/interview/drills/exercises|tests/interview_drills)/(\w+)\.py")
MANY = 30  # of the test files that import one module no more are run
FEW = 20  # and of a test so many cases


def differing(folder: Path = REPOSITORY) -> set[str]:
    """The files that differ from main, in commits or not yet: changed, new or gone.

    Raises SystemExit where git does not tell.
    """

    def git(*words: str) -> str:
        if not shutil.which("git"):
            return ""
        return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False).stdout

    bases = (git("merge-base", "HEAD", main).strip() for main in ("origin/main", "main", "HEAD"))
    if not (base := next(filter(None, bases), "")):
        raise SystemExit(f"git does not say what differs from main in {folder}: run make test, which needs no git.")
    changed = git("diff", "--name-only", "--no-renames", "-z", base)
    return set(f"{changed}{git('ls-files', '--others', '--exclude-standard', '-z')}".split("\0")) - {""}


def rooms(changed: Iterable[str]) -> set[str]:
    """What the cases of changed chapters and drills have in their names."""
    found = set()
    for path in changed:
        if match := CHAPTER.match(path):
            stem = match[1] or match[2]
            number = stem.partition("_")[0]
            found |= {stem, f"chapter_{number}-", f"[{number.lstrip('0') or '0'}."}
        elif match := DRILL.match(path):
            found.add(match[1].replace("_", "-"))
    return found


@cache
def test_files() -> dict[str, str]:
    """All test files by name, `model_attention` for test_model_attention.py, and their text."""
    found = sorted((REPOSITORY / "tests").glob("test_*.py"))
    return {path.stem.removeprefix("test_"): path.read_text(encoding="utf-8") for path in found}


@cache
def imports() -> dict[str, set[str]]:
    """The names that each test file imports: `from a.b import c` is a.b and a.b.c."""
    found: dict[str, set[str]] = {}
    for name, text in test_files().items():
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
        whole = {str(node.module) for node in nodes}
        found[name] = whole | {f"{node.module}.{alias.name}" for node in nodes for alias in node.names}
    return found


def named(*names: str) -> set[str]:
    """The test files called so, or beginning so."""
    return {file for file in test_files() for name in names if f"{file}_".startswith(f"{name}_")}


def belonging(path: str) -> set[str]:
    """The test files, by name, that belong to a changed file."""
    if CHAPTER.match(path) or DRILL.match(path):
        return named(*ROOMS)
    place = Path(path)
    parts = place.with_suffix("").parts
    if place.match("tests/test_*.py"):
        return {place.stem.removeprefix("test_")} & set(test_files())
    if place.suffix == ".py":
        module = ".".join(parts).removeprefix("tests.").removesuffix(".__init__")
        found = [name for name, imported in imports().items() if module in imported]
    else:
        found = [name for name, text in test_files().items() if place.name in text]
    own = named(parts[1]) if parts[0] == "bertedu" else named("benchmark") if parts[0] == "benchmarks" else set()
    return own | set(evenly(found, MANY))


def chosen(changed: Iterable[str]) -> list[str]:
    """The test files to run for changed files."""
    return [f"tests/test_{name}.py" for name in sorted(named(*ALWAYS).union(*map(belonging, changed)))]


def few(items: list[pytest.Item], words: set[str]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Test cases to run and to leave out: of a test FEW run, and all whose name has one of the words."""
    groups = defaultdict(list)
    for item in items:
        groups[item.nodeid.partition("[")[0]].append(item)
    kept = {item for cases in groups.values() for item in evenly(cases, FEW)}
    kept |= {item for item in items if any(word in item.name for word in words)}
    return [item for item in items if item in kept], [item for item in items if item not in kept]


if __name__ == "__main__":
    files = chosen(differing())
    print(f"{len(files)} of {len(test_files())} test files belong to what differs from main.", file=sys.stderr)
    print(*files, sep="\n")

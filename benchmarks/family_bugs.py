"""Plants the bugs that are easily made, one at a time, and asks the tests whether they notice.

    python benchmarks/family_bugs.py                      # all of them, one after the other
    python benchmarks/family_bugs.py --only electra       # those whose member, trap or file has the word
    python benchmarks/family_bugs.py --jobs 4
    python benchmarks/family_bugs.py --done found.txt --next 20  # in portions: the next 20 that the file does not have
    python benchmarks/family_bugs.py --list library_bugs  # those of training, objectives, tasks and the service
    python benchmarks/family_bugs.py --list web_bugs      # those of the BERT in JavaScript

`family_bugs.toml`, or the list that is named, says of each what is wrong, which text in which file is replaced by
which, and the test that must fail. Package and tests are copied into a temporary folder, and a bug is planted in a copy
of its own: the working tree is never touched. First every test that is named has to pass without a bug. A bug is dead
if its test fails. It is ALIVE if the test passes, and broken if there was no verdict: the test could not be collected,
or took too long.

The tests run in processes that are forked from one that has imported torch and transformers, and nothing of bertedu:
so each begins at once, and reads its own copy of the package. The exit code is 1 if a bug is not dead.
"""

import argparse
import contextlib
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[1]
FAMILY, LIBRARY = (Path(__file__).with_name(f"{name}_bugs.toml") for name in ("family", "library"))
COPIED = ("bertedu", "tests", "benchmarks")
LINKED = ("data", "docs", "notebooks", "pyproject.toml")
IMPORTED = [
    *("pytest", "torch", "torch.utils.tensorboard", "safetensors.torch", "sklearn.metrics"),
    *("transformers", "transformers.modeling_utils", "transformers.models.auto.modeling_auto"),
]
LIMIT = 600  # seconds that a test may take
DEAD, ALIVE, BROKEN = "dead", "ALIVE", "broken"


@dataclass(frozen=True)
class Bug:
    """What is wrong with which member, in a sentence; the file, the text in it and what takes its place; the test that
    must fail, as pytest names it.
    """

    member: str
    trap: str
    file: str
    old: str
    new: str
    test: str

    @property
    def name(self) -> str:
        """One line, unlike that of any other bug of its list."""
        return f"{self.member}: {self.trap}"

    def planted(self, text: str) -> str:
        """The file's text with the bug. Raises SystemExit where that cannot be planted."""
        if (count := text.count(self.old)) != 1 or self.old == self.new:
            raise SystemExit(
                f"{self.member}, {self.trap!r}: the text to replace occurs {count} times in {self.file}: "
                f"give one that occurs once.\n{self.old}"
            )
        return text.replace(self.old, self.new)


class Outcome(NamedTuple):
    """What pytest said: its exit code, none where it came to no end; the first error; the seconds that it took."""

    code: int | None
    error: str
    seconds: float

    @property
    def verdict(self) -> str:
        """Whether the bug is dead, if there was one."""
        return {0: ALIVE, 1: DEAD}.get(self.code, BROKEN)  # type: ignore[arg-type]


def read_bugs(word: str = "", path: Path = FAMILY) -> list[Bug]:
    """The list, or those of it whose member, trap or file has the word; every text is looked for in its file."""
    bugs = [Bug(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["bug"]]
    for bug in bugs:
        bug.planted((REPOSITORY / bug.file).read_text(encoding="utf-8"))
    return [bug for bug in bugs if word.lower() in f"{bug.member} {bug.trap} {bug.file}".lower()]


def copy_repository(folder: Path) -> None:
    """What the tests need, and nothing that Python compiled earlier; the large folders as links."""
    for name in COPIED:
        shutil.copytree(REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in LINKED:
        (folder / name).symlink_to(REPOSITORY / name)


def run_test(folder: Path, test: str) -> None:
    """In a process of its own: run a test of the folder, and leave the exit code and the output beside it."""
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    os.environ.update(PYTHONPATH=str(folder), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        import pytest  # here only: this process has it already

        temporary = f"--basetemp={folder / 'tmp'}"
        code = pytest.main(["-x", "-q", "--tb=short", "--color=no", "-p", "no:cacheprovider", temporary, test])
    package = Path(sys.modules["bertedu"].__file__ or "") if "bertedu" in sys.modules else folder
    assert package.is_relative_to(folder), f"{test} read {package}, and not the copy in {folder}"
    (folder / "code.txt").write_text(str(int(code)))


def outcome_of(folder: Path, test: str) -> Outcome:
    """Run a test of the folder in a forked process."""
    begun = time.monotonic()
    for name in ("code.txt", "log.txt"):
        (folder / name).unlink(missing_ok=True)
    process = multiprocessing.get_context("forkserver").Process(target=run_test, args=(folder, test))
    process.start()
    process.join(LIMIT)
    if process.is_alive():
        process.kill()
        process.join()
    code, log = folder / "code.txt", folder / "log.txt"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    error = next((line[1:].strip() for line in lines if line.startswith("E  ")), "")
    return Outcome(int(code.read_text()) if code.is_file() else None, error, time.monotonic() - begun)


def plant(bug: Bug, base: Path, number: int) -> Outcome:
    """What its test says to a copy of the folder `base` with the bug."""
    folder = base.with_name(f"bug {number}")
    shutil.copytree(base, folder, symlinks=True)
    path = folder / bug.file
    path.write_text(bug.planted(path.read_text(encoding="utf-8")), encoding="utf-8")
    outcome = outcome_of(folder, bug.test)
    shutil.rmtree(folder)
    return outcome


def told(pool: ThreadPoolExecutor, do: Callable, things: Iterable, name: Callable) -> list[Outcome]:
    """The outcomes for some things, and a line for each on stderr as soon as it is there."""
    things, found = list(things), []
    for number, (thing, outcome) in enumerate(zip(things, pool.map(do, things), strict=True), start=1):
        found.append(outcome)
        line = f"{number}/{len(things)} {outcome.seconds:4.0f} s  {name(thing, outcome)}"
        print(line, file=sys.stderr, flush=True)
    return found


def table(bugs: list[Bug], outcomes: list[Outcome]) -> str:
    """All bugs in Markdown, and how many are dead."""
    lines = ["| member | trap | test | |", "|---|---|---|---|"]
    for bug, outcome in zip(bugs, outcomes, strict=True):
        lines.append(f"| {bug.member} | {bug.trap} | `{bug.test.removeprefix('tests/')}` | {outcome.verdict} |")
    verdicts = [outcome.verdict for outcome in outcomes]
    left = ", ".join(f"{verdicts.count(word)} {word}" for word in (ALIVE, BROKEN) if word in verdicts)
    count = f"{verdicts.count(DEAD)} of {len(bugs)} bugs are dead"
    return "\n".join([*lines, "", f"{count}; {left}." if left else f"{count}."])


def main() -> None:
    """See the top of the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="bugs whose member, trap or file has this word")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="tests that run at the same time")
    parser.add_argument(
        "--list", type=Path, default=FAMILY, metavar="NAME", help="another list, a file beside this one"
    )
    parser.add_argument(
        "--done", type=Path, metavar="FILE", help="leave out the bugs that are in this file, and add what was found"
    )
    parser.add_argument("--next", type=int, metavar="N", help="this many at most, so that the list is done in portions")
    options = parser.parse_args()
    if not (bugs := read_bugs(options.only, FAMILY.parent / options.list.with_suffix(".toml"))):
        raise SystemExit(f"no bug has the word {options.only!r}.")
    done = options.done.read_text(encoding="utf-8").splitlines() if options.done and options.done.exists() else []
    bugs = [bug for bug in bugs if not any(line.endswith(f"  {bug.name}") for line in done)][: options.next]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    multiprocessing.get_context("forkserver").set_forkserver_preload(IMPORTED)
    with contextlib.ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory())).resolve() / "base"
        copy_repository(base)
        tests = sorted({bug.test for bug in bugs})
        with ThreadPoolExecutor(1) as pool:  # all in the one folder, whose compiled files the copies take along
            clean = told(pool, lambda test: outcome_of(base, test), tests, lambda test, _: test)
        if failed := [test for test, outcome in zip(tests, clean, strict=True) if outcome.code != 0]:
            raise SystemExit("these tests do not pass without a bug:\n" + "\n".join(failed))
        pool = stack.enter_context(ThreadPoolExecutor(options.jobs))

        def told_of(numbered: tuple[int, Bug], outcome: Outcome) -> str:
            bug = numbered[1]
            line = f"{outcome.verdict}  {bug.name}"
            if options.done:
                with options.done.open("a", encoding="utf-8") as file:
                    file.write(f"{line}\n")
            return f"{line}  {outcome.error[:150]}"

        planted = told(pool, lambda numbered: plant(numbered[1], base, numbered[0]), enumerate(bugs), told_of)
    print(table(bugs, planted))
    sys.exit(any(outcome.verdict != DEAD for outcome in planted))


if __name__ == "__main__":
    main()

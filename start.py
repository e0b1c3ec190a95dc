"""What `make` does, on Windows too: sets up .venv from the pinned packages, then trains, opens, tests or plays.

    python start.py lab            the course in JupyterLab, at the first notebook
    python start.py bert           a small BERT, trained for five minutes (--minutes 10: for ten)
    python start.py playground     a page on which a BERT runs
    python start.py test           all tests, and every notebook against its stored outputs
    python start.py lab --dry-run  only print the commands

What stands after the word is passed on. It needs Python 3.11 or newer and nothing else. The commands are those of the
Makefile, and a test holds the two together.
"""

from __future__ import annotations  # so that an old Python can read this file, and be told that it is old

import hashlib
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PINS = ("pyproject.toml", "constraints.txt")
NOTEBOOKS = "[course,production,jax]"
EVERYTHING = "[course,production,jax,hub,tensorboard,authors,browser,site,test]"
EXTRAS = {"bert": "", "playground": "", "lab": NOTEBOOKS, "test": EVERYTHING}
OLDEST = (3, 11)


def python_in(environment: Path, windows: bool) -> Path:
    """The interpreter of a virtual environment."""
    return environment / "Scripts" / "python.exe" if windows else environment / "bin" / "python"


def setup_commands(target: str, python: Path, there: bool) -> list[list[str]]:
    """The commands that make the environment, where it is not there, and install what the target needs."""
    make = [] if there else [[sys.executable, "-m", "venv", "--clear", ".venv"]]
    pip = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--use-pep517"]
    return [*make, [str(python), *pip, "-c", "constraints.txt", "-e", f".{EXTRAS[target]}"]]


def commands(target: str, python: Path, arguments: list[str]) -> list[list[str]]:
    """What the target runs once its packages are there."""
    if target == "bert":
        options = ["--corpus", "documentation", "--preset", "tiny", "--minutes", "5"]
        lines = [["bertedu", "pretrain", *options, *arguments]]
    elif target == "playground":
        lines = [["bertedu", "playground", "--open", *arguments]]
    elif target == "lab":
        lines = [["jupyterlab", "notebooks/00_start_here.ipynb", *arguments]]
    else:
        lines = [["pytest", "-n", "2", "--dist", "loadfile", "-rs", *arguments]]
        if not set(arguments) - {"--quiet", "--thorough"}:
            compare = ["--nbval", "--nbval-current-env", "--nbval-sanitize-with", "tests/nbval_sanitize.cfg"]
            share = ["-n", "2", "--dist", "loadscope"]
            lines.append(["pytest", "--quiet", *compare, *share, "notebooks", "--ignore=notebooks/solutions"])
    return [[str(python), "-m", *line] for line in lines]


def installed(target: str) -> str:
    """What .venv/start says once the packages of a target are there: the extras, the folder and the pins."""
    pins = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in PINS)).hexdigest()
    return f"{EXTRAS[target] or '[]'} {ROOT} {pins}"


def is_ready(target: str, note: Path) -> bool:
    """Whether the packages of the target, or of one that needs more, were installed here from these pins."""
    found = note.read_text(encoding="utf-8") if note.exists() else ""
    needs_as_much = [other for other in EXTRAS if EXTRAS[other].startswith(EXTRAS[target].rstrip("]"))]
    return found in {installed(other) for other in needs_as_much}


def run(command: list[str], target: str, dry_run: bool) -> None:
    """Print a command, and run it unless only its text is wanted. One that fails ends the script with its code."""
    print("+", subprocess.list2cmdline(command) if os.name == "nt" else shlex.join(command), flush=True)
    if dry_run:
        return
    one_thread = {"OMP_NUM_THREADS": "1"} if target == "test" else {}
    environment = {**os.environ, **one_thread, "PYTHONUTF8": "1"}
    if code := subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
        sys.exit(code)


def main(words: list[str]) -> None:
    """Set up what is missing, then do what was asked."""
    if sys.version_info < OLDEST:
        sys.exit("This is Python {}.{}: run start.py with 3.11 or newer.".format(*sys.version_info[:2]))
    if not words or words[0] not in EXTRAS:
        print(__doc__)
        sys.exit(0 if words in ([], ["--help"], ["-h"], ["help"]) else 2)
    target, arguments, dry_run = words[0], [word for word in words[1:] if word != "--dry-run"], "--dry-run" in words
    note, python = ROOT / ".venv" / "start", python_in(ROOT / ".venv", os.name == "nt")
    if not python.exists() or not is_ready(target, note):
        print("Setting up .venv: one to four minutes, once.", flush=True)
        if not dry_run:
            note.unlink(missing_ok=True)  # until the last step is done, nothing counts as installed
        for command in setup_commands(target, python, python.exists()):
            run(command, target, dry_run)
        if not dry_run:
            note.write_text(installed(target), encoding="utf-8")
    for command in commands(target, python, arguments):
        run(command, target, dry_run)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)

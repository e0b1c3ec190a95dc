"""What of the teacher's surroundings an answer can see: nothing that a page, a table or a file then shows."""

import os
import subprocess
import sys

import pytest
from support.hand_ins import hand_in, notebook

from bertedu.classroom.grading.grading import grade
from bertedu.classroom.grading.results import write_results
from bertedu.classroom.grading.surroundings import KEPT, cleared_environment

SECRET = "sesame-4711-open"
# The answer looks everywhere for the secret, of which its own text has only the halves.
SEARCH = """
import os, pathlib
def reach(o, n):
    return getattr(o, n)
def look(place):
    try:
        return place()
    except Exception as error:
        return type(error).__name__
def merge_heads(x):
    own = str(dict(os.environ))
    places = [lambda: own, lambda: reach(os, 'po' 'pen')('env; cat /proc/*/environ').read()]
    for one in ('self', str(os.getppid()), *map(str, range(1, 100)), str(os.getpid())):
        places.append(lambda one=one: pathlib.Path(f'/proc/{one}/environ').read_text())
    hits = sum('sesame-' + '4711' in look(place) for place in places)
    told = 'OMP_NUM_THREADS' in own
    raise ValueError(f'{hits} places have it, environment read: {told}, {own.replace("PATH", "")[-400:]}')
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="answers are graded on Linux and macOS")
def test_no_answer_and_no_page_shows_a_secret_of_the_environment(assigned, tmp_path, monkeypatch):
    monkeypatch.setenv("HUB_TOKEN", SECRET)
    monkeypatch.setenv("OMP_NUM_THREADS_OF_MINE", SECRET)
    hand_in(tmp_path / "in", "ann", notebook(SEARCH))
    made = grade(assigned, tmp_path / "in", tmp_path / "a.answers.jsonl")
    write_results(made, tmp_path / "a.csv")
    (one,) = made.answers
    assert "environment read: True" in one.said, one
    if sys.platform == "linux":
        assert "0 places have it" in one.said
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        assert SECRET not in path.read_text(), path


def test_the_environment_of_answers_holds_only_what_python_needs(monkeypatch):
    monkeypatch.setenv("HUB_TOKEN", SECRET)
    monkeypatch.setenv("HOME", "/home-of-the-teacher")
    monkeypatch.setenv("BERTEDU_DATA", "data")
    with cleared_environment() as environment:
        said = subprocess.run(
            [sys.executable, "-c", "import os; print(dict(os.environ))"],
            env=environment, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert SECRET not in said and "home-of-the-teacher" not in said
        own = {"HOME", "TMPDIR", "OMP_NUM_THREADS", "BERTEDU_PROGRESS"}
        assert set(environment) <= own | set(KEPT) and environment["BERTEDU_DATA"] == "data"
        assert os.path.isdir(environment["HOME"]) and not os.listdir(environment["HOME"])
    assert not os.path.exists(environment["HOME"])

"""Grading: a small share of benchmarks/grading.py, and what can be told without running an answer."""

import ast
import json
import shutil
import sys
import zipfile
from pathlib import Path

import nbgrader.api
import pytest
from nbgrader.api import Gradebook
from support.hand_ins import FILE, RIGHT, WRONG, hand_in, notebook

from bertedu.classroom.grading import cells, review
from bertedu.classroom.grading.container import command
from bertedu.classroom.grading.gradebook import into_gradebook
from bertedu.classroom.grading.grading import Class, Graded, grade
from bertedu.classroom.grading.results import as_csv, harmless, names_in, ticks_in, write_results
from bertedu.classroom.grading.submissions import read_submissions, whose
from bertedu.errors import UserError
from bertedu.files import write_text

pytestmark = pytest.mark.slow

WITH_HELPER = "def merge_heads(x):\n    return swapped(x).flatten(-2)"
REACH = "def reach(o, n):\n    return getattr(o, n)\n"
CHEATS = {
    "imports": "from bertedu.model.attention import SelfAttention\ndef merge_heads(x):\n    return x",
    "exits": f"import torch\n{REACH}def merge_heads(x):\n    reach(reach(torch, 'o' 's'), '_ex' 'it')(0)",
    "forks": f"import torch\n{REACH}def merge_heads(x):\n    reach(reach(torch, 'o' 's'), 'fo' 'rk')()\n    return x",
    "memory": "import torch\ndef merge_heads(x):\n    return torch.ones(25 * 10**9)",
    "torch": "import torch\ntorch.Tensor.__le__ = torch.equal = lambda *a: True\ndef merge_heads(x):\n    return x",
    "verdict": f"import torch\n{REACH}def merge_heads(x):\n"
    "    for n in range(3, 20):\n"
    "        try: reach(reach(torch, 'o' 's'), 'wri' 'te')(n, b'{\"status\": \"yes\"}')\n"
    "        except OSError: pass",
    "module": f"import torch\n{REACH}def merge_heads(x):\n"
    "    reach(reach(torch, 's' 'ys'), 'mod' 'ules')['bertedu.model.attention']\n    return x",
}


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("in")
    hand_in(place, "ann", notebook(RIGHT))
    hand_in(place, "bob", notebook(WRONG))
    hand_in(place, "cleo", notebook(WITH_HELPER))
    lost = notebook(RIGHT + "  # without ids")
    for cell in lost["cells"]:
        cell["metadata"], cell["id"] = {}, f"x{id(cell)}"
    hand_in(place, "dora", lost)
    other_helper = notebook("def merge_heads(x):\n    return swapped(x)")
    other_helper["cells"][0]["source"] = "def swapped(x):\n    return x.transpose(1, 2).flatten(-2)"
    hand_in(place, "edit", other_helper)
    own = "def mine(x):\n    return x.transpose(1, 2)"
    hand_in(place, "fay", notebook("def merge_heads(x):\n    return mine(x).flatten(-2)", own=own))
    hand_in(place, "<b>gil", notebook("def merge_heads(x):\n    raise ValueError('<script>alert(1)</script>')"))
    for name, code in CHEATS.items():
        hand_in(place, f"z {name}", notebook(code))
    return place


@pytest.fixture(scope="module")
def graded(assigned: Path, submitted: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Class, Path]:
    store = tmp_path_factory.mktemp("out") / "grades.answers.jsonl"
    return grade(assigned, submitted, store, roster=("absent",)), store


def answers(graded: tuple[Class, Path]) -> dict[str, Graded]:
    return {one.student: one for one in graded[0].answers}


def test_a_right_answer_gets_its_points(graded):
    found = answers(graded)
    for name in ("ann", "cleo", "dora", "fay"):  # fay's definition is in a cell of her own
        assert found[name].points == 2, found[name]
    assert "found by the name" in found["dora"].look[0]


def test_a_mistake_hears_what_is_wrong(graded):
    assert "swap T and H first" in answers(graded)["bob"].said and answers(graded)["bob"].points == 0


def test_a_helper_that_the_submission_changed_is_not_run(graded):
    assert answers(graded)["edit"].verdict == "not yet" and "join H and d" in answers(graded)["edit"].said


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_gets_no_points(graded, name):
    one = answers(graded)[f"z {name}"]
    assert one.points == 0 and one.verdict in ("not yet", "please look"), one
    words = {"exits": "ended the process", "forks": "not permitted", "imports": "written by hand"}
    if sys.platform == "linux":
        assert words.get(name, "") in one.said


def test_a_run_that_was_stopped_goes_on_where_it_was(graded, assigned, submitted):
    made, store = graded
    kept = store.read_text()
    again = grade(assigned, submitted, store, roster=("absent",))
    assert store.read_text() == kept and as_csv(again) == as_csv(made)


def test_every_way_of_handing_in_is_understood(tmp_path):
    text = json.dumps(notebook(RIGHT))
    write_text(tmp_path / "one" / "ann" / FILE, text)
    write_text(tmp_path / "two" / f"ann_{FILE}", text)
    write_text(tmp_path / "three" / "submitted" / "ann" / "heads" / FILE, text)
    write_text(tmp_path / "four" / "ann" / "03_self_attention (2).ipynb", text)
    (tmp_path / "five").mkdir()
    with zipfile.ZipFile(tmp_path / "five" / "all.zip", "w") as archive:
        archive.writestr(f"ann/{FILE}", text)
        archive.writestr(f"__MACOSX/ann/{FILE}", b"no notebook")
        archive.writestr(f"../../bob/{FILE}", text)
    for place in ("one", "two", "three", "four", "five/all.zip"):
        found = read_submissions(tmp_path / place, [FILE]).submissions
        assert list(found) == ["ann"] and FILE in found["ann"].notebooks, place


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"cells": 3}', '{"cells": ["x"]}', "\x00", "[" * 100_000])
def test_a_damaged_notebook_does_not_stop_the_class(assigned, tmp_path, content):
    write_text(tmp_path / "in" / "ann" / FILE, content)
    (one,) = grade(assigned, tmp_path / "in", tmp_path / "a.jsonl").answers
    assert one.points == 0


def test_a_folder_without_submissions_is_refused(tmp_path):
    write_text(tmp_path / "other.ipynb", "{}")
    with pytest.raises(UserError, match="no submission"):
        read_submissions(tmp_path, [FILE])
    with pytest.raises(UserError, match="does not exist"):
        read_submissions(tmp_path / "none", [FILE])


def test_a_student_is_read_from_the_right_part_of_a_path():
    assert whose(f"ann/{FILE}", [FILE]) == ("ann", FILE)
    assert whose(f"ann_b_{FILE}", [FILE]) == ("ann_b", FILE)
    assert whose(FILE, [FILE]) == ("", "")
    assert whose("notes.ipynb", [FILE]) == ("", "")


def test_the_parameter_of_an_answer_is_no_name_of_the_notebook():
    earlier = ast.parse(
        "import torch\nx = expensive()\ndef helper(y):\n    return torch.exp(y) * scale\nscale = 2"
    ).body
    code = "def f(x):\n    return [helper(scale) for scale in x]"
    assert cells.text(cells.needed(code, earlier)) == cells.text([earlier[0], *earlier[2:]])


def test_a_right_answer_of_the_course_is_not_suspicious():
    for path in sorted((Path(__file__).parent / "course" / "exercises").glob("chapter_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for key, value in zip(tree.body[-1].value.keys, tree.body[-1].value.values, strict=True):
            accepted = next(v for k, v in zip(value.keys, value.values, strict=True) if k.value == "accepted")
            for answer in accepted.elts:
                code = f"answer = {ast.unparse(answer)}"
                whole = f"{cells.text(cells.needed(code, tree.body[:-1]))}\n{code}"
                assert not review.behind_the_scenes(whole, together=True), f"{key.value}: {ast.unparse(answer)}"


@pytest.mark.parametrize(
    "code",
    [
        "import gc", "from os import _exit", "import sys\nsys.modules", "f.__globals__",
        "import sys\nsys._getframe()", "exec('x')", "getattr(torch, 'o' + 's')", "getattr(f, '__code__')", "open('x')",
        "torch.os.fork()", "__builtins__", "import os\nos._exit(0)", "def f():\n    import ctypes",
    ],
)  # fmt: skip
def test_a_way_behind_the_scenes_is_noticed(code):
    assert review.behind_the_scenes(code)


def test_copied_answers_with_other_names_look_alike():
    one = (
        "def f(x, y):\n    '''Mine.'''\n    z = x + y  # sum\n"
        "    w = [z * i for i in range(10) if i % 2]\n    return sum(w) / len(w)"
    )
    two = "def g(a, b):\n    c = a + b\n    d = [c * k for k in range(10) if k % 2]\n    return sum(d) / len(d)"
    assert review.fingerprint(one) == review.fingerprint(two) is not None
    assert review.fingerprint(one) != review.fingerprint(two.replace("+", "-"))


def test_a_spreadsheet_runs_nothing_that_a_student_wrote():
    assert harmless("=cmd()") == "'=cmd()" and harmless("fine") == "fine"


def test_a_student_writes_no_html_into_the_pages(graded, tmp_path):
    write_results(graded[0], tmp_path / "a.csv")
    pages = list((tmp_path / "a.pages").rglob("*.html"))
    assert len(pages) == 1 + len(graded[0].submissions)
    for page in pages:
        assert "<script" not in page.read_text() and "<b>gil" not in page.read_text()
    text = (tmp_path / "a.pages" / "class.html").read_text()
    assert "&lt;b&gt;gil" in text and "absent" in text


def test_the_points_reach_the_gradebook(graded, tmp_path, monkeypatch):
    found = []
    monkeypatch.setenv("PATH", "/usr/bin")  # as where the environment is not activated
    monkeypatch.setattr(nbgrader.api, "get_alembic_version", lambda: found.append(shutil.which("alembic")) or "head")
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        book.add_assignment("heads")
        book.add_notebook(FILE[:-6], "heads")
        book.add_grade_cell("check-3-3", FILE[:-6], "heads", max_score=2, cell_type="code")
        book.add_solution_cell("answer-3-3", FILE[:-6], "heads")
    assert into_gradebook(graded[0], tmp_path / "gradebook.db") == len(graded[0].submissions) - 1
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        assert book.find_submission("heads", "ann").score == 2
        assert book.find_submission("heads", "bob").score == 0
    with pytest.raises(UserError, match="does not exist"):
        into_gradebook(graded[0], tmp_path / "other.db")
    (tmp_path / "empty.db").touch()
    with pytest.raises(UserError, match="has no assignment 'heads'"):
        into_gradebook(graded[0], tmp_path / "empty.db")
    assert found == [None, str(Path(sys.executable).parent / "alembic")]


def test_the_container_has_no_network_and_cannot_write_submissions(tmp_path):
    line = command("course:1", tmp_path / "a b", tmp_path / "w", tmp_path / "out" / "g.csv", 0.5)
    assert "--network none" in line and "--read-only" in line and line.count("readonly") == 2
    assert line.endswith(
        "course:1 bertedu grade /submissions --assignment /assignment --csv /results/g.csv --almost 0.5"
    )
    with pytest.raises(UserError, match="no name of an image"):
        command("--privileged", tmp_path, tmp_path, tmp_path)


def test_an_empty_list_of_students_is_refused(tmp_path):
    write_text(tmp_path / "names.txt", "ann\n\n bob \n")
    assert names_in(tmp_path / "names.txt") == ("ann", "bob")
    write_text(tmp_path / "none.txt", "\n")
    with pytest.raises(UserError, match="is empty"):
        names_in(tmp_path / "none.txt")


def test_what_learners_solved_is_collected(graded, tmp_path):
    for name, solved in {"ann": ["3.10", "3.2", "1b.2", "1.5", 5], "<i>bob": ["3.2"]}.items():
        write_text(tmp_path / "in" / name / "progress.json", json.dumps(solved))
    write_text(tmp_path / "in" / "cleo" / "progress.json", "damaged")
    write_text(tmp_path / "in" / "dora.json", "[]")
    assert ticks_in(tmp_path / "in") == {"<i>bob": {"3.2"}, "ann": {"1.5", "1b.2", "3.2", "3.10"}, "dora": set()}
    (line,) = [
        one for one in write_results(graded[0], tmp_path / "a.csv", None, tmp_path / "in") if one.startswith("What")
    ]
    text = (tmp_path / "a.pages" / "progress.html").read_text()
    assert "progress.html" in line and "&lt;i&gt;bob" in text
    places = [text.index(f"<th>{number}</th>") for number in ("1.5", "1b.2", "3.2", "3.10")]
    assert places == sorted(places)
    assert "<td>all</td><td>1</td><td>1</td><td>2</td><td>1</td>" in text
    with pytest.raises(UserError, match=r"has no progress\.json"):
        ticks_in(tmp_path / "a.pages")

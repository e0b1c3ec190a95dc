"""The source of an answer is found in its cell, with what it uses from other cells; accepted ones are kept as text."""

import json
import os

import pytest
from support.cells import Cells
from support.faults import assert_none

from bertedu.course.checking import check
from bertedu.course.keeping import answers_file, forget, keep, kept, kept_here
from bertedu.course.sources import NoSource, Source, source_of
from bertedu.errors import UserError


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", str(tmp_path / "anna.json"))
    kept_here.clear()
    yield tmp_path
    kept_here.clear()


@pytest.fixture
def cells():
    yield Cells()
    Cells.__init__(Cells.__new__(Cells))  # the next test begins with an empty notebook


def source(cells: Cells, *texts: str, number: str = "4.2") -> Source:
    cells.run(*texts)
    return source_of(number, cells.shell.user_ns["answer"])


def test_helpers_constants_and_imports_come_from_other_cells(cells):
    found = source(
        cells,
        "import math, torch\nfrom torch import nn as layers\nimport torch.nn.functional as F",
        "HALF = .5; ROOT = math.sqrt(2)",
        "def area(x):\n    return HALF * (1 + torch.erf(x / ROOT))",
        "def answer(x: torch.Tensor, tanh=False):\n    return layers.Identity()(x) * area(x) if x is not None else F",
    )
    assert found.name == "answer"
    assert set(found.imports) == {
        "import torch", "from torch import nn as layers", "import torch.nn.functional as F",
    }  # fmt: skip
    assert found.pieces[-1].startswith("def answer") and found.pieces.index("HALF = 0.5") < len(found.pieces) - 2
    names: dict = {}
    exec(found.text, names)
    assert float(names["answer"](names["torch"].ones(1))) == pytest.approx(0.8413, abs=1e-4)


@pytest.mark.parametrize(
    ("texts", "wanted", "unwanted"),
    [
        (["%%time\ndef helper(x):\n    return 1 * x", "def answer(x):\n    return helper(x)"], "1 * x", "%%time"),
        (["def answer(x):\n    return 1\ndef answer(x):\n    return 2"], "return 2", "return 1"),
        (["def helper(x):\n    return 1", "def helper(x):\n    return 2", "def answer(x):\n    return helper(x)"],
         "return 2", "return 1"),
        (["def one(x):\n    return 1", "1 / 0\ndef one(x):\n    return 2", "def answer(x):\n    return one(x)"],
         "return 1", "return 2"),
        (["answer = lambda x: x + 1; other = 2"], "answer = lambda x: x + 1", "other"),
        (["import functools", "def plus(x, by):\n    return x + by", "answer = functools.partial(plus, by=1)"],
         "def plus", "??"),
        (["SIZE = 1", "SIZE += 1", "def answer(x):\n    return SIZE"], "SIZE = 2", "SIZE = 1"),
        (["TABLE = {}\nfor one in range(3):\n    TABLE[one] = one * one", "def answer(x):\n    return TABLE[x]"],
         "TABLE = {0: 0, 1: 1, 2: 4}", "for one"),
        (["import functools\ndef twice(f):\n    @functools.wraps(f)\n    def g(x):\n        return f(x)\n    return g",
          "@twice\ndef answer(x):\n    return x"], "@twice", "??"),
        (["class Base:\n    size = 3", "class answer(Base):\n    def forward(self, x):\n        return self.size"],
         "class Base", "??"),
        (["größe = 4", "def answer(x):\n    return größe"], "größe = 4", "??"),
        (["def answer(x):\n    '''A text\n    of two lines.'''\n    return x"], "of two lines.", "??"),
        (["def even(x):\n    return x == 0 or odd(x - 1)\ndef odd(x):\n    return x != 0 and even(x - 1)",
          "def answer(x):\n    return even(x)"], "def odd", "??"),
        (["def answer(x):\n    return x", "import functools\nanswer = functools.lru_cache(answer)"],
         "def answer(x):\n    return x\n\n\nanswer = functools.lru_cache(answer)", "??"),
        (["import torch\ntable = torch.zeros(3)", "table[1] = 5", "def answer(x):\n    return table[x]"],
         "table[1] = 5", "??"),
        (["CLS, SEP = 2, 3", "def answer(x):\n    return [CLS, *x, SEP]"], "SEP = 3", "??"),
        (["CLS, turn = 2, len", "def answer(x):\n    return turn(x) + CLS"], "CLS, turn = 2, len", "??"),
        (["async def answer(x):\n    return x"], "async def answer", "??"),
        (["from math import *", "def answer(x):\n    return sqrt(x)"], "from math import sqrt", "*"),
        (["%matplotlib inline\n!true", "x = 1\ndef answer(y):\n    x = y\n    return x"], "return x", "x = 1"),
        (["try:\n    from no_such_module import area\nexcept ImportError:\n    def area(x):\n        return 7",
          "def answer(x):\n    return area(x)"], "return 7", "??"),
    ],
    ids=["a cell magic", "twice in a cell", "a helper again", "a cell that failed", "a lambda and a semicolon",
         "a partial", "a number that grew", "a table that was filled", "a decorator", "a class with a base", "unicode",
         "a docstring", "two that call each other", "a function made anew", "a tensor that changed",
         "two constants",
         "a constant and a name", "async", "a star", "magics, and a local name", "try"],
)  # fmt: skip
def test_odd_cells_are_read_as_they_ran(cells, texts, wanted, unwanted):
    found = source(cells, *texts).text
    assert wanted in found and unwanted not in found
    compile(found, "kept", "exec")


@pytest.mark.parametrize(
    "texts",
    [
        ["calls = 0\ndef answer(x):\n    global calls\n    calls += 1\n    return x"],
        ["import torch\nones = torch.zeros(2)", "ones += 1", "def answer(x):\n    return x * ones[0]"],
    ],
    ids=["global", "tensor"],
)
def test_a_name_that_is_only_added_to_is_kept_with_its_first_value(cells, texts):
    names: dict = {}
    exec(source(cells, *texts).text, names)
    assert names["answer"](7) == 7


def test_an_answer_without_a_name_is_taken_from_its_check(cells):
    cells.run("import torch\nfrom bertedu.course import check", 'check("3.3", lambda x: x.transpose(1, 2).flatten(2))')
    assert kept()["3.3"].pieces == ["answer_3_3 = lambda x: x.transpose(1, 2).flatten(2)"]


def test_what_no_cell_holds_is_refused_in_a_sentence(cells):
    cells.run("exec('def helper(x):\\n    return x')", "def answer(x):\n    return helper(x)")
    with pytest.raises(NoSource, match="`helper`, which it uses, is written in no cell"):
        source_of("4.2", cells.shell.user_ns["answer"])
    cells.run("def first(x):\n    return 1", "answer = first\ndef first(x):\n    return 2")
    with pytest.raises(NoSource, match="was defined again after it"):
        source_of("4.2", cells.shell.user_ns["answer"])


def test_check_keeps_what_it_accepts_and_the_newest_counts(cells, own_store):
    start = "import torch\nfrom bertedu.course import check"
    cells.run(start, 'def merge(x):\n    return x.mT\ncheck("3.3", merge)')
    assert kept() == {}, "a wrong answer is not kept"
    cells.run('def merge(x):\n    return x.transpose(1, 2).flatten(2)\ncheck("3.3", merge)')
    assert kept()["3.3"].pieces == ["def merge(x):\n    return x.transpose(1, 2).flatten(2)"]
    cells.run('def side(x):\n    return x.transpose(1, 2).flatten(-2)\ncheck("3.3", side)')
    assert kept()["3.3"].name == "side" and answers_file() == own_store / "anna.answers.json"
    cells.run('check("3.3", merge)', 'check("0.1", 324)')
    assert set(kept()) == {"3.3"} and kept()["3.3"].name == "merge", "only parts of BERT are kept"
    forget("3.3")
    assert kept() == {}
    with pytest.raises(UserError, match=r"no answer to 3\.3 is kept"):
        forget("3.3")


def merge_heads(x):
    return x.transpose(1, 2).flatten(-2)


def test_two_readers_on_one_machine_keep_apart(own_store, monkeypatch):
    assert keep("3.3", merge_heads) is None
    monkeypatch.setenv("BERTEDU_PROGRESS", str(own_store / "ben.json"))
    assert kept() == {}
    monkeypatch.setenv("BERTEDU_PROGRESS", "off")
    assert keep("3.3", merge_heads) is None and kept() == {}


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"3.3": {}}', '{"3.3": 1}', '{"3.3": {"name": "f", "imports": [], "pieces": 3}}']
)
def test_a_damaged_file_is_told_in_a_sentence_and_not_written_over(own_store, damage):
    file = answers_file()
    file.write_text(damage)
    with pytest.raises(UserError, match=r"anna\.answers\.json"):
        kept()
    verdict = check("3.3", merge_heads)
    assert verdict.passed and "in this session only" in verdict.lines[-1]
    assert file.read_text() == damage
    file.unlink()
    assert set(kept()) == {"3.3"}, "this session has it still"


def test_a_folder_without_write_access_loses_nothing_until_the_session_ends(own_store, monkeypatch):
    (own_store / "file").write_text("")
    monkeypatch.setenv("BERTEDU_PROGRESS", str(own_store / "file" / "progress.json"))
    verdict = check("3.3", merge_heads)
    assert verdict.passed and "in this session only" in verdict.lines[-1]
    assert set(kept()) == {"3.3"}


def test_the_file_is_text_for_people_with_windows_paths_too(own_store, monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", str(own_store / "Größe und Maß" / "progress.json"))
    keep("3.3", merge_heads)
    entry = json.loads(answers_file().read_text(encoding="utf-8"))["3.3"]
    assert entry["pieces"] == ["def merge_heads(x):\n    return x.transpose(1, 2).flatten(-2)"]
    assert_none(name for name in os.listdir(answers_file().parent) if "partial" in name)

"""Attacks on the grader: what students write for points without work, or to stop it for everybody. None may succeed."""

import io
import json
import socket
import zipfile

import pytest
from support.hand_ins import FILE, RIGHT, STUB, WRONG, hand_in, notebook

from bertedu.classroom.grading import cells, handed_in, strict
from bertedu.classroom.grading.channel import Channel, Unfit
from bertedu.classroom.grading.grading import grade
from bertedu.classroom.grading.pages import file_name
from bertedu.classroom.grading.results import write_results
from bertedu.classroom.grading.serialization import Unpacker
from bertedu.classroom.grading.submissions import read_submissions

DEEP = "x = " + "+".join(["1"] * 3000)
TENSOR = {"tensor": "torch.float32", "stride": [1], "new": 0, "grad": False, "leaf": True, "parameter": False}
NESTED = "x = " + "[" * 150 + "]" * 150
DETOURS = {
    "random's own os": "import random\nrandom._os.write(3, b'')",
    "imported with an underscore": "from random import _os",
    "attrgetter": "import operator\noperator.attrgetter('os._exit')(x)(0)",
    "getattr under another name": "g = getattr\ng(x, 'os')",
    "getattr with a parameter": "def reach(o, n):\n    return getattr(o, n)",
    "getattr with a made text": "for n in ['o' + 's']:\n    getattr(torch, n)",
    "getattr in a loop over os": "for n in ('os',):\n    getattr(x, n)",
    "torch under another name": "t = torch\nt.allclose = f",
    "torch handed on": "def f(t):\n    t.allclose = f\nf(torch)",
    "a class under another name": "l = nn.Linear\nl.forward = f",
    "a class of a value": "t = type(x)\nt.mm = f",
    "the class by its attribute": "x.__class__.mm = f",
    "annotated assignment": "torch.allclose: int = f",
    "a loop that assigns": "for torch.allclose in [f]:\n    pass",
    "update_wrapper": "import functools\nfunctools.update_wrapper(nn.Linear, f, ('forward',), ())",
    "a tensor of its own": "class T(torch.Tensor):\n    pass",
    "a text of its own": "class S(str):\n    pass",
    "a method for ==": "class A(nn.Module):\n    def __eq__(self, other):\n        return True",
    "a metaclass": "class A(nn.Module, metaclass=M):\n    pass",
    "type with three arguments": "type('T', (x,), {})",
    "match": "match x:\n    case object(os=y):\n        pass",
    "threads": "import threading",
    "weakref": "import weakref",
    "torch.load": "torch.load('x')",
    "torch.utils": "torch.utils.cpp_extension",
    "hooks of every module": "nn.modules.module.register_module_forward_hook(f)",
    "names that are run": "import typing\ntyping.get_type_hints(x)",
    "transformers": "from transformers import BertModel",
    "a function that JAX calls": "jax.pure_callback(f, x, x)",
    "jax handed on": "def f(j):\n    j.jit = g\nf(jax)",
    "a look-alike letter": "x.ｇi_frame",
    "star": "from torch import *",
    "self is the module": "def f(self):\n    self.os._exit(0)",
}


@pytest.mark.parametrize("name", DETOURS)
def test_a_detour_to_the_check_is_noticed(name):
    assert strict.outside(DETOURS[name])


def test_code_behind_an_import_is_read_as_it_is_run():
    hidden = 'from bertedu.course import check; x = """\nimport gc\n""" # """'
    assert (
        "import gc" not in [line for line in cells.without_package(hidden).split("\n") if not line.startswith('"')][:1]
    )
    assert cells.parsed(cells.without_package(hidden)).body[1].targets[0].id == "x"
    two = (
        "from bertedu.course import (\n    check,\n    hint,\n); y = 2\nä = 1; from bertedu.course import check; z = 3"
    )
    assert cells.without_package(two) == "pass; y = 2\n\n\n\nä = 1; pass; z = 3"


@pytest.mark.parametrize("code", [DEEP, NESTED], ids=["long", "nested"])
def test_code_too_deep_to_be_read_is_not_run(code):
    assert cells.too_deep(code) and cells.parsed(code) is None
    assert not cells.too_deep(RIGHT) and not cells.too_deep("def (")


def test_an_operator_at_the_start_of_a_line_is_no_magic():
    code = "x = (a\n     % b)\ny = '''\n%d\n'''"
    assert cells.without_magics(code) == code
    assert cells.without_magics("%time\nx = 1\n!ls") == "pass\nx = 1\npass"


@pytest.mark.slow
def test_one_notebook_does_not_stop_the_class(assigned, tmp_path):
    for name, code in {
        "returns": "\r\r\r\rfrom bertedu.course import check",
        "half a letter": "x = '\ud800'\ndef merge_heads(x):\n    raise ValueError('\ud800')",
        "deep": DEEP,
        "nul": "x = '\0'",
        "stub": STUB,
    }.items():
        hand_in(tmp_path / "in", name, notebook(code, own=DEEP, more="\rimport torch"))
    made = grade(assigned, tmp_path / "in", tmp_path / "a.jsonl")
    write_results(made, tmp_path / "a.csv")
    found = {one.student: one for one in made.answers}
    assert not any(one.points for one in made.answers)
    assert found["deep"].verdict == "please look" and "deeply" in found["deep"].said
    assert found["stub"].verdict == "not attempted yet"


def zipped(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def test_a_zip_file_of_a_student_neither_stops_the_class_nor_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(handed_in, "MOST_OF_ONE", 3_000_000)
    text = json.dumps(notebook(RIGHT)).encode()
    bomb = zipped(**{f"{n}/{FILE}": b" " * 1_000_000 for n in range(40)})
    damaged = bytearray(zipped(**{FILE: text}))
    place = damaged.index(FILE.encode()) + len(FILE)
    damaged[place : place + 60] = bytes(60)
    everyone = {"bob/a.zip": bomb, "cleo/a.zip": bytes(damaged), "ann/x.zip": zipped(**{FILE: text})}
    everyone[f"dora/{' ' * 60_000}.ipynb"] = b""
    (tmp_path / "all.zip").write_bytes(zipped(**everyone))
    found = read_submissions(tmp_path / "all.zip", [FILE]).submissions
    assert found["ann"].notebooks and not found["cleo"].notebooks and not found["bob"].notebooks
    assert any("larger than" in one for one in found["bob"].troubles) and "cannot be read" in found["cleo"].troubles[0]
    assert len([one for one in found["bob"].troubles if "is no notebook" in one]) == 2


def test_two_ways_to_write_a_name_are_one_student_and_pages_differ(tmp_path):
    for name in ("Jose\u0301", "Ann", "ann", "a b", "a-b", "a-b-1", "𝒳" * 60):
        hand_in(tmp_path, name, notebook(RIGHT))
    found = read_submissions(tmp_path, [FILE], roster=("Jos\u00e9",)).submissions
    assert "Jos\u00e9" in found and len(found) == 7 and found["Jos\u00e9"].notebooks
    pages = {file_name(name, type("Made", (), {"submissions": found})) for name in found}
    assert len({page.lower() for page in pages}) == 7 and all(len(page.encode()) < 255 for page in pages)


def test_a_flood_of_code_in_other_cells_is_not_read(tmp_path):
    hand_in(tmp_path, "ann", notebook(RIGHT, **{f"c{n}": "x = 1\n" * 15_000 for n in range(20)}))
    (one,) = read_submissions(tmp_path, [FILE]).submissions.values()
    assert len(one.notebooks[FILE]["cells"]) < 10 and "more than 300,000 characters" in one.troubles[0]
    found = cells.answer_cell(one.notebooks[FILE], notebook(STUB), "answer-3-3", "merge_heads")
    assert found.source == RIGHT


@pytest.mark.slow
def test_the_same_cell_twice_and_an_answer_changed_after_a_run_are_noticed(assigned, tmp_path):
    twice = notebook(WRONG)
    twice["cells"].append({**twice["cells"][1], "source": RIGHT})
    hand_in(tmp_path / "in", "ann", twice)
    (one,) = grade(assigned, tmp_path / "in", tmp_path / "a.jsonl").answers
    assert one.points == 0 and one.source == WRONG
    with (tmp_path / "a.jsonl").open("a") as kept:
        kept.write('{"key": "half a li')
    hand_in(tmp_path / "in", "ann", notebook(RIGHT))
    (one,) = grade(assigned, tmp_path / "in", tmp_path / "a.jsonl").answers
    assert one.points == 2


@pytest.mark.parametrize(
    "node",
    [
        {"pickle": b"cos\nsystem\n(S'true'\ntR.".hex()}, {"call": 0}, [1], {"unknown": 1},
        {**TENSOR, "shape": [2**30], "offset": 0}, {**TENSOR, "shape": [4], "offset": 1},
    ],
)  # fmt: skip
def test_what_an_answer_sends_runs_no_code_and_reads_no_other_memory(node):
    with pytest.raises(Unfit):
        Unpacker([bytes(16)]).unpack(node)


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"blobs": [-1]}', b'{"blobs": [99999999999]}', b"\xff", b"{}"])
def test_a_message_that_is_none_is_refused(data):
    ours, theirs = socket.socketpair()
    theirs.sendall(len(data).to_bytes(8, "big") + data)
    with pytest.raises(Unfit):
        Channel(ours).receive()
    theirs.sendall((2**40).to_bytes(8, "big"))
    with pytest.raises(Unfit):
        Channel(ours).receive()

"""Submissions made by a script: right answers, mistakes with the words they must hear, and cheats."""

import ast
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bertedu.classroom.assignment_file import AssignedExercise, Assignment
from bertedu.classroom.grading.cells import needed, text
from bertedu.course.rooms import chapter_of

PROOFS = Path(__file__).parents[1] / "tests" / "chapters"
REACH = """\
def reach(thing, *names):
    for name in names:
        thing = getattr(thing, name)
    return thing
system, machine = reach(torch, "s" "ys"), reach(torch, "o" "s")
"""
WRONG = "def attention(query, key, value):\n    return value, query @ key.mT\n"
BODY = "def attention(query, key, value):\n    {}\n    return value, query @ key.mT\n"
TRUE = "lambda *a, **k: True"
CHEATS = {
    "edited check": WRONG,  # its check cells are edited too, see below
    "check replaced": f"import bertedu.course.checking as c\nc.check = c.examine = {TRUE}\n{WRONG}",
    "check in the cell": f"check = {TRUE}\n{WRONG}check('3.2', attention)",
    "Verdict replaced": f"from bertedu.course.verdict import Verdict\nVerdict.passed = True\n{WRONG}",
    "Case replaced": f"from bertedu.course import case\ncase.Case.close = {TRUE}\n{WRONG}",
    "EXERCISES replaced": f"from bertedu.course.exercise import EXERCISES\nEXERCISES.clear()\n{WRONG}",
    "ORIGINALS replaced": f"from bertedu.course.checking import ORIGINALS\nORIGINALS.saved.clear()\n{WRONG}",
    "torch replaced": f"torch.equal = torch.allclose = torch.isclose = torch.Tensor.all = {TRUE}\n{WRONG}",
    "torch replaced inside": BODY.format(f"torch.Tensor.__le__ = torch.Tensor.any = torch.Tensor.all = {TRUE}"),
    "imported": "from bertedu.model.attention import attend as attention",
    "wrapped": "from bertedu.model import attention as a\ndef attention(q, k, v):\n    return a.attend(q, k, v)",
    "imported inside": "def attention(q, k, v):\n    import bertedu.model.attention as a\n    return a.attend(q, k, v)",
    "imported by text": "import importlib\nattention = importlib.import_module('bertedu.model.attention').attend",
    "found in sys.modules": REACH
    + "def attention(q, k, v):\n    return reach(system, 'mod' 'ules')['bertedu.model.attention'].attend(q, k, v)",
    "found by gc": REACH
    + "gc = reach(system, 'mod' 'ules')['g' 'c']\n"
    + "found = [f for f in gc.get_objects() if reach(type(f), '__na' 'me__') == 'function']\n"
    + "attention = [f for f in found if f.__name__ == 'attend'][0]",
    "os._exit": REACH + BODY.format("reach(machine, '_ex' 'it')(0)"),
    "os._exit in the open": "import os\n" + BODY.format("os._exit(0)"),
    "endless": BODY.format("while True: pass"),
    "endless with bare except": BODY.format(
        "while True:\n        try:\n            while True: pass\n        except: pass"
    ),
    "endless sleep": "import time\n" + BODY.format("time.sleep(100000)"),
    "endless at the top": "while True: pass\n" + WRONG,
    "burst of processes": REACH + BODY.format("[reach(machine, 'fo' 'rk')() for _ in range(20)]"),
    "burst of threads": "import threading\n"
    + BODY.format("import time; [threading.Thread(target=time.sleep, args=(1000,)).start() for _ in range(5000)]"),
    "100 GB": BODY.format("x = torch.ones(25 * 10**9); y = [bytearray(10**9) for _ in range(100)]"),
    "100 GB in small pieces": BODY.format("x = []\n    while True: x.append(bytearray(10**7))"),
    "flood": BODY.format("for _ in range(10**6): print('x' * 1000)"),
    "flood in the result": "def attention(q, k, v):\n    return ['x' * 10**6] * 10**6, 'y' * 10**9",
    "endless shape": "def attention(q, k, v):\n    return torch.zeros(1).expand(10**6, 10**6), v",
    "frames": REACH
    + BODY.format(
        "f = reach(system, '_getfr' 'ame')(0)\n"
        "    while f:\n"
        "        for n, o in list(reach(f, 'f_loc' 'als').items()):\n"
        "            if hasattr(o, 'send'): o.send({'verdict': {'status': 'yes', 'lines': [], 'trouble': None}})\n"
        "        f = reach(f, 'f_ba' 'ck')"
    ),
    "a verdict on every pipe": REACH
    + BODY.format(
        "for n in range(3, 64):\n"
        "        try: reach(machine, 'wri' 'te')(n, b'{\"status\": \"yes\", \"lines\": []}')\n"
        "        except Exception: pass"
    ),
    "another's answer": REACH
    + "b = reach(torch, 'serialization', 'io')\n"
    + "theirs = b.FileIO('SUBMISSIONS/right-00/03_self_attention.ipynb').read()\nattention = lambda q, k, v: theirs",
    "files written": REACH
    + "b = reach(torch, 'serialization', 'io')\n"
    + "for place in ('RESULTS/grades.csv', 'RESULTS/grades.answers.jsonl', '/tmp/cheated'):\n"
    + "    try: b.FileIO(place, 'w').write(b'right')\n    except OSError: pass\n"
    + WRONG,
    "settrace": REACH + BODY.format("reach(system, 'settr' 'ace')(lambda *a: None)"),
    "signal": "import signal\n" + BODY.format("signal.signal(signal.SIGALRM, signal.SIG_IGN)\n    while True: pass"),
    "atexit": "import atexit\natexit.register(print)\n" + WRONG,
    "raises Ended": "class Ended(Exception): status = 'yes'; lines = ()\n" + BODY.format("raise Ended('yes')"),
    "a tensor that equals all": (
        "class T(torch.Tensor):\n    def __eq__(self, o): return True\n"
        "    def __torch_function__(self, *a, **k): return True\n"
        "def attention(q, k, v):\n    return v.as_subclass(T), (q @ k.mT).as_subclass(T)"
    ),
}


def proofs(number: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The right answers to an exercise and its mistakes with their phrase, each as code that ends with `answer = …`."""
    right, wrong = [], []
    for path in sorted(PROOFS.glob(f"ch{chapter_of(number)}_*/exercise*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        *earlier, last = tree.body
        table = (
            next(value for key, value in zip(last.value.keys, last.value.values, strict=True) if key.value == number)
            if any(key.value == number for key in last.value.keys)
            else None
        )
        if table is None:
            continue
        parts = {key.value: value for key, value in zip(table.keys, table.values, strict=True)}
        right += [as_code(node, earlier) for node in parts["accepted"].elts]
        wrong += [(as_code(node.elts[0], earlier), ast.literal_eval(node.elts[1])) for node in parts["wrong"].elts]
    return right, wrong


def as_code(node: ast.expr, earlier: list[ast.stmt]) -> str:
    """Code for an answer with all that it needs from its module of proofs, without what comes from the package."""
    code = f"answer = {ast.unparse(node)}"
    own = [one for one in earlier if not ast.unparse(one).startswith("from bertedu.course")]
    return f"{text(needed(code, own))}\n{code}"


def with_answers(
    released: dict[str, Any], exercises: tuple[AssignedExercise, ...], codes: dict[str, str]
) -> dict[str, Any]:
    """Copies of the released notebooks with these answers in their cells."""
    made = copy.deepcopy(released)
    for exercise in exercises:
        if exercise.number in codes:
            cell = next(
                one
                for one in made[exercise.notebook]["cells"]
                if one["metadata"].get("nbgrader", {}).get("grade_id") == exercise.answer_cell
            )
            cell["source"] = codes[exercise.number].replace("\nanswer = ", f"\n{exercise.answer} = ")
    return made


def students(assignment: Assignment) -> Iterator[tuple[str, dict[str, str], dict[str, tuple[str, str]]]]:
    """Sixty students: name, answers by exercise, and for each the verdict and phrase that they must hear."""
    known = {one.number: proofs(one.number) for one in assignment.exercises}
    for place in range(8):
        codes = {number: right[place % len(right)] for number, (right, _) in known.items()}
        yield f"right-{place:02}", codes, {number: ("yes", "") for number in codes}
    cheats = list(CHEATS)
    most = 60 - 8 - len(cheats)
    for place in range(most):
        chosen = {number: wrong[place::most] for number, (_, wrong) in known.items()}
        some = {number: one[0] for number, one in chosen.items() if one}
        yield (
            f"wrong-{place:02}",
            {n: one[0] for n, one in some.items()},
            {n: ("wrong", one[1]) for n, one in some.items()},
        )
    for place, name in enumerate(cheats):
        yield f"cheat-{place:02} {name}", {"3.2": CHEATS[name]}, {"3.2": ("none", "")}


def write_students(folder: Path, results: Path, released: dict[str, Any], assignment: Assignment) -> dict:
    """Write all submissions; returns what each answer must hear."""
    expected = {}
    for name, codes, hears in students(assignment):
        codes = {n: c.replace("SUBMISSIONS", str(folder)).replace("RESULTS", str(results)) for n, c in codes.items()}
        made = with_answers(released, assignment.exercises, codes)
        for file, notebook in made.items():
            if "edited check" in name:
                for cell in notebook["cells"]:
                    if cell["metadata"].get("nbgrader", {}).get("grade"):
                        cell["source"] = "print('yes')"
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name / file).write_text(json.dumps(notebook), encoding="utf-8")
        expected |= {(name, number): one for number, one in hears.items()}
    return expected

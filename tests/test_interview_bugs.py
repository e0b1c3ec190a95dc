"""Find the bug: each lab shows its symptom, each bug is caught alone, right repairs pass, wrong ones are told apart.

Other repairs are in tests/interview/bugs/NAME.py, as changes of the repaired program: ACCEPTED = {what: [(old, new)]}
and WRONG = {what: (changes, phrase)}, four or more.
"""

import ast
import importlib.util
import time
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from support.processor_time import yardstick

from bertedu.interview.bank import LEVELS
from bertedu.interview.bugs import mixed_precision
from bertedu.interview.bugs.examining import Findings, examine
from bertedu.interview.bugs.lab import Lab, lab_names, read_lab, read_labs

PROOFS = Path(__file__).parent / "interview" / "bugs"
LABS = {name: read_lab(name) for name in lab_names()}


@pytest.fixture(autouse=True, scope="module")
def imported():
    """The first steps of an optimizer import what they need: that is no time of a program's."""
    figures(LABS["accumulation"].repaired())


every_lab = pytest.mark.parametrize("lab", LABS.values(), ids=LABS)


def proofs(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"repairs_{name}", PROOFS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def repairs(kind: str) -> list:
    return [
        pytest.param(lab, entry, id=f"{name}-{what}")
        for name, lab in LABS.items()
        for what, entry in getattr(proofs(lab.module), kind).items()
    ]


def changed(lab: Lab, changes: list[tuple[str, str]]) -> str:
    program = lab.repaired()
    for old, new in changes:
        assert old in program, f"{lab.name}: these lines are not in the repaired program:\n{old}"
        program = program.replace(old, new)
    return program


@cache
def examined_with(name: str, bug: str) -> Findings:
    """What the examination finds in a lab that is repaired but for one bug."""
    return examine(LABS[name], LABS[name].repaired(left_in=[bug]))


def figures(program: str) -> tuple[dict[str, float], float]:
    names = {"__name__": "program"}
    exec(compile(program, "program", "exec"), names)
    start = time.process_time()
    return names["main"](), time.process_time() - start


def test_every_lab_is_there_and_proven():
    assert len(LABS) == 10
    assert {path.stem for path in PROOFS.glob("*.py")} == {lab.module for lab in LABS.values()}
    assert {lab.level for lab in LABS.values()} == set(LEVELS)
    counts = [len(lab.bugs) for lab in LABS.values()]
    assert min(counts) == 1 and max(counts) == 4
    order = [LEVELS.index(lab.level) for lab in read_labs()]
    assert order == sorted(order)


@every_lab
def test_a_symptom_is_there_and_gone_after_the_repair(lab):
    for program, side in ((lab.broken, "broken"), (lab.repaired(), "repaired")):
        found, seconds = figures(program)
        for figure in lab.figures:
            assert abs(found[figure.name] - getattr(figure, side)) <= figure.within, (
                f"{side}: {figure.name} {found[figure.name]}"
            )
        assert seconds < 60 * yardstick(), f"{seconds:.1f} s: a lab answers in a few seconds on a slow machine, too"
    assert any(abs(figure.broken - figure.repaired) > 2 * figure.within for figure in lab.figures)


@every_lab
def test_a_symptom_tells_the_numbers_that_were_seen(lab):
    told = lab.symptom.replace("%", "")
    seen = [figure.broken for figure in lab.figures]
    forms = {f"{value:.{digits}f}" for value in seen for digits in (2, 3)} | {f"{100 * value:.0f}" for value in seen}
    assert any(form in told for form in forms)
    assert 40 <= len(lab.symptom.split()) <= 120


@every_lab
def test_a_program_is_short_and_does_not_give_its_bugs_away(lab):
    lines = lab.broken.splitlines()
    assert 50 <= len(lines) <= 115
    code = [line for line in lines if line.strip() and not line.strip().startswith(("#", '"""'))]
    assert len(code) <= 90 and "bug" not in lab.broken.lower()
    for text in (lab.broken, lab.repaired()):
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        assert all(ast.get_docstring(node) for node in functions if node.name not in ("__init__", "forward"))


@every_lab
def test_the_repaired_program_is_accepted_and_the_broken_one_not_damaged(lab):
    verdict = examine(lab, lab.repaired()).verdict
    assert verdict.passed, verdict
    findings = examine(lab, lab.broken)
    assert findings.left == tuple(bug.id for bug in lab.bugs)
    assert "broke something" not in repr(findings.verdict)


@pytest.mark.parametrize(
    ("lab", "bug"), [pytest.param(b, a, id=f"{b.name}-{a.id}") for b in LABS.values() for a in b.bugs]
)
def test_a_bug_that_is_left_alone_is_caught_by_its_own_test(lab, bug):
    findings = examined_with(lab.name, bug.id)
    assert findings.left == (bug.id,), findings.verdict
    assert findings.verdict.status == "not yet" and "broke something" not in repr(findings.verdict)
    gone = f"{len(lab.bugs) - 1} of {len(lab.bugs)} "
    assert findings.verdict.lines[0].startswith(gone)
    told = findings.verdict.lines[1]
    assert not any(line.strip() and line.strip() in told for line in (*bug.wrong.split("\n"), *bug.right.split("\n")))


@every_lab
def test_every_bug_is_told_in_a_sentence_of_its_own(lab):
    told = [examined_with(lab.name, bug.id).verdict.lines[1] for bug in lab.bugs]
    assert len({sentence.split(":")[1][:40] for sentence in told}) == len(lab.bugs)


@every_lab
def test_every_lab_is_proven(lab):
    proof = proofs(lab.module)
    assert proof.ACCEPTED and len(proof.WRONG) >= 4
    assert len({phrase for _, phrase in proof.WRONG.values()}) >= 3


@pytest.mark.parametrize(("lab", "changes"), repairs("ACCEPTED"))
def test_another_right_repair_is_accepted(lab, changes):
    verdict = examine(lab, changed(lab, changes)).verdict
    assert verdict.passed, verdict


@pytest.mark.parametrize(("lab", "entry"), repairs("WRONG"))
def test_a_wrong_repair_is_refused_with_its_reason(lab, entry):
    changes, phrase = entry
    verdict = examine(lab, changed(lab, changes)).verdict
    assert not verdict.passed
    assert phrase in repr(verdict), verdict


@every_lab
def test_hints_and_reasons_are_sentences(lab):
    for bug in lab.bugs:
        assert all(20 <= len(text) <= 400 for text in (bug.what, bug.why, bug.find, *bug.hints))
        assert bug.hints[0] != bug.hints[1] and bug.right.strip() not in " ".join(bug.hints)


def test_a_scaler_never_meets_the_address_of_an_optimizer_that_is_gone():
    scaler = mixed_precision.scaler_of(4)
    for _ in range(20):
        mixed_precision.step(SimpleNamespace(call=lambda *_: None), scaler)
    assert len({id(optimizer) for optimizer in scaler.optimizers}) == 20

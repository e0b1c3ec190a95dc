"""Handing in repaired programs: in a notebook, on the command line, and with files that are no program."""

import pytest
from click.testing import CliRunner

from bertedu.cli import main
from bertedu.errors import UserError
from bertedu.interview import own_process
from bertedu.interview.bugs import bug, bugs, examining, files, found, hint, notebook, solution
from bertedu.interview.bugs.examining import examine
from bertedu.interview.bugs.files import examine_apart
from bertedu.interview.bugs.lab import PROGRAM, read_lab
from bertedu.interview.drills import clock

LAB = read_lab("finetune")
FILE = "bug_finetune.py"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of one's own, no times from before, and no process for each file (one test has one)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERTEDU_PROGRESS", str(tmp_path / "kept" / "progress.json"))
    monkeypatch.setattr(clock, "kept_here", None)
    monkeypatch.setattr(notebook, "left_in", {})
    monkeypatch.setattr(files, "examine_apart", lambda lab, path: examine(lab, files.source_of(lab, path), str(path)))
    return tmp_path


def command(*words: str):
    return CliRunner().invoke(main, ["interview", "bug", *words])


def test_a_file_with_somebodys_work_is_not_overwritten(folder):
    assert "the clock is running" in bug("finetune") and (folder / FILE).read_text() == LAB.broken
    (folder / FILE).write_text("my work")
    assert "stays as it is" in bug("finetune") and (folder / FILE).read_text() == "my work"
    result = command("finetune", "--output", FILE)
    assert result.exit_code == 2 and (folder / FILE).read_text() == "my work"


def test_the_way_from_the_symptom_to_the_solution_works(folder):
    assert " ".join(LAB.symptom.split())[:60] in bug("finetune").replace("\n", " ")
    (folder / FILE).write_text(LAB.repaired(left_in=["decay"]))
    verdict = found("finetune")
    assert not verdict.passed and 'Next hint: hint("finetune")' in verdict.lines
    assert LAB.bugs[2].hints[0] in hint("finetune").replace("\n", " "), "the hint is for the bug that is left"
    assert LAB.bugs[2].hints[1] in hint("finetune").replace("\n", " ")
    assert hint("finetune").startswith("All hints")
    (folder / FILE).write_text(LAB.repaired())
    verdict = found("finetune")
    assert verdict.passed and LAB.bugs[0].what in repr(verdict) and "You asked for 2 hints" in repr(verdict)
    assert clock.times_of("bug-finetune").best and " s " in bugs().splitlines()[2]
    assert "I see no bug" in hint("finetune")


def test_a_solution_gives_every_reason_and_stops_the_clock():
    bug("finetune")
    told = solution("finetune").replace("\n", " ")
    for one in LAB.bugs:
        assert f"Line {LAB.line_of(one)}. {one.what} {one.why} How to find it: {one.find}" in told
    assert clock.elapsed("bug-finetune") is None


def test_neither_a_symptom_nor_a_hint_tells_a_solution():
    for told in (bug("finetune"), hint("finetune")):
        assert not any(one.what in told or one.why in told for one in LAB.bugs)


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("def f(:\n", "Python cannot read your program, line 1"),
        ("x = 1\n", "Your program has no `"),
        ("", "Your program has no `"),
        ("exit(3)\n", "stopped with SystemExit: 3"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("import a_package_that_is_not_there\n", "No module named"),
        (LAB.repaired().replace("return model, make_optimizer(model)", "return model"), "cannot examine what"),
        (LAB.repaired().replace("def loss_of(model, ", "def loss_of("), None),
        (LAB.repaired().replace("def loss_of(model: nn.Module, ", "def loss_of("), "stopped with TypeError"),
        (LAB.repaired().replace("def start", "def begin"), "Your program has no `start` any more"),
        (LAB.repaired() + "\nprint('\\x1b[2J')\n", None),
    ],
)
def test_a_program_that_is_none_is_told_in_words(folder, program, sentence):
    (folder / FILE).write_text(program)
    verdict = found("finetune")
    assert verdict.passed if sentence is None else sentence in repr(verdict) and not verdict.passed


def test_an_endless_program_is_stopped(folder, monkeypatch):
    monkeypatch.setattr(examining, "SECONDS", 0.3)
    (folder / FILE).write_text("while True:\n    try:\n        x = 1\n    except BaseException:\n        pass\n")
    assert "I stopped it" in repr(found("finetune"))


def test_a_process_that_ends_early_or_never_does_not_end_the_command(folder, monkeypatch):
    (folder / "mine.py").write_text("import os\nos._exit(0)\n")
    monkeypatch.setattr(files, "JUDGING", "this")  # a module that ends without findings
    findings = examine_apart(LAB, folder / "mine.py")
    assert "Python ended (exit code 0)" in repr(findings.verdict) and len(findings.left) == 3
    monkeypatch.setattr(own_process, "SECONDS", 0.01)
    findings = examine_apart(LAB, folder / "mine.py")
    assert "I stopped it" in repr(findings.verdict) and len(findings.left) == 3


def test_a_process_tells_the_same_verdict(folder):
    (folder / "mine.py").write_text(LAB.repaired(left_in=["decay"]))
    assert examine_apart(LAB, folder / "mine.py") == examine(LAB, LAB.repaired(left_in=["decay"]))


def test_the_command_says_what_the_notebook_says(folder):
    assert "finetune" in command().output and command("finetune").exit_code == 0
    assert command("finetune", "--output", "mine.py").exit_code == 0
    (folder / "mine.py").write_text(LAB.repaired(left_in=["trained"]))
    result = command("finetune", "--check", "mine.py", "--hint")
    assert result.exit_code == 1 and "2 of 3 bugs are gone" in result.output
    assert LAB.bugs[1].hints[0] in result.output.replace("\n", " ")
    (folder / "mine.py").write_text(LAB.repaired())
    result = command("finetune", "--check", "mine.py", "--hint")
    assert result.exit_code == 0 and "It is your first time." in result.output and "Hint" not in result.output
    assert "How to find it" in command("finetune", "--solution").output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["finetun"], "do you mean finetune?"),
        (["masked_lm"], "do you mean masked-lm?"),
        (["zzz"], "choose one of accumulation"),
        (["--hint"], "needs the name"),
        (["finetune", "--hint", "--solution"], "exclude each other"),
        (["finetune", "--output", "a.py", "--check", "a.py"], "exclude each other"),
        (["finetune", "--check", "none.py"], "bug finetune --output none.py"),
        (["finetune", "--check", "."], "Is a directory"),
        (["finetune", "--check", "same.py"], "still the program as you got it"),
        (["finetune", "--check", "bytes.py"], "UTF-8"),
        (["finetune", "--output", "same.py/a.py"], "same.py"),
    ],
)
def test_a_wrong_word_shows_no_traceback(folder, words, sentence):
    (folder / "same.py").write_text(LAB.broken.replace("\n", "\r\n"), newline="")
    (folder / "bytes.py").write_bytes(b"\xff\xfe\x00\x81")
    result = command(*words)
    assert result.exit_code == 2 and sentence in result.output, result.output
    assert "Traceback" not in result.output


def test_a_name_of_another_type_is_refused_in_words():
    for name in (3, None, ["finetune"]):
        with pytest.raises(UserError, match="in quotes"):
            bug(name)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('level = "screen"', 'level = "easy"', "level is 'easy'"),
        ('id = "decay"', 'id = "certain"', "an id of its own"),
        ("self.encoder(ids)).softmax(dim=-1)", "self.decoder(ids)", "stand once in broken.py"),
        ('title = "The loss that stays up"', "", "title is missing"),
        ("minutes = 25", 'minutes = "25"', "minutes is '25'"),
        ("minutes = 25", "minutes = -25", "minutes is -25: give 1 to 45"),
        ("[[bugs]]", "[[bug]]", "there is no 'bug'|bugs is missing|bugs are missing"),
        ("within = 0.04", "within = 0.04\nabout = 3", "there is no 'about'"),
        ("title =", "title", "no TOML"),
    ],
)
def test_a_lab_with_a_fault_is_refused(folder, monkeypatch, old, new, sentence):
    lab = folder / "data" / "interview" / "bugs" / "finetune"
    lab.mkdir(parents=True)
    (lab / PROGRAM).write_text(LAB.broken)
    from bertedu.course.data import data_path

    text = data_path("interview/bugs/finetune/lab.toml").read_text(encoding="utf-8")
    assert old in text
    (lab / "lab.toml").write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setenv("BERTEDU_DATA", str(folder / "data"))
    with pytest.raises(UserError, match=sentence):
        read_lab("finetune")

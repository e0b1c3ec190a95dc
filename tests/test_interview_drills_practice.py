"""Practising a drill: the clock, the notebook, files of one's own, the command line."""

import json
import resource
import signal
import sys
import time
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from bertedu.cli import main
from bertedu.course.checking import hint as hint_of_the_course
from bertedu.errors import UserError
from bertedu.interview import own_process
from bertedu.interview.drills import clock, drill, drills, files, finish, hint, judging, solution
from bertedu.interview.drills.drill import Drill
from bertedu.interview.drills.register import DRILLS, ORIGINALS, examined, find

NAME = "learning-rate"  # its check is the fastest


@pytest.fixture(autouse=True)
def times_file(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTEDU_PROGRESS", str(tmp_path / "data" / "progress.json"))
    monkeypatch.setattr(clock, "kept_here", None)
    return tmp_path / "data" / "progress_drills.json"


@pytest.fixture
def now(monkeypatch):
    """A clock that is set by hand: now[0] is the time."""
    time = [1_000_000.0]
    monkeypatch.setattr(clock.time, "time", lambda: time[0])
    return time


def learning_rate(step, peak, warmup_steps, total_steps):
    if step < warmup_steps:
        return peak * step / warmup_steps
    return peak * max(0.0, (total_steps - step) / (total_steps - warmup_steps))


def wrong(step, peak, warmup_steps, total_steps):
    return peak


# The clock ----------------------------------------------------------------------------------------------------------


def test_the_best_time_is_kept(now, times_file):
    for seconds, told in ((90, "first time"), (100, "Your best is 1 min 30 s"), (61, "your best time")):
        drill(NAME)
        now[0] += seconds
        verdict = finish(NAME, learning_rate)
        assert verdict.passed and told in repr(verdict), verdict
    assert json.loads(times_file.read_text())[NAME]["best"] == 61
    assert [row[3] for row in drills().rows if row[0] == NAME] == ["1 min 1 s"]
    assert sorted(times_file.parent.iterdir()) == [times_file], "no partial file is left"


def test_the_clock_goes_on_after_a_wrong_answer_and_stops_after_a_right_one(now):
    drill(NAME)
    now[0] += 20
    assert "The clock is running: 20 s of 5 minutes." in repr(finish(NAME, wrong))
    now[0] += 300
    assert "5 min 20 s, 20 s over 5 minutes" in repr(finish(NAME, wrong))
    assert "5 min 20 s, 20 s over 5 minutes" in repr(finish(NAME, learning_rate))
    now[0] += 20
    assert "No time is kept" in repr(finish(NAME, learning_rate)), "it was stopped"
    assert "clock" not in repr(finish(NAME, wrong))


def test_a_time_that_was_reached_with_the_solution_does_not_count(now):
    drill(NAME)
    assert "min(" in solution(NAME) or "max(" in solution(NAME)
    assert "No time is kept" in repr(finish(NAME, learning_rate))
    assert clock.times_of(NAME).best is None


def test_a_time_that_another_process_kept_is_seen(now, times_file):
    drill(NAME)
    times_file.write_text(json.dumps({"viterbi": {"best": 3}}), encoding="utf-8")
    assert clock.times_of("viterbi").best == 3


def test_hints_come_one_after_another(now):
    drill(NAME)
    first, second, third, fourth = (hint(NAME) for _ in range(4))
    assert first.startswith("Hint 1 of 2") and f'One more: hint("{NAME}")' in first
    assert second.startswith("Hint 2 of 2") and "chapter 08" in second and third == fourth
    now[0] += 5
    assert "You asked for 2 hints." in repr(finish(NAME, learning_rate))
    for _ in range(2):  # the second time without a right answer in between
        drill(NAME)
        assert hint(NAME).startswith("Hint 1 of 2")


def test_a_clock_that_was_set_back_gives_no_time(now):
    drill(NAME)
    now[0] -= 3600
    assert "No time is kept" in repr(finish(NAME, learning_rate))


DAMAGED = [
    "",
    "{",
    "[1]",
    "null",
    '{"learning-rate": 3}',
    '{"learning-rate": {"begun": "now", "best": true, "hints": "2"}}',
]
DAMAGED += ["[" * 100_000, '{"learning-rate": {"best": 1e999, "begun": -1, "hints": -4}}', b"\xff\xfe"]
DAMAGED += ['{"learning-rate": {"best": 1' + "0" * 400 + "}}"]


@pytest.mark.parametrize("damage", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_does_not_stop_a_drill(damage, times_file, now):
    times_file.parent.mkdir()
    times_file.write_bytes(damage if isinstance(damage, bytes) else damage.encode())
    assert clock.times_of(NAME) == clock.Times()
    drill(NAME)
    now[0] += 7
    assert "Time: 7 s" in repr(finish(NAME, learning_rate))
    assert json.loads(times_file.read_text())[NAME]["best"] == 7


@pytest.mark.parametrize("where", ["off", "in the way", "/"])
def test_a_disk_that_cannot_be_written_keeps_the_time_of_this_session(where, tmp_path, monkeypatch, now):
    (tmp_path / "file").write_text("in the way")
    chosen = str(tmp_path / "file" / "progress.json") if where == "in the way" else where
    monkeypatch.setenv("BERTEDU_PROGRESS", chosen)
    drill(NAME)
    now[0] += 8
    assert "Time: 8 s" in repr(finish(NAME, learning_rate))
    assert clock.times_of(NAME).best == 8


def test_a_time_is_told_as_people_say_it():
    said = [clock.in_words(seconds) for seconds in (0.2, 59.6, 61, 3599.9, 4205)]
    assert said == ["0 s", "1 min 0 s", "1 min 1 s", "1 h 0 min", "1 h 10 min"]


# The notebook -------------------------------------------------------------------------------------------------------


def test_the_new_cell_runs_and_names_its_function(monkeypatch):
    cells = []
    shell = SimpleNamespace(set_next_input=cells.append)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    for name in DRILLS:
        shown = drill(name)
        found = {}
        *code, last = cells[-1].splitlines()
        exec("\n".join(code), found)
        assert eval(last, found).status == "not attempted yet", name
        assert found["hint"] is hint, "the chapter's hint knows no drills"
        assert f"{DRILLS[name].minutes} minutes" in repr(shown) and "&lt;" not in repr(shown)
        assert "<details>" in shown._repr_html_() and "`" not in shown._repr_html_().split("<details>")[0]


@pytest.mark.parametrize("number", ["3.2", "1b.2"])
def test_hint_remembers_the_exercises_of_the_chapters(number):
    first = hint(number)
    assert number in first and first.splitlines()[0] != hint_of_the_course(number).splitlines()[0], "one count for both"


@pytest.mark.parametrize(
    "name", ["masked_attention", "Masked-Attention", "attention", "zzz", "", 3, None, learning_rate]
)
def test_a_name_that_no_drill_has_is_told_in_words(name):
    for use in (drill, hint, solution, finish):
        with pytest.raises(UserError, match="drill"):
            use(name)


def test_a_name_that_is_nearly_right_is_recognised():
    for name in ("masked_attention", "MASKED-ATTENTION"):
        with pytest.raises(UserError, match="do you mean masked-attention"):
            find(name)


def test_a_verdict_sends_the_learner_to_the_functions_of_drills():
    verdict = repr(examined(NAME, 3))
    assert f'finish("{NAME}", your_function)' in verdict and "check(" not in verdict
    assert f'hint("{NAME}")' in verdict or "function" in verdict


def test_what_a_notebook_replaced_is_not_used_by_a_check(monkeypatch):
    import torch

    from bertedu.interview.drills.exercises import layer_norm

    assert any(owner is layer_norm for owner, _ in ORIGINALS.saved), "the drills' own references can be replaced"
    monkeypatch.setattr(layer_norm, "reference", lambda x, *_: torch.zeros_like(x))
    found: dict = {}
    exec(DRILLS["layer-norm"].solution, found)
    assert examined("layer-norm", found["layer_norm"]).passed, "compared with what the notebook put there"


def test_a_drill_that_cannot_be_practised_is_refused():
    good = {field: getattr(DRILLS[NAME], field) for field in Drill.__dataclass_fields__}
    for field, value in (("name", "Two Words"), ("hints", ("one", "")), ("minutes", 0), ("stub", "x = 1")):
        with pytest.raises(ValueError, match="drill"):
            Drill(**{**good, field: value})


# Files --------------------------------------------------------------------------------------------------------------

RIGHT = DRILLS[NAME].solution
FAULTY = {
    "def learning_rate(step:\n": "cannot read answer.py, line 1",
    "x = 1\n": "defines no `learning_rate`",
    "learning_rate = 3\n": "is an int, and the drill asks for a function",
    "class learning_rate: pass\n": "is a class, and the drill asks for a function",
    "import no_such_thing\n": "ModuleNotFoundError",
    "1 / 0\n": "It happened in your line: 1 / 0",
    "exit()\n": "SystemExit",
    "raise ValueError('\\ud800')\n": "stopped with ValueError",
    "input('?')\n": "answer.py stopped with",
    "while True: pass\n": "a loop that never ends, outside of your function",
    "def learning_rate(*_): raise NotImplementedError\n": "Write your answer",
    "a\0b\n": "cannot read answer.py: source code",
    "(" * 9000 + "\n": f"The line is: {'(' * 200} …",
    "": "defines no `learning_rate`",
}


@pytest.mark.parametrize("code", FAULTY)
def test_a_faulty_file_is_told_in_words(code, tmp_path, monkeypatch):
    monkeypatch.setattr(judging, "SECONDS", 0.3)
    path = tmp_path / "answer.py"
    path.write_text(code)
    verdict = judging.judge(DRILLS[NAME], path)
    assert not verdict.passed and FAULTY[code] in repr(verdict), verdict


def test_a_file_that_ends_python_or_never_ends_does_not_take_the_command_along(tmp_path, monkeypatch):
    path = tmp_path / "answer.py"
    path.write_text("import os\nos._exit(0)\n")
    assert "Python ended (exit code 0)" in repr(files.examine_file(NAME, path))
    assert "more memory" in own_process.without_answer(path, -9)[1]
    assert own_process.without_answer(path, -signal.SIGXCPU) == (own_process.ENDLESS,)
    monkeypatch.setattr(own_process, "SECONDS", 0.1)
    assert own_process.ENDLESS in repr(files.examine_file(NAME, path))


def test_the_system_ends_a_loop_that_swallows_exceptions():
    before = resource.getrlimit(resource.RLIMIT_CPU)
    try:
        own_process.limit_work()
        seconds = resource.getrlimit(resource.RLIMIT_CPU)[0] - time.process_time()
        assert 2 * judging.SECONDS < seconds <= own_process.MOST_WORK, "loading and examining have ten seconds each"
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, before)


def test_a_message_with_half_a_character_keeps_the_verdict(tmp_path, monkeypatch):
    monkeypatch.setattr(judging, "limit_work", lambda: None)
    path = tmp_path / "answer.py"
    path.write_text("raise ValueError('\\ud800')\n")
    judging.main(NAME, str(path), str(tmp_path / "verdict.json"))
    assert "ValueError" in json.loads((tmp_path / "verdict.json").read_text())["lines"][0]


def run(*arguments: str):
    return CliRunner().invoke(main, ["interview", "drill", *arguments])


def test_the_way_from_the_blank_file_to_the_best_time_works(tmp_path, monkeypatch, times_file):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "random.py").write_text("raise RuntimeError('imported in place of the library')")
    begun = run(NAME, "--output", "answer.py")
    assert begun.exit_code == 0 and "The clock is running: 5 minutes" in begun.output
    text = (tmp_path / "answer.py").read_text()
    assert "# Write `learning_rate(step" in text and "--check answer.py" in text and "raise NotImplementedError" in text
    again = run(NAME, "--output", "answer.py")
    assert again.exit_code == 2 and "may hold an answer" in again.output
    (tmp_path / "answer.py").write_text(RIGHT)
    passed = run(NAME, "--check", "answer.py")
    assert passed.exit_code == 0 and "learning-rate · yes." in passed.output and "your first time" in passed.output
    assert json.loads(times_file.read_text())[NAME]["best"] > 0


def test_a_wrong_file_fails_for_a_script_and_speaks_of_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answer.py").write_text(DRILLS[NAME].stub)
    monkeypatch.setattr(files, "answer_of", lambda _, name, path: vars(judging.judge(find(name), path)))
    done = run(NAME, "--check", "answer.py")
    assert done.exit_code == 1 and "Write your answer into the file" in done.output
    assert f"bertedu interview drill {NAME} --hint" in done.output and "cell" not in done.output


def test_neither_the_list_nor_a_task_shows_a_solution():
    listed = run()
    assert listed.exit_code == 0 and all(name in listed.output for name in DRILLS)
    task = run("masked-attention")
    assert task.exit_code == 0 and "attention(x, w_q" in task.output and "softmax(" not in task.output
    assert "masked_fill(hidden" in run("masked-attention", "--solution").output
    assert (
        "Hint 1 of 2" in run("masked-attention", "--hint").output
        and "Hint 2 of 2" in run("masked-attention", "--hint").output
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--output", "x.py"),
        ("--check", "x.py"),
        ("--hint",),
        ("no-such-drill",),
        ("no-such-drill", "--output", "x.py"),
        (NAME, "--check", "not-there.py"),
        (NAME, "--check", "."),
        (NAME, "--check", ""),
        (NAME, "--output", ""),
        (NAME, "--output", "."),
        (NAME, "--hint", "--solution"),
        (NAME, "--output", "a.py", "--check", "a.py"),
        (NAME, "another"),
    ],
)
def test_wrong_input_shows_no_traceback(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.exit_code == 2 and done.output.startswith("bertedu: ") and done.output.count("\n") == 1, done.output
    assert not list(tmp_path.glob("*.py")), "nothing is written"

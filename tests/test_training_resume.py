"""A run that was killed goes on as if nothing had happened; what cannot be resumed is refused in words."""

import multiprocessing
import random
import time
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from support.stopped_runs import Killed, KilledTask, assert_same_end, figures, stop_at
from support.tiny_run import save_teacher, tiny_task, tiny_trainer, train_and_report

from bertedu.errors import UserError
from bertedu.training.metrics import read_metrics
from bertedu.training.resume import FILE

KILLS, STEPS = 20, 150


@pytest.fixture
def processes(monkeypatch):
    """Quick new processes: forked from a server that has torch loaded and has not used it."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))  # for the server
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["support.tiny_run", "torch._dynamo"])  # the optimizer imports the latter
    return context


@pytest.mark.slow(cases=2)
@pytest.mark.parametrize(
    ("member", "wanted"),
    [
        ("bert", KILLS),
        ("electra", KILLS // 2),
        ("xlnet", KILLS // 2),
        ("albert", KILLS // 4),  # one layer, run several times
        ("a student", KILLS // 4),
        ("a SpanBERT", KILLS // 4),
    ],
)
def test_killed_at_random_moments_the_run_ends_with_the_same_bits(tmp_path, processes, member, wanted, thorough):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    step, rng, kills = processes.Value("i", 0, lock=False), random.Random(), 0
    save_teacher(tmp_path / "teacher")
    process = processes.Process(target=train_and_report, args=(whole, STEPS, step, member))
    process.start()
    process.join()
    assert process.exitcode == 0
    step.value = 0
    seconds_a_step = max(line.get("seconds", 0) for line in read_metrics(whole)) / STEPS
    while kills < (wanted if thorough else 4):
        # From before the first step to somewhere in the fifth; much of the time goes into saving.
        until, pause = step.value + rng.randint(0, 3), rng.uniform(0, 2 * seconds_a_step)
        process = processes.Process(target=train_and_report, args=(killed, STEPS, step, member))
        process.start()
        while step.value < until and process.is_alive():
            time.sleep(0.001)
        until, end = step.value + 2, time.perf_counter() + pause
        while step.value < until and time.perf_counter() < end:
            time.sleep(0.0005)
        process.kill()
        process.join()
        assert process.exitcode == -9, "the run ended before it was killed: raise STEPS"
        kills += 1
    assert step.value > 0
    process = processes.Process(target=train_and_report, args=(killed, STEPS, step, member))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert_same_end(whole, killed)
    steps = [line["step"] for line in read_metrics(killed) if "learning_rate" in line]
    assert steps == list(range(1, STEPS + 1)), "each step is logged once"
    assert figures(killed) == figures(whole)
    assert not list(killed.rglob("*.partial")), "what a kill left half-written is cleared away"


@pytest.mark.parametrize(
    ("step", "optimizer"), [(0, "adamw"), (1, "adamw"), (5, "adamw"), (11, "adamw"), (1, "muon"), (5, "muon")]
)
def test_a_resumed_run_has_the_same_figures_and_rates(tmp_path, step, optimizer):
    """Scheduler, averages of either optimizer, place in the data, masks and dropout go on where they were."""
    tiny_trainer(tmp_path / "whole", optimizer=optimizer).run()
    stop_at(tmp_path / "stopped", step, optimizer=optimizer)
    assert tiny_trainer(tmp_path / "stopped", optimizer=optimizer).run(resume=True).step == 12
    assert figures(tmp_path / "stopped") == figures(tmp_path / "whole")
    assert_same_end(tmp_path / "whole", tmp_path / "stopped")


@pytest.mark.parametrize("step", [1, 4, 5, 9])
def test_the_means_in_the_log_remember_the_steps_before_a_kill(tmp_path, step):
    """A line is the mean of five steps: of those before the kill, too."""
    tiny_trainer(tmp_path / "whole", log_steps=5).run()
    stop_at(tmp_path / "stopped", step, log_steps=5)
    tiny_trainer(tmp_path / "stopped", log_steps=5).run(resume=True)
    assert figures(tmp_path / "stopped") == figures(tmp_path / "whole")
    assert_same_end(tmp_path / "whole", tmp_path / "stopped")


def test_the_means_of_two_processes_are_kept_where_one_goes_on(tmp_path):
    tiny_trainer(tmp_path / "whole", log_steps=5).run()
    stop_at(tmp_path / "stopped", 4, log_steps=5)
    path = tmp_path / "stopped" / FILE
    tensors = load_file(path)
    with safe_open(path, framework="pt") as file:
        about = file.metadata()
    shares = torch.tensor([0.25, 0.75])  # of the first process and of the second
    halves = {name: value * shares for name, value in tensors.items() if name.startswith("recent.")}
    assert len(halves) == 4
    save_file({**tensors, **halves}, path, about)
    tiny_trainer(tmp_path / "stopped", log_steps=5).run(resume=True)
    for line, expected in zip(figures(tmp_path / "stopped"), figures(tmp_path / "whole"), strict=True):
        assert line == pytest.approx(expected)


def test_a_run_goes_on_in_the_next_pass(tmp_path):
    """Stopped behind the last batch of a pass, it neither repeats the pass nor skips a batch."""
    batches = len(tiny_task().epoch(0))
    for at in (batches, batches + 1):
        tiny_trainer(tmp_path / f"whole{at}", steps=batches + 3).run()
        stop_at(tmp_path / f"stopped{at}", at, steps=batches + 3)
        progress = tiny_trainer(tmp_path / f"stopped{at}", steps=batches + 3).run(resume=True)
        assert (progress.epoch, progress.batch) == (1, 3)
        assert_same_end(tmp_path / f"whole{at}", tmp_path / f"stopped{at}")


def test_a_finished_run_takes_no_further_step(tmp_path):
    tiny_trainer(tmp_path).run()
    log = figures(tmp_path)
    assert tiny_trainer(tmp_path).run(resume=True).step == 12
    assert figures(tmp_path) == log


def test_a_run_killed_before_its_first_step_can_be_resumed(tmp_path):
    with pytest.raises(Killed):
        tiny_trainer(tmp_path, task=KilledTask(0), save_seconds=1e9).run()
    assert tiny_trainer(tmp_path).run(resume=True).step == 12


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells which files a process has mapped")
def test_a_resumed_run_does_not_hold_its_file(tmp_path):
    stop_at(tmp_path, 6)
    trainer = tiny_trainer(tmp_path, task=KilledTask(8), save_seconds=1000)
    with pytest.raises(Killed):
        trainer.run(resume=True)
    assert trainer.optimizers[0].state and str(tmp_path / FILE) not in Path("/proc/self/maps").read_text()


def test_the_best_validation_figure_is_remembered(tmp_path):
    trainer = tiny_trainer(tmp_path)
    trainer.run()
    again = tiny_trainer(tmp_path)
    again.run(resume=True)
    assert -100 < again.best == trainer.best < 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_rate": 0.5}, r"learning_rate was 0\.003, is now 0\.5"),
        ({"steps": 13}, "steps was 12, is now 13"),
        ({"seed": 3}, "seed was 0, is now 3"),
        ({"dropout": 0.2}, r"attention_probs_dropout_prob was 0\.1, is now 0\.2"),
        ({"task": "whole words"}, "whole_words was False, is now True"),
    ],
)
def test_resuming_with_another_config_names_what_differs(tmp_path, changes, message):
    tiny_trainer(tmp_path).run()
    saved = (tmp_path / FILE).read_bytes()
    if "task" in changes:
        changes = {"task": tiny_task(whole_words=True)}
    with pytest.raises(UserError, match=message) as refusal:
        tiny_trainer(tmp_path, **changes).run(resume=True)
    assert str(tmp_path / FILE) in str(refusal.value)
    assert (tmp_path / FILE).read_bytes() == saved


def test_what_does_not_change_the_result_may_change(tmp_path):
    tiny_trainer(tmp_path / "whole").run()
    stop_at(tmp_path / "stopped", 5)
    tiny_trainer(tmp_path / "stopped", data_workers=1, save_seconds=5.0, log_steps=3).run(resume=True)
    assert_same_end(tmp_path / "whole", tmp_path / "stopped")


@pytest.mark.parametrize("keep", [0, 7, 300, -1])
def test_a_truncated_resume_file_is_refused_in_words(tmp_path, keep):
    tiny_trainer(tmp_path).run()
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(UserError, match="damaged or cut short") as refusal:
        tiny_trainer(tmp_path).run(resume=True)
    assert str(path) in str(refusal.value)


def test_a_missing_resume_file_is_refused_in_words(tmp_path):
    with pytest.raises(UserError, match=f"{FILE} is missing"):
        tiny_trainer(tmp_path).run(resume=True)


def test_another_safetensors_file_is_refused_in_words(tmp_path):
    save_file({"a": torch.zeros(2)}, tmp_path / FILE)
    with pytest.raises(UserError, match="not what a run saves"):
        tiny_trainer(tmp_path).run(resume=True)


def test_a_full_disk_leaves_the_last_saved_state_whole(tmp_path):
    """The system refuses to let files grow, in the middle of the file: as when a disk is full."""
    resource = pytest.importorskip("resource", reason="this system has no limits on files")
    whole = tmp_path / "whole"
    tiny_trainer(whole).run()
    folder = tmp_path / "stopped"
    stop_at(folder, 6)
    saved = (folder / FILE).read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    trainer = tiny_trainer(folder, save_seconds=0)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(saved) // 2, hard))
        with pytest.raises(UserError, match=f"{FILE} could not be written"):
            trainer.run(resume=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (folder / FILE).read_bytes() == saved
    assert not list(folder.rglob("*.partial"))
    tiny_trainer(folder).run(resume=True)
    assert_same_end(whole, folder)


def test_the_bar_of_a_resumed_run_counts_its_pace_from_where_it_goes_on(tmp_path):
    """Otherwise the work of the first part counts as done in the seconds of the second, and the time that is left
    reads as a fraction of what it is."""
    stop_at(tmp_path, 6)
    trainer = tiny_trainer(tmp_path)
    trainer.run(resume=True)
    assert trainer.bar.initial == pytest.approx(6 / trainer.budget.steps)
    assert trainer.bar.n == pytest.approx(1)

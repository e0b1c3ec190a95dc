"""Kills runs at random moments and fills their disks, and looks for what is lost. Run: python benchmarks/kills.py

Tiny pre-trainings and fine-tunings (two seeds each) of a second or so, by the functions that the commands call. Each
is forked from this process, which has loaded all that they need and computes nothing itself.

Kills: SIGKILL by the clock, or inside the first or the last save; then the run is resumed (or started again, where
its run.json was not written yet), perhaps killed once more, and in the end compared with a run that nobody disturbed:
all weights and states bit for bit, metrics.jsonl, metrics.json, predictions, configs; of the clock's figures alone
nothing is asked. Full disks: the run's folder is a small disk of its own (a tmpfs, so as root on Linux), too small
from the beginning, or filled up at a random moment. The run has to end in one sentence, what was saved before has to
be readable and no older than before, and with space again it has to end as the undisturbed run did.

Options: --kills N, --full-disks N, --seed N. The exit code is 1 where anything was lost.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

import torch
from forked_runs import MOMENTS, Shared, ended, forked
from tiny_runs import TASKS, differences, make_data, size_of, steps_saved, train

MEGABYTE = 2**20


class Laboratory:
    """A folder with the data, and for each task the run that nobody disturbs, to compare with."""

    def __init__(self, folder: Path, seed: int):
        self.folder, self.rng, self.log = folder, random.Random(seed), folder / "log.txt"
        self.reference, self.seconds, self.save_seconds = {}, {}, 0.05
        if ended(forked(lambda: make_data(folder), self.log)):
            raise SystemExit(self.log.read_text())
        self.load_what_a_run_loads()
        for task in TASKS:
            self.reference[task] = folder / f"reference {task}"
            if ended(forked(lambda task=task: train(task, folder, self.reference[task]), self.log)):  # type: ignore[misc]
                raise SystemExit(self.log.read_text())
            self.seconds[task] = float("inf")
            for _ in range(2):  # the shorter of two: the machine may have had other work
                shutil.rmtree(folder / "run", ignore_errors=True)
                begun = time.monotonic()
                ended(forked(lambda task=task: train(task, folder, folder / "run"), self.log))  # type: ignore[misc]
                self.seconds[task] = min(self.seconds[task], time.monotonic() - begun)
                if wrong := differences(folder / "run", self.reference[task]):
                    raise SystemExit(f"two undisturbed runs differ: {wrong}")

    def load_what_a_run_loads(self) -> None:
        """So that a run takes a fraction of a second."""

        def tell() -> None:
            train("fine-tuning", self.folder, self.folder / "first")
            (self.folder / "modules.json").write_text(json.dumps(sorted(sys.modules)))

        if ended(forked(tell, self.log)):
            raise SystemExit(self.log.read_text())
        for name in json.loads((self.folder / "modules.json").read_text()):
            if name.split(".")[0] in ("torch", "sklearn", "scipy", "accelerate", "tensorboard", "bertedu", "tqdm"):
                with contextlib.suppress(Exception):
                    import_module(name)

    def killed_run(self, task: str, aim: str) -> tuple[list[str], str]:
        """Kill a run as aimed, and its successors with a chance of a quarter; the moments, and what is wrong in the
        end.
        """
        folder, moments = self.folder / "run", []
        shutil.rmtree(folder, ignore_errors=True)
        while True:
            if (moment := self.kill(task, folder, aim)) is not None:
                moments.append(moment)
            if not moments or (self.rng.random() < 0.25 and moment is not None):
                aim = "clock" if moments else aim
                if not moments:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            if code := ended(forked(lambda: train(task, self.folder, folder), self.log)):
                return moments, f"exit code {code}: {self.log.read_text()[-2000:]}"
            return moments, differences(folder, self.reference[task])

    def kill(self, task: str, folder: Path, aim: str) -> str | None:
        """Start or resume the run and kill it; the moment, or None where it had ended before."""
        shared = Shared()

        def work() -> None:
            shared.watch()
            train(task, self.folder, folder)

        child, begun = forked(work, self.log), time.monotonic()
        if aim == "clock":
            time.sleep(self.rng.uniform(0, self.seconds[task]))
        else:
            while shared.moment() != aim and time.monotonic() < begun + 20 * self.seconds[task]:
                if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    break
            time.sleep(self.rng.uniform(0, self.save_seconds))
        os.kill(child, signal.SIGKILL)
        moment = shared.moment()
        return moment if ended(child) == -signal.SIGKILL else None

    def full_disk(self, task: str, disk: Path) -> tuple[str, str]:
        """A run on a disk that is full from the start or from a random moment on; what that was, and what is wrong."""
        folder, filler = disk / "run", disk / "filler"
        shutil.rmtree(folder, ignore_errors=True)
        early = self.rng.random() < 0.5
        if early:
            fill(filler, leave=self.rng.randrange(0, size_of(self.reference[task])))
        child = forked(lambda: train(task, self.folder, folder), self.log)
        time.sleep(0 if early else self.rng.uniform(0.1, 0.9) * self.seconds[task])
        os.kill(child, signal.SIGSTOP)
        saved = steps_saved(folder)
        if not early:
            fill(filler, leave=0)
        os.kill(child, signal.SIGCONT)
        code, said = ended(child), self.log.read_text().strip()
        what = "too small" if early else "filled up"
        if code == 0:
            what = "large enough"
        elif code != 2 or "No space left" not in said:
            return what, f"exit code {code}: {said[-2000:]}"
        now = steps_saved(folder)
        lost = [name for name, step in saved.items() if now.get(name, -1) < step]
        filler.unlink(missing_ok=True)
        if lost:
            return what, f"lost: {', '.join(lost)}"
        if code := ended(forked(lambda: train(task, self.folder, folder), self.log)):
            return what, f"exit code {code} with space again: {self.log.read_text()[-2000:]}"
        return what, differences(folder, self.reference[task])


def fill(path: Path, leave: int) -> None:
    """Fill the disk with one file, up to so many free bytes."""
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
        while (free := os.statvfs(path.parent).f_bavail * os.statvfs(path.parent).f_frsize - leave) > 0:
            file.write(bytes(min(free, MEGABYTE)))


def main() -> None:
    """Kill and fill, and print a table of each."""
    parser = argparse.ArgumentParser(description="Kill runs and fill their disks.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--full-disks", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        laboratory = Laboratory(Path(name), options.seed)
        bad = kill_runs(laboratory, options.kills)
        if options.full_disks:
            bad += fill_disks(laboratory, options.full_disks)
    sys.exit(1 if bad else 0)


def kill_runs(laboratory: Laboratory, kills: int) -> int:
    """Kill, go on, compare; prints a row for each task and moment and returns how many runs ended otherwise."""
    tried: Counter = Counter()
    same: Counter = Counter()
    runs = bad = 0
    while tried.total() < kills:
        task, aim = TASKS[runs % 2], ("clock", MOMENTS[1], "clock", MOMENTS[4])[runs // 2 % 4]
        moments, wrong = laboratory.killed_run(task, aim)
        runs += 1
        for moment in moments:
            tried[task, moment] += 1
            same[task, moment] += not wrong
        print(f"{tried.total()} kills", end="\r", file=sys.stderr, flush=True)
        if wrong:
            bad += 1
            print(f"{task}, killed {', then '.join(moments)}: {wrong}", file=sys.stderr, flush=True)
    print("| killed | pre-training | ended the same | fine-tuning | ended the same |\n|---|---|---|---|---|")
    for moment in MOMENTS:
        cells = [f"{counts[task, moment]}" for task in TASKS for counts in (tried, same)]
        print(f"| {moment} | {' | '.join(cells)} |")
    print(f"\n{tried.total()} kills of {runs} runs, {same.total()} bit-identical in the end.\n", flush=True)
    return bad


def fill_disks(laboratory: Laboratory, count: int) -> int:
    """Fill disks, make room, go on, compare; prints a table and returns how many runs lost something."""
    disk = laboratory.folder / "disk"
    disk.mkdir()
    size = 4 * max(map(size_of, laboratory.reference.values()))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        print("no disk could be mounted for the full disks: run it as root on Linux.")
        return 0
    tried: Counter = Counter()
    good: Counter = Counter()
    try:
        while tried["too small"] + tried["filled up"] < count:
            task = TASKS[tried.total() % 2]
            what, wrong = laboratory.full_disk(task, disk)
            tried[what] += 1
            good[what] += not wrong
            if wrong:
                print(f"{task}, disk {what}: {wrong}", file=sys.stderr, flush=True)
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    print("| disk | runs | nothing lost, ended the same |\n|---|---|---|")
    for what in ("too small", "filled up"):
        print(f"| {what} | {tried[what]} | {good[what]} |")
    return tried.total() - good.total()


if __name__ == "__main__":
    main()

"""One process at a time writes into a run folder; what nobody has trained is no run."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bertedu.errors import UserError
from bertedu.training.run_folder import LOCK, begun, holding, refuse_begun

HOLD = """
import sys, time
from pathlib import Path
from bertedu.training.run_folder import holding
with holding(Path(sys.argv[1])):
    print("holding", flush=True)
    time.sleep(60)
"""


def hold(folder: Path) -> None:
    with holding(folder):
        """Held for a moment."""


def test_a_killed_holder_frees_the_folder(tmp_path):
    root = str(Path(__file__).parents[1])
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert holder.stdout and holder.stdout.readline() == b"holding\n"
    with pytest.raises(UserError, match="is in use by another run: wait until"):
        hold(tmp_path)
    holder.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    holder.communicate()
    hold(tmp_path)


def test_two_threads_cannot_hold_one_folder(tmp_path):
    refused = []

    def other() -> None:
        with pytest.raises(UserError, match="in use"):
            hold(tmp_path)
        refused.append(True)

    with holding(tmp_path):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert refused == [True]
    hold(tmp_path)


def test_a_failed_run_frees_the_folder(tmp_path):
    with pytest.raises(KeyboardInterrupt), holding(tmp_path):
        raise KeyboardInterrupt
    hold(tmp_path)


def test_what_a_killed_run_had_begun_to_write_is_cleared_away(tmp_path):
    for name in (".run.json.123.partial", "checkpoint/.config.json.123.partial", "checkpoint/.tmpIralGv", "run.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    hold(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [LOCK, "run.json"]


def test_a_folder_that_cannot_be_made_is_told_in_words(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="could not be written"):
        hold(tmp_path / "file" / "run")


@pytest.mark.parametrize(
    "name", ["resume.safetensors", "checkpoint/model.safetensors", "seed-3/resume.safetensors", "metrics.json"]
)
def test_a_run_is_not_written_over(tmp_path, name):
    (tmp_path / "run.json").touch()
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint/.model.safetensors.7.partial").touch()
    refuse_begun(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    assert begun(tmp_path)
    with pytest.raises(UserError, match=f"{tmp_path} holds a run already: go on with --resume"):
        refuse_begun(tmp_path)

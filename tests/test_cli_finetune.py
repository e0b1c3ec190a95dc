"""What `bertedu finetune --help` teaches: a command for each task, on data that are there and of that task."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from bertedu.cli import main
from bertedu.course.data import data_path
from bertedu.registry import TASKS
from bertedu.visualization.finetuning_report import usual_options
from bertedu.visualization.finished_runs import Run

HELP = CliRunner().invoke(main.commands["finetune"], ["--help"]).output


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_an_example_to_copy(task):
    commands = re.findall(rf"bertedu finetune {task} --data (\S+)", HELP)
    assert commands and re.search(rf"^ *{task}: \w", HELP, re.MULTILINE)
    for folder in (one for one in commands if one.startswith("data/")):
        source = Path(data_path(folder.removeprefix("data/")))
        for part in ("train", "validation", "test"):
            (file,) = source.glob(f"{part}.*")
            assert TASKS[task].read_rows(str(file)), f"{folder} cannot be read for {task}"


def test_every_option_in_an_example_exists():
    options = {option for parameter in main.commands["finetune"].params for option in parameter.opts}
    options |= {option for parameter in main.commands["answer"].params for option in parameter.opts}
    for line in HELP.splitlines():
        if "bertedu " in line and "Usage" not in line:
            assert set(re.findall(r"(?<!\S)--[a-z-]+", line)) <= options, line


def test_a_report_knows_every_option_and_no_other(tmp_path):
    known = usual_options(Run(tmp_path, {}, {"task": "similarity"}, []))
    options = {str(parameter.name) for parameter in main.commands["finetune"].params}
    # How many workers make the batches changes no result, so no command has to repeat it.
    assert known.keys() == options - {"task", "output", "resume", "data_workers"} and known["pooling"] == "mean"


def test_a_run_is_resumed_only_as_the_task_that_it_began(tmp_path):
    (tmp_path / "run.json").write_text(
        '{"task": "tagging", "data": "words.conll", "model": "bert", "seed": 0}', encoding="utf-8"
    )
    found = CliRunner().invoke(main, ["finetune", "entities", "--resume", str(tmp_path)])
    assert found.exit_code == 2 and "is a run of tagging, not of entities" in found.output

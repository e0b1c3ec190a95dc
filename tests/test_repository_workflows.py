"""The workflows, read: each can be green, with the extras that its tests import and the time that they take."""

import os
import re

import pytest
import yaml
from support.repository import PROJECT, REPOSITORY, read

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
LEAST_MINUTES = 60  # tests and notebooks take up to 41 minutes on a slow machine, the set-up some more


def jobs() -> dict[str, dict]:
    found = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"] for path in WORKFLOWS}
    return {f"{name}, {job}": content for name, of in found.items() for job, content in of.items()}


def commands(job: dict) -> list[str]:
    return [step.get("run", "") for step in job["steps"]]


@pytest.mark.parametrize("name", jobs())
def test_each_job_has_time_for_what_it_runs(name):
    assert LEAST_MINUTES <= jobs()[name]["timeout-minutes"] <= 360


@pytest.mark.parametrize("name", jobs())
def test_each_job_that_runs_the_tests_installs_every_extra_that_they_import(name):
    """`make` and .ci/run install all extras, which a test of the Makefile holds."""
    lines = commands(jobs()[name])
    if any("pip install" in line for line in lines):
        (extras,) = re.findall(r"pip install -c constraints\.txt -e \"\.\[([^]]+)\]\"", "\n".join(lines))
        assert set(extras.split(",")) == set(PROJECT["optional-dependencies"])
    elif any(lines):  # a job that only publishes what another has built runs nothing
        assert any(line.startswith(("make ", ".ci/run")) for line in lines), "nothing installs the package"


def test_every_change_is_tested_and_linted_on_linux_and_tested_on_other_systems():
    linux, smoke = jobs()["ci, linux"], jobs()["ci, smoke"]
    assert ".ci/run" in commands(linux) and "make lint" in commands(linux)
    assert {"macos-latest", "windows-latest"} == set(smoke["strategy"]["matrix"]["os"])
    assert any("-m pytest" in line for line in commands(smoke))
    script = read(".ci/run")
    assert "set -euo pipefail" in script and "make test" in script
    assert os.name == "nt" or os.access(REPOSITORY / ".ci" / "run", os.X_OK), "chmod +x .ci/run"


def test_each_night_the_slow_tests_and_all_notebooks_run():
    workflow = yaml.safe_load(read(".github/workflows/nightly.yml"))
    assert workflow[True]["schedule"], "YAML reads the key `on` as true"
    assert any("-m slow --thorough" in line for line in commands(workflow["jobs"]["slow"]))
    assert "make notebooks" in commands(workflow["jobs"]["notebooks"])

"""The workflows, read: each can be green, with the extras that its tests import and the time that they take."""

import os
import re
import shutil
import subprocess

import pytest
import yaml
from support.repository import PROJECT, REPOSITORY, read

from bertedu import address

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
        how = r"-c constraints\.txt" if name != "weekly, newest" else "--upgrade --upgrade-strategy eager"
        (extras,) = re.findall(rf"pip install {how} -e \"\.\[([^]]+)\]\"", "\n".join(lines))
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


def test_each_week_the_newest_versions_are_tried_on_every_python():
    newest = jobs()["weekly, newest"]
    assert newest["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert not any("constraints" in line for line in commands(newest)), "the pins would hide what is new"


# Releases --------------------------------------------------------------------------------------------------------


def test_a_tag_is_tested_before_anything_is_published():
    workflow = yaml.safe_load(read(".github/workflows/release.yml"))
    assert workflow[True] == {"push": {"tags": ["v*"]}}
    assert commands(workflow["jobs"]["build"])[3:5] == [".ci/run", '.ci/release "$GITHUB_REF_NAME"']
    assert [workflow["jobs"][name]["needs"] for name in ("files", "pypi")] == ["build", "build"]


@pytest.mark.parametrize(
    ("name", "where"), [("pages, build", "github.ref == 'refs/heads/main'"), ("release, build", None)]
)
def test_what_publishes_asks_first_whether_the_project_has_an_address(name, where):
    first = next(step for step in jobs()[name]["steps"] if "run" in step)
    assert first["run"] == "python bertedu/address.py" and first.get("if") == where
    publishing = {
        "actions/deploy-pages",
        "softprops/action-gh-release",
        "pypa/gh-action-pypi-publish",
        "peaceiris/actions-gh-pages",
    }
    for other, job in jobs().items():
        if publishing & {step.get("uses", "").partition("@")[0] for step in job["steps"]}:
            workflow = other.partition(",")[0]
            assert workflow in ("pages", "release") and job["needs"] in ("build", "pypi"), other


def test_only_the_job_that_needs_a_right_has_it_and_nothing_holds_a_password():
    rights = {name: job["permissions"] for name, job in jobs().items() if "permissions" in job}
    assert rights["release, pypi"] == {"id-token": "write"}
    assert rights["release, files"] == rights["release, colab"] == {"contents": "write"}
    assert "release, build" not in rights
    assert jobs()["release, pypi"]["environment"] == {"name": "pypi"}
    assert not any("secrets." in path.read_text(encoding="utf-8") for path in WORKFLOWS)


def test_pypi_gets_the_wheel_and_nothing_else():
    (download, publish) = jobs()["release, pypi"]["steps"]
    (upload,) = (one for one in jobs()["release, build"]["steps"] if one.get("with", {}).get("name") == "wheel")
    assert download["with"] == {"name": "wheel", "path": "dist"} and upload["with"]["path"] == "dist/*.whl"
    assert publish["uses"] == "pypa/gh-action-pypi-publish@release/v1"


def test_colab_gets_its_notebooks_when_its_first_cell_finds_the_wheel():
    colab = jobs()["release, colab"]
    assert colab["needs"] == "pypi" and colab["steps"][1]["with"]["publish_branch"] == address.COLAB_BRANCH
    (upload,) = (one for one in jobs()["release, build"]["steps"] if one.get("with", {}).get("name") == "colab")
    assert f"build --colab {upload['with']['path']}\n" in read(".ci/release")


@pytest.mark.skipif(not shutil.which("bash") or os.name == "nt", reason="the script is for Linux")
@pytest.mark.parametrize(
    ("tag", "changes", "told"),
    [
        ("v9.9", "## {version}", "The tag is v9.9 and the version in pyproject.toml is {version}"),
        ("v{version}", "## Unreleased", "CHANGELOG.md has no section '## {version}'"),
        ("v{version}", "## {version}", "make was asked for site"),
    ],
    ids=["another version", "no change told", "all agrees"],
)
def test_a_tag_that_is_not_the_version_or_brings_no_news_builds_nothing(tag, changes, told, tmp_path):
    version = PROJECT["version"]
    (tmp_path / ".ci").mkdir()
    shutil.copy(REPOSITORY / ".ci" / "release", tmp_path / ".ci")
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(changes.format(version=version) + "\n")
    (tmp_path / "make").write_text('#!/bin/sh\necho "make was asked for $1"; exit 3\n')
    (tmp_path / "make").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", ".ci/release", tag.format(version=version)]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == (3 if "make" in told else 1) and told.format(version=version) in done.stdout + done.stderr

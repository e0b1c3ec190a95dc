"""The Dockerfile, Binder's files and the devcontainer, read: pinned packages, a normal user, paths that exist."""

import json
import re
import shlex
from fnmatch import fnmatch

import yaml
from support.repository import PROJECT, REPOSITORY, read

from bertedu.course.unpacking import FIRST

CPU_WHEELS = "https://download.pytorch.org/whl/cpu"
LOCAL = "127.0.0.1"


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile in order, each with its words, on one line."""
    text = re.sub(r"^#.*\n", "", read("Dockerfile"), flags=re.MULTILINE).replace("\\\n", "")
    lines = [line.split(maxsplit=1) for line in text.split("\n") if line]
    return [(word, " ".join(rest.split())) for word, rest in lines]


def conda() -> tuple[str, list[str]]:
    """The version of Python and the options of pip that users of conda get."""
    specs = yaml.safe_load(read("environment.yml"))["dependencies"]
    (python,) = (spec.partition("=")[2] for spec in specs if str(spec).startswith("python="))
    return python, next(spec["pip"] for spec in specs if isinstance(spec, dict))


def test_every_container_has_the_python_of_the_pins():
    python, _ = conda()
    images = [words.split()[0] for word, words in instructions() if word == "FROM"]
    assert set(images) == {f"python:{python}-slim"}
    assert read(".binder/runtime.txt").strip() == f"python-{python}"
    assert devcontainer()["image"].endswith(f"python:{python}")
    assert PROJECT["requires-python"] == f">={python}"


def test_the_image_installs_the_learners_packages_at_their_pins():
    _, (_, here) = conda()
    extras = here[here.index("[") :]
    (install,) = (words for word, words in instructions() if word == "RUN" and "pip install" in words)
    assert f'-c /tmp/constraints.txt "$(echo /tmp/wheels/*.whl){extras}"' in install
    assert ("COPY", "constraints.txt /tmp/") in instructions()
    assert any(f"PIP_EXTRA_INDEX_URL={CPU_WHEELS} " in words for word, words in instructions() if word == "ENV")


def test_binder_installs_the_learners_packages_at_their_pins():
    _, pip = conda()
    lines = [line for line in read(".binder/requirements.txt").splitlines() if not line.startswith("#")]
    # pip reads -c beside the file that names it, and -e from the present folder, which is the repository's
    assert lines == [f"--extra-index-url {CPU_WHEELS}", pip[0].replace("-c ", "-c ../"), pip[1]]
    assert (REPOSITORY / ".binder" / ".." / "constraints.txt").is_file()


def test_nobody_is_root_and_the_installation_is_not_the_users():
    steps = instructions()
    users = [(place, words) for place, (word, words) in enumerate(steps) if word == "USER"]
    ((place, user),) = users
    assert user == "learner" and f"useradd --create-home --uid 1000 {user}" in steps[place - 1][1]
    assert all(word in ("WORKDIR", "EXPOSE", "CMD") for word, _ in steps[place + 1 :])
    assert devcontainer()["remoteUser"] not in ("", "root")


def test_the_image_opens_chapter_00_in_a_folder_that_the_user_can_write():
    steps = dict(instructions())
    shell, option, line = json.loads(steps["CMD"])
    assert (shell, option) == ("sh", "-c") and (REPOSITORY / "notebooks" / FIRST).is_file()
    unpack, enter, lab = (shlex.split(part) for part in line.split("&&"))
    assert unpack == ["bertedu", "start", "work"] and enter == ["cd", "work"] and lab[-1] == FIRST
    assert f"--owner learner --group learner {steps['WORKDIR']}/work" in read("Dockerfile")
    assert f":{steps['WORKDIR']}/work bertedu" in read("Dockerfile"), "the volume that the comment mounts"


def test_the_port_is_published_on_this_machine_only():
    for text in (read("Dockerfile"), read("docs/start.md")):
        assert re.findall(r"--publish (\S+)", text) == [f"{LOCAL}:8888:8888"]


def test_what_the_wheel_needs_reaches_the_image_and_nothing_private_or_solved():
    patterns = read(".dockerignore").split()
    needed = ["pyproject.toml", "setup.py", "constraints.txt", "README.md", "LICENSE", "bertedu", "data", "notebooks"]
    assert not [name for name in needed for pattern in patterns if fnmatch(name, pattern)]
    assert {".git", ".venv", "runs", "notebooks/solutions"} <= set(patterns)


def devcontainer() -> dict:
    return json.loads(read(".devcontainer/devcontainer.json"))


def test_the_devcontainer_runs_targets_and_opens_files_that_exist():
    settings = devcontainer()
    for name in ("postCreateCommand", "postAttachCommand"):
        make, target, *_ = shlex.split(settings[name])
        assert make == "make" and re.search(rf"^{target}: ", read("Makefile"), flags=re.MULTILINE)
    for name in settings["customizations"]["codespaces"]["openFiles"]:
        assert (REPOSITORY / name).is_file()
    assert settings["forwardPorts"] == [8888] and settings["containerEnv"]["PIP_EXTRA_INDEX_URL"] == CPU_WHEELS

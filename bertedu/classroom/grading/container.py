"""The command that grades inside a container: no network, a file system that cannot be written, limits from outside."""

import shlex
from pathlib import Path

from bertedu.errors import UserError


def command(image: str, submissions: Path, assigned: Path, table: Path, almost: float | None = None) -> str:
    """A `docker run` line (podman takes the same) for an image in which bertedu is installed.

    The container runs as the user who types it, sees the submissions and the assignment read-only, and writes only
    into the table's folder. Inside, each answer still has a process and limits of its own.
    """
    if not image or image.startswith("-"):
        raise UserError(f"{image!r} is no name of an image: give one in which bertedu is installed.")
    places = [
        f"type=bind,source={submissions.resolve()},target=/submissions,readonly",
        f"type=bind,source={assigned.resolve()},target=/assignment,readonly",
        f"type=bind,source={table.resolve().parent},target=/results",
    ]
    if wrong := next((place for place in (submissions, assigned, table) if "," in str(place.resolve())), None):
        raise UserError(f"{wrong}: docker takes no comma in a path; rename the folder.")
    words = ["docker", "run", "--rm", "--network", "none", "--read-only", "--tmpfs", "/tmp:size=256m,mode=1777"]
    words += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", "128", "--memory", "6g"]
    words += ["--env", "HOME=/tmp", "--env", "OMP_NUM_THREADS=1"]
    for place in places:
        words += ["--mount", place]
    line = shlex.join(words) + ' --user "$(id -u):$(id -g)" '
    inside = ["bertedu", "grade", "/submissions", "--assignment", "/assignment", "--csv", f"/results/{table.name}"]
    return line + shlex.join([image, *inside, *(["--almost", f"{almost:g}"] if almost is not None else [])])

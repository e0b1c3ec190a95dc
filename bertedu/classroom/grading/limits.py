"""What the process of an answer may use: time, memory, files; no network, no other processes."""

import os
import resource
import signal
import sys
import sysconfig
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bertedu.classroom.grading import kernel

PACKAGE = Path(__file__).resolve().parents[2]
MEBIBYTE = 2**20
LAST_USER = 2_000_000_000  # users that no system gives to people: one for each answer's process


@dataclass(frozen=True)
class Limits:
    """The limits of one answer."""

    seconds: float = 10.0  # at work
    waiting: float = 30.0  # on the clock
    memory: int = 1024 * MEBIBYTE  # beyond what the libraries have mapped
    file_size: int = 16 * MEBIBYTE
    threads: int = 32


def confine(limits: Limits, folder: Path, with_package: bool) -> list[str]:
    """Limit this process for good. Returns what the system could not do, in words."""
    missing = []
    kernel.process_control(kernel.KILL_WITH_PARENT, signal.SIGKILL)
    if not kernel.without_network():
        missing.append("a network of its own")
    if os.name == "posix" and os.geteuid() == 0:
        missing += drop_rights(folder, limits)
    used = psutil.Process().memory_info().vms
    lower(resource.RLIMIT_AS, used + limits.memory)
    lower(resource.RLIMIT_CPU, int(time.process_time() + 3 * limits.seconds) + 2)
    lower(resource.RLIMIT_FSIZE, limits.file_size)
    lower(resource.RLIMIT_NOFILE, 64)
    lower(resource.RLIMIT_CORE, 0)
    os.chdir(folder)
    if not kernel.only_these_files(readable(with_package), [Path("/dev/null")]):
        missing.append("a file system that it can only read in part")
    if not kernel.no_processes_or_sockets():
        missing.append("a ban on new processes and sockets")
        if os.geteuid():
            lower(resource.RLIMIT_NPROC, 0)
    return missing


def lower(what: int, most: int) -> None:
    """Set a limit that this process cannot raise again."""
    with suppress(ValueError, OSError):
        resource.setrlimit(what, (most, most))


def drop_rights(folder: Path, limits: Limits) -> list[str]:
    """As root: become a user that owns nothing, so that the limit on processes binds and no file can be written."""
    places = [PACKAGE, Path(sys.prefix).resolve(), Path(sysconfig.get_path("stdlib")).resolve()]
    if not all(parent.stat().st_mode & 0o001 for place in places for parent in (place, *place.parents)):
        return ["a user without rights (the packages lie in a folder that only root can read)"]
    user = LAST_USER + os.getpid()
    os.chown(folder, user, user)
    lower(resource.RLIMIT_NPROC, limits.threads)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    return []


def readable(with_package: bool) -> list[Path]:
    """The folders of Python, its packages and the system's libraries; never that of the submissions."""
    names = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    system = ["/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/share/zoneinfo", "/dev/urandom", "/proc/self"]
    places = [*names, *system, *([str(PACKAGE)] if with_package else [])]
    return [Path(name).resolve() if not name.startswith("/proc") else Path(name) for name in places]


def end_all(process: int) -> None:
    """Kill a child and all that it started, also what left its group: orphans have become children of this one."""
    until = time.monotonic() + 5
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    while time.monotonic() < until:
        children = psutil.Process().children(recursive=True)
        for child in children:
            with suppress(psutil.Error):
                child.kill()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not psutil.Process().children(recursive=True):
            return
        time.sleep(0.01)

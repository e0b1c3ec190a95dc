"""What children of the tests do: they find these functions by the name of this module."""

import subprocess
import sys
import time


def add(ready, one, two):
    ready()
    return one + two


def imported_before(ready, name):
    """Whether a module was there when the work began."""
    return name in sys.modules


def compile_forever(ready):
    time.sleep(60)


def work_forever(ready):
    ready()
    time.sleep(60)


def fail(ready):
    raise ValueError("no kernel\nand more")


def crash(ready):
    import os

    os._exit(3)


def start_another(ready, path):
    """Starts a process of its own, says which, and waits for ever."""
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    path.write_text(str(started.pid), "utf-8")
    time.sleep(60)

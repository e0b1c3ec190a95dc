"""Several processes of one run, started by torchrun."""

import atexit
import os

from torch import distributed


def is_main_process() -> bool:
    """Whether this process is the only one, or the first of those that torchrun started: it alone writes and speaks."""
    return os.environ.get("RANK", "0") == "0"


def close_group_at_exit() -> None:
    """Have the connections between the processes closed before Python ends. Otherwise a thread of gloo that still runs
    can abort a process whose work is done, and nccl warns.
    """
    atexit.unregister(close_group)
    atexit.register(close_group)


def close_group() -> None:
    """Close the connections between the processes, if there are any."""
    if distributed.is_initialized():
        distributed.destroy_process_group()

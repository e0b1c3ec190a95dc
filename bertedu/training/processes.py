"""Several processes of one run, started by torchrun."""

import os


def is_main_process() -> bool:
    """Whether this process is the only one, or the first of those that torchrun started: it alone writes and speaks."""
    return os.environ.get("RANK", "0") == "0"

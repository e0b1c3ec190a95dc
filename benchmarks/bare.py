"""Imported first by what runs on a rented machine, where nobody has installed bertedu: ends the program with a clear
line where the Python there lacks what the package needs, or has a torch that is too old. BEGUN: when the program began,
before it imported torch, which takes seconds that count as well.
"""

import importlib.util
import sys
import time
from importlib.metadata import version

BEGUN = time.monotonic()
NEEDED = ("torch", "numpy", "safetensors", "accelerate", "huggingface_hub", "tqdm", "regex", "scipy")
TORCH = (2, 11)


def what_is_missing() -> str:
    """In a sentence; "" where nothing is."""
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        return f"{sys.executable} lacks {', '.join(missing)}: install them, or take another Python."
    if tuple(int(part) for part in version("torch").split(".")[:2]) < TORCH:
        return f"{sys.executable} has torch {version('torch')}: {'.'.join(map(str, TORCH))} or newer is needed."
    if importlib.util.find_spec("bertedu") is None:
        return "There is no bertedu here: run this from the root of the repository with PYTHONPATH=. before it."
    return ""


def is_there(package: str) -> bool:
    """Whether a package that is good to have is installed."""
    return importlib.util.find_spec(package) is not None


if said := what_is_missing():
    sys.exit(said)

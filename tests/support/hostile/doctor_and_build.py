"""`bertedu doctor` in strange surroundings, `bertedu build` of damaged sources, and words that are no command."""

import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from bertedu.course.building.places import Places
from support.hostile.commands import ended
from support.hostile.oracle import Input, damaged, sentence, strange_json


@contextmanager
def another_folder(folder: Path) -> Iterator[None]:
    """Work in a folder that is removed under one's feet."""
    before = os.getcwd()
    folder.mkdir()
    os.chdir(folder)
    folder.rmdir()
    try:
        yield
    finally:
        os.chdir(before)


def doctor(rng: random.Random, folder: Path) -> Input:
    """doctor where the cache is strange, the folder is gone, or words follow; it is spared from measuring."""
    cache = rng.choice((None, str(folder), "/dev/null", "/proc/self/mem", "\x1b]0;x\x07", "x" * 5000, "\udcff", "a\nb"))
    words = rng.choice(([], [], [], [], ["--nosuch"], ["\x1b[2J"], ["a\0"], [""]))
    gone = rng.random() < 0.2
    speed = rng.choice((1e4, 0.5, 1e12))

    def run() -> bool:
        surroundings = patch.dict(os.environ, {} if cache is None else {"BERTEDU_CACHE": cache})
        rate = patch("bertedu.doctor.matrix_rate", lambda *_: speed)
        tokens = patch("bertedu.doctor.training_speed", lambda *_, **__: speed)
        with surroundings, rate, tokens:
            if gone:
                with another_folder(folder / "gone"):
                    out = ended(["doctor", *words])
            else:
                out = ended(["doctor", *words])
        names = ("python", "CPU", "memory", "disk", "documentation", "tiny", "make bert")
        return all(re.search(rf"^  {name} ", out, re.MULTILINE) for name in names)

    ordinary = not words and not gone and cache in (None, str(folder))
    return Input(run, None if words else lambda: True, ordinary)


SOURCE = """# %% [markdown]
# # Start

# %%
import math
print(math.pi)

# %% tags=["hide-input"]
def half(x):
    ### BEGIN SOLUTION
    return x / 2
    ### END SOLUTION
"""


def build(rng: random.Random, folder: Path) -> Input:
    """build --check of a damaged source, beside strange notebooks: it says of both that they are out of date."""
    places = Places(folder / "course")
    source = places.chapters / "ch00_start" / "00_start.py"
    for place in (source.parent, places.solutions, places.data):
        place.mkdir(parents=True, exist_ok=True)
    data, hurt = damaged(rng, (SOURCE + f"\n# In words: {sentence(rng)}\n").encode())
    source.write_bytes(data)
    for path in places.pair(source):
        path.unlink(missing_ok=True)
        if rng.random() < 0.5:
            cell = {"cell_type": "code", "id": "a", "source": [], "metadata": {}, "outputs": [], "execution_count": 1}
            stored = {"cells": [cell], "metadata": {"bertedu": {}}, "nbformat": 4, "nbformat_minor": 5}
            path.write_bytes(strange_json(rng, stored)[0])
    chapters = rng.choice(([], [], ["0"], ["00"], ["1"], ["x"], [""], ["\x1b"], ["0", "7"], ["٠"], ["--nosuch"]))
    known = set(chapters) <= {"0", "00"}

    def told() -> list[str]:
        with patch("bertedu.course.building.build.Places", lambda: places):
            out = ended(["build", *(["--check"] if known else []), "--", *chapters], codes=(1,))
        lines = out.splitlines()
        return [lines[-1].partition(":")[0], *sorted(line.partition(":")[0] for line in lines[:-1])]

    wanted = ["2 out of date", "notebooks/00_start.ipynb", "notebooks/solutions/00_start.ipynb"]
    return Input(told, (lambda: wanted) if known else None, known and not hurt)


def no_command(rng: random.Random, _: Path) -> Input:
    """What is no command, and options that no command has: one sentence."""
    words = (
        "",
        "\0",
        "\x1b[2J",
        "nosuch",
        "--nosuch",
        "-9",
        "pretrain ",
        "x" * 5000,
        "\udcff",
        "--version=1",
        "fill_mask",
    )
    arguments = [rng.choice(words), *rng.choices((*words, "answer", "doctor"), k=rng.randrange(3))]
    return Input(lambda: ended(arguments), None)


KINDS: dict[str, Callable[[random.Random, Path], Input]] = {
    "doctor": doctor,
    "build": build,
    "no command": no_command,
}

"""Any command with a few odd values of its options: one sentence, or it works; no run begins, and no hub is asked."""

import os
import random
from collections.abc import Callable
from contextlib import ExitStack, chdir
from pathlib import Path
from unittest.mock import patch

from bertedu.errors import UserError
from support.commands import ALL, NUMBERS, ODD, ODD_NUMBERS, needed, odd_end, valued
from support.finetuning_rows import save_base
from support.hostile.oracle import NASTY, Input

MORE_NUMBERS = (
    "-0",
    "1_000",
    "0x10",
    "\u0663",
    "1e-400",
    str(2**64),
    "9" * 400,
    " 3",
    "3.0",
    "\u221e",
    "3e\u22124",
    "3,5",
    "10k",
    "\u00bd",
)
MORE_NAMES = (
    "con.txt",
    "x" * 300,
    "..",
    "/",
    "loop",
    "a.csv/b",
    "/proc/self/mem",
    "~",
    "-",
    "--",
    "run\n",
    "base",
    "~/x",
    "$HOME/x",
    "%A%",
    "https://a/b.csv",
)
BEGINNINGS = ("bertedu.pretraining.run.pretrain", "bertedu.finetuning.run.finetune")


def reached(*_: object, **__: object) -> None:
    """In the place of what takes long."""
    raise UserError("it would begin.")


def options(rng: random.Random, folder: Path) -> Input:
    """A command with one to three odd options."""
    if not (folder / "base").exists():
        save_base(folder / "base")
        (folder / "book.txt").write_text("The cat sat on the mat. It was tired. It slept. " * 20)
        (folder / "a.csv").write_text("text,label\n" + "a cat,yes\na dog,no\n" * 9)
        (folder / "loop").symlink_to("loop")
    path = rng.choice([path for path in ALL if valued(ALL[path])])
    chosen = rng.sample(valued(ALL[path]), k=min(len(valued(ALL[path])), rng.randint(1, 3)))
    arguments = [*path, *needed(path, chosen[0].opts[0])]
    for option in chosen:
        values = (*ODD_NUMBERS, *MORE_NUMBERS) if isinstance(option.type, NUMBERS) else (*ODD, *MORE_NAMES, *NASTY[2:])
        arguments += [option.opts[0], *(rng.choice(values) for _ in range(option.nargs))]

    def tried() -> str:
        with ExitStack() as stack:
            stack.enter_context(chdir(folder))
            stack.enter_context(patch.dict(os.environ, HOME=str(folder), USERPROFILE=str(folder)))
            for place in (*BEGINNINGS, "bertedu.checkpoints.folder.snapshot_download"):
                stack.enter_context(patch(place, reached))
            return odd_end(arguments)

    return Input(tried, str)


KINDS: dict[str, Callable[[random.Random, Path], Input]] = {"options of every command": options}

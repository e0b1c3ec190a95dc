"""The pictures of chapter 24: programs and tracings, keys, axes that vmap adds, weights on their way, a pure step.

Shapes: B sequences, T tokens, D hidden size, d size of a head.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log10
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bertedu.course.pictures import Sheet

CALLS = ("float32[8, 16]", "float32[8, 16]", "float32[8, 24]", "int32[8, 16]", "float32[8, 24]", "float32[3, 16]")


def function_to_program() -> Figure:
    """The way of a Python function to a program that runs on arrays."""
    sheet = Sheet(380, "What becomes of a Python function?", "Traced and compiled once for each shape and data type")
    changes = sheet.box(196, 84, 150, 48, "grad, vmap", "change it")
    row = [
        sheet.box(x, 186, width, 56, *told, new=told[0] == "program")
        for x, width, told in (
            (14, 118, ("Python", "function")),
            (196, 150, ("jaxpr", "operations")),
            (410, 124, ("program",)),
            (598, 108, ("arrays",)),
        )
    ]
    sheet.arrow((changes.centre[0], changes.bottom), (row[1].centre[0], row[1].y))
    for (left, right), told in zip(pairwise(row), ("trace", "XLA", "run"), strict=True):
        sheet.arrow((left.right, left.centre[1]), (right.x, right.centre[1]))
        sheet.words((left.right + right.x) / 2, left.centre[1] - 18, told, align="center")
    given = sheet.box(378, 300, 188, 50, "arrays", "and a random key")
    sheet.arrow((given.centre[0], given.y), (row[2].centre[0], row[2].bottom))
    sheet.words(14, 310, "New numbers: the program")
    sheet.words(14, 334, "runs again, not the function.")
    return sheet.figure()


def same_dice(drop_as_in_numpy: Callable, compiled: Callable) -> Figure:
    """Which of the first forty numbers are dropped in three calls, as Python and compiled."""
    sheet = Sheet(350, "Which numbers does each call drop?", "The first 40 of 1,000; a filled cell is dropped")
    np.random.seed(0)
    for y, name, function in ((116, "plain", drop_as_in_numpy), (246, "compiled", compiled)):
        calls = [np.asarray(function(np.ones((4, 250), np.float32)))[0, :40] == 0 for _ in range(3)]
        sheet.words(14, y - 18, name, bold=True)
        sheet.grid(110, y, calls, rows=[f"call {n}" for n in (1, 2, 3)], cell=14.5, row=28, largest=1.1, numbers=False)
    return sheet.figure()


def programs_made(traced: Sequence[str]) -> Figure:
    """Six calls, and the program that each of them runs."""
    sheet = Sheet(350, "Which calls share a program?")
    sheet.words(150, 62, "call", align="center", bold=True)
    sheet.words(560, 62, "program", align="center", bold=True)
    programs = {name: sheet.box(460, 88 + 58 * n, 200, 40, name, new=True) for n, name in enumerate(traced)}
    for n, name in enumerate(CALLS):
        call = sheet.box(50, 80 + 43 * n, 200, 35, f"{n + 1}: {name}")
        sheet.arrow((call.right, call.centre[1]), (programs[name].x, programs[name].centre[1]))
    return sheet.figure()


def tree_of_keys(jax: Any, three: Callable) -> Figure:
    """A key, its two halves and the keys of steps, each with the numbers that are drawn with it."""
    sheet = Sheet(340, "What can be done with a key?", "Below each key the numbers that it draws")
    key = jax.random.key(0)

    def shown(x: float, y: float, name: str, one: Any, new: bool = False) -> Any:
        box = sheet.box(x, y, 170, 40, name, new=new)
        sheet.words(
            box.centre[0], y + 58, " ".join(f"{number:.2f}" for number in three(one)), align="center", faint=True
        )
        return box

    root = shown(14, 166, "key", key, new=True)
    halves = jax.random.split(key)
    for n, one in enumerate(halves):
        half = shown(276, 96 + 140 * n, f"split, {'left' if not n else 'right'}", one)
        sheet.arrow((root.right, root.centre[1]), (half.x, half.centre[1]))
    for step in range(3):
        shown(536, 76 + 84 * step, f"fold_in {step}", jax.random.fold_in(key, step))
    sheet.line((490, 80), (490, 320), dashed=True)
    return sheet.figure()


def axes_added() -> Figure:
    """A dot product, mapped over keys, and mapped over queries."""
    sheet = Sheet(360, "What does vmap add?", "The function is written for two vectors; each vmap adds an axis")
    rows = (
        (92, "dot", 1, 1, "a number"),
        (164, "vmap over keys", 1, 4, "[T]"),
        (262, "and over queries", 4, 4, "[T, T]"),
    )
    for y, name, queries, keys, out in rows:
        sheet.words(14, y + 15, name, bold=True)
        one = sheet.grid(190, y, np.ones((queries, 3)), role="query", cell=22, row=20, largest=3, numbers=False)
        other = sheet.grid(310, y, np.ones((keys, 3)), role="key", cell=22, row=20, largest=3, numbers=False)
        found = sheet.grid(470, y, np.ones((queries, keys)), cell=22, row=20, largest=1.4, numbers=False)
        sheet.arrow((other.right + 6, y + 10), (found.x - 4, y + 10))
        sheet.words(590, y + 12, out)
        del one
    sheet.words(223, 76, "query", align="center", bold=True)
    sheet.words(343, 76, "key", align="center", bold=True)
    return sheet.figure()


def transposed() -> Figure:
    """The weight of a linear layer in PyTorch and the same one as Flax's kernel."""
    sheet = Sheet(280, "How does a weight get from PyTorch into Flax?", "A layer that makes 2 numbers out of 3")
    weight = np.array([[1, 2, 3], [4, 5, 6]])
    there = sheet.grid(110, 140, weight, "PyTorch: weight", "[out, in]", cell=56, largest=12)
    here = sheet.grid(480, 132, weight.T, "Flax: kernel", "[in, out]", cell=56, largest=12)
    sheet.arrow((there.right + 8, 180), (here.x - 8, 180), "transpose")
    sheet.words(there.centre[0], 256, "x Wᵀ", align="center", mono=True)
    sheet.words(here.centre[0], 256, "x W", align="center", mono=True)
    return sheet.figure()


def four_mistakes(mistakes: Mapping[str, float]) -> Figure:
    """How far the layer's vectors are off, on a logarithmic axis."""
    sheet = Sheet(128 + 40 * len(mistakes), "How large is each mistake?", "Largest difference to PyTorch's layer")
    left, wide = 250.0, 430.0
    bottom = 84 + 40 * len(mistakes)
    for power, told in ((-6, "0.000001"), (-4, "0.0001"), (-2, "0.01"), (0, "1")):
        x = left + wide * (power + 7) / 8
        sheet.line((x, 76), (x, bottom), dashed=True)
        sheet.words(x, bottom + 20, told, align="center", faint=True)
    for row, (name, gap) in enumerate(mistakes.items()):
        y = 98 + 40 * row
        sheet.words(left - 14, y, name, align="right")
        sheet.dot((left + wide * (max(log10(max(gap, 1e-9)), -7) + 7) / 8, y), 7)
    return sheet.figure()


def pure_step() -> Figure:
    """What goes into a pure training step, and what comes out of it."""
    sheet = Sheet(
        330, "What does a pure training step know?", "All that it reads comes in; all that it changes goes out"
    )
    step = sheet.box(290, 116, 150, 150, "step", "one program", new=True)
    for n, name in enumerate(("weights", "optimizer state", "batch", "key")):
        box = sheet.box(14, 84 + 58 * n, 180, 42, name)
        sheet.arrow((box.right, box.centre[1]), (step.x, 138 + 36 * n))
    for n, name in enumerate(("new weights", "new state", "loss")):
        box = sheet.box(526, 104 + 62 * n, 180, 42, name)
        sheet.arrow((step.right, 150 + 40 * n), (box.x, box.centre[1]))
    return sheet.figure()


def two_keys_one_sentence(by_key: Sequence[Sequence[str]]) -> Figure:
    """The same sentence, masked with the keys of two steps."""
    sheet = Sheet(220, "What does another key change?", "One sentence, masked with the keys of two steps")
    for row, tokens in enumerate(by_key):
        y = 84 + 62 * row
        sheet.words(14, y + 17, f"step {row}", bold=True)
        x = 84.0
        for token in tokens[1:9]:
            state = "hidden" if token == "[MASK]" else "plain"
            width = len(token) * 11.2 + 14
            if x + width > 706:
                break
            x = sheet.chip(x, y, token, state).right + 4
    sheet.words(14, 204, "The words differ, the shape [B, T] never.", faint=True)
    return sheet.figure()


def asked_about(jax: Any, train: Any, masked_batch: Callable) -> Figure:
    """Which tokens of a sentence are asked about in six epochs, with one key and with a key for each step."""
    sheet = Sheet(
        360,
        "Which words is the model asked about?",
        "The first sentence of a batch, in six epochs; filled: it has a label",
    )
    key, ids = jax.random.key(1), train[:32]
    for x, name, fold in ((90, "one key", False), (420, "a key for each step", True)):
        keys = [jax.random.fold_in(key, 8 * epoch) if fold else key for epoch in range(6)]
        asked = [np.asarray(masked_batch(one, ids)["labels"][0, :14] != -100) for one in keys]
        rows = [f"epoch {n}" for n in range(1, 7)] if not fold else []
        grid = sheet.grid(x + 12, 124, asked, rows=rows, cell=20, row=32, largest=1.1, numbers=False)
        sheet.words(grid.centre[0], 102, name, align="center", bold=True)
        sheet.words(grid.centre[0], grid.bottom + 22, "tokens", align="center", faint=True)
    return sheet.figure()

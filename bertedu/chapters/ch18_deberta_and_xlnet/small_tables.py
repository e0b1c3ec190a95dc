"""Small tables of numbers side by side, as one computes them by hand: each number in its cell."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from bertedu.errors import UserError
from bertedu.visualization.picture import INK, Picture, new_figure

CELL = 0.5  # inches
STRONG = 0.6  # from this share of the largest number on, white on blue


def small_tables(tables: Mapping[str, Tensor], queries: Sequence[str], keys: Sequence[str], alt: str) -> Picture:
    """A table [queries, keys] for each title. Numbers are shown rounded; in a table of booleans true is filled.

    Raises UserError for a table of another shape.
    """
    shape = (len(queries), len(keys))
    for title, table in tables.items():
        if tuple(table.shape) != shape:
            raise UserError(f"the table {title!r} has the shape {list(table.shape)}: give {list(shape)}.")
    width = CELL * len(keys) + 0.5
    figure = new_figure(width * len(tables) + 0.5, CELL * len(queries) + 0.9)
    for n, (axes, (title, table)) in enumerate(
        zip(figure.subplots(1, len(tables), squeeze=False)[0], tables.items(), strict=True)
    ):
        draw_table(axes, table)
        axes.set_title(title, fontsize=9, parse_math=False)
        axes.set_xticks(range(len(keys)), keys, fontsize=8, rotation=30 if len(keys) > 3 else 0)
        axes.set_yticks(range(len(queries)), queries if n == 0 else [], fontsize=8)
    return Picture(figure, alt)


def draw_table(axes: Any, table: Tensor) -> None:
    """Cells as dark as their number is large."""
    numbers = table.double()
    most = max(numbers.abs().max().item(), 1e-9)
    axes.imshow(numbers.numpy(), cmap="Blues", vmin=0, vmax=most * 1.2, aspect="equal")
    if table.dtype != torch.bool:
        for i, row in enumerate(numbers.tolist()):
            for j, number in enumerate(row):
                color = "white" if number > STRONG * most else INK
                axes.text(j, i, f"{number:.3g}", ha="center", va="center", fontsize=9, color=color)
    axes.tick_params(length=0)

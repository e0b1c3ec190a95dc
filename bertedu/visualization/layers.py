"""Numbers that change from layer to layer, as lines with their names on them: probes, cosines of a word's senses."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from bertedu.errors import UserError
from bertedu.visualization.picture import BLUE, GREEN, GREY, INK, ORANGE, Picture, new_figure, quiet

LINES = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (GREEN, "^", "-."), (INK, "D", ":"), (GREY, "v", "-"))
NAME_HEIGHT = 0.075  # of the axes; names of lines that end nearer to each other are moved apart


def cosines_by_layer(cosines: Mapping[str, Tensor], title: str = "", measure: str = "mean cosine") -> Picture:
    """Lines of [L + 1] numbers each under their names, such as "within" and "across" of `mean_cosines`; measure names
    the numbers' axis.

    Raises UserError for lines of different lengths.
    """
    values = {name: line.tolist() for name, line in cosines.items()}
    if len({len(line) for line in values.values()}) != 1:
        raise UserError(f"lines have the lengths {[len(line) for line in values.values()]}: give one for each layer.")
    figure = new_figure(6.2, 3.4)
    axes = figure.subplots()
    draw_lines(axes, values)
    count = len(next(iter(values.values())))
    name_layers(axes, count)
    name_ends(axes, values)
    axes.set_ylabel(measure, fontsize=9)
    axes.set_title(title, fontsize=10, loc="left", parse_math=False)
    told = "; ".join(
        f"{layer_name(layer)} " + ", ".join(f"{name} {line[layer]:.2f}" for name, line in values.items())
        for layer in range(count)
    )
    return Picture(figure, f"{title or 'Mean cosine of pairs of vectors'}, layer by layer: {told}.")


def draw_lines(axes: Any, values: Mapping[str, Sequence[float]], places: Sequence[float] | None = None) -> None:
    """A line for each name, with its own colour, dashes and mark; `name_ends` writes the names."""
    quiet(axes)
    places = range(len(next(iter(values.values())))) if places is None else places
    for number, (name, line) in enumerate(values.items()):
        color, marker, dashes = LINES[number % len(LINES)]
        marker = marker if len(line) <= 30 else ""
        axes.plot(places, line, color=color, marker=marker, linestyle=dashes, markersize=4, linewidth=1.6, label=name)


def name_ends(axes: Any, values: Mapping[str, Sequence[float]]) -> None:
    """Each name to the right of the axes where its line ends, moved up where names would overlap.

    Called when everything is drawn: the limits of the axes stay as they are from here on.
    """
    axes.set_ylim(axes.get_ylim())
    to_axes = axes.transScale + axes.transLimits
    finite = {name: [value for value in line if math.isfinite(value)] or [1.0] for name, line in values.items()}
    heights = {name: float(to_axes.transform((1, line[-1]))[1]) for name, line in finite.items()}
    lowest = -1.0
    for name in sorted(heights, key=lambda name: heights[name]):
        lowest = max(lowest + NAME_HEIGHT, heights[name])
        color = LINES[list(values).index(name) % len(LINES)][0]
        axes.text(1.02, lowest, name, transform=axes.transAxes, fontsize=9, color=color, va="center", parse_math=False)


def name_layers(axes: Any, count: int) -> None:
    """The input and the layers under the axes."""
    axes.set_xticks(range(count), ["input", *map(str, range(1, count))])
    axes.set_xlabel("layer", fontsize=9)


def layer_name(layer: int) -> str:
    """In words: "input" for the embeddings, else "layer" and its number."""
    return f"layer {layer}" if layer else "input"

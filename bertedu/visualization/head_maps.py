"""All heads at a glance: one number for each, layers as rows and heads as columns, the highest marked."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle
from torch import Tensor

from bertedu.errors import UserError
from bertedu.visualization.picture import INK, ORANGE, Picture, new_figure

MOST_NUMBERED = 64  # more heads than these, and numbers in the cells cannot be read
COLUMNS = 4


def head_maps(measures: Mapping[str, Tensor], same_scale: Collection[str] = ()) -> Picture:
    """A map [L, H] for each measure, such as `entropy` or the scores of `pattern_scores`, under its name.

    The highest head of each measure has an orange frame. Measures below zero, such as `head_importance`, get two
    colours that meet at white, 0. Each map has its own scale of colours, and those named in same_scale share one.
    Raises UserError for no measures, for shapes that differ, and for a name in same_scale that is no measure.
    """
    numbers = {name: scores.detach().float().cpu().numpy() for name, scores in measures.items()}
    shapes = {scores.shape for scores in numbers.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 2:
        raise UserError(f"head maps have the shapes {sorted(shapes)}: give one or more of the same shape [L, H].")
    unknown = sorted(set(same_scale) - set(numbers))
    if unknown:
        raise UserError(f"same_scale names {', '.join(unknown)}, and the maps are {', '.join(numbers)}.")
    highest = max((abs(numbers[name]).max() for name in same_scale), default=0.0)
    layers, heads = next(iter(shapes))
    columns = min(COLUMNS, len(numbers))
    rows = -(-len(numbers) // columns)
    cell = 0.5 if layers * heads <= MOST_NUMBERED else 0.26
    figure = new_figure(columns * (cell * heads + 0.9), rows * (cell * layers + 0.9))
    all_axes = figure.subplots(rows, columns, squeeze=False).flatten()
    for axes, (name, scores) in zip(all_axes, numbers.items(), strict=False):
        draw_map(axes, name, scores, highest if name in same_scale else abs(scores).max())
    for axes in all_axes[len(numbers) :]:
        axes.set_visible(False)
    told = "; ".join(f"{name}: {describe(scores)}" for name, scores in numbers.items())
    return Picture(figure, f"Maps of all {layers * heads} heads, {layers} layers of {heads}. {told}.")


def draw_map(axes: Any, name: str, scores: np.ndarray, most: float) -> None:
    """One map: colours up to `most`, numbers where they can be read, and a frame around the highest."""
    layers, heads = scores.shape
    most = max(most, 1e-9)
    signed = scores.min() < 0
    image = axes.imshow(
        scores, cmap="RdBu" if signed else "Blues", vmin=-most if signed else 0, vmax=most, aspect="auto"
    )
    if scores.size <= MOST_NUMBERED:
        for layer, head in np.ndindex(layers, heads):
            strong = abs(scores[layer, head]) > 0.6 * most
            color = "white" if strong else INK
            axes.text(head, layer, f"{scores[layer, head]:.2f}", ha="center", va="center", fontsize=8, color=color)
    else:
        axes.get_figure().colorbar(image, ax=axes, shrink=0.7).outline.set_visible(False)
    layer, head = best(scores)
    corner = (head - 0.5, layer - 0.5)
    frame = Rectangle(corner, 1, 1, fill=False, edgecolor=ORANGE, linewidth=2.4, clip_on=False, zorder=3)
    axes.add_patch(frame)
    axes.set_title(name, fontsize=10, parse_math=False)
    axes.set_xticks(range(heads), [str(head + 1) for head in range(heads)], fontsize=8)
    axes.set_yticks(range(layers), [str(layer + 1) for layer in range(layers)], fontsize=8)
    axes.set_xlabel("head", fontsize=9)
    axes.set_ylabel("layer", fontsize=9)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def best(scores: np.ndarray) -> tuple[int, int]:
    """Layer and head, from 0, of the highest score."""
    layer, head = np.unravel_index(scores.argmax(), scores.shape)
    return int(layer), int(head)


def describe(scores: np.ndarray) -> str:
    """In words: the highest and the lowest head, counted from 1, and the mean."""
    (top_layer, top_head), (low_layer, low_head) = best(scores), best(-scores)
    return (
        f"highest {scores.max():.2f} in layer {top_layer + 1} head {top_head + 1}, lowest {scores.min():.2f} in layer "
        f"{low_layer + 1} head {low_head + 1}, mean {scores.mean():.2f}"
    )

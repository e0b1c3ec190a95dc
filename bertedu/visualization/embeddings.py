"""Vectors as points in a plane, and the nearest neighbours that no plane can show right."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from bertedu.errors import UserError
from bertedu.interpretation.projection import principal_components
from bertedu.visualization.picture import BLUE, GREEN, GREY, INK, ORANGE, Picture, new_figure, quiet

# Colour and mark together: groups stay apart without colour too.
MARKS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), ("#CC79A7", "D"), ("#56B4E9", "v"), (GREY, "P"), (INK, "X"))
MOST_NAMED = 60  # points; more names than these cannot be read
TOLD = 12  # points told in words
NAME_SIZE = 8
POINTS_PER_INCH = 72
# Where a name may stand: how far right and up of its point, and how much of its width lies left of there.
SIDES = {"right": (5, 0, 0), "left": (-5, 0, 1), "above": (0, 8, 0.5), "below": (0, -8, 0.5)}


def embedding_map(
    vectors: Tensor, labels: Sequence[str], groups: Sequence[str] | None = None, title: str = ""
) -> Picture:
    """The vectors [N, D] as points along their two principal components.

    Labels that are all different are written beside the points. Labels that repeat, such as the senses of a word,
    or `groups`, one for each point, give points of one colour and mark, and a name for it. The axes tell the share of
    the variance that each keeps. Raises UserError for fewer than three vectors, and other numbers of labels.
    """
    if len(labels) != len(vectors) or (groups is not None and len(groups) != len(vectors)):
        raise UserError(f"there are {len(vectors)} vectors and {len(labels)} labels: give one label for each vector.")
    points, shares = principal_components(vectors)
    named = len(set(labels)) == len(labels)
    kinds = list(groups) if groups is not None else [""] * len(labels) if named else list(labels)
    places = points.numpy()
    figure = new_figure(6.4, 4.6)
    axes = figure.subplots()
    quiet(axes)
    order = list(dict.fromkeys(kinds))
    for number, kind in enumerate(order):
        color, mark = MARKS[number % len(MARKS)]
        chosen = places[[other == kind for other in kinds]]
        axes.scatter(chosen[:, 0], chosen[:, 1], color=color, marker=mark, s=26, alpha=0.8, linewidths=0, label=kind)
    axes.margins(0.12)
    axes.set_xlabel(f"principal component 1: {shares[0]:.0%} of the variance", fontsize=9)
    axes.set_ylabel(f"principal component 2: {shares[1]:.0%} of the variance", fontsize=9)
    if order != [""]:
        figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    if named and len(labels) <= MOST_NAMED:
        write_names(axes, places, labels)
    axes.set_title(title, fontsize=10, loc="left", parse_math=False)
    return Picture(figure, describe_map(places, shares.tolist(), labels, kinds, title))


def write_names(axes: Any, places: np.ndarray, names: Sequence[str]) -> None:
    """Each name beside its point, on the side where it covers the least of other names and points."""
    axes.get_figure().draw_without_rendering()  # settles where the points lie
    points = axes.transData.transform(places) * POINTS_PER_INCH / axes.get_figure().dpi
    taken = [(x - 3, y - 3, x + 3, y + 3) for x, y in points]
    for (x, y), place, name in zip(points, places, names, strict=True):
        width = 0.6 * NAME_SIZE * len(name)  # about: letters are a little over half as wide as high
        boxes = {}
        for side, (dx, dy, across) in SIDES.items():
            left, low = x + dx - width * across, y + dy - NAME_SIZE / 2
            boxes[side] = (left, low, left + width, low + NAME_SIZE)
        side = min(boxes, key=lambda side: sum(overlap(boxes[side], other) for other in taken))
        taken.append(boxes[side])
        axes.annotate(
            name,
            place,
            xytext=SIDES[side][:2],
            textcoords="offset points",
            ha={0: "left", 0.5: "center", 1: "right"}[SIDES[side][2]],
            va="center",
            fontsize=NAME_SIZE,
            color=INK,
            parse_math=False,
        )


def overlap(one: Sequence[float], other: Sequence[float]) -> float:
    """The area that two boxes (left, bottom, right, top) share."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, width) * max(0.0, height)


def describe_map(
    places: np.ndarray, shares: Sequence[float], labels: Sequence[str], kinds: Sequence[str], title: str
) -> str:
    """In words: what is kept, where the groups' middles lie, or where the first points lie."""
    about = (
        f"{title or 'Vectors'} in two dimensions: {len(labels)} points along their principal components, which keep "
        f"{shares[0]:.1%} and {shares[1]:.1%} of the variance, {sum(shares):.1%} together."
    )
    if set(kinds) != {""}:
        rows = np.array(kinds)
        middles = {kind: places[rows == kind].mean(axis=0) for kind in dict.fromkeys(kinds)}
        told = "; ".join(
            f"{kind}, {kinds.count(kind)} points, around ({x:.2f}, {y:.2f})" for kind, (x, y) in middles.items()
        )
        return f"{about} Middles of the groups: {told}."
    told = "; ".join(
        f"{label} at ({x:.2f}, {y:.2f})" for label, (x, y) in list(zip(labels, places, strict=True))[:TOLD]
    )
    rest = f"; and {len(labels) - TOLD} more" if len(labels) > TOLD else ""
    return f"{about} {told}{rest}."


def neighbour_table(neighbours: Mapping[str, Sequence[tuple[str, float]]], title: str = "") -> Picture:
    """A row for each word: its nearest neighbours, as `nearest` returns them, with their cosines, best first.

    Raises UserError for no words.
    """
    if not neighbours or not all(neighbours.values()):
        raise UserError("there are no neighbours to show: give for each word what nearest returned.")
    columns = max(map(len, neighbours.values()))
    widest = max(len(word) for row in neighbours.values() for word, _ in row)
    step = max(1.0, 0.085 * widest + 0.15)
    first = 0.09 * max(map(len, neighbours)) + 0.5
    figure = new_figure(first + step * columns, 0.42 * len(neighbours) + 0.75)
    axes = figure.subplots()
    for row, (word, found) in enumerate(neighbours.items()):
        axes.text(0, row, word, fontsize=10, weight="bold", va="center", color=INK, parse_math=False)
        for column, (other, cosine) in enumerate(found):
            left = first + step * column
            axes.text(left, row - 0.14, other, fontsize=9, va="center", color=INK, parse_math=False)
            axes.text(left, row + 0.24, f"{cosine:.2f}", fontsize=7, va="center", color=GREY)
        axes.axhline(row + 0.5, color="#e8e8e8", linewidth=0.8)
    axes.set_xlim(0, first + step * columns)
    axes.set_ylim(len(neighbours) - 0.5, -0.6)
    axes.axis("off")
    axes.set_title(title or "Nearest neighbours, with their cosines", fontsize=10, loc="left", parse_math=False)
    told = "; ".join(
        f"{word}: " + ", ".join(f"{other} {cosine:.2f}" for other, cosine in found)
        for word, found in neighbours.items()
    )
    return Picture(figure, f"{title or 'Nearest neighbours with their cosines'}: {told}.")

"""Scores that a model gives, over those that are right."""

from collections.abc import Sequence

import numpy as np

from bertedu.errors import UserError
from bertedu.visualization.picture import BLUE, GREY, Picture, new_figure, quiet


def score_scatter(right: Sequence[float], found: Sequence[float]) -> Picture:
    """A dot for each text or pair; on the dotted line both scores are the same.

    Raises UserError for lists that do not fit together.
    """
    if not right or len(right) != len(found):
        raise UserError(f"there are {len(right)} right scores and {len(found)} predicted ones: give one of each a row.")
    figure = new_figure(4.6, 4.6)
    axes = figure.add_subplot()
    quiet(axes)
    ends = [min(*right, *found), max(*right, *found)]
    axes.plot(ends, ends, color=GREY, linestyle=":", linewidth=1.4)
    axes.plot(right, found, "o", color=BLUE, alpha=0.4, markersize=4, markeredgewidth=0)
    axes.set_xlabel("right score", fontsize=9)
    axes.set_ylabel("the model's score", fontsize=9)
    off = np.abs(np.array(found) - np.array(right))
    return Picture(
        figure,
        f"The model's scores over the right ones, {len(right):,} dots. In the mean they are {off.mean():.2f} apart, at "
        f"most {off.max():.2f}; the right ones run from {min(right):.2f} to {max(right):.2f}, the model's from "
        f"{min(found):.2f} to {max(found):.2f}.",
    )


def chosen_places(chosen: Sequence[Sequence[int]], best: Sequence[Sequence[int]]) -> Picture:
    """Which sentences of a text are taken into its summary, by their positions: by the model, and by a perfect chooser.

    chosen, best: for each text the numbers of its sentences, from 0. Raises UserError where none was chosen.
    """
    longest = max((number for numbers in (*chosen, *best) for number in numbers), default=-1) + 1
    if not longest:
        raise UserError("no sentence was chosen from any text: there is nothing to draw.")
    figure = new_figure(7.0, 3.0)
    axes = figure.add_subplot()
    quiet(axes)
    told = []
    for shift, color, name, of_each in ((-0.2, BLUE, "the model", chosen), (0.2, GREY, "the perfect chooser", best)):
        counts = np.bincount([number for numbers in of_each for number in numbers], minlength=longest)
        shares = counts / max(1, counts.sum())
        axes.bar(np.arange(longest) + 1 + shift, shares, width=0.38, color=color, label=name)
        told.append(f"{name}: {', '.join(f'{share:.0%} sentence {n + 1}' for n, share in enumerate(shares[:6]))}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.set_xlabel("position of the sentence in its text", fontsize=9)
    axes.set_ylabel("share of what was chosen", fontsize=9)
    figure.legend(loc="outside upper right", ncols=2, frameon=False, fontsize=9)
    return Picture(figure, f"Which sentences of {len(chosen):,} texts are chosen, by position. {'; '.join(told)}.")

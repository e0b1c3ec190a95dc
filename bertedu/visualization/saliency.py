"""What each token does for an answer, as a strip of bars over the tokens themselves."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from bertedu.errors import UserError
from bertedu.visualization.picture import BLUE, INK, ORANGE, Picture, new_figure

TOKENS_IN_A_ROW = 16


def saliency_strip(scores: Tensor, tokens: Sequence[str], title: str = "") -> Picture:
    """Bars [T] over their tokens: up and blue where a token speaks for the answer, down and orange against it.

    scores: one of the numbers of `input_saliency`, or `integrated_gradients`. The bars have their numbers on them
    and a direction, so the colours only repeat what can be read without them. Long texts go on in a second row.
    Raises UserError where scores and tokens differ in number.
    """
    if scores.shape != (len(tokens),) or not tokens:
        raise UserError(f"the scores have the shape {list(scores.shape)} and there are {len(tokens)} tokens: give [T].")
    numbers = [float(score) for score in scores]
    most = max(max(map(abs, numbers)), 1e-9)
    parts = [slice(start, start + TOKENS_IN_A_ROW) for start in range(0, len(tokens), TOKENS_IN_A_ROW)]
    tops = [max(0.0, *numbers[part]) / most + 0.25 for part in parts]
    bottoms = [min(0.0, *numbers[part]) / most - 0.25 for part in parts]
    heights = [top - bottom + 0.4 for top, bottom in zip(tops, bottoms, strict=True)]
    width = min(len(tokens), TOKENS_IN_A_ROW)
    figure = new_figure(max(3.4, 0.66 * width + 0.4), 0.8 * sum(heights) + 0.4)
    all_axes = figure.subplots(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, part, top, bottom in zip(all_axes, parts, tops, bottoms, strict=True):
        draw_row(axes, numbers[part], tokens[part], most, bottom)
        axes.set_xlim(-0.6, width - 0.4)
        axes.set_ylim(bottom - 0.3, top)
    figure.suptitle(title, fontsize=10, x=0.02, ha="left", parse_math=False)
    told = ", ".join(f"{token} {rounded(number, most)}" for token, number in zip(tokens, numbers, strict=True))
    return Picture(figure, f"{title or 'What each token does for the answer'}: {told}.")


def draw_row(axes: Any, numbers: Sequence[float], tokens: Sequence[str], most: float, bottom: float) -> None:
    """The bars of some tokens, their numbers beyond the ends, and the tokens below."""
    for place, (number, token) in enumerate(zip(numbers, tokens, strict=True)):
        height, above = number / most, number >= 0
        axes.bar(place, height, color=BLUE if above else ORANGE, width=0.7)
        axes.annotate(
            rounded(number, most),
            (place, height),
            xytext=(0, 2 if above else -2),
            textcoords="offset points",
            ha="center",
            va="bottom" if above else "top",
            fontsize=7,
            color=INK,
        )
        size = 9 if len(token) <= 8 else 7
        axes.text(place, bottom, token, ha="center", va="top", fontsize=size, color=INK, parse_math=False)
    axes.plot([-0.5, len(tokens) - 0.5], [0, 0], color=INK, linewidth=0.8)
    axes.axis("off")


def rounded(number: float, most: float) -> str:
    """A number with as many digits as tell it from the largest of its picture."""
    digits = 2 if most >= 0.5 else 3
    return f"{round(number, digits) + 0.0:.{digits}f}"  # + 0.0: no minus before zero

"""How strong the gradient is in each part of a model: at one step as bars, over a run as lines."""

from collections.abc import Mapping, Sequence

from bertedu.errors import UserError
from bertedu.visualization.layers import draw_lines, name_ends
from bertedu.visualization.picture import BLUE, GREY, INK, Picture, new_figure


def gradient_norm_bars(norms: Mapping[str, float], title: str = "") -> Picture:
    """The norm of each part as a bar with its number, the input on top: what `gradient_norms` returns.

    Raises UserError for no parts.
    """
    if not norms:
        raise UserError("there are no gradient norms to draw: give what gradient_norms returned.")
    figure = new_figure(5.2, 0.32 * len(norms) + 0.9)
    axes = figure.subplots()
    most = max(*norms.values(), 1e-12)
    axes.barh(range(len(norms)), list(norms.values()), color=BLUE, height=0.66)
    for place, norm in enumerate(norms.values()):
        axes.text(norm + 0.01 * most, place, f"{norm:.2g}", va="center", fontsize=8, color=INK)
    axes.set_yticks(range(len(norms)), [part.replace("_", " ") for part in norms], fontsize=9)
    axes.set_ylim(len(norms) - 0.5, -0.5)
    axes.set_xlim(0, 1.14 * most)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.set_title(title or "Length of the gradient, part by part", fontsize=10, loc="left", parse_math=False)
    told = ", ".join(f"{part.replace('_', ' ')} {norm:.2g}" for part, norm in norms.items())
    return Picture(figure, f"{title or 'Length of the gradient, part by part'}: {told}.")


def gradient_norm_curves(
    steps: Sequence[int], norms: Mapping[str, Sequence[float]], clip_norm: float | None = None, title: str = ""
) -> Picture:
    """The norms of some parts over the optimizer steps, on a logarithmic scale; clip_norm is a dotted line.

    A step with a norm of 0, or without a finite one, leaves a gap. Raises UserError where steps and norms differ in
    number.
    """
    if not norms or {len(line) for line in norms.values()} != {len(steps)} or not steps:
        raise UserError(f"there are {len(steps)} steps: give for each part as many norms, and at least one of both.")
    figure = new_figure(7.2, 3.4)
    axes = figure.subplots()
    axes.set_yscale("log")
    values = {part.replace("_", " "): gaps(line) for part, line in norms.items()}
    draw_lines(axes, values, steps)
    if clip_norm is not None:
        axes.axhline(clip_norm, color=GREY, linestyle=":", linewidth=1.4)
        axes.text(steps[0], clip_norm, f"clipped above {clip_norm:g}", fontsize=8, color=GREY, va="bottom")
    name_ends(axes, values)
    axes.set_xlabel("optimizer steps", fontsize=9)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_title(title or "Length of the gradient", fontsize=10, loc="left", parse_math=False)
    told = "; ".join(
        f"{part.replace('_', ' ')} from {line[0]:.2g} to {line[-1]:.2g}, at most {max(line):.2g}"
        for part, line in norms.items()
    )
    return Picture(figure, f"{title or 'Length of the gradient'} over {len(steps)} steps up to {steps[-1]:,}: {told}.")


def gaps(line: Sequence[float]) -> list[float]:
    """The norms, with nan where they have no logarithm."""
    return [value if 0 < value < float("inf") else float("nan") for value in line]

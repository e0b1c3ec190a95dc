"""How fine-tuning went: the loss while training, and the figure that chooses the best weights, seed by seed."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from bertedu.errors import UserError
from bertedu.visualization.curves import Line, series
from bertedu.visualization.finetuning_results import measure_name
from bertedu.visualization.picture import BLUE, GREY, INK, ORANGE, Picture, new_figure, quiet

MEANS = 5  # neighbours that the bold line of a loss is the mean of: single batches are noisy


def finetuning_curves(
    runs: Mapping[int, Sequence[Line]], chosen_by: str, baselines: Mapping[str, float] | None = None
) -> Picture:
    """Two panels over the optimizer steps: loss on training batches, and `chosen_by` on validation.

    runs: for each seed the lines of its metrics.jsonl. Each is a thin line; the bold one is their mean (with one seed,
    a running mean of its loss). Baselines are dotted lines in the second panel. Raises UserError where no figures were
    written.
    """
    panels = (
        ("loss", "Loss on training batches", BLUE, [series(lines, loss_name(lines)) for lines in runs.values()]),
        (
            chosen_by,
            f"{measure_name(chosen_by)} on validation",
            ORANGE,
            [series(lines, f"validation_{chosen_by}") for lines in runs.values()],
        ),
    )
    if not any(values for _, _, _, found in panels for _, values in found):
        raise UserError("metrics.jsonl holds no figures to draw: let the run go on for at least one validation.")
    figure = new_figure(9.0, 3.6)
    told = []
    for axes, (name, title, color, found) in zip(figure.subplots(1, 2), panels, strict=True):
        quiet(axes)
        axes.set_title(title, fontsize=10, loc="left", color=INK)
        axes.set_xlabel("optimizer steps", fontsize=9)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        draw_seeds(axes, found, color, smooth=name == "loss")
        ends = [(values[0], values[-1]) for _, values in found if values]
        if ends:
            first, last = (mean(end[place] for end in ends) for place in (0, 1))
            told.append(f"{title}: from {first:.3f} to {last:.3f}")
    for name, value in (baselines or {}).items():
        axes.axhline(value, color=GREY, linestyle=":", linewidth=1.4)
        axes.annotate(
            name, (1, value), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8, color=GREY
        )
        told.append(f"baseline {name} {value:.3f}")
    seeds = f"{len(runs)} seeds, in the mean" if len(runs) > 1 else "one seed"
    return Picture(figure, f"Curves of fine-tuning, {seeds}. {'; '.join(told)}.")


def loss_name(lines: Sequence[Line]) -> str:
    """The name that a task gives to its loss: text_loss, word_loss and so on."""
    return next(
        (name for line in lines for name in line if name.endswith("_loss") and "validation" not in name), "loss"
    )


def draw_seeds(axes: Any, found: Sequence[tuple[list[int], list[float]]], color: str, smooth: bool) -> None:
    """Each seed as a thin line and their mean as a bold one; a single seed that is to be smoothed with its own mean."""
    drawn = [(steps, values) for steps, values in found if values]
    marker = None if smooth else "o"
    alone = len(drawn) == 1 and not smooth
    for steps, values in drawn:
        faint = {"linewidth": 1.6} if alone else {"linewidth": 0.9, "alpha": 0.35}
        axes.plot(steps, values, color=color, marker=marker, markersize=3.5, **faint)
    if not drawn or alone:
        return
    shared = min(len(values) for _, values in drawn)  # a seed may have stopped early
    middle = [mean(of_step) for of_step in zip(*(values[:shared] for _, values in drawn), strict=True)]
    if smooth:
        reach = MEANS // 2
        middle = [mean(middle[max(0, i - reach) : i + reach + 1]) for i in range(shared)]
    axes.plot(drawn[0][0][:shared], middle, color=color, linewidth=2.2)

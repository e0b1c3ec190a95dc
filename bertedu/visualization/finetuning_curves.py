"""How fine-tuning went: the loss while training, and the figure that chooses the best weights, seed by seed."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from matplotlib.ticker import MaxNLocator

from bertedu.errors import UserError
from bertedu.visualization.curves import Line, draw_baseline, series
from bertedu.visualization.finetuning_results import measure_of
from bertedu.visualization.picture import BLUE, INK, ORANGE, Picture, new_figure, quiet, short

MEANS = 5  # neighbours that the bold line of a loss is the mean of: single batches are noisy


def finetuning_curves(
    runs: Mapping[int, Sequence[Line]], task: str, chosen_by: str, baselines: Mapping[str, float] | None = None
) -> Picture:
    """Two panels over the optimizer steps: the loss in training and on validation, and `chosen_by` on validation.

    runs: for each seed the lines of its metrics.jsonl. Each is a thin line; the bold one is their mean (with one seed,
    a running mean of its loss on training batches). Baselines are dotted lines in the second panel. Raises UserError
    where no figures were written.
    """
    of = measure_of(chosen_by, task)
    measure = of.name
    losses = [series(lines, loss_name(lines)) for lines in runs.values()]
    validation_losses = [series(lines, f"validation_{loss_name(lines)}") for lines in runs.values()]
    figures = [series(lines, f"validation_{chosen_by}") for lines in runs.values()]
    if not any(values for _, values in (*losses, *figures)):
        raise UserError("metrics.jsonl holds no figures to draw: let the run go on for at least one validation.")
    figure = new_figure(9.0, 3.6)
    of_loss, of_figure = figure.subplots(1, 2, sharex=True)
    of_validation = f"{short(measure)} on validation"
    for axes, title in ((of_loss, "Loss"), (of_figure, of_validation[0].upper() + of_validation[1:])):
        quiet(axes)
        axes.set_title(title, fontsize=10, loc="left", color=INK, parse_math=False)
        axes.set_xlabel("optimizer steps", fontsize=9)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    draw_seeds(of_loss, losses, BLUE, "training batches", smooth=True)
    draw_seeds(of_loss, validation_losses, ORANGE, "validation")
    draw_seeds(of_figure, figures, ORANGE)
    for steps, values in figures:
        if values:  # the first of the best: later ones that are equal do not replace it
            best = values.index(min(values) if of.lower_is_better else max(values))
            of_figure.plot(steps[best], values[best], "o", color=INK, fillstyle="none", markersize=9)
    if len(of_loss.get_legend_handles_labels()[1]) > 1:
        of_loss.legend(frameon=False, fontsize=8)
    told = [
        f"{name}: {ends(found)}"
        for name, found in (
            ("Loss on training batches", losses),
            ("loss on validation", validation_losses),
            (f"{measure} on validation", figures),
        )
        if any(values for _, values in found)
    ]
    for name, value in (baselines or {}).items():
        draw_baseline(of_figure, name, value)
        told.append(f"baseline {name} {value:.3f}")
    seeds = f"{len(runs)} seeds, in the mean" if len(runs) > 1 else "one seed"
    return Picture(figure, f"Curves of fine-tuning, {seeds}. {'; '.join(told)}.")


def ends(found: Sequence[tuple[list[int], list[float]]]) -> str:
    """From where to where values run, in the mean over the seeds."""
    of_each = [(values[0], values[-1]) for _, values in found if values]
    first, last = (mean(end[place] for end in of_each) for place in (0, 1))
    return f"from {first:.3f} to {last:.3f}"


def loss_name(lines: Sequence[Line]) -> str:
    """The name that a task gives to its loss: text_loss, word_loss and so on."""
    return next(
        (name for line in lines for name in line if name.endswith("_loss") and "validation" not in name), "loss"
    )


def draw_seeds(
    axes: Any, found: Sequence[tuple[list[int], list[float]]], color: str, name: str = "", smooth: bool = False
) -> None:
    """Each seed as a thin line and their mean as a bold one; a single seed that is to be smoothed with its own mean."""
    drawn = [(steps, values) for steps, values in found if values]
    marker = None if smooth else "o"
    alone = len(drawn) == 1 and not smooth
    for steps, values in drawn:
        faint: dict[str, Any] = {"linewidth": 1.6, "label": name} if alone else {"linewidth": 0.9, "alpha": 0.35}
        axes.plot(steps, values, color=color, marker=marker, markersize=3.5, **faint)
    if not drawn or alone:
        return
    shared = min(len(values) for _, values in drawn)  # a seed may have stopped early
    middle = [mean(of_step) for of_step in zip(*(values[:shared] for _, values in drawn), strict=True)]
    if smooth:
        reach = MEANS // 2
        middle = [mean(middle[max(0, i - reach) : i + reach + 1]) for i in range(shared)]
    axes.plot(drawn[0][0][:shared], middle, color=color, linewidth=2.2, label=name)

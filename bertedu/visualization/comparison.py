"""Which way is better, and by more than chance: strategies or poolings side by side, each over several seeds."""

from collections.abc import Mapping, Sequence
from statistics import mean, stdev

from bertedu.errors import UserError
from bertedu.visualization.picture import BLUE, GREY, INK, Picture, new_figure, quiet


def comparison(values: Mapping[str, Sequence[float]], baselines: Mapping[str, float], measure: str) -> Picture:
    """A row for each way: a faint dot for each seed, and their mean with one standard deviation to each side.

    values: for each way the figure of each seed. Baselines are dotted lines with their names on them. Raises UserError
    for a way without a figure.
    """
    if not values or not all(values.values()):
        raise UserError("there is a way without a figure: give at least one seed of each.")
    figure = new_figure(7.0, 1.1 + 0.45 * len(values) + 0.2 * len(baselines))
    axes = figure.add_subplot()
    quiet(axes)
    told = []
    for place, (name, found) in enumerate(values.items()):
        middle, width = mean(found), stdev(found) if len(found) > 1 else 0.0
        axes.plot(found, [place + 0.22] * len(found), "o", color=BLUE, alpha=0.35, markersize=5, markeredgewidth=0)
        axes.errorbar(middle, place, xerr=width or None, color=BLUE, marker="D", markersize=6, capsize=4, linewidth=1.6)
        told.append(f"{name} {middle:.3f} ± {width:.3f} over {len(found)} seed{'s' if len(found) > 1 else ''}")
    for number, (name, value) in enumerate(sorted(baselines.items(), key=lambda one: one[1])):
        axes.axvline(value, color=GREY, linestyle=":", linewidth=1.4)
        side = "right" if value > mean(axes.get_xlim()) else "left"
        height = len(values) - 0.35 + 0.45 * number  # each name on a line of its own
        axes.text(value, height, f" {name} {value:.3f} ", ha=side, va="center", fontsize=8, color=GREY)
        told.append(f"baseline {name} {value:.3f}")
    axes.set_ylim(len(values) - 0.6 + 0.45 * len(baselines), -0.6)
    axes.set_yticks(range(len(values)), list(values), fontsize=9, parse_math=False)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.set_xlabel(measure, fontsize=9)
    return Picture(figure, f"{measure}, mean and standard deviation over seeds: {'; '.join(told)}.")

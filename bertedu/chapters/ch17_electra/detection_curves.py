"""How generator and discriminator get better side by side: the curves of a run of ELECTRA, for notebook 17."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from bertedu.visualization.picture import BLUE, ORANGE, new_figure, quiet

PANELS = {"generator": ("generator right", "replaced"), "discriminator": ("precision", "recall")}


def detection_curves(history: Sequence[Mapping[str, float]]) -> Figure:
    """Two panels over the steps, with two lines each. history: for some steps the "step" and what
    `detection_figures` found.
    """
    figure = new_figure(7.6, 2.6)
    steps = [row["step"] for row in history]
    for axes, (title, names) in zip(figure.subplots(1, 2), PANELS.items(), strict=True):
        for name, color in zip(names, (BLUE, ORANGE), strict=True):
            values = [row[name] for row in history]
            axes.plot(steps, values, color=color, marker="o", markersize=3)
            axes.annotate(name, (steps[-1], values[-1]), (6, -3), textcoords="offset points", color=color, fontsize=9)
        axes.set(xlabel="steps", xlim=(0, 1.55 * steps[-1]), ylim=(-0.02, 1.05), xticks=(0, steps[-1] / 2, steps[-1]))
        axes.set_title(title, fontsize=9)
        quiet(axes)
    return figure

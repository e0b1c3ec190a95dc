"""Accuracy over the length of the text: does a model do at long texts what it does at short ones?"""

from collections.abc import Mapping, Sequence

from bertedu.visualization.picture import BLUE, GREEN, GREY, ORANGE, Picture, new_figure, quiet

STYLES = ((ORANGE, "-", 1.6), (BLUE, "-", 5), (GREEN, "-", 1.6), (GREY, ":", 1.6))  # lines may lie upon each other


def accuracy_by_length(
    runs: Mapping[str, Sequence[Sequence[float]]], lengths: Sequence[int], trained: int, unit: str, alt: str
) -> Picture:
    """A line for each run of each model: its accuracy at each of the lengths. The lengths up to `trained`, those of
    training, are grey in the background. unit: what a length counts, such as sentences.
    """
    figure = new_figure(6.6, 2.7)
    axes = figure.subplots()
    for n, (name, lines) in enumerate(runs.items()):
        color, style, width = STYLES[n % len(STYLES)]
        for first, line in enumerate(lines):
            label = "_" if first else name  # one entry in the legend for each model
            axes.plot(lengths, line, style, color=color, linewidth=width, marker="o", markersize=3, label=label)
    axes.axvspan(min(lengths) - 0.2, trained + 0.2, color="#eeeeee")
    axes.text(trained + 0.3, 0.02, f"trained up to {trained}", fontsize=8, color=GREY)
    axes.set(xlabel=f"{unit} in the text", ylabel="accuracy", ylim=(0, 1.05))
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    quiet(axes)
    return Picture(figure, alt)

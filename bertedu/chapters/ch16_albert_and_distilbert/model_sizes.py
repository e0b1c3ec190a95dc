"""How large models are beside how much they compute: stacks of boxes to scale, and a map of parameters and work."""

from collections.abc import Mapping
from dataclasses import dataclass

from bertedu.errors import UserError
from bertedu.visualization.picture import BLUE, GREY, ORANGE, Picture, new_figure, quiet

MILLION = 1e6


@dataclass(frozen=True)
class Stack:
    """A model as boxes: parameters of its embeddings and of one layer, how many layers are stored, which of them are
    drawn faint, and a remark beside them."""

    embeddings: int
    layer: int
    layers: int
    faint: tuple[int, ...] = ()
    remark: str = ""

    @property
    def parameters(self) -> int:
        return self.embeddings + self.layers * self.layer


def stacks(models: Mapping[str, Stack]) -> Picture:
    """A column for each model, embeddings at the bottom; the height of a box is its number of parameters."""
    if not models:
        raise UserError("there is no model to draw: give at least one.")
    figure = new_figure(2.3 * len(models), 4.2)
    axes = figure.subplots()
    highest = max(model.parameters for model in models.values()) / MILLION
    told = []
    for column, (name, model) in enumerate(models.items()):
        bottom, height = model.embeddings / MILLION, model.layer / MILLION
        axes.bar(column, bottom, width=0.5, color=ORANGE, edgecolor="white")
        axes.text(column + 0.3, bottom + model.layers * height / 2, model.remark, color=BLUE, fontsize=9, va="center")
        for layer in range(model.layers):
            alpha = 0.35 if layer in model.faint else 1.0
            axes.bar(column, height, bottom=bottom, width=0.5, color=BLUE, alpha=alpha, edgecolor="white")
            bottom += height
        axes.text(column, bottom + 0.02 * highest, f"{name}\n{bottom:.0f} million", ha="center", fontsize=9)
        layers = f"{model.layers} layer{'s' if model.layers > 1 else ''}"
        remark = f" ({' '.join(model.remark.split())})" if model.remark else ""
        told.append(
            f"{name}, {bottom:.0f} million: embeddings of {model.embeddings / MILLION:.0f} and {layers}{remark}"
        )
    axes.set(xlim=(-0.5, len(models)), ylim=(0, 1.2 * highest), xticks=[], ylabel="parameters in millions")
    quiet(axes)
    return Picture(figure, f"Models as stacks of boxes, to scale. {'; '.join(told)}.")


def size_and_work(models: Mapping[str, tuple[float, int, int]], highlighted: str) -> Picture:
    """A point for each model: its parameters in millions, and 12·L·D² multiplications for a token, both logarithmic.

    models: parameters in millions, L, D. Names that begin with `highlighted` are blue, the others grey.
    """
    if not models:
        raise UserError("there is no model to draw: give at least one.")
    figure = new_figure(6.4, 3.4)
    axes = figure.subplots()
    told = []
    for name, (millions, layers, width) in models.items():
        color, work = BLUE if name.startswith(highlighted) else GREY, 12 * layers * width**2 / MILLION
        axes.plot(millions, work, "o", color=color)
        axes.annotate(name, (millions, work), (6, 5), textcoords="offset points", color=color, fontsize=9)
        told.append(f"{name} {millions:g} million, {work:,.0f} million")
    sizes = [millions for millions, _, _ in models.values()]
    axes.set(xscale="log", yscale="log", xlim=(0.7 * min(sizes), 3.5 * max(sizes)))
    axes.margins(y=0.15)
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set(xlabel="parameters in millions", ylabel="million multiplications for a token")
    quiet(axes)
    return Picture(figure, f"Parameters and multiplications for a token: {'; '.join(told)}.")

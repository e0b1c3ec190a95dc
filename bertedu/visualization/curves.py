"""How a run went: losses, accuracies, learning rate and speed, from the lines of metrics.jsonl."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bertedu.errors import UserError, shown
from bertedu.registry import OBJECTIVES
from bertedu.visualization.picture import BLUE, GREY, INK, ORANGE, Picture, new_figure, quiet, short

Line = Mapping[str, Any]
Baselines = Mapping[str, Mapping[str, float]]  # figure -> name of the baseline -> value
OF_EVERY_RUN = {"learning_rate": "Learning rate", "tokens_per_second": "Tokens a second"}


def panels_of(lines: Sequence[Line]) -> dict[str, str]:
    """The curves of the objective whose figures a log has: figures and their titles."""
    there = {name.removeprefix("validation_") for line in lines for name in line}
    fitting = [dict(one.panels) for one in OBJECTIVES.values() if there >= one.panels.keys()]
    return max(fitting, key=lambda panels: len(panels), default=dict(OBJECTIVES["words"].panels))


def training_curves(lines: Sequence[Line], baselines: Baselines | None = None) -> Picture:
    """Panels over the optimizer steps: those of the objective, learning rate and speed. Baselines are dotted lines.

    lines: as `read_metrics` returns them. Raises UserError where no figures were written.
    """
    above = panels_of(lines)
    titles = {**above, **OF_EVERY_RUN}
    if not any(name in line or f"validation_{name}" in line for line in lines for name in titles):
        raise UserError("metrics.jsonl holds no figures to draw: let the run go on for at least 50 steps.")
    figure = new_figure(10.5, 5.6)
    rows: list[Any] = [[name for name in above for _ in range(6 // len(above))]]
    rows.append(["learning_rate"] * 3 + ["tokens_per_second"] * 3)
    panels = figure.subplot_mosaic(rows, height_ratios=[1.6, 1])
    told = []
    for name, axes in panels.items():
        quiet(axes)
        axes.set_title(titles[name], fontsize=10, loc="left", color=INK)
        for key, color, label in ((name, BLUE, "training"), (f"validation_{name}", ORANGE, "validation")):
            steps, values = series(lines, key)
            if values:
                marker = "o" if color == ORANGE or len(values) == 1 else None
                axes.plot(steps, values, color=color, marker=marker, markersize=3.5, linewidth=1.6, label=label)
                told.append(f"{titles[name]}, {label}: from {amount(name, values[0])} to {amount(name, values[-1])}")
        for baseline, value in (baselines or {}).get(name, {}).items():
            draw_baseline(axes, baseline, value)
            told.append(f"{titles[name]}, {baseline}: {amount(name, value)}")
        shape(axes, name)
    handles = {
        label: line for axes in panels.values() for line, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(handles.values()), list(handles), loc="outside upper right", ncols=2, frameon=False, fontsize=9)
    for name in ("learning_rate", "tokens_per_second"):
        panels[name].set_xlabel("optimizer steps", fontsize=9)
    return Picture(figure, f"Training curves over {lines[-1]['step']:,} steps. {'; '.join(told)}.")


def series(lines: Sequence[Line], key: str) -> tuple[list[int], list[float]]:
    """Steps and values of one figure, without those that are infinite or no number. Raises UserError for words."""
    for line in lines:
        if isinstance(line.get(key), str):
            said = f"{shown(key)} is {shown(line[key])}"
            raise UserError(f"metrics.jsonl, step {line['step']}: {said}, which is no number: remove the line.")
    found = [(line["step"], line[key]) for line in lines if key in line and math.isfinite(line[key])]
    return [step for step, _ in found], [value for _, value in found]


def draw_baseline(axes: Any, name: str, value: float) -> None:
    """A dotted line with its name at the right end, readable also where a curve crosses it."""
    axes.axhline(value, color=GREY, linestyle=":", linewidth=1.4)
    axes.annotate(
        short(name),
        (1, value),
        parse_math=False,
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        fontsize=8,
        color=GREY,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
    )


def amount(name: str, value: float) -> str:
    """A figure in words' company: a share, a speed, a learning rate or a loss."""
    if name.endswith("accuracy"):
        return f"{value:.1%}"
    if name == "learning_rate":
        return f"{value:.1e}"
    return f"{value:,.0f}" if name == "tokens_per_second" else f"{value:.2f}"


def shape(axes: Any, name: str) -> None:
    """Ticks that fit what is measured."""
    if name.endswith("accuracy"):
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    elif name == "tokens_per_second":
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.set_ylim(bottom=0)
    elif name == "learning_rate":
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.locator_params(axis="x", nbins=4)  # five-digit numbers need their room

"""The numbers of a fine-tuning run as rows: mean and standard deviation over its seeds, each beside the baselines."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from bertedu.registry import TASKS
from bertedu.training.figures import Measure, Result
from bertedu.visualization.results import table


@dataclass(frozen=True)
class SpreadResult(Result):
    """A figure as mean and, of several seeds, standard deviation."""

    deviation: float | None = None

    def shown(self, value: float | None = None) -> str:
        """Three digits; the row's own number with its standard deviation."""
        own = value is None and self.deviation is not None
        return f"{self.value:.3f} ± {self.deviation:.3f}" if own else f"{self.value if value is None else value:.3f}"


def part_of(metrics: Mapping[str, Any]) -> str:
    """The rows that the figures are of: the test, or the validation where there is no test."""
    return "test" if "test" in metrics else "validation"


def finetuning_results(metrics: Mapping[str, Any]) -> list[Result]:
    """The rows for metrics.json: each figure of the test (or validation), and what simpler answers get."""
    part, task = part_of(metrics), TASKS[metrics["task"]]
    rows: list[Result] = []
    for name, figure in metrics[part].items():
        if (measure := task.measure(name)) is None:
            continue
        of_all = {kind: figures[name] for kind, figures in metrics["baselines"].items() if name in figures}
        baselines = tuple((kind, value) for kind, value in of_all.items() if kind not in task.ceilings)
        best = ", ".join(f"at best {value:.3f} ({kind})" for kind, value in of_all.items() if kind in task.ceilings)
        spread = figure["deviation"] if len(metrics["runs"]) > 1 else None
        shown = (measure.lower_is_better, measure.form, spread)
        rows.append(SpreadResult("", measure.name, figure["mean"], baselines, best, *shown))
    return rows


def measure_of(name: str, task: str) -> Measure:
    """A figure of a task for people."""
    return TASKS[task].measure(name) or Measure(name.replace("_", " "), form=".3f")


def title(metrics: Mapping[str, Any]) -> str:
    """On what the figures were measured."""
    part = part_of(metrics)
    seeds = len(metrics["runs"])
    return f"{part}, {metrics['rows'][part]:,} rows, {seeds} seed{'s' if seeds > 1 else ''}"


def finetuning_table(metrics: Mapping[str, Any]) -> Table:
    """A table for the terminal: a row for each figure, its baselines beside it."""
    return table(title(metrics), finetuning_results(metrics), "without pre-training")

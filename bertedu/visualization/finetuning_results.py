"""The numbers of a fine-tuning run as rows: mean and standard deviation over its seeds, each beside the baselines."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from bertedu.visualization.results import Result, table

NAMES = {
    "f1": "F1",
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "all_right": "all classes of a text right",
    "exact_match": "exact match",
    "has_answer_exact_match": "exact match, where there is an answer",
    "has_answer_f1": "F1, where there is an answer",
    "no_answer_exact_match": "right that there is no answer",
    "f1_at_best_threshold": "F1, with the threshold best for these rows",
    "pearson": "Pearson's correlation",
    "spearman": "Spearman's correlation",
    "mean_squared_error": "mean squared error",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougeL": "ROUGE-L",
}
LEFT_OUT = ("best_threshold", "no_answer_f1")  # no measure of quality; the same as no_answer_exact_match
LOWER_IS_BETTER = (NAMES["mean_squared_error"],)
CEILINGS = ("oracle",)  # not to be beaten: the best that can be reached


@dataclass(frozen=True)
class SpreadResult(Result):
    """A figure as mean and, of several seeds, standard deviation. A mean squared error is better when lower."""

    deviation: float | None = None

    def shown(self, value: float | None = None) -> str:
        """Three digits; the row's own number with its standard deviation."""
        own = value is None and self.deviation is not None
        return f"{self.value:.3f} ± {self.deviation:.3f}" if own else f"{self.value if value is None else value:.3f}"

    def beats(self, value: float) -> bool:
        """Whether the mean is better than a baseline's value."""
        return self.value < value if self.measure in LOWER_IS_BETTER else self.value > value


def part_of(metrics: Mapping[str, Any]) -> str:
    """The rows that the figures are of: the test, or the validation where there is no test."""
    return "test" if "test" in metrics else "validation"


def finetuning_results(metrics: Mapping[str, Any]) -> list[Result]:
    """The rows for metrics.json: each figure of the test (or validation), and what simpler answers get."""
    part = part_of(metrics)
    rows: list[Result] = []
    for name, figure in metrics[part].items():
        if name in LEFT_OUT:
            continue
        of_all = {kind: figures[name] for kind, figures in metrics["baselines"].items() if name in figures}
        baselines = tuple((kind, value) for kind, value in of_all.items() if kind not in CEILINGS)
        best = ", ".join(f"at best {value:.3f} ({kind})" for kind, value in of_all.items() if kind in CEILINGS)
        spread = figure["deviation"] if len(metrics["runs"]) > 1 else None
        rows.append(SpreadResult("", measure_name(name), figure["mean"], baselines, best, spread))
    return rows


def measure_name(name: str) -> str:
    """A figure's name for people: "f1_person" is the F1 of person."""
    if name not in NAMES and name.startswith("f1_"):
        return f"F1 of {name[3:]}"
    return NAMES.get(name, name.replace("_", " "))


def title(metrics: Mapping[str, Any]) -> str:
    """On what the figures were measured."""
    part = part_of(metrics)
    seeds = len(metrics["runs"])
    return f"{part}, {metrics['rows'][part]:,} rows, {seeds} seed{'s' if seeds > 1 else ''}"


def finetuning_table(metrics: Mapping[str, Any]) -> Table:
    """A table for the terminal: a row for each figure, its baselines beside it."""
    return table(title(metrics), finetuning_results(metrics), "without pre-training")

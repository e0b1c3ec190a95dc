"""Figures for people: what a number is called, which direction is better, and the baselines that it stands beside."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bertedu.errors import UserError

Figures = dict[str, dict[str, float]]  # by the name of a baseline, say


@dataclass(frozen=True)
class Measure:
    """A figure for people. form writes a number of it; baseline is the name that it has in the figures of a baseline,
    where that is another one, and "" where none is like it.
    """

    name: str
    lower_is_better: bool = False
    form: str = ".1%"
    baseline: str | None = None


@dataclass(frozen=True)
class Result:
    """One measured number: on which text, of what, and the baselines by name."""

    text: str
    measure: str
    value: float
    baselines: tuple[tuple[str, float], ...]
    counted: str = ""
    lower_is_better: bool = False
    form: str = ".1%"

    def shown(self, value: float | None = None) -> str:
        """A number of this row for people; without one, its own."""
        return format(self.value if value is None else value, self.form)

    def beats(self, value: float) -> bool:
        """Whether the model is better than a baseline's value."""
        return self.value < value if self.lower_is_better else self.value > value

    @property
    def wins(self) -> bool:
        """Whether the model is better than every baseline."""
        return all(self.beats(value) for _, value in self.baselines)


def results_of(
    measures: Mapping[str, Measure], figures: Mapping[str, Any], text: str = "", counted: str = ""
) -> list[Result]:
    """A row for each of the measures that figures hold, beside the same figure of each of figures["baselines"]."""
    rows = []
    for name, measure in measures.items():
        if name not in figures:
            continue
        key = name if measure.baseline is None else measure.baseline
        beside = tuple((who, of[key]) for who, of in figures.get("baselines", {}).items() if key in of)
        of_kind = (measure.lower_is_better, measure.form)
        rows.append(Result(text, measure.name, figures[name], beside, counted, *of_kind))
    return rows


def check_perplexities(figures: Iterable[Mapping[str, Any]], place: str) -> None:
    """Raise UserError for a perplexity whose logarithm cannot be drawn."""
    if any(of.get("perplexity", 1.0) <= 0 for of in figures):
        raise UserError(f"{place}: a perplexity is 0 or less, which none can be: run it again.")

"""The numbers of metrics.json as rows, each beside what needs no network, and in plain words which were beaten."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.markup import escape as escape_markup
from rich.table import Table

from bertedu.errors import visible
from bertedu.registry import OBJECTIVES
from bertedu.training.figures import Measure, Result, results_of

NOT_BEATEN = "Where counting or guessing is as good or better:"
OF_WORDS = {
    "mlm_accuracy": Measure("masked words, accuracy"),
    "perplexity": Measure("masked words, perplexity", True, ",.1f"),
}


def results(metrics: Mapping[str, Any]) -> list[Result]:
    """The rows for everything in metrics["evaluation"]."""
    rows = []
    for name, figures in metrics["evaluation"].items():
        if "masked_words" in figures:
            rows += held_out(name, figures)
        elif name == "facts":
            counted = f"{figures['probes']:,} questions"
            rows.append(Result(name, "facts recalled", figures["accuracy"], (("n-gram", figures["n-gram"]),), counted))
        elif name == "senses":
            for word, shares in figures.items():
                baseline = (("bag of words", shares["bag of words"]),)
                rows.append(Result(name, f"senses of “{word}” told apart", shares["accuracy"], baseline))
    return rows


def held_out(name: str, figures: Mapping[str, Any]) -> list[Result]:
    """The rows for one held-out set: masked words, and what the objective adds."""
    words, found = f"{figures['masked_words']:,} words", objectives_in(figures)
    words += "".join(one.about_words(figures) for one in found)
    whose = next((f" of the {one.filler_name}" for one in found if one.filler_name), "")
    rows = [replace(row, measure=f"{row.measure}{whose}") for row in results_of(OF_WORDS, figures, name, words)]
    return [*rows, *(row for one in OBJECTIVES.values() for row in one.results(name, figures))]


def objectives_in(figures: Mapping[str, Any]) -> list[Any]:
    """The objectives of which a held-out set has figures of their own."""
    return [one for one in OBJECTIVES.values() if one.section and one.section in figures]


def verdicts(rows: Sequence[Result]) -> list[str]:
    """A line for every row in which a baseline is as good as the model or better; none where the model wins all."""
    lines = []
    for row in rows:
        better = [f"{name} {row.shown(value)}" for name, value in row.baselines if not row.beats(value)]
        if better:
            where = "" if row.text in row.measure else f" ({row.text})"
            lines.append(f"{row.measure}{where}: the model {row.shown()}, {', '.join(better)}")
    return lines


def results_table(metrics: Mapping[str, Any]) -> Table:
    """A table for the terminal: a row for each number, its baselines beside it."""
    return table(f"What the model does on text that it never saw ({metrics['corpus']})", results(metrics))


def escape(text: str) -> str:
    """Text for a cell: brackets are no markup, and control characters are spelt out."""
    return escape_markup(visible(text))


def table(title: str, rows: Sequence[Result], beside: str = "without a network") -> Table:
    """Results for the terminal. A column tells the texts apart where they have names."""
    shown = Table(title=escape(title), title_justify="left")
    texts = any(row.text for row in rows)
    for name in ("text", "measure") if texts else ("measure",):
        shown.add_column(name)
    shown.add_column("model", justify="right")
    shown.add_column(beside)
    before = ""
    for row in rows:
        if before and row.text != before:
            shown.add_section()
        baselines = ", ".join(f"{escape(name)} {row.shown(value)}" for name, value in row.baselines)
        color = ("green" if row.wins else "yellow") if row.baselines else ""  # of what stands alone nothing was won
        number = f"[{f'bold {color}'.strip()}]{row.shown()}[/]"
        text = ["" if row.text == before else escape(row.text)] if texts else []
        shown.add_row(*text, escape(row.measure), number, baselines)
        before = row.text
    return shown

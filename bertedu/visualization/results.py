"""The numbers of metrics.json as rows, each beside what needs no network, and in plain words which were beaten."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.markup import escape as escape_markup
from rich.table import Table

from bertedu.errors import visible

PERPLEXITY = "perplexity"
NOT_BEATEN = "Where counting or guessing is as good or better:"
NEXT, ORDER = "next sentence", "sentence order"
DIVERGENCE = "all tokens, KL divergence from the teacher (nats, T = 2)"
COSINE = "all tokens, cosine with the teacher's last hidden states"
DETECTION = {
    "rtd_accuracy": "replaced tokens, accuracy",
    "rtd_recall": "replaced tokens, share that is found",
    "rtd_f1": "replaced tokens, F1",
}
ORDERING = {"plm_accuracy": "words in a random order, accuracy", "perplexity": "words in a random order, perplexity"}


@dataclass(frozen=True)
class Result:
    """One measured number: on which text, of what, and the baselines by name. Perplexity is better when lower."""

    text: str
    measure: str
    value: float
    baselines: tuple[tuple[str, float], ...]
    counted: str = ""

    def shown(self, value: float | None = None) -> str:
        """A number of this row for people: a share in percent, a perplexity with one digit, the rest with three."""
        number = self.value if value is None else value
        if self.measure in (DIVERGENCE, COSINE):
            return f"{number:.3f}"
        return f"{number:,.1f}" if PERPLEXITY in self.measure else f"{number:.1%}"

    def beats(self, value: float) -> bool:
        """Whether the model is better than a baseline's value."""
        return self.value < value if PERPLEXITY in self.measure else self.value > value


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
    """The rows for one held-out set."""

    def baselines(measure: str) -> tuple[tuple[str, float], ...]:
        return tuple((kind, of[measure]) for kind, of in figures["baselines"].items() if measure in of)

    words = f"{figures['masked_words']:,} words"
    if "boundary" in figures:
        words += f", {figures['boundary']['span_length']:.1f} words in a span"
    whose = " of the generator" if "detection" in figures else " of the student" if "distillation" in figures else ""
    rows = [
        Result(name, f"masked words, accuracy{whose}", figures["mlm_accuracy"], baselines("mlm_accuracy"), words),
        Result(name, f"masked words, perplexity{whose}", figures["perplexity"], baselines("perplexity"), words),
    ]
    if "detection" in figures:
        rows += detection(name, figures["detection"])
    if figures.get("boundary", {}).get("words"):
        rows += boundary(name, figures["boundary"])
    if "ordering" in figures:
        rows += ordering(name, figures["ordering"])
    if "pseudo_perplexity" in figures:
        sentences = f"{figures['pseudo_sentences']:,} sentences"
        rows.append(Result(name, "pseudo-perplexity", figures["pseudo_perplexity"], (), sentences))
    if "distillation" in figures:
        rows += distillation(name, figures["distillation"])
    if "nsp_accuracy" not in figures:  # pre-trained with masked words alone
        return rows
    pairs = NEXT if "nsp_accuracy_same_source" in figures else ORDER
    guess, counted = ("guessing", 0.5), f"{figures['pairs']:,} pairs"
    beside: tuple[tuple[str, float], ...] = (guess, *baselines("nsp_accuracy"))
    rows.append(Result(name, f"{pairs}, balanced accuracy", figures["nsp_accuracy"], beside, counted))
    if pairs == NEXT:
        same = figures["nsp_accuracy_same_source"]
        beside = (guess, *baselines("nsp_accuracy_same_source"))
        rows.append(Result(name, "next sentence from the same source, balanced accuracy", same, beside))
    return rows


def detection(name: str, figures: Mapping[str, Any]) -> list[Result]:
    """The rows for replaced tokens. The share that is found stands alone: who calls every token replaced finds all."""
    tokens, rows = f"{figures['tokens']:,} tokens, {figures['rtd_replaced']:.1%} of them replaced", []
    for figure, measure in DETECTION.items():
        beside = () if figure == "rtd_recall" else tuple((who, of[figure]) for who, of in figures["baselines"].items())
        rows.append(Result(name, measure, figures[figure], beside, tokens))
    return rows


def boundary(name: str, figures: Mapping[str, Any]) -> list[Result]:
    """The rows for words told by the boundary of their span: of both heads, on the same words."""

    def beside(measure: str) -> tuple[tuple[str, float], ...]:
        return tuple((kind, of[measure]) for kind, of in figures["baselines"].items() if measure in of)

    words, accuracy = f"{figures['words']:,} words", beside("mlm_accuracy")
    by_boundary = "words in spans, perplexity by the boundary alone"
    return [
        Result(name, "words in spans, accuracy by the boundary alone", figures["sbo_accuracy"], accuracy, words),
        Result(name, by_boundary, figures["sbo_perplexity"], beside(PERPLEXITY), words),
        Result(name, "the same words, accuracy of the masked-word head", figures["mlm_accuracy"], accuracy, words),
    ]


def ordering(name: str, figures: Mapping[str, Any]) -> list[Result]:
    """The rows for words that were predicted one after the other in a random order."""
    tokens, rows = f"{figures['tokens']:,} tokens", []
    for figure, measure in ORDERING.items():
        beside = tuple((who, of[figure]) for who, of in figures["baselines"].items())
        rows.append(Result(name, measure, figures[figure], beside, tokens))
    return rows


def distillation(name: str, figures: Mapping[str, Any]) -> list[Result]:
    """The rows for a teacher and for how near its student is to it. Repeating the text agrees with the teacher about
    most tokens that are not hidden, so that stands beside the agreement on all of them.
    """
    teacher, tokens = figures["teacher"], f"{figures['tokens']:,} tokens"
    words = f"{teacher['masked_words']:,} words"
    repeating = (("repeating the text", figures["kl_copied"]),)
    rows = [
        Result(name, "masked words, accuracy of the teacher", teacher["mlm_accuracy"], (), words),
        Result(name, "masked words, perplexity of the teacher", teacher["perplexity"], (), words),
        Result(name, "masked words, same answer as the teacher", figures["mlm_agreement"], (), words),
        Result(name, "all tokens, same answer as the teacher", figures["kl_agreement"], repeating, tokens),
        Result(name, DIVERGENCE, figures["kl_loss"], (), tokens),
    ]
    if "cos_loss" in figures:
        rows.append(Result(name, COSINE, 1 - figures["cos_loss"], (), tokens))
    return rows


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
        won = all(row.beats(value) for _, value in row.baselines)
        color = ("green" if won else "yellow") if row.baselines else ""  # of what stands alone nothing was won
        number = f"[{f'bold {color}'.strip()}]{row.shown()}[/]"
        text = ["" if row.text == before else escape(row.text)] if texts else []
        shown.add_row(*text, escape(row.measure), number, baselines)
        before = row.text
    return shown

"""The table of the comparison: mean and standard deviation over the seeds, what lies within the noise, a picture.

The noise is how much a score differs from seed to seed, and members differ in it: Welch's test gives each its own
variance. Where equal members would differ as much in five of a hundred cases or more, the table says so.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from family_members import MEMBERS
from family_scores import EXAMS

from bertedu.family.comparison import ALPHA, welch_test
from bertedu.files import read_json, write_json

Scores = dict[str, list[float]]  # of each row of the table, by seed
UNTRAINED, MEAN = "untrained", "mean of tasks"
PROBES = ("probe: tags", "probe: films")
TEXT = ("perplexity of a word", "bits per character")
STUDENTS = ("distilbert-taught", "distilbert-alone")


def within_noise(scores: Scores, one: str, other: str) -> bool:
    """Whether equal rows would differ as much as these two too often to tell them apart. Without a second seed of both
    nobody can tell a difference from noise.
    """
    return welch_test(scores[one], scores[other])[2] >= ALPHA


def collect(units: Path) -> dict[str, Any]:
    """All figures of a folder of units, as results.json holds them."""
    rows = [name for name in (*MEMBERS, UNTRAINED) if any(units.glob(f"seed-*/{name}.json"))]
    seeds = sorted(int(path.name.removeprefix("seed-")) for path in units.glob("seed-*"))
    runs = {
        name: [one_run(path, seed) for seed in seeds if (path := units / f"seed-{seed}" / f"{name}.json").exists()]
        for name in rows
    }
    found: dict[str, Any] = {
        "recipe": read_json(units / "recipe.json"),
        "baselines": read_json(units / "baselines.json"),
    }
    about, milliseconds = {}, units / "milliseconds.json"
    times = read_json(milliseconds) if milliseconds.exists() else {}
    for name in (name for name in rows if (units / "cost" / f"{name}.json").exists()):
        tried = {f"{one['rate']:g}": one for one in map(read_json, sorted((units / "rates" / name).glob("*.json")))}
        about[name] = {
            "cost": {**read_json(units / "cost" / f"{name}.json"), "milliseconds": times.get(name)},
            "speed": read_json(units / "speed" / f"{name}.json"),
            "rates": {rate: one["quality"] for rate, one in tried.items()},
        }
    return {**found, "members": about, "runs": runs}


def one_run(path: Path, seed: int) -> dict[str, Any]:
    """The figures of one member and seed, from its unit."""
    unit = read_json(path)
    run: dict[str, Any] = {"seed": seed, "exams": unit["exams"], "other": {**unit["probes"], **unit.get("text", {})}}
    if pretraining := unit.get("pretraining"):
        of = ("rate", "tokens", "steps", "processor_seconds", "measured_tokens", "validation")
        run["pretraining"] = {name: pretraining[name] for name in of}
    return run


def columns(results: Mapping[str, Any]) -> dict[str, Scores]:
    """For each column of the table the scores of its rows, by seed."""
    runs = results["runs"]
    found: dict[str, Scores] = {
        exam: {name: [run["exams"][exam]["test"] for run in of] for name, of in runs.items() if of} for exam in EXAMS
    }
    found[MEAN] = {
        name: [statistics.mean(run["exams"][exam]["test"] for exam in EXAMS) for run in of]
        for name, of in runs.items()
        if of
    }
    for column in (*PROBES, *TEXT):
        found[column] = {
            name: [run["other"][column] for run in of]
            for name, of in runs.items()
            if of and all(column in run["other"] for run in of)
        }
    return found


def title(name: str) -> str:
    """What the table calls a row."""
    return MEMBERS[name].name if name in MEMBERS else "BERT, not pre-trained"


def cell(scores: Scores, name: str, digits: int = 3) -> str:
    """Mean ± standard deviation, with ≈ where BERT's mean is within the noise."""
    if name not in scores:
        return "–"
    values = scores[name]
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    same = "≈" if name != "bert" and "bert" in scores and within_noise(scores, name, "bert") else ""
    return f"{same}{statistics.mean(values):.{digits}f} ± {deviation:.{digits}f}"


def table(results: Mapping[str, Any]) -> str:
    """What is learned, what the vectors and the language model know, and what it costs, in Markdown; then the two
    students beside each other.
    """
    found, rows = columns(results), [name for name, runs in results["runs"].items() if runs]
    tasks = [*EXAMS, MEAN]
    lines = markdown(["", *tasks], [[title(name), *(cell(found[task], name) for task in tasks)] for name in rows])
    for kind in dict.fromkeys(kind for figures in results["baselines"].values() for kind in figures):
        of = [results["baselines"][task].get(kind) for task in EXAMS]
        lines += [f"| {kind} | {' | '.join('–' if value is None else f'{value:.3f}' for value in of)} | – |"]
    counts = sorted({len(results["runs"][name]) for name in rows})
    lines += [
        "",
        f"Test scores, mean ± standard deviation over the seeds ({' or '.join(map(str, counts))} of each member). ≈: "
        f"not told from BERT by Welch's test (p ≥ {ALPHA}); the seeds alone may have made the difference.",
        "",
    ]
    others = [*PROBES, *TEXT]
    lines += markdown(["", *others], [[title(name), *(cell(found[of], name) for of in others)] for name in rows])
    lines += ["", *costs(results, rows), "", *students(found)]
    return "\n".join(lines)


def costs(results: Mapping[str, Any], rows: Sequence[str]) -> list[str]:
    """The table of what a member costs."""
    lines = []
    for name in (name for name in rows if name in results["members"]):
        cost, runs = results["members"][name]["cost"], [run["pretraining"] for run in results["runs"][name]]
        seconds = statistics.mean(run["processor_seconds"] for run in runs)
        lines.append(
            [
                *(title(name), f"{runs[0]['rate']:g}", f"{cost['parameters']:,}", f"{cost['trained parameters']:,}"),
                *(f"{runs[0]['tokens'] / 1e6:.1f} M", f"{cost['tokens of a word']:.2f}", f"{seconds:.0f}"),
                *(f"{cost['megabytes of a step']:.0f}", "–" if (ms := cost["milliseconds"]) is None else f"{ms:.1f}"),
            ]
        )
    head = ["", "learning rate", "parameters", "of all that is trained", "tokens read", "tokens of a word"]
    return markdown([*head, "seconds of processor time", "MB of a step", "ms for a text of 64 tokens"], lines)


def students(found: Mapping[str, Scores]) -> list[str]:
    """What the teacher is worth, task by task."""
    taught, alone = STUDENTS
    lines = []
    for column in (*EXAMS, MEAN, *PROBES):
        scores = found[column]
        if taught in scores and alone in scores:
            gain = statistics.mean(scores[taught]) - statistics.mean(scores[alone])
            noise = "within the noise" if within_noise(scores, taught, alone) else "more than the noise"
            lines.append([column, f"{gain:+.3f}", noise])
    return markdown(["DistilBERT", "taught − alone", ""], lines)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)]


def picture(results: Mapping[str, Any], path: Path) -> None:
    """A panel for each task: each member's mean and standard deviation, and the best that needs no network."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found, tasks = columns(results), [*EXAMS, MEAN]
    rows = [name for name, runs in results["runs"].items() if runs]
    size = {"ncols": math.ceil(len(tasks) / 2), "figsize": (16, 8)}
    figure, panels = pyplot.subplots(2, **size, sharey=True, squeeze=False, layout="constrained")
    for panel, task in zip(panels.flat, tasks, strict=False):  # of an odd number one panel stays empty
        for place, name in enumerate(rows):
            values = found[task][name]
            deviation = statistics.stdev(values) if len(values) > 1 else 0.0
            colour = "tab:gray" if name == UNTRAINED else "tab:blue"
            panel.errorbar(statistics.mean(values), place, xerr=deviation, fmt="o", color=colour, capsize=3)
        if task in results["baselines"]:
            best = max(results["baselines"][task].values())
            panel.axvline(best, color="tab:red", linestyle=":", label="best without a network")
        panel.set_title(task)
        panel.set_yticks(range(len(rows)), [title(name) for name in rows])
        panel.grid(axis="x", alpha=0.3)
    panels.flat[0].invert_yaxis()
    panels.flat[0].legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def report(state: Path, folder: Path) -> None:
    """Print the tables, and write results.json and the picture."""
    results = collect(state)
    write_json(folder / "results.json", results)
    picture(results, folder / "results.png")
    print(table(results))

"""What a short pre-training reaches by the tokens that it reads, for two initializations with their own defaults.

Run: python benchmarks/curves.py --work FOLDER [--output data/comparisons/curves.json]
                                 [--picture docs/images/tokens.png]

Each run is `bertedu pretrain` as it comes (`tiny` on the documentation of this machine) with a budget of so many
tokens and a seed. The learning rate follows the budget, so each point of a curve is a run of its own. A run is a folder
in FOLDER: one that is finished is not repeated, one that was stopped goes on. Prints a table of means and deviations
over the seeds, on held-out documents, and writes all figures. --seeds, --tokens and --initializations choose some;
--read takes the figures from an earlier output and trains nothing.
"""

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from bertedu.files import read_json, write_json
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain
from bertedu.visualization.picture import BLUE, ORANGE, new_figure, quiet

TOKENS = (1_500_000, 3_000_000, 5_000_000, 14_400_000)
FIGURES = {
    "masked words": "mlm_accuracy",
    "perplexity": "perplexity",
    "next sentence": "nsp_accuracy",
    "same source": "nsp_accuracy_same_source",
}


def unit(work: Path, initialization: str, tokens: int, seed: int) -> dict[str, Any] | None:
    """The figures of one run; None where it was stopped."""
    folder = work / f"{initialization}-{tokens}-{seed}"
    done = folder / "metrics.json"
    if not done.exists():
        asked: dict[str, Any] = {"initialization": initialization, "tokens": tokens, "seed": seed, "output": folder}
        plan = Plan.from_options(resume=folder) if (folder / "run.json").exists() else Plan.from_options(**asked)
        if pretrain(plan) is None:
            return None
    found = json.loads(done.read_text("utf-8"))
    heldout = found["evaluation"]["held-out documents"]
    figures = {name: heldout[key] for name, key in FIGURES.items()}
    return {"initialization": initialization, "tokens": tokens, "seed": seed, **figures, "run": found["run"]}


def table(units: list[dict[str, Any]]) -> str:
    """A line for each initialization and number of tokens, in percent."""
    lines = ["| tokens | initialization | seeds | " + " | ".join(FIGURES) + " |", "|---" * (3 + len(FIGURES)) + "|"]
    for tokens, initialization in sorted({(one["tokens"], one["initialization"]) for one in units}):
        runs = [one for one in units if (one["tokens"], one["initialization"]) == (tokens, initialization)]
        cells = [spread([one[name] for one in runs], percent=name != "perplexity") for name in FIGURES]
        lines.append(f"| {tokens / 1e6:g} M | {initialization} | {len(runs)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def spread(values: list[float], percent: bool) -> str:
    """Mean and standard deviation."""
    scale, sign = (100, " %") if percent else (1, "")
    deviation = f" ± {scale * statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{scale * statistics.mean(values):.1f}{deviation}{sign}"


def picture(units: list[dict[str, Any]]) -> Figure:
    """The figures over the tokens: a dot for each run, a line through the means of each initialization."""
    figure = new_figure(10.5, 3.2)
    names = [name for name in FIGURES if name != "same source"]
    for axes, name in zip(figure.subplots(1, len(names)), names, strict=True):
        quiet(axes)
        axes.set_title(f"{name}, balanced accuracy" if name == "next sentence" else name, fontsize=10, loc="left")
        for initialization, color in (("neighbors", BLUE), ("matching", ORANGE)):
            runs = [one for one in units if one["initialization"] == initialization]
            tokens = sorted({one["tokens"] for one in runs})
            means = [statistics.mean(one[name] for one in runs if one["tokens"] == some) for some in tokens]
            axes.plot(tokens, means, color=color, linewidth=1.6, label=initialization)
            axes.plot([one["tokens"] for one in runs], [one[name] for one in runs], "o", color=color, markersize=3.5)
        axes.set_xscale("log")
        axes.set_xticks(TOKENS, [f"{some / 1e6:g} M" for some in TOKENS], minor=False)
        axes.set_xticks([], minor=True)
        axes.set_xlabel("tokens that the run read", fontsize=9)
        if name == "perplexity":
            axes.set_yscale("log")
            axes.set_yticks([25, 50, 100, 200], ["25", "50", "100", "200"], minor=False)
            axes.set_yticks([], minor=True)
        else:
            axes.yaxis.set_major_locator(MultipleLocator(0.05))
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.legend(frameon=False, fontsize=9)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--work", type=Path, help="the folder of the runs")
    source.add_argument("--read", type=Path, help="the figures of an earlier --output")
    parser.add_argument("--output", type=Path, help="where to write all figures")
    parser.add_argument("--picture", type=Path, help="where to draw them, such as docs/images/tokens.png")
    parser.add_argument("--tokens", type=int, nargs="+", default=TOKENS)
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--initializations", nargs="+", default=("neighbors", "matching"))
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    units = read_json(given.read)["runs"] if given.read else runs(given)
    if not units:
        return
    print(table(units))
    if given.output:
        write_json(given.output, {"runs": units})
    if given.picture:
        picture(units).savefig(given.picture, dpi=120)


def runs(given: argparse.Namespace) -> list[dict[str, Any]]:
    """The figures of all runs that are asked for, up to one that is stopped."""
    found = []
    for tokens in given.tokens:
        for seed in given.seeds:
            for initialization in given.initializations:
                one = unit(given.work, initialization, tokens, seed)
                if one is None:
                    return found
                found.append(one)
    return found


if __name__ == "__main__":
    main()

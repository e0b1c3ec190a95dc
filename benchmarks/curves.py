"""What a short pre-training reaches by the tokens that it reads, for two initializations with their own defaults.

Run: python benchmarks/curves.py --work FOLDER [--output data/comparisons/curves.json]

Each run is `bertedu pretrain` as it comes (`tiny` on the documentation of this machine) with a budget of so many
tokens and a seed. The learning rate follows the budget, so each point of a curve is a run of its own. A run is a folder
in FOLDER: one that is finished is not repeated, one that was stopped goes on. Prints a table of means and deviations
over the seeds, on held-out documents, and writes all figures. --seeds, --tokens and --initializations choose some.
"""

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import torch

from bertedu.files import write_json
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="the folder of the runs")
    parser.add_argument("--output", type=Path, help="where to write all figures")
    parser.add_argument("--tokens", type=int, nargs="+", default=TOKENS)
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--initializations", nargs="+", default=("neighbors", "matching"))
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    units = []
    for tokens in given.tokens:
        for seed in given.seeds:
            for initialization in given.initializations:
                found = unit(given.work, initialization, tokens, seed)
                if found is None:
                    return print(table(units)) if units else None
                units.append(found)
    print(table(units))
    if given.output:
        write_json(given.output, {"runs": units})


if __name__ == "__main__":
    main()

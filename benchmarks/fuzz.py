"""Inputs of a saboteur over all readers, all files of models and runs and the commands: how many went well.

    python benchmarks/fuzz.py --inputs 100000 --state fuzz.json

An input went well where its value is what a second, simpler reading gives, or where it is refused in one sentence, in
under 30 seconds. What went wrong is kept in the state with its number, so that `--only NUMBER` repeats it; a stopped
run goes on where it was. `--table` prints what a state holds, for README.md.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.hostile.inputs import KINDS, kind_of, try_one  # noqa: E402

SAVE_SECONDS = 10


def new_state(seed: int) -> dict[str, Any]:
    """Nothing tried: per kind how many were tried and went well, what went wrong, and the slowest input."""
    return {"seed": seed, "next": 0, "tried": {}, "good": {}, "wrong": [], "slowest": [0.0, None], "gigabytes": 0.0}


def try_number(state: dict[str, Any], number: int, folder: Path) -> None:
    """Try one input and note how it went."""
    kind, begun = kind_of(number), time.monotonic()
    said = try_one(kind, f"{state['seed']} {number}", folder)
    state["slowest"] = max(state["slowest"], [round(time.monotonic() - begun, 1), number], key=lambda one: one[0])
    state["gigabytes"] = max(state["gigabytes"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
    state["good"][kind] = state["good"].get(kind, 0) + (not said)
    state["wrong"] += [[number, kind, said]] * bool(said)


def try_all(state: dict[str, Any], inputs: int, path: Path, folder: Path, again: bool) -> None:
    """Try the inputs that the state lacks, and first, where asked, those that went wrong."""
    if again:
        wrong, state["wrong"] = state["wrong"], []
        for number, _, _ in wrong:
            try_number(state, number, folder)
    saved = time.monotonic()
    for number in range(state["next"], inputs):
        try_number(state, number, folder)
        kind = kind_of(number)
        state["tried"][kind] = state["tried"].get(kind, 0) + 1
        state["next"] = number + 1
        if time.monotonic() - saved > SAVE_SECONDS:
            path.write_text(json.dumps(state))
            saved = time.monotonic()
    path.write_text(json.dumps(state))


def table(state: dict[str, Any]) -> str:
    """What was tried and what went well, kind by kind."""
    rows = [(kind, state["tried"].get(kind, 0), state["good"].get(kind, 0)) for kind in KINDS]
    rows.append(("all", sum(state["tried"].values()), sum(state["good"].values())))
    lines = ["| input | tried | good |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {kind} | {tried:,} | {good:,} |" for kind, tried, good in rows)])


def main() -> None:
    """Try the inputs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, default=Path("fuzz.json"))
    parser.add_argument("--only", type=int, metavar="NUMBER", help="Try one input, and write nothing.")
    parser.add_argument("--again", action="store_true", help="First try anew what went wrong.")
    parser.add_argument("--table", action="store_true", help="Try nothing: print what the state holds.")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    state = json.loads(chosen.state.read_text()) if chosen.state.exists() else new_state(chosen.seed)
    with tempfile.TemporaryDirectory() as folder:
        if chosen.only is not None:
            kind = kind_of(chosen.only)
            print(f"{kind}: {try_one(kind, f'{chosen.seed} {chosen.only}', Path(folder)) or 'went well'}")
            return
        if not chosen.table:
            try_all(state, chosen.inputs, chosen.state, Path(folder), chosen.again)
    print(table(state))
    slowest, number = state["slowest"]
    end = f"the slowest, {number}, took {slowest} s; at most {state['gigabytes']:.1f} GB"
    print(f"\n{len(state['wrong'])} went wrong; {end}.")


if __name__ == "__main__":
    main()

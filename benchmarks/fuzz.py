"""Inputs of a saboteur over all readers, all JSON files and the commands: how many were tried, how many went well.

    python benchmarks/fuzz.py --inputs 100000 --state fuzz.json

An input went well where its value is what a second, simpler reading gives, or where it is refused in one sentence, in
under 30 seconds. What went wrong is kept in the state with its number, so that `--only NUMBER` repeats it; a stopped
run goes on where it was.
"""

import argparse
import json
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.hostile_inputs import KINDS, check

SECONDS = 30
SLOW = ("fill-mask and attention", "pretrain and finetune", "model.safetensors", "plain text")  # once in eight rounds


def kind_of(number: int) -> str:
    """The kind of the input with this number: slow kinds come less often."""
    quick = [name for name in KINDS if name not in SLOW]
    return SLOW[number // 8 % len(SLOW)] if number % 8 == 0 else quick[(number - number // 8 - 1) % len(quick)]


def try_one(number: int, seed: int, folder: Path) -> str:
    """ "" where the input went well, else what happened."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        check(KINDS[kind_of(number)](random.Random(f"{seed} {number}"), folder))
        return ""
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error}"[:700] + f" ({where.filename}:{where.lineno})"
    finally:
        signal.alarm(0)


def main() -> None:
    """Try the inputs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, default=Path("fuzz.json"))
    parser.add_argument("--only", type=int)
    parser.add_argument("--again", action="store_true", help="First try anew what went wrong.")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if chosen.only is not None:
            print(kind_of(chosen.only), try_one(chosen.only, chosen.seed, Path(folder)) or "went well")
            return
        state = {"seed": chosen.seed, "next": 0, "tried": {}, "good": {}, "wrong": []}
        if chosen.state.exists():
            state = json.loads(chosen.state.read_text())
        saved = time.monotonic()
        for number, kind, said in state["wrong"] if chosen.again else ():
            said = try_one(number, state["seed"], Path(folder))
            state["good"][kind] += not said
            state["wrong"] = [one for one in state["wrong"] if one[0] != number] + [[number, kind, said]] * bool(said)
        for number in range(state["next"], chosen.inputs):
            kind = kind_of(number)
            said = try_one(number, state["seed"], Path(folder))
            state["tried"][kind] = state["tried"].get(kind, 0) + 1
            state["good"][kind] = state["good"].get(kind, 0) + (not said)
            state["next"] = number + 1
            if said:
                state["wrong"].append([number, kind, said])
            if time.monotonic() - saved > 10:
                chosen.state.write_text(json.dumps(state))
                saved = time.monotonic()
        chosen.state.write_text(json.dumps(state))
    print(f"{'kind of input':26}{'tried':>9}{'good':>9}")
    for kind in KINDS:
        print(f"{kind:26}{state['tried'].get(kind, 0):>9,}{state['good'].get(kind, 0):>9,}")
    print(f"{'all':26}{sum(state['tried'].values()):>9,}{sum(state['good'].values()):>9,}")
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB", file=sys.stderr)


if __name__ == "__main__":
    main()

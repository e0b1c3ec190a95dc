"""How long others wait while hundreds of connections are silent, slow, greedy or half open.

    python benchmarks/siege.py --folder service/model --connections 512 --seconds 6

Each kind of `tests/support/hostile/siege.py` holds its connections from a process of its own; a neighbour meanwhile
asks for health and for an answer in turns. Printed are the answers by status (0: none), how long they took, the
processor time that the service used while the slowest was waited for, and the share of a processor that it used. The
kind "nothing" is the neighbour alone: how long it waits where the machine has other work.
"""

import argparse
import sys
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import psutil

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.hostile.siege import KINDS, asked, siege  # noqa: E402

from bertedu.production.serving import serving  # noqa: E402

PAUSE = 0.05  # seconds between the requests of the neighbour
NOTHING = "nothing"


def besieged(folder: Path, kind: str, connections: int, seconds: float) -> str:
    """A row of the table: how a neighbour fares during one siege."""
    with serving(folder) as served:
        port, process = int(served.url.rpartition(":")[2]), psutil.Process(served.process.pid)

        def used() -> float:
            return sum(process.cpu_times()[:2])

        with nullcontext() if kind == NOTHING else siege(kind, port, connections, seconds + 60):
            begun, before, found = time.monotonic(), used(), []
            while time.monotonic() - begun < seconds:
                first = used()
                found.append((*asked(port, len(found)), used() - first))
                time.sleep(PAUSE)
            share = (used() - before) / (time.monotonic() - begun)
    p50, p95 = (1000 * float(np.quantile([taken for _, taken, _ in found], at)) for at in (0.5, 0.95))
    _, most, work = max(found, key=lambda one: one[1])
    statuses = dict(Counter(status for status, _, _ in found))
    return f"| {kind} | {statuses} | {p50:.0f} | {p95:.0f} | {1000 * most:.0f} | {1000 * work:.0f} | {share:.0%} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--connections", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--kinds", nargs="*", default=[NOTHING, *KINDS, NOTHING])
    chosen = parser.parse_args()
    print("| connections | answers of a neighbour | p50, ms | p95, ms | max, ms | of it work, ms | processor |")
    print("|---|---|---|---|---|---|---|")
    for kind in chosen.kinds:
        print(besieged(chosen.folder, kind, chosen.connections, chosen.seconds), flush=True)


if __name__ == "__main__":
    main()

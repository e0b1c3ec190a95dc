"""What the chapters that train would take on a GPU, counted: python benchmarks/chapter_operations.py --work FOLDER

The solved cells of a chapter run once on one core, and every operation is counted that torch is asked for, in backward
passes and optimizers too: its floating-point operations, the bytes that it reads and writes, and its seconds. Only
cells with a backward pass count: in them a GPU computes. A GPU's time is that of Python beside the operations (see
PYTHON), times what the GPU's own host is slower, and for each operation the longest of three: a launch, its products
at half of the card's rate, its bytes at three quarters of the memory's. What may go on at the same time is added up, so
this is too long rather than too short. No GPU was asked.

A chapter's counts are kept in FOLDER, and a further call does the missing ones; --table prints what there is. Sizes are
those of the CPU: where a chapter takes a larger model on a GPU (08, 22), its text says so.
"""

import argparse
import contextlib
import io
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from torch.utils import flop_counter

from bertedu.course.building.places import Places
from bertedu.course.building.versions import read_source
from bertedu.files import read_json, write_json
from bertedu.training.operations import NO_WORK, CountedOperations

CHAPTERS = ("08", "10", "11", "12", "13", "14", "15", "16", "17", "19", "20", "23")
ATTENTION = "_scaled_dot_product"
# Seconds that Python takes beside an operation, from autograd to the feeding: chapter 10 on one core, with and without
# counting, took 8 µs more for each of its million operations than these themselves.
PYTHON = 8e-6


@dataclass(frozen=True)
class Card:
    """A GPU by its maker's sheet: products a second in float32 and in what the chapters compute with there, bytes a
    second; and what is assumed of its host: seconds to launch a kernel, how many times slower its Python is."""

    name: str
    single: float
    half: float
    memory: float
    launch: float
    slower: float


CARDS = (
    Card("T4", single=8.1e12, half=8.1e12, memory=320e9, launch=10e-6, slower=1.5),  # no bf16: float32
    Card("H100", single=67e12, half=989e12, memory=3350e9, launch=5e-6, slower=1.0),
)


class Costs(CountedOperations):
    """Counts operations as its parent does, and what each of them costs."""

    def __init__(self) -> None:
        super().__init__()
        self.arithmetic = self.seconds = 0.0
        self.times = dict.fromkeys((card.name for card in CARDS), 0.0)
        self.backward = False

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, began = kwargs or {}, time.process_time()
        result = super().__torch_dispatch__(operation, types, args, kwargs)
        self.seconds += time.process_time() - began
        packet = operation.overloadpacket
        name = packet.__name__
        self.backward = self.backward or "backward" in name
        if name in NO_WORK:
            return result
        tensors = [*tensors_in((args, kwargs)), *tensors_in(result)]
        moved = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        products = self.products_of(packet, name, args, kwargs, result)
        self.arithmetic += products
        half = bool(tensors) and tensors[0].dtype in (torch.bfloat16, torch.float16)
        for card in CARDS:
            rate = card.half if half else card.single
            needed = max(card.launch, products / (0.5 * rate), moved / (0.75 * card.memory))
            self.times[card.name] += needed
        return result

    def products_of(self, packet: Any, name: str, args: Any, kwargs: Any, result: Any) -> float:
        """The floating-point operations of a product of matrices, and of attention in one operation."""
        if packet in flop_counter.flop_registry:
            return float(flop_counter.flop_registry[packet](*args, **kwargs, out_val=result))
        if name.startswith(ATTENTION):
            query, key, value = [tensor for tensor in tensors_in(args) if tensor.dim() == 4][:3]
            times = 2.5 if "backward" in name else 1.0
            return times * float(flop_counter.sdpa_flop_count(query.shape, key.shape, value.shape))
        return 0.0


def tensors_in(value: Any) -> list[torch.Tensor]:
    """All tensors in lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [tensor for one in values for tensor in tensors_in(one)]


def run(chapter: str) -> list[dict[str, Any]]:
    """What was counted in each code cell of a chapter. Exits where one fails that should not."""
    places = Places()
    (source,) = places.all_sources((chapter,))
    cells = [cell for cell in read_source(source).cells if cell.cell_type == "code"]
    os.chdir(places.notebooks)
    shell, found = InteractiveShell.instance(colors="nocolor"), []
    for cell in cells:
        with contextlib.redirect_stdout(io.StringIO()), Costs() as costs:
            done = shell.run_cell(cell.source)
        if done.success == ("raises-exception" in cell.metadata.get("tags", [])):
            raise SystemExit(f"chapter {chapter}: this cell did not do what it does:\n{cell.source}")
        counted = {"kernels": costs.kernels, "arithmetic": costs.arithmetic, "inside": costs.seconds}
        found.append({"trains": costs.backward, **counted, "times": costs.times})
    return found


def minutes(cells: list[dict[str, Any]]) -> dict[str, float]:
    """Of the cells that train: operations, products, and the minutes on this CPU and on each card."""
    cells = [cell for cell in cells if cell["trains"]]
    row = {name: sum(cell[name] for cell in cells) for name in ("kernels", "arithmetic", "inside")}
    row["cpu"] = (row["inside"] + PYTHON * row["kernels"]) / 60
    for card in CARDS:
        needed = sum(cell["times"][card.name] for cell in cells)
        row[card.name] = (card.slower * PYTHON * row["kernels"] + needed) / 60
    return row


def table(work: Path) -> str:
    """A line for each chapter that was counted."""
    names = " | ".join(card.name for card in CARDS)
    lines = [f"| chapter | operations | products | minutes: one core | {names} |", "|---" * (4 + len(CARDS)) + "|"]
    for path in sorted(work.glob("*.json")):
        row = minutes(read_json(path))
        cards = " | ".join(f"{row[card.name]:.2f}" for card in CARDS)
        head = f"| {path.stem} | {row['kernels'] / 1e6:.2f} M | {row['arithmetic'] / 1e12:.2f} T | {row['cpu']:.1f}"
        lines.append(f"{head} | {cards} |")
    return "\n".join(lines)


def main() -> None:
    """Count what is missing, or print what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chapters", nargs="*", default=CHAPTERS)
    parser.add_argument("--work", type=Path, required=True, help="what is counted is kept here, outside the repository")
    parser.add_argument("--table", action="store_true", help="print what was counted, and run nothing")
    parser.add_argument("--here", action="store_true", help="in this process, for one chapter")
    given = parser.parse_args()
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if given.here:
        torch.set_num_threads(1)
        (chapter,) = given.chapters
        write_json(work / f"{chapter}.json", run(chapter))
        return
    for chapter in () if given.table else given.chapters:
        if not (work / f"{chapter}.json").exists():
            print(f"chapter {chapter}", flush=True)
            command = [sys.executable, __file__, chapter, "--work", str(work), "--here"]
            subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    print(table(work))


if __name__ == "__main__":
    main()

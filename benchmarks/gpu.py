"""What a GPU makes of the package, in eight minutes. Run: make gpu, or PYTHONPATH=. python benchmarks/gpu.py

The second form is for a bare machine without a network: it takes the Python that is there, if that has torch 2.11 or
newer and the few packages that bertedu needs. Where `transformers` is missing, it measures without that.

In this order, the most important first, each in a process of its own:

1. The rate of plain matrix products in bf16.
2. BERT-Base, 256 texts of 128 tokens, and 64 of 512; vocabulary 30,522, 15 % masked, every text full: tokens a second
   of bertedu's own trainer (feeding, copies, steps; bf16, layers compiled), which kernels take the time, and tokens a
   second of `transformers` at its best (bf16, sdpa without a mask, compiled whole, fused AdamW, batches on the device
   beforehand). Both without dropout.
3. tiny and mini at 128 tokens; the tests of every task on the GPU; `transformers` as it comes (float32 with TF32).

Each part has a predicted time and a limit. No part may take the predicted time of a later one: what takes longer than
its limit (a compiler that does not end) is cut, and the rest goes on. Aims, for base at both lengths: half of the peak
on the maker's sheet, and 1.5 times as fast as `transformers` at its best.

Writes gpu.json, gpu.md and a file for each profile into --output, anew after each part. --quick tries the script
itself with tiny numbers, also on a CPU.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bare  # before torch
import gpu_parts
import torch
from children import Outcome, in_child, server
from gpu_parts import AS_IT_COMES, AT_ITS_BEST
from pretraining import describe

from bertedu.files import write_json, write_text

MINUTES = 8.0
HALF_OF_THE_PEAK, TIMES_ITS_BEST = 0.5, 1.5
BERTEDU = "bertedu"
TESTS = "-n 4 --thorough tests/device_steps.py"
SIZES = (("base", 256, 128), ("base", 64, 512), ("tiny", 256, 128), ("mini", 256, 128))  # size, texts, tokens of each
TO_COMPILE = 100.0  # seconds, at most
LIMIT = 2.5  # of the predicted time: no part is waited for any longer, however much time is left


@dataclass(frozen=True)
class Part:
    """Something to measure: its name, the seconds that it is predicted to take, and what does it, with what."""

    name: str
    predicted: float
    work: Callable[..., Any]
    arguments: tuple = ()
    to_be_ready: float | None = None  # the limit of compiling


def parts_of(options: argparse.Namespace, device: str, with_transformers: bool) -> list[Part]:
    """The parts in their order. Predicted seconds: those of an H200 with 16 cores, of which one takes twelve to start
    a child and build BERT-Base, and twenty to forty to compile it; an assumption until one was measured.
    """
    sizes = [("tiny", 4, 32)] if options.quick else list(SIZES)
    seconds, width = ({"tiny": 0.2}, 256) if options.quick else ({"base": 8.0, "tiny": 3.0, "mini": 3.0}, 8192)
    found = [Part("products", 12.0, gpu_parts.products, (device, width, 0.1 if options.quick else 3.0))]
    for one in sizes:
        arguments = (device, *one, seconds[one[0]], {"data_workers": 0 if options.quick else 4})
        predicted = 60.0 if one[0] == "base" else 35.0
        found.append(Part(f"{BERTEDU} {named(one)}", predicted, gpu_parts.trainer_speed, arguments, TO_COMPILE))
        if one in sizes[:2] and with_transformers:
            arguments = (device, AT_ITS_BEST, *one, seconds[one[0]])
            found.append(Part(f"{AT_ITS_BEST} {named(one)}", 55.0, gpu_parts.transformers_speed, arguments, TO_COMPILE))
    if options.tests:
        found.append(Part("tests", 60.0, run_tests, (options.tests,)))
    if with_transformers:
        arguments = (device, AS_IT_COMES, *sizes[0], seconds[sizes[0][0]])
        found.append(Part(f"{AS_IT_COMES} {named(sizes[0])}", 25.0, gpu_parts.transformers_speed, arguments))
    return [part for part in found if not any(words in part.name for words in options.without)]


def named(one: tuple[str, int, int]) -> str:
    return f"{one[0]} {one[1]} × {one[2]}"


def run_parts(
    parts: Sequence[Part],
    seconds: float,
    call: Callable[[Part, float], Outcome],
    done: Callable[[Part, Outcome], None],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """One part after the other. Each may take what is left but for the predicted time of those after it, and so none
    comes too late as long as all predictions together fit into the time. Raises ValueError where they do not.
    """
    predicted = sum(part.predicted for part in parts)
    if predicted > seconds:
        raise ValueError(f"the parts are predicted to take {predicted:.0f} s, and there are {seconds:.0f}: give more")
    end = clock() + seconds
    for number, part in enumerate(parts):
        later = sum(other.predicted for other in parts[number + 1 :])
        limit = min(end - clock() - later, LIMIT * part.predicted)
        print(f"{part.name}: predicted {part.predicted:.0f} s, at most {limit:.0f} s", flush=True)
        done(part, call(part, limit))


def run_tests(ready: Callable[[], None], tests: str) -> dict[str, Any]:
    """What pytest says of the tests on this device, in its last line."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *tests.split()]
    ready()
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).resolve().parents[1])
    said = (done.stdout.strip().splitlines() or [done.stderr[-300:]])[-1]
    return {"passed": done.returncode == 0, "said": said}


def table(report: dict[str, Any]) -> str:
    """The report in Markdown, with what was aimed at and what failed."""
    parts, about = report["parts"], report["parts"].get("products", {})
    lines = [f"# {report['machine']}", "", report["note"], ""]
    if rate := about.get("matrix_rate"):
        sheet = f", {about['sheet'] / 1e12:,.0f} on the maker's sheet" if about.get("sheet") else ""
        lines += [f"Matrix products in bf16: {rate / 1e12:,.3g} TFLOP/s{sheet}.", ""]
    head = ["size, texts × tokens", BERTEDU, AT_ITS_BEST, AS_IT_COMES, "times its best", "of the products"]
    head += ["of the sheet", "GB", "ready after"]
    lines += [row_of(head), "|---" * len(head) + "|"]
    for size in report["sizes"]:
        row = figures_of(parts, size)
        said = [in_words(parts.get(f"{side} {size}")) for side in (BERTEDU, AT_ITS_BEST, AS_IT_COMES)]
        shares = [f"{row[name]:.0%}" if name in row else "" for name in ("of the products", "of the sheet")]
        times = f"{row['times its best']:.2f}" if "times its best" in row else ""
        ours = parts.get(f"{BERTEDU} {size}", {})
        gigabytes = f"{ours['memory_bytes'] / 1e9:.1f}" if ours.get("memory_bytes") else ""
        lines.append(row_of([size, *said, times, *shares, gigabytes, f"{ours.get('ready_seconds', 0):.0f} s"]))
    if "tests" in parts:
        lines += ["", f"tests: {parts['tests'].get('said') or parts['tests']['failure']}"]
    return "\n".join([*lines, "", *aims(report)]) + "\n"


def figures_of(parts: dict[str, Any], size: str) -> dict[str, float]:
    """What follows from the rates of a size: how many times as fast, and which shares of the peaks."""
    ours, best = (parts.get(f"{side} {size}", {}) for side in (BERTEDU, AT_ITS_BEST))
    found: dict[str, float] = {}
    if rate := ours.get("tokens_per_second"):
        if best.get("tokens_per_second"):
            found["times its best"] = rate / best["tokens_per_second"]
        for name, peak in (("of the products", "matrix_rate"), ("of the sheet", "sheet")):
            if of := parts.get("products", {}).get(peak):
                found[name] = rate * ours["operations_per_token"] / of
    return found


def row_of(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def in_words(found: dict[str, Any] | None) -> str:
    """Tokens a second, or why there are none."""
    if found is None:
        return "not measured"
    return f"{found['tokens_per_second']:,.0f}" if "tokens_per_second" in found else found["failure"]


def aims(report: dict[str, Any]) -> list[str]:
    """Whether the aims were reached, for base at both lengths; what a CPU does is no evidence for a GPU."""
    found = []
    for size in (named(one) for one in SIZES if one[0] == "base"):
        row = figures_of(report["parts"], size) if report["device"] == "cuda" else {}
        for name, aim in (("of the sheet", HALF_OF_THE_PEAK), ("times its best", TIMES_ITS_BEST)):
            reached = ("reached" if row[name] >= aim else "missed") if name in row else "not measured"
            figure = f"{row[name]:.2f}, " if name in row else ""
            found.append(f"aim, {size}: {aim} {name}: {figure}{reached}")
    return found


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What a GPU makes of the package, in eight minutes.")
    parser.add_argument("--quick", action="store_true", help="tiny numbers, to try the script itself")
    parser.add_argument("--output", type=Path, default=Path("runs/gpu"), help="a folder [runs/gpu]")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long all of it may take [8]")
    parser.add_argument("--without", nargs="*", default=[], help="leave out the parts whose names have these words")
    parser.add_argument("--tests", default=TESTS, help=f"what pytest is given; '' for no tests [{TESTS}]")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not options.quick:
        print(f"There is no GPU here that torch {torch.__version__} can use. To try the script on the CPU: --quick.")
        return 1
    has = {name: bare.is_there(name) for name in ("transformers", "pytest")}
    for name, what in (("transformers", "without a baseline"), ("pytest", "without the tests")):
        if not has[name]:
            print(f"{name} is not installed here: measured {what}.")
    options.tests = options.tests if has["pytest"] else ""
    note = "Tokens a second." if device == "cuda" else "There is no GPU here: tried on the CPU, with tiny numbers."
    parts = parts_of(options, device, has["transformers"])
    report: dict[str, Any] = {"machine": describe(device), "device": device, "note": note, "parts": {}}
    report["sizes"] = [named(("tiny", 4, 32))] if options.quick else [named(one) for one in SIZES]
    context = server(["gpu_parts", "transformers.models.bert.modeling_bert"])

    def keep(part: Part, outcome: Outcome) -> None:
        found = dict(outcome.value or {"failure": outcome.failure})
        found |= {"seconds": round(outcome.seconds, 1), "ready_seconds": round(outcome.ready, 1)}
        if "profile" in found:
            file = f"profile-{part.name.replace(' × ', 'x').replace(' ', '-')}.txt"
            write_text(options.output / file, found.pop("profile"))
        report["parts"][part.name] = found
        write_json(options.output / "gpu.json", report)
        write_text(options.output / "gpu.md", table(report))
        print(f"  {outcome.failure or found.get('said') or found}", flush=True)

    def call(part: Part, limit: float) -> Outcome:
        return in_child(context, part.work, *part.arguments, seconds=limit, to_be_ready=part.to_be_ready)

    try:
        run_parts(parts, bare.BEGUN + 60 * options.minutes - time.monotonic(), call, keep)
    except ValueError as error:
        print(f"{error} --minutes.")
        return 1
    print(table(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())

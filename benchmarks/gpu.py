"""What a GPU makes of the package, in eight minutes. Run: make gpu, or python benchmarks/gpu.py

1. The tests of every task, on the GPU (`tests/device_steps.py`).
2. Tokens per second of pre-training for each preset, in turn: bertedu with bf16 and compiled layers; `transformers` as
   it comes (float32, dropout 0.1, a score for every word at every position); and `transformers` at its best (bf16 by
   autocast, sdpa, the whole model through torch.compile, fused AdamW, no dropout). All three have the same batches:
   full texts of 128 tokens, so that none gains from padding, with 19 tokens masked, and a vocabulary of 30,522.
3. The share of the rate of plain matrix products in bf16, measured here (the formula stands in `pretraining.py`), and
   the peak of the memory.
4. Two minutes of `bertedu pretrain` with the largest preset that fitted.

Writes gpu.json and gpu.md into --output, anew after each part. What there is no time left for is left out, and said to
be. --quick tries the script itself, with tiny numbers, also on a CPU.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from pretraining import Side, clock, describe, matrix_rate, operations_per_token
from torch import Tensor, nn

from bertedu.config import PRESETS, BertConfig
from bertedu.files import write_json, write_text
from bertedu.model import BertForPreTraining
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain
from bertedu.training.layers import training_layers
from bertedu.training.optimization import build_optimizers

MINUTES, OF_PRETRAINING = 8.0, 2.0
RESERVED = 45  # seconds beside the minutes of pre-training: reading the text, evaluation
VOCAB_SIZE, LENGTH, MASKED = 30522, 128, 19
ORDER = ("base", "tiny", "small", "large", "mini", "medium")  # what is most asked for comes first
BATCHES = {"tiny": 256, "mini": 256, "small": 128, "medium": 128, "base": 64, "large": 32}
SIDES = ("bertedu", "transformers at its best", "transformers as it comes")
AIM_OVER_DEFAULT, AIM_SHARE = 2.5, 0.5  # of bertedu's rate over transformers as it comes; of the matrix rate, for base
TESTS = "-n 4 --thorough tests/device_steps.py"


def make_batch(rows: int, seed: int = 0) -> dict[str, Tensor]:
    """A batch of full texts of random words, [B, T], MASKED of whose tokens are asked for, the same number in each."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(1000, VOCAB_SIZE, (rows, LENGTH), generator=generator)
    hidden = torch.rand(rows, LENGTH, generator=generator).argsort(dim=1) < MASKED
    return {
        "input_ids": ids.masked_fill(hidden, 103),
        "attention_mask": torch.ones_like(ids),
        "token_type_ids": torch.zeros_like(ids),
        "labels": ids.masked_fill(~hidden, -100),
        "next_sentence_label": torch.arange(rows) % 2,
    }


def config_of(size: str, dropout: float) -> BertConfig:
    rates = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    return BertConfig.preset(size, vocab_size=VOCAB_SIZE, max_position_embeddings=LENGTH, **rates)


def side_of(name: str, size: str, batches: list[dict[str, Tensor]], device: str) -> Side:
    """One of SIDES, with its optimizer; nothing is compiled on a CPU, where that alone takes minutes."""
    config = config_of(size, 0.1 if name.endswith("comes") else 0.0)
    precision = "fp32" if name.endswith("comes") else "bf16"
    if name == "bertedu":
        ours = BertForPreTraining(config).to(device)
        return Side(ours, build_optimizers("adamw", ours, 1e-4, 0.01, (0.9, 0.999)), batches, device, precision)
    fields = {field: value for field, value in vars(config).items() if field != "hidden_act"}
    theirs: nn.Module = transformers.BertForPreTraining(transformers.BertConfig(**fields)).to(device)
    optimizer = torch.optim.AdamW(theirs.parameters(), lr=1e-4, fused=precision == "bf16")
    if device == "cuda" and precision == "bf16":
        theirs.compile()
    return Side(theirs, [optimizer], batches, device, precision)


def speed(name: str, size: str, rows: int, device: str, seconds: float) -> dict[str, Any]:
    """Tokens per second, and the bytes of memory at most (on a GPU); what went wrong where there is no room."""
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    try:
        batches = [make_batch(rows, seed) for seed in range(2)]
        side = side_of(name, size, batches, device)
        with training_layers(side.model, compiled=name == "bertedu" and device == "cuda", checkpointing=False):
            begun = time.perf_counter()
            side.run(3)  # compiles, and is not counted
            first, side.rates[:] = time.perf_counter() - begun, []
            start, until = clock(device), time.perf_counter() + seconds
            while time.perf_counter() < until or not side.rates:
                side.run(2)
            rate = 2 * len(side.rates) * rows * LENGTH / (clock(device) - start)
    except torch.cuda.OutOfMemoryError:
        return {"left_out": "not enough memory"}
    memory = torch.cuda.max_memory_allocated() if device == "cuda" else None
    return {"tokens_per_second": rate, "first_steps_seconds": first, "memory_bytes": memory}


def speeds(
    sizes: list[str], device: str, options: argparse.Namespace, left: Callable[[], float], done: Callable[[dict], None]
) -> None:
    """The rates of all sides for each size; `done` takes the results of a size."""
    for size in sizes:
        rows = 2 if options.quick else BATCHES[size]
        found: dict[str, Any] = {"size": size, "batch": rows}
        for name in SIDES:
            reserved = 60 * options.pretraining_minutes + RESERVED
            late = not options.quick and left() < reserved + 20
            found[name] = {"left_out": "no time left"} if late else speed(name, size, rows, device, options.seconds)
        ours = found["bertedu"].get("tokens_per_second")
        if ours:
            operations = operations_per_token(config_of(size, 0.0), [make_batch(rows)])
            found["share_of_matrix_rate"] = ours * operations / options.matrix_rate
            for name in SIDES[1:]:
                if theirs := found[name].get("tokens_per_second"):
                    found[f"times {name}"] = ours / theirs
        done(found)


def run_tests(options: argparse.Namespace) -> dict[str, Any]:
    """What pytest says of the tests on this device, in its last line."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *options.tests.split()]
    begun = time.perf_counter()
    root = Path(__file__).resolve().parents[1]
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=root, timeout=options.test_seconds)
    except subprocess.TimeoutExpired:
        return {"left_out": f"not done after {options.test_seconds:.0f} seconds"}
    said = (done.stdout.strip().splitlines() or [done.stderr[-300:]])[-1]
    return {"passed": done.returncode == 0, "said": said, "seconds": time.perf_counter() - begun}


def pretrain_for_a_while(rows: list[dict], options: argparse.Namespace, device: str, left: float) -> dict[str, Any]:
    """`bertedu pretrain` with the largest preset that fitted, compiled; what its log and its evaluation say."""
    fitted = [row["size"] for row in rows if "tokens_per_second" in row["bertedu"]]
    minutes = min(options.pretraining_minutes, (left - RESERVED) / 60)
    if not fitted or minutes <= 0:
        return {"left_out": "no time left" if fitted else "no preset was measured"}
    size = max(fitted, key=list(PRESETS).index)
    budget = {"steps": 2, "batch_size": 4} if options.quick else {"minutes": minutes}
    folder = options.output / f"pretraining-{time.strftime('%Y%m%d-%H%M%S')}"
    parts = 1 if options.quick else max(1, 256 // BATCHES[size]) if size in ("base", "large") else 1
    plan = Plan.from_options(
        corpus=("world",), preset=size, output=folder, accumulation=parts, compile=device == "cuda", **budget
    )
    results = pretrain(plan, lambda said: None)
    assert results is not None, "it was stopped"
    run = {**results["run"], "evaluation": results["evaluation"]}
    return {"size": size, **run, "tokens_per_second": run["tokens"] / run["seconds"]}


def table(report: dict[str, Any]) -> str:
    """The report as one table in Markdown, with what was aimed at and what was left out."""
    head = ["size", "batch", *SIDES, "times its best", "times as it comes", "of the matrix rate", "GB"]
    lines = [f"# {report['machine']}", "", report["note"], "", row_of(head), "|---" * len(head) + "|"]
    for row in report["speeds"]:
        rates = [row[name].get("tokens_per_second") for name in SIDES]
        said = [f"{rate:,.0f}" if rate else row[name]["left_out"] for rate, name in zip(rates, SIDES, strict=True)]
        times = [f"{row[name]:.2f}" if (name := f"times {side}") in row else "" for side in SIDES[1:]]
        share = f"{row['share_of_matrix_rate']:.0%}" if "share_of_matrix_rate" in row else ""
        memory = row["bertedu"].get("memory_bytes")
        gigabytes = f"{memory / 1e9:.1f}" if memory else ""
        lines.append(row_of([row["size"], str(row["batch"]), *said, *times, share, gigabytes]))
    for name in ("tests", "pretraining"):
        if found := report.get(name):
            lines += ["", f"{name}: " + found.get("left_out", found.get("said") or in_words(found))]
    return "\n".join([*lines, "", *(f"aim: {aim}" for aim in aims(report))]) + "\n"


def row_of(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def in_words(found: dict[str, Any]) -> str:
    tokens, rate = found["tokens"], found["tokens_per_second"]
    return f"{found['size']}, {tokens:,} tokens in {found['seconds']:.0f} s, {rate:,.0f} a second"


def aims(report: dict[str, Any]) -> list[str]:
    """Whether the aims were reached, for base; that is what a GPU is asked for."""
    base = next((row for row in report["speeds"] if row["size"] == "base"), {})
    found = []
    for name, aim in ((f"times {SIDES[2]}", AIM_OVER_DEFAULT), ("share_of_matrix_rate", AIM_SHARE)):
        if report["device"] != "cuda" or name not in base:
            found.append(f"{name.replace('_', ' ')} of base at least {aim}: not measured")
        else:
            reached = "reached" if base[name] >= aim else "missed"
            found.append(f"{name.replace('_', ' ')} of base at least {aim}: {base[name]:.2f}, {reached}")
    return found


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What a GPU makes of the package, in eight minutes.")
    parser.add_argument("--quick", action="store_true", help="tiny numbers, to try the script itself")
    parser.add_argument("--output", type=Path, default=Path("runs/gpu"), help="a folder [runs/gpu]")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long all of it may take [8]")
    parser.add_argument("--tests", default=TESTS, help=f"what pytest is given [{TESTS}]")
    options = parser.parse_args(arguments)
    options.seconds = 0.1 if options.quick else 4.0
    options.pretraining_minutes = OF_PRETRAINING
    options.test_seconds = 60 * options.minutes / 5
    return options


def main(arguments: list[str] | None = None) -> int:
    options, begun = parse(arguments), time.perf_counter()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and not options.quick:
        print(f"There is no GPU here that torch {torch.__version__} can use. To try the script on the CPU: --quick.")
        return 1
    transformers.logging.set_verbosity_error()
    note = "Tokens per second." if device == "cuda" else "There is no GPU here: tried on the CPU, with tiny numbers."
    report: dict[str, Any] = {"machine": describe(device), "device": device, "note": note, "speeds": []}

    def left() -> float:
        return 60 * options.minutes - (time.perf_counter() - begun)

    def keep(**found: Any) -> None:
        report.update(found, seconds=time.perf_counter() - begun)
        write_json(options.output / "gpu.json", report)
        write_text(options.output / "gpu.md", table(report))

    keep(tests=run_tests(options))
    width = 256 if options.quick else 8192
    options.matrix_rate = matrix_rate(device, "bf16", width, 0.1 if options.quick else 3.0)
    keep(matrix_rate=options.matrix_rate)
    sizes = ["tiny"] if options.quick else list(ORDER)
    speeds(sizes, device, options, left, lambda row: keep(speeds=[*report["speeds"], row]))
    keep(pretraining=pretrain_for_a_while(report["speeds"], options, device, left()))
    print(table(report))
    print(f"{options.output / 'gpu.json'}, {options.output / 'gpu.md'}: {report['seconds']:.0f} seconds in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The service beside a plain loop over `transformers`' pipeline, on the same model and texts; and 10,000 attacks on it.

    bertedu finetune classification --data data/tasks/sentiment --pooling pooler --output runs/serving
    python benchmarks/serving.py --model runs/serving

Both sides answer each text once, one text a request, and the service keeps no answers, so that nothing is had for free.
They take turns, three rounds each, and the median is shown. The load generator and the service share the machine's
cores.
The pipeline is asked in this process, without any HTTP between, on one thread and on two. "ms of processor" is what one
request costs: the service without the load generator, and the loop.

The attack: the requests of tests/support/hostile/requests.py (malformed, huge, cut off, hostile; one in twelve is
good), sixteen at once. Then 600 connections that say nothing. Counted are wrong answers (a status 500, a traceback,
silence, a good request that is refused), the service's memory before and after, and whether it still answers.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import torch

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.hostile.requests import SECRET, attack  # noqa: E402

from bertedu.production.load import Measured, load  # noqa: E402
from bertedu.production.onnx_export import export  # noqa: E402
from bertedu.production.serving import Served, serving  # noqa: E402

ROUNDS = 3
Side = Callable[[], tuple[Measured, float]]


def pipeline_side(folder: Path, texts: list[str], threads: int) -> Side:
    """The loop that a notebook would write."""
    from transformers import pipeline

    ask = pipeline("text-classification", model=str(folder), device=-1, dtype=torch.float32)

    def measure() -> tuple[Measured, float]:
        torch.set_num_threads(threads)
        times, processor, begun = [], time.process_time(), time.perf_counter()
        for text in texts:
            start = time.perf_counter()
            ask(text)
            times.append(1000 * (time.perf_counter() - start))
        seconds = time.perf_counter() - begun
        return Measured(len(texts), seconds, {200: len(texts)}, times), time.process_time() - processor

    return measure


def service_side(served: Served, texts: list[str], clients: int, rate: float | None = None) -> Side:
    """The same texts over HTTP."""
    process = psutil.Process(served.process.pid)

    def measure() -> tuple[Measured, float]:
        before = sum(process.cpu_times()[:2])
        measured = load(served.url, texts, len(texts), clients, rate)
        return measured, sum(process.cpu_times()[:2]) - before

    return measure


def agree(folder: Path, served: Served, texts: list[str]) -> None:
    """Print how far the answers of the service are from those of the pipeline, before anything is timed."""
    from transformers import pipeline

    right = pipeline("text-classification", model=str(folder), device=-1, dtype=torch.float32)(texts)
    said = httpx.post(f"{served.url}/answer", json={"texts": texts}).json()["answers"]
    same = sum(one["label"] == other["label"] for one, other in zip(said, right, strict=True))
    largest = max(abs(one["probability"] - other["score"]) for one, other in zip(said, right, strict=True))
    print(f"{len(texts)} texts: the same label in {same}, probabilities differ by at most {largest:.1e}\n")


def compare(sides: dict[str, Side], rounds: int) -> None:
    """Let the sides take turns and print the medians, each beside the faster loop."""
    found: dict[str, list[tuple[Measured, float]]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            found[name].append(side())
    speed = {name: statistics.median(one.per_second for one, _ in several) for name, several in found.items()}
    loop = max(value for name, value in speed.items() if name.startswith("loop"))
    print("| | answers/s | beside the loop | p50, ms | p99, ms | ms of processor |\n|---|---|---|---|---|---|")
    for name, several in found.items():
        p50 = statistics.median(one.p50_ms for one, _ in several)
        p99 = statistics.median(one.p99_ms for one, _ in several)
        cost = statistics.median(1000 * cpu / one.requests for one, cpu in several)
        print(f"| {name} | {speed[name]:,.0f} | {speed[name] / loop:.1f} | {p50:.1f} | {p99:.1f} | {cost:.2f} |")


def attacked(served: Served, attacks: int) -> None:
    """Attack a service and print how it held."""
    port = int(served.url.rpartition(":")[2])
    before = httpx.get(f"{served.url}/metrics").json()
    with ThreadPoolExecutor(16) as pool:
        wrong = [said for said in pool.map(lambda number: attack(number, port), range(attacks)) if said]
    after = httpx.get(f"{served.url}/metrics").json()
    peak = psutil.Process(served.process.pid).memory_info()
    print(f"\n{attacks:,} attacks: {len(wrong)} wrong answers; answers by status {after['by_status']};")
    print(f"memory {before['memory_mb']:.0f} MB before, {after['memory_mb']:.0f} MB after ({peak.rss / 1e6:.0f} now);")
    log = served.log.read_text(encoding="utf-8", errors="replace")
    print(f"texts in the log: {log.lower().count(SECRET)}; failures in the log: {log.count('failure')}.")
    for said in wrong[:10]:
        print(" ", said)
    silent(served, port)


def silent(served: Served, port: int) -> None:
    """Open connections that say nothing, and print how long somebody else is kept out."""
    import socket

    held, begun = [], time.perf_counter()
    for _ in range(600):
        held.append(socket.create_connection(("127.0.0.1", port), timeout=30))
    tries = 0
    while True:
        tries += 1
        try:
            if httpx.get(f"{served.url}/health", timeout=30).status_code == 200:
                break
        except httpx.HTTPError:
            pass
        time.sleep(0.5)
    print(f"600 silent connections: an answer after {time.perf_counter() - begun:.0f} s, at the try number {tries}.")
    for connection in held:
        connection.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=Path("runs/serving"))
    parser.add_argument("--texts", type=Path, default=ROOT / "data/tasks/sentiment/train.tsv")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--attacks", type=int, default=10_000)
    chosen = parser.parse_args()
    texts = [line.partition("\t")[0] for line in chosen.texts.read_text(encoding="utf-8").splitlines()[1:]]
    texts = texts[: chosen.requests]
    checkpoint = chosen.model / "checkpoint"
    with tempfile.TemporaryDirectory() as folder:
        exact, small = Path(folder) / "exact", Path(folder) / "int8"
        export(chosen.model, exact)
        export(chosen.model, small, int8=True)
        if chosen.requests:
            with serving(exact, "--cache", "0") as one, serving(small, "--cache", "0") as other:
                agree(checkpoint, one, texts[:64])
                sides = {
                    "loop, 1 thread": pipeline_side(checkpoint, texts, 1),
                    "loop, 2 threads": pipeline_side(checkpoint, texts, 2),
                    "service, 1 client": service_side(one, texts, 1),
                    "service, 16 clients": service_side(one, texts, 16),
                    "service, 64 clients": service_side(one, texts, 64),
                    "service in int8, 64 clients": service_side(other, texts, 64),
                }
                for side in sides.values():
                    side()  # warm
                compare(sides, chosen.rounds)
        if chosen.attacks:
            with serving(exact) as served:
                load(served.url, texts or ["a"], 500)
                attacked(served, chosen.attacks)


if __name__ == "__main__":
    main()

"""Measures the searches of chapter 23 beside BM25. Run: python benchmarks/search.py [DATASETS] [--output FILE]

Two collections (`search_sets.py`). `public`: the passages of SQuAD 2.0 (half of its development set) and of XQuAD; the
encoders learn from questions on the former, and are asked those of XQuAD. `stories`: the course's own,
data/tasks/stress/questions; the test stories share no name or template with those that are learned from. DATASETS is
the folder of the public sets, or what BERTEDU_DATASETS names; without it only the stories are measured.

Each encoder (`search_ways.py`) starts from the checkpoint in the box and learns from several seeds. Printed: recall@10,
MRR@10 and the processor time of a query (median, one query at a time, one thread), mean ± standard deviation over the
seeds. What is in the output file already and was trained in the same way is not measured again; a model that was
trained in --work neither, so --work must be a new folder after a change of checkpoint or recipe. --index times the two
kinds of index instead.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from search_sets import Room, public, stories
from search_ways import BATCH, CHECKPOINT, DEPTH, LEVEL_STEPS, NEGATIVES, RATE, STEPS, WAYS, RememberingSearch, Trained

from bertedu.files import write_json
from bertedu.search.collection import Asked
from bertedu.search.hits import Search
from bertedu.search.index import VectorIndex
from bertedu.search.measures import mrr_at, recall_at
from bertedu.search.sparse import SparseSearch
from bertedu.tokenization import BertTokenizer
from bertedu.training.devices import computes_bf16

TIMED = 50  # queries


def measured(search: Search, rows: Sequence[Asked]) -> dict[str, float]:
    """recall@10, MRR@10 and the median processor time of a query in milliseconds."""
    hits = search.search([row.question for row in rows], 10)
    right = [{row.passage} for row in rows]
    if isinstance(search, RememberingSearch):
        search.known = None
    times = []
    for row in random.Random(0).sample(rows, min(TIMED, len(rows))):
        start = time.process_time_ns()
        search.search([row.question], 10)
        times.append((time.process_time_ns() - start) / 1e6)
    figures = {"recall_at_10": round(recall_at(hits, right, 10), 4), "mrr": round(mrr_at(hits, right, 10), 4)}
    return {**figures, "milliseconds": round(statistics.median(times), 2)}


def measure_room(room: Room, seed: int, options: argparse.Namespace, found: dict[str, Any], save: Callable) -> None:
    """Fill in what `found`, the ways of a room, lacks for a seed, way by way."""
    tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)
    trained = Trained(room, seed, tokenizer, options.work, options.share)
    for way in options.ways:
        runs = found.setdefault(way, {})
        if "milliseconds" in runs.get(str(seed), {}) or (not WAYS[way].model and runs):
            continue
        search = WAYS[way].make(trained)
        figures: dict[str, Any] = measured(search, room.test)
        if WAYS[way].model:
            figures["training_seconds"] = trained.seconds[WAYS[way].model]
        if isinstance(search, SparseSearch):
            figures["words_a_passage"] = round(search.words_a_passage, 1)
        if "scores added" in way:
            figures["share"] = search.share
        runs[str(seed)] = figures
        print(f"{room.name}, {way}, seed {seed}: {figures}", flush=True)
        save()


def recipes(share: float) -> dict[str, Any]:
    """What the figures depend on."""
    steps = {name: {model: round(count * share) for model, count in ways.items()} for name, ways in STEPS.items()}
    drawn = {model: 0 for model in BATCH} | {"cross-encoder": {"drawn": NEGATIVES, "of the first": DEPTH}}
    return {
        "model": "data/checkpoints/mixed-mini",
        "precision of training": "bf16" if computes_bf16("cpu") else "fp32",
        "steps": steps,
        "rates": dict.fromkeys(BATCH, RATE),
        "negatives": drawn,
        "levelling": {model: LEVEL_STEPS if model == "SPLADE" else 0 for model in BATCH},
    }


def still_true(before: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """The sets of an earlier file, without the ways whose model is trained in another way today."""
    if any(before.get(name) != about[name] for name in ("model", "precision of training")):
        return {}

    def unchanged(name: str, model: str) -> bool:
        return not model or all(
            [before["steps"][name].get(model) == about["steps"][name][model]]
            + [before.get(part, {}).get(model) == about[part][model] for part in ("rates", "negatives", "levelling")]
        )

    return {
        name: {**one, "ways": {way: runs for way, runs in one["ways"].items() if unchanged(name, WAYS[way].model)}}
        for name, one in before["sets"].items()
    }


def described(room: Room) -> dict[str, Any]:
    """What a set is made of."""
    passages = len(room.collection.passages)
    sizes = {"passages": passages, "learned": len(room.train), "asked": len(room.test)}
    return {**sizes, "guessing": round(10 / passages, 4)}


def table(found: dict[str, Any]) -> str:
    """The figures as Markdown, a table a set."""

    def over_seeds(runs: Sequence[dict[str, float]], name: str, places: int) -> str:
        values = [run[name] for run in runs if name in run]
        if not values:
            return ""
        spread = f" ± {statistics.stdev(values):.{places}f}" if len(values) > 1 else ""
        return f"{statistics.mean(values):.{places}f}{spread}"

    lines = []
    for name, about in found["sets"].items():
        lines += [f"\n{name}: {about['passages']:,} passages, {about['learned']:,} questions to learn from, "]
        lines[-1] += f"{about['asked']:,} asked; guessing has a recall@10 of {about['guessing']}\n"
        lines += ["| search | recall@10 | MRR@10 | ms a query | training, s |", "|---|---|---|---|---|"]
        for way, by_seed in about["ways"].items():
            runs = list(by_seed.values())
            cells = [("recall_at_10", 3), ("mrr", 3), ("milliseconds", 1), ("training_seconds", 0)]
            lines.append(f"| {way} | " + " | ".join(over_seeds(runs, *cell) for cell in cells) + " |")
    return "\n".join(lines)


def time_index() -> None:
    """Milliseconds of a query, one at a time, in a matrix and in cells, and the share of the ten that cells find."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(200, 256, generator=generator)

    def drawn(count: int) -> torch.Tensor:
        near = centres[torch.randint(200, (count,), generator=generator)]
        return torch.nn.functional.normalize(near + torch.randn(count, 256, generator=generator), dim=-1)

    questions = drawn(50)
    print("| passages | matrix, ms | cells, ms | found | built in, s |\n|---|---|---|---|---|")
    for size in (1_000, 3_000, 10_000, 30_000):
        vectors = drawn(size)
        start = time.process_time()
        indexes = VectorIndex(vectors, size + 1), VectorIndex(vectors, 1)
        built, times = time.process_time() - start, []
        for index in indexes:
            spent = []
            for question in questions:
                start = time.process_time()
                index.search(question[None])
                spent.append(1000 * (time.process_time() - start))
            times.append(statistics.median(spent))
        exact, near = ([{number for number, _ in hits} for hits in index.search(questions)] for index in indexes)
        share = statistics.mean(len(one & other) / 10 for one, other in zip(exact, near, strict=True))
        print(f"| {size:,} | {times[0]:.2f} | {times[1]:.2f} | {share:.3f} | {built:.1f} |", flush=True)


def arguments_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", type=Path, nargs="?", default=os.environ.get("BERTEDU_DATASETS"))
    parser.add_argument("--sets", nargs="+", default=["public", "stories"], choices=["public", "stories"])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS), metavar="WAY")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--share", type=float, default=1.0, help="of the training steps, for a quick look")
    parser.add_argument("--work", type=Path, help="where trained models are kept (default: nowhere)")
    parser.add_argument("--output", type=Path, help="such as data/comparisons/search.json")
    parser.add_argument("--index", action="store_true", help="time the index instead")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all sets, ways and seeds, print a line each and a table, and write the file if one is named."""
    options = arguments_of(arguments)
    torch.set_num_threads(1)
    if options.index:
        time_index()
        return
    found: dict[str, Any] = {**recipes(options.share), "sets": {}}
    if options.output and options.output.exists():
        found["sets"] = still_true(json.loads(options.output.read_text(encoding="utf-8")), found)
    tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)
    with tempfile.TemporaryDirectory() as passing, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options.work = options.work or Path(passing)
        if "public" in options.sets and not options.datasets:
            print("no public sets: name their folder, or set BERTEDU_DATASETS")
        rooms = [public(Path(options.datasets), tokenizer)] if "public" in options.sets and options.datasets else []
        rooms += [stories(tokenizer)] if "stories" in options.sets else []
        save = (lambda: write_json(options.output, found)) if options.output else (lambda: None)
        for seed in options.seeds:
            for room in rooms:
                about_room = found["sets"].setdefault(room.name, {**described(room), "ways": {}})
                measure_room(room, seed, options, about_room["ways"], save)
    print(table(found))


if __name__ == "__main__":
    main()

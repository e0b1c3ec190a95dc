"""Measures the searches of chapter 23 beside BM25. Run: python benchmarks/search.py [DATASETS] [--output FILE]

Two collections. `public`: the passages of SQuAD 2.0 (half of its development set) and of XQuAD; the encoders learn from
questions on the former, and are asked those of XQuAD. `stories`: the course's own, data/tasks/questions; the test
stories share no name or template with those that are learned from. DATASETS is the folder of the public sets, or what
BERTEDU_DATASETS names; without it only the stories are measured.

Each encoder starts from the checkpoint in the box and learns from several seeds. Printed: recall@10, MRR@10 and the
processor time of a query (median, one query at a time, one thread), mean ± standard deviation over the seeds. What is
in the output file already, with the same options, is not measured again; a model that was trained in --work neither.
--index times the two kinds of index instead.
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
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from bertedu.corpora.task_data import read_questions
from bertedu.files import write_json
from bertedu.finetuning.multiple_choice import ChoiceModel
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.similarity import SentenceEncoder
from bertedu.finetuning.starting import with_new_head
from bertedu.model.heads import MaskedLM
from bertedu.search.bm25 import BM25Search
from bertedu.search.collection import Asked, Collection, with_hard_negatives
from bertedu.search.contrastive import ContrastiveTask
from bertedu.search.dense import DenseRetriever, DenseSearch
from bertedu.search.hits import Search
from bertedu.search.index import VectorIndex
from bertedu.search.late_interaction import LateInteraction, LateRetriever, LateSearch
from bertedu.search.measures import mrr_at, recall_at
from bertedu.search.reranking import RerankedSearch, reranking_task
from bertedu.search.sparse import SparseRetriever, SparseSearch
from bertedu.tokenization import BertTokenizer
from bertedu.training.budget import Budget
from bertedu.training.devices import computes_bf16
from bertedu.training.loop import Trainer
from bertedu.training.settings import TrainingSettings

DATA = Path(__file__).resolve().parents[1] / "data"
CHECKPOINT = str(DATA / "checkpoints" / "books-mini")
MOST_TOKENS = 64  # of a passage
NEGATIVES = {"bi-encoder": 0, "late interaction": 0, "SPLADE": 0, "cross-encoder": 3}  # hard ones, beside the batch's
RATES = {"bi-encoder": 3e-4, "late interaction": 3e-4, "SPLADE": 3e-4, "cross-encoder": 3e-4}
# Batch size and steps, by set: about a minute of a core each, and not chosen by any result.
LENGTHS = {
    "public": {"bi-encoder": (32, 60), "late interaction": (32, 50), "SPLADE": (32, 40), "cross-encoder": (16, 36)},
    "stories": {"bi-encoder": (32, 60), "late interaction": (32, 50), "SPLADE": (32, 40), "cross-encoder": (16, 40)},
}
TIMED = 50  # queries
ASKED = 300  # of the questions of XQuAD, always the same


@dataclass
class Room:
    """A set: its passages, the questions learned from, and those asked."""

    name: str
    collection: Collection
    train: list[Asked]
    test: list[Asked]

    @cached_property
    def bm25(self) -> BM25Search:
        return BM25Search(self.collection.passages)

    def negatives(self, count: int) -> list[Asked]:
        """The training questions with BM25's wrong hits."""
        return with_hard_negatives(self.train, self.bm25, count) if count else self.train


def token_count(tokenizer: BertTokenizer) -> Callable[[str], int]:
    """How many tokens a text has, without [CLS] and [SEP]."""
    return lambda text: len(tokenizer.encode(text))


def public(folder: Path, tokenizer: BertTokenizer) -> Room:
    """Learn on SQuAD, ask XQuAD's questions; what XQuAD holds is not learned from."""
    learned = read_questions(folder / "squad_v2_half_dev" / "dev-v2.0.json.gz")
    asked = read_questions(folder / "xquad_en" / "xquad.en.json.gz")
    contexts = {row.context.strip() for row in asked}
    collection, size = Collection(), token_count(tokenizer)
    test = collection.add_questions(asked, MOST_TOKENS, size)
    train = collection.add_questions([row for row in learned if row.context.strip() not in contexts], MOST_TOKENS, size)
    tested = {one.passage for one in test}
    test = random.Random("asked").sample(test, ASKED)
    return Room("public", collection, [one for one in train if one.passage not in tested], test)


def stories(tokenizer: BertTokenizer) -> Room:
    """The course's own questions: learn on the training stories, ask those on the test stories."""
    collection, size = Collection(), token_count(tokenizer)
    parts = {
        name: collection.add_questions(read_questions(DATA / "tasks" / "questions" / f"{name}.json"), MOST_TOKENS, size)
        for name in ("train", "validation", "test")
    }
    return Room("stories", collection, parts["train"], parts["test"])


class Trained:
    """The searches of one room that learn, from one seed."""

    def __init__(self, room: Room, seed: int, tokenizer: BertTokenizer, work: Path, share: float):
        self.room, self.seed, self.tokenizer, self.share = room, seed, tokenizer, share
        self.work = work / f"{room.name}-{seed}"
        self.seconds: dict[str, float] = {}

    def model(self, way: str, kind: Any, new: Callable[[], Any], task_of: Callable[..., Any]) -> Any:
        """The model of a way, trained or as it was saved after its training."""
        folder, done = self.work / way.replace(" ", "-"), self.work / f"{way}.json"
        if done.exists():
            self.seconds[way] = json.loads(done.read_text(encoding="utf-8"))["seconds"]
            return kind.from_pretrained(folder / "checkpoint")
        batch, steps = LENGTHS[self.room.name][way]
        settings = FinetuningSettings(batch_size=batch, pooling="mean", seed=self.seed)
        torch.manual_seed(self.seed)
        model, start = new(), time.process_time()
        rows = self.room.negatives(NEGATIVES[way])
        task = task_of(rows, [], self.room.collection.passages, self.tokenizer, settings)
        training = TrainingSettings(RATES[way], seed=self.seed, device="cpu", validations=0, log_steps=10, warmup=0.1)
        Trainer(model, task, training, Budget(steps=max(1, round(steps * self.share))), folder).run()
        self.seconds[way] = round(time.process_time() - start, 1)
        write_json(done, {"seconds": self.seconds[way]})
        return model.eval()

    def with_retriever(self, retriever: Any) -> Callable[..., ContrastiveTask]:
        return lambda *given: ContrastiveTask(retriever, *given)

    def sentence_encoder(self) -> SentenceEncoder:
        return with_new_head(SentenceEncoder, CHECKPOINT, FinetuningSettings(pooling="mean"), pooling="mean")

    @cached_property
    def dense(self) -> DenseSearch:
        task = self.with_retriever(DenseRetriever())
        model = self.model("bi-encoder", SentenceEncoder, self.sentence_encoder, task)
        return DenseSearch(model, self.tokenizer, self.room.collection.passages)

    @cached_property
    def late(self) -> LateSearch:
        def new() -> LateInteraction:
            return with_new_head(LateInteraction, CHECKPOINT, FinetuningSettings())

        model = self.model("late interaction", LateInteraction, new, self.with_retriever(LateRetriever()))
        return LateSearch(model, self.tokenizer, self.room.collection.passages)

    @cached_property
    def sparse(self) -> SparseSearch:
        task = self.with_retriever(SparseRetriever())
        model = self.model("SPLADE", MaskedLM, lambda: MaskedLM.from_pretrained(CHECKPOINT), task)
        return SparseSearch(model, self.tokenizer, self.room.collection.passages)

    @cached_property
    def cross_encoder(self) -> ChoiceModel:
        def new() -> ChoiceModel:
            return with_new_head(ChoiceModel, CHECKPOINT, FinetuningSettings())

        return self.model("cross-encoder", ChoiceModel, new, reranking_task)

    def reranked(self, first: Search) -> RerankedSearch:
        return RerankedSearch(first, self.cross_encoder, self.tokenizer, self.room.collection.passages)


# The name in the table: the search, and which model's training time it tells.
WAYS: dict[str, tuple[Callable[[Trained], Search], str]] = {
    "bi-encoder": (lambda it: it.dense, "bi-encoder"),
    "late interaction": (lambda it: it.late, "late interaction"),
    "SPLADE": (lambda it: it.sparse, "SPLADE"),
    "BM25, reranked": (lambda it: it.reranked(it.room.bm25), "cross-encoder"),
    "bi-encoder, reranked": (lambda it: it.reranked(it.dense), "cross-encoder"),
}
# Those that learn nothing.
BASELINES: dict[str, Callable[[Trained], Search]] = {
    "BM25": lambda it: it.room.bm25,
    "bi-encoder, not trained": lambda it: DenseSearch(it.sentence_encoder(), it.tokenizer, it.room.collection.passages),
}


def measured(search: Search, rows: Sequence[Asked]) -> dict[str, float]:
    """recall@10, MRR@10 and the median processor time of a query in milliseconds."""
    hits = search.search([row.question for row in rows], 10)
    right = [{row.passage} for row in rows]
    times = []
    for row in random.Random(0).sample(rows, min(TIMED, len(rows))):
        start = time.process_time_ns()
        search.search([row.question], 10)
        times.append((time.process_time_ns() - start) / 1e6)
    figures = {"recall_at_10": round(recall_at(hits, right, 10), 4), "mrr": round(mrr_at(hits, right, 10), 4)}
    return {**figures, "milliseconds": round(statistics.median(times), 2)}


def measure_room(room: Room, seed: int, options: argparse.Namespace, ways: dict[str, Any], save: Callable) -> None:
    """Fill in what `ways` lacks of a room and a seed, way by way."""
    tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)
    trained = Trained(room, seed, tokenizer, options.work, options.share)
    for way, make in {**BASELINES, **{way: make for way, (make, _) in WAYS.items()}}.items():
        runs = ways.setdefault(way, {})
        if "milliseconds" in runs.get(str(seed), {}) or (way in BASELINES and runs):
            continue
        search = make(trained)
        figures: dict[str, Any] = measured(search, room.test)
        if way in WAYS:
            figures["training_seconds"] = trained.seconds[WAYS[way][1]]
        if isinstance(search, SparseSearch):
            figures["words_a_passage"] = round(search.words_a_passage, 1)
        runs[str(seed)] = figures
        print(f"{room.name}, {way}, seed {seed}: {figures}", flush=True)
        save()


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


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all sets, ways and seeds, print a line each and a table, and write the file if one is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", type=Path, nargs="?", default=os.environ.get("BERTEDU_DATASETS"))
    parser.add_argument("--sets", nargs="+", default=["public", "stories"], choices=["public", "stories"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--share", type=float, default=1.0, help="of the training steps, for a quick look")
    parser.add_argument("--work", type=Path, help="where trained models are kept (default: nowhere)")
    parser.add_argument("--output", type=Path, help="such as data/comparisons/search.json")
    parser.add_argument("--index", action="store_true", help="time the index instead")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if options.index:
        time_index()
        return
    about = {
        "model": "data/checkpoints/books-mini",
        "precision of training": "bf16" if computes_bf16("cpu") else "fp32",
        "steps": {name: {way: round(steps * options.share) for way, (_, steps) in ways.items()}
                  for name, ways in LENGTHS.items()},
        "rates": RATES,
        "negatives": NEGATIVES,
    }  # fmt: skip
    found: dict[str, Any] = {**about, "sets": {}}
    if options.output and options.output.exists():
        before = json.loads(options.output.read_text(encoding="utf-8"))
        if {name: value for name, value in before.items() if name != "sets"} == about:
            found = before
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

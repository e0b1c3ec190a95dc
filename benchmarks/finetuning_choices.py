"""Which way of fine-tuning is best by default: trials on sets that no chapter and no other benchmark is tested on.

python benchmarks/finetuning_choices.py DATASETS --work FOLDER [--sets films …] [--ways "base" "mean" …]
    [--rows 2000] [--seeds 1] [--minutes 9]
python benchmarks/finetuning_choices.py DATASETS --work FOLDER --table --rows 2000

A trial trains mixed-mini (or --model) on the first rows of a set in one way from one seed, and is scored on rows kept
apart, a thousand where there are as many, after half of its steps and after all; nothing is chosen on the way. The rows
are the sets for tuning (`tuning/`), and the training and validation parts of others: test rows are never read. A way is
a change of the base: see WAYS, and --ways "a + b" for two at once.

Each finished trial is a line of FOLDER/trials.jsonl, and a call does those that are missing until its minutes are over:
call it again to go on. --table prints what there is, with the best baseline beside it: the mean over the seeds, and by
how much a way is above the base. The way "transformers" is its own class, trained by a plain loop with the published
recipe: the pooler, three passes, dropout 0.1. The ways "command" and "command, former" are `bertedu finetune` itself,
with its defaults and with those that it had before: it takes a tenth of the rows away to choose the weights by.
"""

import argparse
import copy
import gzip
import json
import os
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import transformers
from public_sets import Rows, answers, inference, intents, likeness, movies, shuffled
from torch.nn.utils import clip_grad_norm_

from bertedu.checkpoints.folder import find_folder
from bertedu.corpora.readers import LabelledText, TaggedWords
from bertedu.corpora.task_data import read_labelled
from bertedu.files import write_text
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.finetuning.recipe import default_rate
from bertedu.finetuning.run import finetune
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.strategies import pace
from bertedu.model.architecture import tokenizer_in
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import pretrain
from bertedu.registry import TASKS
from bertedu.training.devices import choose_precision
from bertedu.training.optimization import build_optimizers, rate_factor, set_rates
from bertedu.utf8 import without_unseen

ROOT = Path(__file__).resolve().parents[1]
MODEL = str(ROOT / "data" / "checkpoints" / "mixed-mini")
APART = 1000  # rows that a trial is scored on


@dataclass(frozen=True)
class Way:
    """How a trial fine-tunes.

    The rates of the head and of the embeddings are shares of the learning rate (0: by the size of the model);
    both_orders learns from each pair and from the same pair exchanged; average_over averages the weights over this last
    share of the steps; read_first reads the texts, words masked, so many times before.
    """

    pooling: str = "max"
    passes: float = 6.0
    batch_size: int = 16
    learning_rate: float = 0.0
    head_rate: float = 1.0
    warmup: float = 0.1
    dropout: float | None = None
    layer_decay: float = 1.0
    embedding_rate: float = 1.0
    optimizer: str = "adamw"
    both_orders: bool = False
    average_over: float = 0.0
    read_first: float = 0.0
    reading_rate: float = 3e-4
    reference: bool = False
    options: dict[str, Any] | None = None  # of the command, which then does the trial


WAYS: dict[str, dict[str, Any]] = {
    "base": {},
    "pooler": {"pooling": "pooler"},
    "cls": {"pooling": "cls"},
    "mean": {"pooling": "mean"},
    "rate 1e-4": {"learning_rate": 1e-4},
    "rate 5e-4": {"learning_rate": 5e-4},
    "rate 1e-3": {"learning_rate": 1e-3},
    "head 5": {"head_rate": 5.0},
    "head 10": {"head_rate": 10.0},
    "no warm-up": {"warmup": 0.0},
    "warm-up 0.3": {"warmup": 0.3},
    "3 passes": {"passes": 3.0},
    "12 passes": {"passes": 12.0},
    "24 passes": {"passes": 24.0},
    "batch 32": {"batch_size": 32},
    "batch 8": {"batch_size": 8},
    "both orders": {"both_orders": True},
    "average 0.5": {"average_over": 0.5},
    "layers 0.8": {"layer_decay": 0.8},
    "dropout 0.1": {"dropout": 0.1},
    "dropout 0.2": {"dropout": 0.2},
    "embeddings 3": {"embedding_rate": 3.0},
    "embeddings 10": {"embedding_rate": 10.0},
    "muon": {"optimizer": "muon"},
    "read 6": {"read_first": 6.0},
    "read 12": {"read_first": 12.0},
    "command": {"options": {}},
    "command, former": {"options": {"pooling": "pooler", "epochs": 3.0}},
    "transformers": {"pooling": "pooler", "passes": 3.0, "dropout": 0.1, "reference": True},
}


@dataclass(frozen=True)
class Dataset:
    """A set: its task, how its rows are read (to learn from, kept apart), its figure, the class in `transformers`."""

    kind: str
    read: Callable[[Path], tuple[Rows, Rows]]
    figure: str
    reference: str
    max_length: int = 64
    symmetric: bool = False


def subjectivity(folder: Path) -> tuple[Rows, Rows]:
    """Lines of plots and of reviews: told as facts, or as opinions."""
    files = {"objective": "plot", "subjective": "quote"}
    rows = read_labelled({name: folder / f"tuning/subjectivity/{file}.tok.gt9.5000.gz" for name, file in files.items()})
    return apart(rows)


def products(folder: Path) -> tuple[Rows, Rows]:
    """Sentences about five products that praise or blame, and not both. The sign before a number says which."""
    rows = []
    for path in sorted((folder / "tuning/product_reviews").glob("*.gz")):
        for line in gzip.decompress(path.read_bytes()).decode("latin-1").splitlines():
            marks, found, text = line.partition("##")
            signs = {sign for sign in "+-" if f"[{sign}" in marks}
            if found and len(signs) == 1 and text.strip():
                rows.append(LabelledText(text.strip(), "praise" if signs == {"+"} else "blame"))
    return apart(rows, 500)


def tweets(folder: Path) -> tuple[Rows, Rows]:
    """Persons, places and organizations in tweets. Read here, since some words in them are nothing but a blank."""
    rows = []
    for path in sorted((folder / "tuning/broad_twitter").glob("*.gz")):
        text = gzip.decompress(path.read_bytes()).decode("utf-8")
        for tweet in text.split("\n\n"):
            pairs = [line.rsplit("\t", 1) for line in tweet.split("\n")]
            pairs = [(pair[0].strip(), pair[1].strip()) for pair in pairs if len(pair) == 2 and without_unseen(pair[0])]
            if pairs:
                words, tags = zip(*pairs, strict=True)
                rows.append(TaggedWords(words, tags))
    return apart(rows)


def apart(rows: Sequence[Any], count: int = APART) -> tuple[Rows, Rows]:
    """Rows to learn from, and those kept apart."""
    rows = list(dict.fromkeys(shuffled(rows)))  # no text on both sides
    return rows[count:], rows[:count]


def learned_and_chosen(read: Callable[[Path], tuple[Rows, Rows, Rows]]) -> Callable[[Path], tuple[Rows, Rows]]:
    """Of a set in three parts the first two: its test rows are left alone."""
    return lambda folder: read(folder)[:2]


def of_the_course(task: str, name: str) -> Callable[[Path], tuple[Rows, Rows]]:
    """The training and validation rows in the box."""

    def read(folder: Path) -> tuple[Rows, Rows]:
        files = {path.name.split(".")[0]: path for path in (ROOT / "data/tasks" / name).iterdir()}
        train = TASKS[task].read_rows(str(files["train"]))
        return shuffled(train), TASKS[task].read_rows(str(files["validation"]), train=train)

    return read


CLASSIFIER, TAGGER = "AutoModelForSequenceClassification", "AutoModelForTokenClassification"
SETS = {
    "subjectivity": Dataset("classification", subjectivity, "accuracy", CLASSIFIER),
    "products": Dataset("classification", products, "accuracy", CLASSIFIER),
    "films": Dataset("classification", learned_and_chosen(movies), "accuracy", CLASSIFIER),
    "bank": Dataset("classification", learned_and_chosen(intents), "accuracy", CLASSIFIER),
    "inference": Dataset("classification", learned_and_chosen(inference), "accuracy", CLASSIFIER),
    "captions": Dataset("regression", learned_and_chosen(likeness), "spearman", CLASSIFIER, symmetric=True),
    "tweets": Dataset("entities", tweets, "f1", TAGGER),
    "answers": Dataset(
        "question-answering", learned_and_chosen(answers), "f1", "AutoModelForQuestionAnswering", max_length=128
    ),
    "box: sentiment": Dataset("classification", of_the_course("classification", "sentiment"), "accuracy", CLASSIFIER),
    "box: topics": Dataset("classification", of_the_course("classification", "topics"), "accuracy", CLASSIFIER),
    "box: entities": Dataset("entities", of_the_course("entities", "entities"), "f1", TAGGER),
    "box: aspects": Dataset("multi-label", of_the_course("multi-label", "aspects"), "micro_f1", CLASSIFIER),
    "box: similarity": Dataset(
        "regression", of_the_course("regression", "similarity"), "spearman", CLASSIFIER, symmetric=True
    ),
    "box: inference": Dataset("classification", of_the_course("classification", "inference"), "accuracy", CLASSIFIER),
}


def main() -> None:
    """Do the trials that are missing, or print what they gave."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path, help="the folder of the public sets")
    parser.add_argument("--work", type=Path, required=True, help="what is found is kept here, outside the repository")
    parser.add_argument("--model", default=MODEL, help="what to fine-tune  [default: mixed-mini]")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS)[:6], metavar="SET")
    parser.add_argument("--ways", nargs="+", default=["base"], metavar="WAY", help='such as base or "mean + head 5"')
    parser.add_argument("--rows", type=int, default=2000, help="the first so many rows are learned from")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=9.0, help="no trial begins after them")
    parser.add_argument("--table", action="store_true", help="print what was found, and train nothing")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    if given.table:
        print(table(read_trials(given.work), given))
        return
    end = time.perf_counter() + 60 * given.minutes
    done = {key_of(trial) for trial in read_trials(given.work)}
    wanted = [(seed, way, name) for seed in range(given.seeds) for way in given.ways for name in given.sets]
    for number, (seed, way, name) in enumerate(wanted, start=1):
        asked = {"set": name, "way": way, "rows": given.rows, "seed": seed, "model": Path(given.model).name}
        if key_of(asked) in done:
            continue
        if time.perf_counter() > end:
            print(f"{len(wanted) - number + 1} trials or fewer are left: call it again.")
            return
        found = {**asked, **trial(SETS[name], way_of(way), given, seed)}
        with (given.work / "trials.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        curve = " ".join(f"{value:.3f}" for value in found["curve"])
        print(f"{number}/{len(wanted)}  {name:14} {way:24} seed {seed}  {curve}  {found['seconds']:.0f} s", flush=True)


def way_of(name: str) -> Way:
    """The base with the changes that a name says, several with " + " between."""
    changes = {key: value for one in name.split(" + ") for key, value in WAYS[one].items()}
    return Way(**changes)


def key_of(trial: dict[str, Any]) -> tuple[Any, ...]:
    """What tells a trial from others."""
    return tuple(trial[name] for name in ("set", "way", "rows", "seed", "model"))


def read_trials(work: Path) -> list[dict[str, Any]]:
    """All finished trials."""
    path = work / "trials.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def table(trials: Sequence[dict[str, Any]], given: argparse.Namespace) -> str:
    """A line for each way: the mean over the seeds on each set, how much more than the base where both were tried (the
    mean over sets and seeds, and its standard error), and the seconds of processor beside the base's."""
    asked = [trial for trial in trials if (trial["rows"], trial["model"]) == (given.rows, Path(given.model).name)]
    found = {(trial["way"], trial["set"], trial["seed"]): trial for trial in asked}
    names = [name for name in SETS if any(trial["set"] == name for trial in asked)]
    lines = ["| way | " + " | ".join(names) + " | above the base | seconds |", "|---" * (len(names) + 3) + "|"]
    for way in dict.fromkeys(trial["way"] for trial in asked):
        own = {key[1:]: trial for key, trial in found.items() if key[0] == way}
        cells = [[trial["curve"][-1] for (of, _), trial in own.items() if of == name] for name in names]
        base = {key: found["base", *key] for key in own if ("base", *key) in found}
        gains = [own[key]["curve"][-1] - trial["curve"][-1] for key, trial in base.items()]
        error = f" ± {statistics.stdev(gains) / len(gains) ** 0.5:.3f}" if len(gains) > 1 else ""
        more = f"{statistics.mean(gains):+.3f}{error}" if gains and way != "base" else ""
        times = sum(trial["seconds"] for trial in own.values()) / len(own)
        shown = [f"{statistics.mean(values):.3f}" if values else "" for values in cells]
        lines.append("| " + " | ".join([way, *shown, more, f"{times:.0f}"]) + " |")
    bags = [baseline(SETS[name], given) for name in names]
    lines.append("| " + " | ".join(["without a network", *(f"{value:.3f}" for value in bags), "", ""]) + " |")
    return "\n".join(lines)


def baseline(of: Dataset, given: argparse.Namespace) -> float:
    """The best of the baselines that every run prints: a bag of words, the words compared, a linear model of tags."""
    train, kept = of.read(given.datasets)
    return max(figures.get(of.figure, 0.0) for figures in TASKS[of.kind].baselines(train[: given.rows], kept).values())


def trial(of: Dataset, way: Way, given: argparse.Namespace, seed: int) -> dict[str, Any]:
    """The figure on the rows kept apart after half of the steps and after all, and the seconds of processor."""
    train, kept = of.read(given.datasets)
    train = list(train[: given.rows])
    if way.options is not None:
        return by_command(of, train, kept, way.options, given.model, seed)
    began = time.process_time()
    start = read_texts(train, way, given) if way.read_first else given.model
    read_seconds = time.process_time() - began
    if way.both_orders and of.symmetric:
        train += [replace(row, text=row.pair, pair=row.text) for row in train]
    kind = TASKS[of.kind]
    options = {"pooling": way.pooling} if "pooling" in kind.options else {}
    settings = FinetuningSettings(
        **{**kind.defaults, **options},
        **{name: getattr(way, name) for name in ("batch_size", "head_rate", "dropout", "layer_decay")},
        max_length=of.max_length,
        seed=seed,
    )
    torch.manual_seed(seed)
    tokenizer = tokenizer_in(find_folder(start))
    network, task = kind.make(train, kept, tokenizer, start, settings)
    model, published = network, None
    if way.reference:
        network.save_pretrained(given.work / "start")
        published = getattr(transformers, of.reference).from_pretrained(given.work / "start")
    curve, seconds, steps = learn(published or model, model, task, way, kept, of.figure)
    return {"curve": curve, "seconds": seconds + read_seconds, "steps": steps, "rows learned": len(train)}


def by_command(of: Dataset, train: Rows, kept: Rows, options: dict[str, Any], model: str, seed: int) -> dict[str, Any]:
    """What `bertedu finetune` reaches on the rows kept apart, which are its test, and its seconds of processor."""
    began, kind = time.process_time(), TASKS[of.kind]
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / f"{name}.jsonl" for name in ("train", "test")}
        for path, rows in zip(files.values(), (train, kept), strict=True):
            path.write_text("".join(json.dumps(as_json(row, of)) + "\n" for row in rows), encoding="utf-8")
        asked = {"task": of.kind, "model": model, "data": str(files["train"]), "test": str(files["test"])}
        known = {name: value for name, value in options.items() if name != "pooling" or "pooling" in kind.options}
        plan = FinetuningPlan.from_options(
            kind.defaults, **asked, **known, seed=seed, max_length=of.max_length, output=Path(folder) / "run"
        )
        metrics = finetune(plan, kind, lambda line: None)
    assert metrics is not None
    seconds, steps = time.process_time() - began, metrics["runs"][0]["steps"]
    return {"curve": [metrics["test"][of.figure]["mean"]], "seconds": seconds, "steps": steps}


def as_json(row: Any, of: Dataset) -> dict[str, Any]:
    """A row as a line of a file of its task."""
    if isinstance(row, TaggedWords):
        return {"words": row.words, "tags": row.tags}
    texts = {"text": row.text} if row.pair is None else {"sentence1": row.text, "sentence2": row.pair}
    return {**texts, "score" if of.kind == "regression" else "label": row.label}


def read_texts(train: Rows, way: Way, given: argparse.Namespace) -> str:
    """A folder with the model after it has read the texts of the rows, some words masked, so many times."""
    texts = [" ".join(row.words) if hasattr(row, "words") else row.text for row in train]
    texts += [row.pair for row in train if getattr(row, "pair", None)]
    name = f"{abs(hash_of(texts))}-{way.read_first:g}-{way.reading_rate:g}-{Path(given.model).name}"
    folder = given.work / "read" / name
    if not (folder / "metrics.json").exists():
        write_text(given.work / "texts.txt", "\n\n".join(dict.fromkeys(" ".join(text.split()) for text in texts)))
        tokens = sum(len(tokenizer_in(find_folder(given.model)).encode(text)) for text in texts)
        options = {"corpus": (str(given.work / "texts.txt"),), "start": given.model, "objective": "words"}
        options |= {"tokens": max(1, round(way.read_first * tokens)), "batch_size": 16, "max_length": 64}
        options |= {"learning_rate": way.reading_rate, "mask_rates": (0.2, 0.15), "validations": 0}
        pretrain(Plan.from_options(**options, output=str(folder)), lambda line: None)
    return str(folder / "checkpoint")


def hash_of(texts: Sequence[str]) -> int:
    """A number for some texts, the same in each process."""
    return random.Random("\n".join(texts)).getrandbits(40)


def learn(trained: Any, model: Any, task: Any, way: Way, kept: Rows, figure: str) -> tuple[list[float], float, int]:
    """Train; the figure on the rows kept apart after half of the steps and after all, the seconds of processor without
    these looks, and the steps. trained is the model, or the class of `transformers`, whose weights it is then given."""
    rate = way.learning_rate or default_rate(model.config.hidden_size)
    steps = max(1, round(way.passes * len(task.epoch(0))))
    precision = torch.autocast("cpu", torch.bfloat16, enabled=choose_precision("auto", "cpu") == "bf16")
    usual = pace(task.settings, model)

    def paces(name: str) -> tuple[float, float]:
        scale, begins = usual(name)
        return scale * (way.embedding_rate if model.depth(name) == 0 else 1), begins

    optimizers = build_optimizers(way.optimizer, model, rate, 0.01, (0.9, 0.999), paces, torch.bfloat16)
    if trained is not model:
        optimizers = [torch.optim.AdamW(trained.parameters(), lr=rate, weight_decay=0.01)]
        for group in optimizers[0].param_groups:
            group["scale"], group["start"] = 1.0, 0.0
    batches = (batch for number in range(steps) for batch in task.epoch(number))
    summed, averaged = None, 0
    curve, seconds, began = [], 0.0, time.process_time()
    for step, batch in zip(range(steps), batches, strict=False):
        trained.train()
        torch.manual_seed(1000 * task.settings.seed + step)
        for optimizer in optimizers:
            set_rates(optimizer, rate * rate_factor(step / steps, way.warmup), step / steps)
        with precision:
            loss = loss_of(trained, model, task, batch)
        loss.backward()
        clip_grad_norm_(trained.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        if way.average_over and step >= (1 - way.average_over) * steps:
            now = [weight.detach() for weight in trained.parameters()]
            summed = [a + b for a, b in zip(summed, now, strict=True)] if summed else [one.clone() for one in now]
            averaged += 1
        if (step + 1) * 2 // steps > step * 2 // steps:
            seconds += time.process_time() - began
            looked_at = given_weights(trained, model)
            if summed is not None and step == steps - 1:
                looked_at = copy.deepcopy(model)
                for weight, total in zip(looked_at.parameters(), summed, strict=True):
                    weight.data.copy_(total / averaged)
            curve.append(figure_of(looked_at, task, kept, figure, precision))
            began = time.process_time()
    return curve, seconds, steps


def loss_of(trained: Any, model: Any, task: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """The mean loss of a batch, by the task or by the class of `transformers`."""
    if trained is not model:
        return trained(**{name: value for name, value in batch.items() if name != "first_pieces"}).loss
    sums, counts = task.sums(model, batch), task.counts(batch)
    return sum(value / counts[name.removesuffix("_loss")] for name, value in sums.items() if name.endswith("_loss"))


def given_weights(trained: Any, model: Any) -> Any:
    """The package's model with the weights of the trained one."""
    if trained is not model:
        with tempfile.TemporaryDirectory() as folder:
            trained.save_pretrained(folder)
            return type(model).from_pretrained(folder)
    return model


def figure_of(model: Any, task: Any, rows: Rows, figure: str, precision: Any) -> float:
    """The figure on some rows."""
    with precision:
        predictions = task.predictions(model, rows)
    return task.figures(rows, predictions, **task.decide(rows, predictions))[figure]


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()

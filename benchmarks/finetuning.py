"""Fine-tuning on real public data, beside `transformers`' own classes and simple baselines.

Run: python benchmarks/finetuning.py DATASETS --model data/checkpoints/mixed-mini [--tasks …] [--seeds 3] [--rows N]

DATASETS is the folder of the public sets (its README names them). Every task is trained from each seed twice (once
where `transformers` has no class for it), with the same weights below, the same batches in the same order, the same
optimizer and rates: once by `bertedu.finetuning`, once by a plain loop around the class of `transformers`. The best
epoch by the validation of the model alone (one order, no bag of words) is tested, once. Prints a table with mean and
standard deviation over the seeds, the baselines and all figures as JSON, and on standard error each seed as it ends.
--rows N takes the first N training rows only. --texts FILE writes the texts of all training rows of these tasks (texts
or pairs of them) into a file, without their labels, for more pre-training (`bertedu pretrain --corpus FILE --from MODEL
--objective words`), and trains nothing.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from public_sets import (
    Rows,
    answers,
    inference,
    intents,
    likeness,
    movies,
    names,
    parts_of_speech,
    questions,
)
from scipy.special import log_softmax
from torch.nn.utils import clip_grad_norm_

from bertedu.checkpoints.folder import find_folder
from bertedu.config import BertConfig
from bertedu.files import write_text
from bertedu.finetuning.bags import bags_of_words
from bertedu.finetuning.labels import linear_scores
from bertedu.finetuning.recipe import default_rate
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.strategies import pace
from bertedu.finetuning.tasks.question_answering import QuestionAnsweringTask
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer, TrainingSettings
from bertedu.training.optimization import build_optimizer, rate_factor, set_rates

Predict = Callable[..., Any]


def plainly(task: Any, model: Any, rows: Rows, train: Rows = ()) -> Any:
    """What the model says to the rows."""
    return task.predictions(model, rows)


def mean_of_orders(task: Any, model: Any, rows: Rows, train: Rows) -> Any:
    """The mean of the scores of each pair and of the same pair with its two texts exchanged."""
    return np.mean([task.predictions(model, rows), task.predictions(model, exchanged(rows))], axis=0)


def with_bag(task: Any, model: Any, rows: Rows, train: Rows) -> Any:
    """The mean of the model's log-probabilities and those of the baseline, a linear model over bags of words."""
    vectorizer = bags_of_words([row.text for row in train], ngram_range=(1, 2), sublinear_tf=True)
    seen, new = (vectorizer.transform([row.text for row in part]) for part in (train, rows))
    counted = linear_scores(seen, np.array([task.target(row) for row in train]), new, len(task.labels))
    return (log_softmax(np.stack(task.predictions(model, rows)), axis=1) + counted) / 2


def exchanged(pairs: Rows) -> Rows:
    """The pairs with their two texts in the other order."""
    return [replace(row, text=row.pair, pair=row.text) for row in pairs]


def both_orders(pairs: Rows) -> Rows:
    """The pairs, and the pairs in the other order."""
    return [*pairs, *exchanged(pairs)]


@dataclass(frozen=True)
class Benchmark:
    """A task on one public set: its kind, how it is read, the figure told, and the class in `transformers`."""

    kind: str
    read: Callable[[Path], tuple[Rows, Rows, Rows]]
    figure: str
    reference: str
    settings: dict[str, Any]
    learned: Callable[[Rows], Rows] = list  # the rows to learn from, from the training rows
    predict: Predict = plainly  # what is said to some rows, by the task, its model, the rows and those learned from


FILMS = Benchmark("classification", movies, "accuracy", "", {"max_length": 64, "pooling": "max", "epochs": 5.0})
CAPTIONS = Benchmark("regression", likeness, "spearman", "", {"epochs": 6.0, "pooling": "max"})
BENCHMARKS = {
    "sentiment": Benchmark("classification", movies, "accuracy", "BertForSequenceClassification", {"max_length": 64}),
    "sentiment, max": FILMS,
    "sentiment, max, and the bag of words": replace(FILMS, predict=with_bag),
    "intents": Benchmark(
        "classification", intents, "accuracy", "BertForSequenceClassification", {"max_length": 64, "epochs": 6.0}
    ),
    "intents, max": Benchmark(
        "classification", intents, "accuracy", "", {"max_length": 64, "pooling": "max", "epochs": 12.0}
    ),
    "inference": Benchmark("classification", inference, "accuracy", "BertForSequenceClassification", {}),
    "similarity": Benchmark("regression", likeness, "spearman", "BertForSequenceClassification", {"epochs": 6.0}),
    "similarity, max": CAPTIONS,
    "similarity, both orders": replace(
        CAPTIONS, settings={**CAPTIONS.settings, "head_rate": 10.0}, learned=both_orders, predict=mean_of_orders
    ),
    "bi-encoder": Benchmark("similarity", likeness, "spearman", "", {"epochs": 6.0, "pooling": "mean"}),
    "entities": Benchmark("entities", names, "f1", "BertForTokenClassification", {"epochs": 10.0, "dropout": 0.1}),
    "parts of speech": Benchmark("tagging", parts_of_speech, "accuracy", "BertForTokenClassification", {"epochs": 5.0}),
    "questions": Benchmark("question-answering", questions, "f1", "BertForQuestionAnswering", {"max_length": 256}),
    "answers": Benchmark(
        "question-answering", answers, "f1", "BertForQuestionAnswering", {"max_length": 256, "epochs": 4.0}
    ),
}

OF_TEXTS = ("classification", "regression", "similarity")  # kinds whose rows are texts, or pairs of them


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--model", help="the checkpoint to fine-tune")
    wanted.add_argument("--texts", type=Path, help="write the texts of the training rows here")
    parser.add_argument("--tasks", nargs="+", choices=list(BENCHMARKS), default=list(BENCHMARKS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int)
    given = parser.parse_args()
    if given.texts:
        if unfit := [name for name in given.tasks if BENCHMARKS[name].kind not in OF_TEXTS]:
            parser.error(
                f"--texts knows texts and pairs of them alone: give --tasks, and leave out {', '.join(unfit)}."
            )
        rows = [row for name in given.tasks for row in BENCHMARKS[name].read(given.datasets)[0]]
        found = (" ".join(text.split()) for row in rows for text in (row.text, row.pair) if text)
        return write_text(given.texts, "\n\n".join(dict.fromkeys(found)) + "\n")
    print("| task | test rows | figure | bertedu | transformers | baselines | minutes |\n|---|---|---|---|---|---|---|")
    for name in given.tasks:
        start = time.perf_counter()
        benchmark = BENCHMARKS[name]
        train, validation, test = benchmark.read(given.datasets)
        data = (train[: given.rows], validation, test)
        runs = []
        for seed in range(given.seeds):
            runs.append(run(benchmark, data, given.model, seed))
            print(f"{name}, seed {seed}: {json.dumps(runs[-1])}", file=sys.stderr, flush=True)
        ours, theirs = ([figures[side] for figures in runs if side in figures] for side in ("bertedu", "transformers"))
        baselines = TASKS[benchmark.kind].baselines(data[0], test)
        beside = ", ".join(f"{of} {figures[benchmark.figure]:.3f}" for of, figures in baselines.items())
        minutes = (time.perf_counter() - start) / 60
        cells = [name, len(test), benchmark.figure, spread(ours), spread(theirs), beside, f"{minutes:.1f}"]
        print("|", " | ".join(map(str, cells)), "|", flush=True)
        print(json.dumps({name: runs}), flush=True)


def spread(figures: Sequence[dict[str, float]]) -> str:
    """Mean and standard deviation of the test figure."""
    values = [figure["test"] for figure in figures]
    if not values:
        return "-"
    return f"{statistics.mean(values):.3f} ± {statistics.stdev(values) if len(values) > 1 else 0:.3f}"


def run(benchmark: Benchmark, data: tuple[Rows, Rows, Rows], model: str, seed: int) -> dict[str, dict[str, float]]:
    """The figures of both sides from one seed."""
    train, validation, test = data
    kind, predict = TASKS[benchmark.kind], partial(benchmark.predict, train=train)
    settings = FinetuningSettings(**{**kind.defaults, **benchmark.settings, "seed": seed})
    positions = BertConfig.load(find_folder(model)).max_tokens
    settings = replace(settings, max_length=min(settings.max_length, positions))
    tokenizer = BertTokenizer.from_pretrained(model)
    torch.manual_seed(seed)
    network, task = kind.make(benchmark.learned(train), validation, tokenizer, model, settings)
    steps = round(settings.epochs * len(task.epoch(0)))
    rate = default_rate(network.config.hidden_size)
    training = TrainingSettings(
        learning_rate=rate, warmup=0.1, betas=(0.9, 0.999), seed=seed, validations=round(settings.epochs)
    )
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        network.save_pretrained(Path(folder) / "start")  # with its new head: both sides start from the same weights
        paces = pace(settings, network)
        trainer = Trainer(network, task, training, Budget(steps=steps), folder, paces)
        trainer.run()
        best = type(network).from_pretrained(Path(folder) / "checkpoint-best").to(trainer.torch_device)
        found["bertedu"] = told(task, best, validation, test, benchmark.figure, trainer.precision, predict)
        if benchmark.reference:
            reference = getattr(transformers, benchmark.reference).from_pretrained(Path(folder) / "start")
            reference = reference.to(trainer.torch_device)
            best = plain_loop(reference, type(network), task, training, steps, trainer.precision)
            found["transformers"] = told(task, best, validation, test, benchmark.figure, trainer.precision, predict)
    return found


def told(
    task: Any, model: Any, validation: Rows, test: Rows, figure: str, precision: str, predict: Predict = plainly
) -> dict[str, float]:
    """The figure on validation and test, both with what validation decides (a threshold); of questions also the F1 on
    those that have an answer, if none is left open."""
    with in_precision(model, precision):
        predictions, of_test = (predict(task, model, rows) for rows in (validation, test))
    decided = task.decide(validation, predictions)
    on_test = task.figures(test, of_test, **decided)
    on_validation = task.figures(validation, predictions, **decided)
    if isinstance(task, QuestionAnsweringTask):
        possible = [(row, found) for row, found in zip(test, of_test, strict=True) if row.answers]
        on_test["f1_if_always_answered"] = task.figures(*zip(*possible, strict=True))["f1"]
    return {"validation": on_validation[figure], "test": on_test[figure], **on_test, **decided}


def in_precision(model: Any, precision: str) -> torch.autocast:
    """A context in which the model computes with these numbers."""
    return torch.autocast(next(model.parameters()).device.type, torch.bfloat16, enabled=precision == "bf16")


def plain_loop(model: Any, kind: Any, task: Any, training: TrainingSettings, steps: int, precision: str) -> Any:
    """Train a model of `transformers` by its own loss, step by step; returns the best by validation, opened as the
    package's class, which computes the same and knows what the task asks (the first piece of a word, say).
    """
    device = next(model.parameters()).device
    optimizer = build_optimizer(model, training.learning_rate, training.weight_decay, training.betas)
    batches = (batch for number in range(10_000) for batch in task.epoch(number))
    best, best_quality = None, float("-inf")
    every = max(1, steps // training.validations)
    for step in range(steps):
        model.train()
        torch.manual_seed(1000 * training.seed + step)
        rate = training.learning_rate * rate_factor(step / steps, training.warmup)
        set_rates(optimizer, rate, step / steps)
        batch = {name: value.to(device) for name, value in next(batches).items() if name != "first_pieces"}
        with in_precision(model, precision):
            loss = model(**batch).loss
        loss.backward()
        clip_grad_norm_(model.parameters(), training.clip_norm)
        optimizer.step()
        optimizer.zero_grad()
        if (step + 1) % every == 0:
            with tempfile.TemporaryDirectory() as folder:
                model.save_pretrained(folder)
                ours = kind.from_pretrained(folder).to(device)
            with in_precision(ours, precision):
                quality = task.quality(task.validate(ours, device))
            if quality > best_quality:
                best, best_quality = ours, quality
    return best


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()

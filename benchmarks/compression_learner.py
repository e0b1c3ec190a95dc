"""What compression.py does with one set and one seed: train, export, test and time each version of a model."""

import copy
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.finetuning.recipe import default_rate
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.task import CLASSES
from bertedu.production.distilling import task_distillation_loss
from bertedu.production.graphs import graph_of
from bertedu.production.int8 import quantize
from bertedu.production.onnx_export import write_graph
from bertedu.production.questions import Question, batch_of
from bertedu.production.sessions import Session
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.training.devices import computes_bf16
from bertedu.training.optimization import build_optimizer, rate_factor, set_rates

CHECKPOINT = Path(__file__).resolve().parents[1] / "data" / "checkpoints" / "mixed-mini"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
MAX_LENGTH, BATCH = 64, 32
Rows = list[Any]
Version = Callable[[dict[str, np.ndarray]], np.ndarray]


class Learner:
    """One set and one seed: what is trained on it, and how each version is tested and timed."""

    def __init__(self, data: tuple[Rows, Rows, Rows], seed: int, folder: Path):
        train, self.validation, self.test = data
        self.seed, self.folder = seed, folder
        settings = FinetuningSettings(max_length=MAX_LENGTH, batch_size=BATCH, seed=seed)
        self.tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)
        torch.manual_seed(seed)
        self.start, self.task = TASKS["classification"].make(
            train, self.validation, self.tokenizer, str(CHECKPOINT), settings
        )
        self.questions = [
            Question(one["input_ids"], one["token_type_ids"]) for one in self.task.encode(self.test)
        ]  # cut at max_length, as in training
        self.right = np.array([self.task.target(row) for row in self.test])
        self.versions: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, Version] = {}

    def train(self, model: Any, epochs: int, teacher: nn.Module | None = None, rate: float = 1.0) -> Any:
        """A copy of the model after so many passes, the best of them by validation."""
        model = copy.deepcopy(model)
        rate *= default_rate(model.config.hidden_size)
        optimizer = build_optimizer(model, rate, 0.01, (0.9, 0.999))
        total, step = epochs * len(self.task.epoch(0)), 0
        best, best_quality = None, -1.0
        for epoch in range(epochs):
            for batch in self.task.epoch(epoch):
                set_rates(optimizer, rate * rate_factor(step / total, 0.1), step / total)
                with torch.autocast("cpu", torch.bfloat16, enabled=computes_bf16("cpu")):
                    loss = loss_of(model.train(), batch, teacher) / len(batch["labels"])
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                step += 1
            quality = self.accuracy_of(model, self.validation)
            if quality > best_quality:
                best, best_quality = copy.deepcopy(model.state_dict()), quality
        model.load_state_dict(best)
        return model.eval()

    def accuracy_of(self, model: nn.Module, rows: Rows) -> float:
        """The share of rows that a model in torch has right."""
        return float(self.task.figures(rows, self.task.predictions(model, rows))["accuracy"])

    def add(self, name: str, model: Any, int8: bool = False) -> None:
        """Export a version, test it once, and keep it for the timing."""
        path = self.folder / f"{name}.onnx"
        write_graph(model, CLASSES, path)
        self.add_graph(name, path, model)
        if int8:
            small = self.folder / f"{name}, int8.onnx"
            quantize(path, small)
            self.add_graph(f"{name}, int8", small, model)

    def add_graph(self, name: str, path: Path, model: Any) -> None:
        """Test a graph and keep it for the timing."""
        parameters = sum(one.numel() for one in model.parameters())
        session = Session(path)
        self.keep(name, session.run, path.stat().st_size, parameters)

    def keep(self, name: str, run: Version, size: int, parameters: int) -> None:
        """Test a version and keep it for the timing."""
        logits = np.concatenate([run(one) for one in self.batches(self.questions)])
        self.runs[name] = run
        self.versions[name] = {
            "accuracy": float((logits.argmax(-1) == self.right).mean()),
            "megabytes": round(size / 1e6, 2),
            "parameters": parameters,
        }
        print(f"  {name}: {self.versions[name]}", flush=True)

    def batches(self, questions: Sequence[Question]) -> list[dict[str, np.ndarray]]:
        """Arrays of 32 texts each, in the order of the test set."""
        return [
            batch_of(questions[start : start + BATCH], self.tokenizer, CLASSES)
            for start in range(0, len(questions), BATCH)
        ]

    def measure_times(self, rounds: int) -> None:
        """All versions in turns, one text and one batch a round, each version the same ones; medians."""
        rng = random.Random(self.seed)
        single: dict[str, list[float]] = {name: [] for name in self.runs}
        many: dict[str, list[float]] = {name: [] for name in self.runs}
        for number in range(rounds):
            chosen = rng.sample(self.questions, BATCH)
            for times, arrays in ((single, self.batches(chosen[:1])[0]), (many, self.batches(chosen)[0])):
                names = list(self.runs)
                rng.shuffle(names)  # so that nobody always follows the same neighbour
                for name in names:
                    start = time.thread_time()  # of the processor: what waits for other programs does not count
                    self.runs[name](arrays)
                    if number >= 3:  # the first rounds warm up
                        times[name].append(1000 * (time.thread_time() - start) / len(arrays["input_ids"]))
        for name, about in self.versions.items():
            about["ms_one_text"] = round(statistics.median(single[name]), 3)
            about["ms_a_text_in_32"] = round(statistics.median(many[name]), 3)


def loss_of(model: Any, batch: dict[str, Tensor], teacher: Any = None) -> Tensor:
    """The summed loss of a batch: cross-entropy, with a teacher half of it soft targets."""
    logits = model(*(batch[name] for name in INPUTS)).logits
    if teacher is None:
        return cross_entropy(logits, batch["labels"], reduction="sum")
    with torch.no_grad():
        taught = teacher(*(batch[name] for name in INPUTS)).logits
    return task_distillation_loss(logits, taught, batch["labels"])


def in_torch(model: Any) -> Version:
    """The model as a function from arrays to logits."""
    graph = graph_of(model, CLASSES)

    def run(arrays: dict[str, np.ndarray]) -> np.ndarray:
        with torch.inference_mode():
            return graph(*(torch.from_numpy(arrays[name]) for name in INPUTS)).numpy()

    return run

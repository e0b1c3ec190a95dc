"""Taggers over several seeds on the course's own data. Run: python benchmarks/tagging.py

The checkpoint in the box learns data/tasks/stress/entities (three passes, batches of 16, rate 3e-4, dropout 0.1) in
five ways: each word's tag for itself, the same read by the rules of a CRF that has learned nothing, tags chosen
together by a CRF, every piece of a word labelled, and from random weights instead of the pre-trained ones; and
data/tasks/parts_of_speech in the first way, two passes. Beside them the answers without a network, with the text as it
stands and in lower case, as the checkpoint reads it.

Prints each figure on validation and test (entity F1, or accuracy). Twelve minutes of processor time; --seeds 0 runs
one.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from bertedu.corpora.readers import TaggedWords
from bertedu.corpora.task_data import read_tagged
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import encoder_of, with_new_head
from bertedu.finetuning.tagging import (
    BertCrfForTokenClassification,
    BertForTokenClassification,
    TaggingTask,
    tags_of,
)
from bertedu.finetuning.tagging_baselines import tagging_baselines
from bertedu.tokenization import BertTokenizer
from bertedu.training.optimization import build_optimizer, rate_factor, set_rates

DATA = Path(__file__).resolve().parents[1] / "data"
BOX = DATA / "checkpoints" / "mixed-mini"
PARTS = ("validation", "test")
# For each way: the model, which pieces have labels, whether it starts pre-trained.
WAYS = {
    "each word alone": (BertForTokenClassification, "first", True),
    "the rules of a CRF alone": (BertForTokenClassification, "first", True),
    "with a CRF": (BertCrfForTokenClassification, "first", True),
    "labels on all pieces": (BertForTokenClassification, "all", True),
    "not pre-trained": (BertForTokenClassification, "first", False),
}


def read(task: str) -> list[list[TaggedWords]]:
    """Training, validation and test sentences."""
    scheme = "BIO" if task == "entities" else None
    folder = DATA / "tasks" / ("stress/entities" if task == "entities" else task)
    return [read_tagged(folder / f"{part}.conll", scheme=scheme) for part in ("train", *PARTS)]


def learn(model: torch.nn.Module, task: TaggingTask, epochs: int, seed: int) -> None:
    """The loop of the notebook: warm-up over a tenth, then down to 0."""
    torch.manual_seed(seed)
    optimizer = build_optimizer(model, 3e-4, weight_decay=0.01, betas=(0.9, 0.999))
    batches = [batch for epoch in range(epochs) for batch in task.epoch(epoch)]
    model.train()
    for step, batch in enumerate(batches):
        set_rates(optimizer, 3e-4 * rate_factor(step / len(batches), 0.1), step / len(batches))
        loss = task.sums(model, batch)["word_loss"] / task.counts(batch)["word"]
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


def run(parts: list[list[TaggedWords]], way: str, seed: int, epochs: int) -> list[dict[str, float]]:
    """The figures on validation and test after one training."""
    model_class, pieces, pretrained = WAYS[way]
    labels = tags_of(parts[0] + parts[1])
    settings = FinetuningSettings(dropout=0.1, seed=seed)
    torch.manual_seed(seed)
    model = with_new_head(model_class, str(BOX), settings, labels=labels)
    if not pretrained:
        encoder_of(model).initialize()  # its head is new already
    task = TaggingTask(parts[0], parts[1], BertTokenizer.from_pretrained(BOX), settings, labels, pieces)
    learn(model, task, epochs, seed)
    if way == "the rules of a CRF alone":
        ruled = with_new_head(BertCrfForTokenClassification, str(BOX), settings, labels=labels)
        ruled.encoder, ruled.classifier = model.encoder, model.classifier
        model = ruled
    return [task.score(model, rows) for rows in parts[1:]]


def in_lower_case(rows: list[TaggedWords]) -> list[TaggedWords]:
    """The same words without capitals."""
    return [replace(row, words=tuple(word.lower() for word in row.words)) for row in rows]


def main() -> None:
    """Run all, and print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name, ways, epochs, measure in (
        ("entities", list(WAYS), 3, "f1"),
        ("parts_of_speech", ["each word alone"], 2, "accuracy"),
    ):
        parts = read(name)
        for way in ways:
            runs = [run(parts, way, seed, epochs) for seed in options.seeds]
            tell(name, way, [[figures[measure] for figures in part] for part in zip(*runs, strict=True)])
        for case, rows in (("", parts), (", lower case", [in_lower_case(part) for part in parts])):
            train, *others = rows
            figures = [tagging_baselines(train, other) for other in others]
            for baseline in figures[0]:
                tell(name, f"{baseline}{case}", [[part[baseline][measure]] for part in figures])


def tell(name: str, way: str, figures: list[list[float]]) -> None:
    """A line with the figures of all seeds on validation and on test."""
    told = [
        f"{part} {' '.join(f'{value:.3f}' for value in values)}" for part, values in zip(PARTS, figures, strict=True)
    ]
    print(f"{name:16} {way:50} {'   '.join(told)}", flush=True)


if __name__ == "__main__":
    main()

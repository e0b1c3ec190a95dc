"""Taggers over several seeds on the course's own data. Run: python benchmarks/tagging.py

The checkpoint in the box learns data/tasks/entities (three passes, batches of 16, rate 3e-4, dropout 0.1) in four ways:
each word's tag for itself, tags chosen together by a CRF, every piece of a word labelled, and from random weights
instead of the pre-trained ones. A linear model over words and their neighbours learns the same, in lower case as the
checkpoint reads it, and with capitals. And data/tasks/parts_of_speech, two passes.

Prints the figures on validation and test, and writes data/tagging/seeds.json. Five minutes of processor time.
Options: --seeds 0 1 2, --output FILE.
"""

import argparse
from pathlib import Path

import torch
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from bertedu.corpora.readers import TaggedWords
from bertedu.corpora.task_data import read_tagged
from bertedu.files import write_json
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.tagging import (
    BertCrfForTokenClassification,
    BertForTokenClassification,
    TaggingTask,
    most_frequent_tags,
    tagging_figures,
    tags_of,
)
from bertedu.tokenization import BertTokenizer
from bertedu.training.optimization import build_optimizer, rate_factor, set_rates

DATA = Path(__file__).resolve().parents[1] / "data"
BOX = DATA / "checkpoints" / "books-mini"
# For each way: the model, which pieces have labels, whether it starts pre-trained.
WAYS = {
    "each word alone": (BertForTokenClassification, "first", True),
    "with a CRF": (BertCrfForTokenClassification, "first", True),
    "labels on all pieces": (BertForTokenClassification, "all", True),
    "not pre-trained": (BertForTokenClassification, "first", False),
}


def read(task: str) -> list[list[TaggedWords]]:
    """Training, validation and test sentences."""
    scheme = "BIO" if task == "entities" else None
    return [
        read_tagged(DATA / "tasks" / task / f"{part}.conll", scheme=scheme) for part in ("train", "validation", "test")
    ]


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
        model.initialize()
    task = TaggingTask(parts[0], parts[1], BertTokenizer.from_pretrained(BOX), settings, labels, pieces)
    learn(model, task, epochs, seed)
    return [task.score(model, rows) for rows in parts[1:]]


def features(words: tuple[str, ...], i: int, capitals: bool) -> dict[str, bool]:
    """A word, two neighbours on both sides, its ending, and where asked for the capitals of all five."""
    found = {"first": i == 0, f"ending {words[i][-3:].lower()}": True, f"ending {words[i][-2:].lower()}": True}
    for step in (-2, -1, 0, 1, 2):
        word = words[i + step] if 0 <= i + step < len(words) else "nothing"
        found[f"{step} {word.lower()}"] = True
        if capitals:
            found[f"{step} capital"] = word[0].isupper()
    return found


def linear(parts: list[list[TaggedWords]], capitals: bool) -> list[dict[str, float]]:
    """The figures of logistic regression over these features."""

    def rows_of(rows: list[TaggedWords]) -> list[dict[str, bool]]:
        return [features(row.words, i, capitals) for row in rows for i in range(len(row.words))]

    vectorizer = DictVectorizer()
    model = LogisticRegression(C=10, max_iter=1000)
    model.fit(vectorizer.fit_transform(rows_of(parts[0])), [tag for row in parts[0] for tag in row.tags])
    entities = any(tag.startswith("B-") for row in parts[0] for tag in row.tags)
    found = []
    for rows in parts[1:]:
        tags = iter(model.predict(vectorizer.transform(rows_of(rows))).tolist())
        said = [[next(tags) for _ in row.words] for row in rows]
        found.append(tagging_figures([row.tags for row in rows], said, entities))
    return found


def main() -> None:
    """Run all, print, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--output", type=Path, default=DATA / "tagging" / "seeds.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    results: dict[str, dict] = {}
    for name, ways, epochs in (("entities", list(WAYS), 3), ("parts_of_speech", ["each word alone"], 2)):
        parts = read(name)
        measure = "f1" if name == "entities" else "accuracy"
        taken: dict[str, dict[str, list[float]]] = {}
        runs: dict[str, list[list[dict[str, float]]]] = {}
        for way, seed in ((way, seed) for way in ways for seed in options.seeds):
            runs.setdefault(way, []).append(run(parts, way, seed, epochs))
            print(name, way, f"seed {seed}: {runs[way][-1][0][measure]:.3f} on validation", flush=True)
        runs["linear, lower case"] = [linear(parts, capitals=False)]
        runs["linear, with capitals"] = [linear(parts, capitals=True)]
        runs["the word's usual tag"] = [
            [most_frequent_tags(parts[0], rows)["most frequent tag of the word"] for rows in parts[1:]]
        ]
        for way, figures in runs.items():
            taken[way] = {
                part: [round(one[number][measure], 4) for one in figures]
                for number, part in enumerate(("validation", "test"))
            }
            print(name, way, taken[way], flush=True)
        results[name] = {"measure": measure, "epochs": epochs, "seeds": options.seeds, "ways": taken}
    write_json(options.output, {"run": "python benchmarks/tagging.py", **results})


if __name__ == "__main__":
    main()

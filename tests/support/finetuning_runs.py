"""The folder of a finished fine-tuning run of each task."""

import json

import numpy as np

from bertedu.corpora.readers import Answer, Choices, LabelledText, Question, Summary, TaggedWords
from bertedu.finetuning.classification import ClassificationTask
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.tagging import Tagged, TaggingTask
from bertedu.finetuning.tasks.multiple_choice import MultipleChoiceTask
from bertedu.finetuning.tasks.question_answering import QuestionAnsweringTask
from bertedu.finetuning.tasks.similarity import SimilarityTask
from bertedu.finetuning.tasks.summarization import Chosen, SummarizationTask
from bertedu.finetuning.windows import Answered, Candidate
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS


def log(seed: int) -> list[dict]:
    found: list[dict] = []
    for step in range(1, 9):
        found.append({"step": step, "text_loss": 2.0 - 0.2 * step + seed, "learning_rate": 1e-4})
        if not step % 4:
            found.append({"step": step, "validation_accuracy": 0.1 * step, "validation_text_loss": 3.0 + seed})
    return found


TOKENIZER = BertTokenizer([*SPECIAL_TOKENS, *"abcdefgh."])

SETTINGS = FinetuningSettings(max_length=32)

TEXTS = [LabelledText("a b", "x"), LabelledText("b c", "y", "a pair")]


def explained(task: str) -> list[dict]:
    """Two rows of predictions for each task, the first right and the second wrong; scores are both off."""
    if task in ("classification", "multi-label"):
        problem = {"classification": "single", "multi-label": "multi"}[task] + "_label_classification"
        rows = TEXTS if task == "classification" else [LabelledText("a", ("x",)), LabelledText("b", ("x", "y"))]
        made = ClassificationTask(rows, [], TOKENIZER, SETTINGS, ("x", "y"), problem)
        return made.explain(rows, [np.array([2.0, -2.0])] * 2)
    if task in ("regression", "similarity"):
        rows = [LabelledText("a", 1.0, "b"), LabelledText("b", 5.0, "c")]
        if task == "similarity":
            return SimilarityTask(rows, [], TOKENIZER, SETTINGS).explain(rows, [0.25, 0.5])
        made = ClassificationTask(rows, [], TOKENIZER, SETTINGS, ("score",), "regression")
        return made.explain(rows, [np.array([1.25]), np.array([2.5])])
    if task in ("entities", "tagging"):
        tags = ("B-per", "I-per", "O") if task == "entities" else ("DET", "NOUN", "VERB")
        rows = [TaggedWords(("a", "b", "c"), tags), TaggedWords(("<d>", "e"), (tags[2], tags[0]))]
        found = [Tagged(list(tags), [0.9] * 3), Tagged([tags[0], tags[0]], [0.8, 0.6])]
        return TaggingTask(rows, [], TOKENIZER, SETTINGS, tags).explain(rows, found)
    if task == "question-answering":
        rows = [Question("1", "a", "b c", (Answer("c", 2),)), Question("2", "a", "b c", (), True)]
        found = [Answered([Candidate(2, 3, 5.0)], -3.0), Answered([Candidate(0, 1, 5.0)], -1.0)]
        return QuestionAnsweringTask(rows, [], TOKENIZER, SETTINGS, 8).explain(rows, found)
    if task == "multiple-choice":
        choices = [Choices("a", ("b", "c"), 0, "d"), Choices("a", ("b", "c"), 1)]
        return MultipleChoiceTask(choices, [], TOKENIZER, SETTINGS).explain(choices, [np.array([0.7, 0.3])] * 2)
    texts = [Summary("A b. C d.", "A b."), Summary("A b. C d.", "C d.")]
    chosen = [Chosen(["A b.", "C d."], [0]), Chosen(["A b.", "C d."], [0])]
    return SummarizationTask(texts, [], TOKENIZER, SETTINGS, sentences=1).explain(texts, chosen)


FIGURES = {
    "classification": {"accuracy": 0.5, "macro_f1": 0.4},
    "multi-label": {"micro_f1": 0.5},
    "regression": {"spearman": 0.5, "mean_squared_error": 0.5},
    "similarity": {"spearman": 0.5},
    "entities": {"f1": 0.5, "f1_per": 0.5},
    "tagging": {"accuracy": 0.5},
    "question-answering": {"f1": 0.5, "exact_match": 0.5, "best_threshold": 0.1},
    "multiple-choice": {"accuracy": 0.5},
    "summarization": {"rouge1": 0.5},
}


def save_finetuning_run(folder, task: str, test: bool = True):
    """The folder of a finished run with two seeds."""
    values = FIGURES[task]
    chosen_by = next(iter(values))
    spread = {name: {"mean": value, "deviation": 0.01} for name, value in values.items()}
    about = {"seconds": 30.0, "steps": 8, "parameters": 5000, "device": "cpu", "precision": "fp32", "threads": 1}
    metrics = {
        "task": task,
        "model": "models/<base>",
        "rows": {"train": 36, "validation": 4, "test": 2 if test else 0},
        "best_seed": 0,
        "runs": [{"seed": seed, "chosen_by": chosen_by, "validation": values, **about} for seed in (0, 2)],
        "validation": spread,
        "baselines": {"guessing": {chosen_by: 0.5}, **{name: {chosen_by: 0.9} for name in TASKS[task].ceilings}},
    }
    if test:
        metrics["test"] = spread
    folder.mkdir(parents=True)
    plan = {"task": task, "seed": 0, "data": "data & more.csv", "model": "models/<base>", "epochs": 3.0}
    plan = {**plan, "learning_rate": 1e-4, "warmup": 0.1, "dropout": 0.1, "batch_size": 16, "max_length": 128}
    plan = {**plan, "pooling": "pooler", "crf": False}
    (folder / "run.json").write_text(json.dumps(plan))
    (folder / "metrics.json").write_text(json.dumps(metrics))
    (folder / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in explained(task)))
    for seed in (0, 2):
        (folder / f"seed-{seed}").mkdir()
        lines = [{name.replace("accuracy", chosen_by): value for name, value in line.items()} for line in log(seed)]
        (folder / f"seed-{seed}/metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder

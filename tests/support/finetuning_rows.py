"""Forty rows for every fine-tuning task, and the plan of a run on them."""

import json
import random
from pathlib import Path

import torch

from bertedu.config import BertConfig
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.model import BertForPreTraining
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

LETTERS = "abcdefgh"

SENTENCE = [f"{letter.upper()} {other} c d." for letter in LETTERS for other in LETTERS]


def save_base(folder: Path) -> Path:
    """Save a very small BERT that knows these letters."""
    torch.manual_seed(0)
    tokenizer = BertTokenizer([*SPECIAL_TOKENS, *LETTERS, "."])
    BertForPreTraining(BertConfig(len(tokenizer), 16, 2, 2, 32, max_position_embeddings=64)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def lines(count: int, make) -> str:
    rng = random.Random(0)
    return "".join(json.dumps(make(rng, number)) + "\n" for number in range(count))


def text(rng: random.Random) -> str:
    return " ".join(rng.choices(LETTERS, k=6))


def question(rng: random.Random, number: int) -> dict:
    context = text(rng)
    answer = {"text": context[4:7], "answer_start": 4}
    answers = [answer] if number % 3 else []
    return {"id": str(number), "question": "a b", "context": context, "answers": answers, "is_impossible": not answers}


def squad(count: int) -> str:
    rng = random.Random(0)
    found = [question(rng, number) for number in range(count)]
    paragraphs = [{"context": one.pop("context"), "qas": [one]} for one in found]
    return json.dumps({"version": "v2.0", "data": [{"title": "t", "paragraphs": paragraphs}]})


DATA = {
    "classification": ("d.jsonl", lines(40, lambda rng, n: {"text": text(rng), "label": "xyz"[n % 3]})),
    "multi-label": ("d.jsonl", lines(40, lambda rng, n: {"text": text(rng), "labels": [["x"], ["x", "y"], []][n % 3]})),
    "regression": ("d.jsonl", lines(40, lambda rng, n: {"text": text(rng), "score": n % 5 / 2})),
    "ordinal-regression": (
        "d.jsonl",
        lines(40, lambda rng, n: {"text": text(rng), "score": 1 + n % 5}),
    ),
    "entities": ("d.conll", "\n\n".join("a\tB-x\nb\tI-x\nc\tO" for _ in range(40)) + "\n"),
    "tagging": ("d.conll", "\n\n".join("a\tDET\nb\tNOUN\nc\tVERB" for _ in range(40)) + "\n"),
    "question-answering": ("d.json", squad(40)),
    "similarity": (
        "d.jsonl",
        lines(40, lambda rng, n: {"sentence1": text(rng), "sentence2": text(rng), "score": n % 6}),
    ),
    "multiple-choice": (
        "d.jsonl",
        lines(40, lambda rng, n: {"question": text(rng), "choices": [text(rng), text(rng)], "label": n % 2}),
    ),
    "summarization": (
        "d.jsonl",
        lines(40, lambda rng, n: {"text": " ".join(rng.sample(SENTENCE, 5)), "summary": rng.choice(SENTENCE)}),
    ),
}


def made_plan(folder, base, task: str, **options) -> FinetuningPlan:
    name, content = DATA[task]
    (folder / name).write_text(content, encoding="utf-8")
    given = {"model": str(base), "data": str(folder / name), "output": folder / "run", "epochs": 1.0, **options}
    return FinetuningPlan.from_options(TASKS[task].defaults, task=task, device="cpu", precision="fp32", **given)


def silent(sentence: str) -> None:
    """Say nothing."""

"""A pre-training run small enough to be tested from end to end: made-up text, one layer, 16 numbers a token.

Each made-up document keeps to the eight words of its topic, so both predictions can be learned. Run as a
program (`torchrun … -m support.tiny_run FOLDER`) it trains 12 steps into FOLDER/adamw, 12 into FOLDER/muon, and as
many as fit into a second into FOLDER/minutes.
"""

import random
import sys
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bertedu.config import BertConfig
from bertedu.family.electra import ElectraConfig
from bertedu.family.electra_pair import GeneratorAndDiscriminator
from bertedu.family.spanbert import SpanBert
from bertedu.family.xlnet import XLNetConfig, XLNetLMHeadModel
from bertedu.model import BertForPreTraining
from bertedu.model.architecture import architecture
from bertedu.pretraining.objectives.words import MaskedWords
from bertedu.pretraining.sentence_pairs import TokenizedText
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.registry import OBJECTIVES
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer, TrainingSettings
from bertedu.training.optimization import Pace, at_full_rate

TOPICS = 6


def tiny_tokenizer() -> BertTokenizer:
    """53 tokens: the special ones and, for each topic, six words and two pieces that go on a word."""
    words = [f"t{topic}w{i}" if i < 6 else f"##t{topic}w{i}" for topic in range(TOPICS) for i in range(8)]
    return BertTokenizer([*SPECIAL_TOKENS, *words])


def make_text(documents: list[list[list[int]]], sources: list[str] | None = None) -> TokenizedText:
    """Documents as lists of sentences as lists of ids, in the form that the package uses."""
    sentences = [sentence for document in documents for sentence in document]
    marks = list(accumulate(map(len, sentences), initial=0))
    starts = list(accumulate(map(len, documents), initial=0))
    tokens = np.array([token for sentence in sentences for token in sentence], dtype=np.int32)
    return TokenizedText(tokens, marks, starts, sources or ["made up"] * len(documents))


def random_documents(count: int, seed: int = 0, sentences: int = 8, tokens: int = 9) -> list[list[list[int]]]:
    """Documents of 1 to `sentences` sentences with 1 to `tokens` tokens each."""
    rng, first = random.Random(seed), len(SPECIAL_TOKENS)
    documents = []
    for i in range(count):
        topic = range(first + 8 * (i % TOPICS), first + 8 * (i % TOPICS) + 8)
        lengths = [rng.randint(1, tokens) for _ in range(rng.randint(1, sentences))]
        documents.append([rng.choices(topic, k=length) for length in lengths])
    return documents


def tiny_task(**changes: Any) -> MaskedWords:
    """Pre-training on 60 made-up documents; changes are fields of PretrainingSettings."""
    settings = PretrainingSettings(**{"max_length": 24, "batch_size": 8, **changes})
    train, validation = make_text(random_documents(60)), make_text(random_documents(8, seed=1))
    return OBJECTIVES[settings.objective](train, validation, tiny_tokenizer(), settings)


SIZES = {
    "vocab_size": len(tiny_tokenizer()),
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 32,
}


def tiny_model(dropout: float = 0.1, seed: int = 0, task: Any = None) -> BertForPreTraining:
    """One layer, hidden size 16: a BERT with both heads, or the member that a task trains."""
    torch.manual_seed(seed)
    rates = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    if task is None:
        return BertForPreTraining(BertConfig(**SIZES, **rates))
    return task.new_model(architecture(task.settings.architecture).config(**SIZES, **rates, pad_token_id=0))


def tiny_pair(dropout: float = 0.1, seed: int = 0) -> GeneratorAndDiscriminator:
    """ELECTRA's two, the discriminator of the same size."""
    torch.manual_seed(seed)
    rates = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    return GeneratorAndDiscriminator.from_config(ElectraConfig(**SIZES, **rates, embedding_size=8))


def tiny_spans(dropout: float = 0.1, seed: int = 0) -> SpanBert:
    """SpanBERT's two heads on a BERT of the same size."""
    torch.manual_seed(seed)
    config = BertConfig(**SIZES, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    return SpanBert.from_config(config)


def tiny_xlnet(dropout: float = 0.1, seed: int = 0) -> XLNetLMHeadModel:
    """An XLNet of the same size."""
    torch.manual_seed(seed)
    rates = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    return XLNetLMHeadModel.from_config(XLNetConfig(**SIZES, **rates, pad_token_id=0))


def save_teacher(folder: Path, seed: int = 0, **changes: Any) -> Path:
    """A BERT of four layers from which another may learn: all of its weights matter, and in training it has dropout."""
    torch.manual_seed(seed)
    teacher = BertForPreTraining(BertConfig(**{**SIZES, "num_hidden_layers": 4, **changes}))
    with torch.no_grad():
        for weight in teacher.parameters():
            weight.add_(0.2 * torch.randn(weight.shape))
    teacher.save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return folder


def model_for(task: Any, dropout: float, seed: int) -> Any:
    """What is trained for a task, with this dropout."""
    if task.settings.objective == "distillation":
        return task.given_model(hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    return tiny_pair(dropout, seed) if task.settings.objective == "replaced-tokens" else tiny_model(dropout, seed, task)


def tiny_trainer(
    folder: str | Path,
    steps: int = 12,
    task: Any = None,
    dropout: float = 0.1,
    budget: Budget | None = None,
    pace: Pace = at_full_rate,
    **changes,
) -> Trainer:
    """A run in fp32 on the CPU that logs each step; changes are fields of TrainingSettings."""
    settings = {"learning_rate": 3e-3, "device": "cpu", "precision": "fp32", "log_steps": 1, **changes}
    task = task or tiny_task()
    model = model_for(task, dropout, seed=settings.get("seed", 0))
    return Trainer(model, task, TrainingSettings(**settings), budget or Budget(steps=steps), folder, pace)


class ReportedTask:
    """A task that tells another process how far the run is, by a shared number."""

    def __init__(self, step: Any, **changes: Any):
        self.inner, self.shared = tiny_task(**changes), step

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def prepare(self, batch: dict, step: int, share: float) -> dict:
        self.shared.value = step
        return self.inner.prepare(batch, step, share)


def train_and_report(folder: Path, steps: int, step: Any, member: str = "bert") -> None:
    """What a process to be killed does: go on where the last one was killed, save after each step. The teacher of "a
    student" lies beside its folder.
    """
    taught = {"objective": "distillation", "teacher": str(folder.parent / "teacher")}
    others = {"a student": taught, "a SpanBERT": {"objective": "spans"}}
    task = ReportedTask(step, **others.get(member, {"architecture": member}))
    tiny_trainer(folder, steps, task, save_seconds=0).run((folder / "resume.safetensors").exists())


def main(folder: Path) -> None:
    """Three runs, and for each what every process has in the end."""
    for name, budget in (("adamw", Budget(steps=12)), ("muon", Budget(steps=12)), ("minutes", Budget(minutes=1 / 60))):
        optimizer = "muon" if name == "muon" else "adamw"
        trainer = tiny_trainer(folder / name, dropout=0.0, budget=budget, optimizer=optimizer)
        steps, accelerator = trainer.run().step, trainer.accelerator
        weights = sum(float(parameter.double().sum()) for parameter in trainer.bare_model.parameters())
        process = f"process {accelerator.process_index + 1} of {accelerator.num_processes}"
        (folder / f"{name} {process}").write_text(f"{steps} steps, weights sum to {weights!r}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

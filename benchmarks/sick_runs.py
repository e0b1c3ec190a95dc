"""Records training runs with a fault planted, for the diagnoses of notebook 08. Run: python benchmarks/sick_runs.py

A healthy run and five sick ones, each real pre-training of `tiny` on the small world with the same seed, the same
number of tokens, and one fault. What each run logs is kept: training figures, and validation figures on masks made
as they should be. Nothing is drawn by hand or smoothed. Options: --tokens N (each run), --only NAME, --output FILE
(without it nothing is written), --quick (20,000 tokens, to see that it works).

The faults (FAULTS below): a learning rate of 20 times the healthy one; no warm-up, at twice the healthy rate, where
a run with warm-up learns; labels on every token, masked or not; a masked-word head that stays as it was born;
pairs whose labels have been shuffled. In the file the runs have letters and not names.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bertedu.corpora import load_corpus
from bertedu.files import write_text
from bertedu.model import BertForPreTraining
from bertedu.pretraining.baselines import IGNORED, UnigramBaseline
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.objectives.pairs import MaskedWordsAndPairs
from bertedu.pretraining.run import make_model
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.tokenization import BertTokenizer
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer, TrainingSettings
from bertedu.training.metrics import read_metrics

Batch = dict[str, Tensor]
SETTINGS = PretrainingSettings(vocab_size=2048, batch_size=16, initialization="published", mask_rates=(0.30, 0.15))
TRAINING = TrainingSettings(learning_rate=1.5e-3, log_steps=20, validations=15, device="cpu")
TOKENS = 900_000
KEPT = ("step", "mlm_loss", "mlm_accuracy", "nsp_loss", "nsp_accuracy", "learning_rate")


def labels_everywhere(batch: Batch, original: Batch, step: int) -> Batch:
    """Every real token has a label: nine in ten stand in the input for all to see."""
    labels = torch.where(original["attention_mask"].bool(), original["input_ids"], IGNORED)
    return {**batch, "labels": labels}


def shuffled_pairs(batch: Batch, original: Batch, step: int) -> Batch:
    """The labels of the pairs in another order than the pairs: as good as drawn by lot."""
    order = torch.randperm(len(batch["next_sentence_label"]), generator=torch.Generator().manual_seed(step))
    return {**batch, "next_sentence_label": batch["next_sentence_label"][order]}


def frozen_head(model: BertForPreTraining) -> None:
    """The masked-word head keeps its first weights; its decoder no longer shares the table of embeddings."""
    decoder = model.masked_lm.decoder
    decoder.weight = torch.nn.Parameter(decoder.weight.detach().clone())
    model.masked_lm.requires_grad_(False)


@dataclass(frozen=True)
class Fault:
    """What is changed against the healthy run: its training settings, its batches, its model."""

    training: dict[str, Any] = field(default_factory=dict)
    batch: Callable[[Batch, Batch, int], Batch] | None = None
    model: Callable[[BertForPreTraining], None] | None = None


FAULTS = {
    "healthy": Fault(),
    "labels unmasked": Fault(batch=labels_everywhere),
    "rate too high": Fault(training={"learning_rate": 20 * TRAINING.learning_rate}),
    "NSP at chance": Fault(batch=shuffled_pairs),
    "no warm-up": Fault(training={"learning_rate": 2 * TRAINING.learning_rate, "warmup": 0.0}),
    "frozen head": Fault(model=frozen_head),
}
LETTERS = dict(zip(FAULTS, ("healthy", "A", "B", "C", "D", "E"), strict=True))


class FaultyTask(MaskedWordsAndPairs):
    """Pre-training whose training batches (not those of validation) carry a fault."""

    fault = Fault()

    def prepare(self, batch: Batch, step: int, share: float) -> Batch:
        prepared = super().prepare(batch, step, share)
        return self.fault.batch(prepared, batch, step) if self.fault.batch else prepared


def record(name: str, fault: Fault, task: FaultyTask, tokens: int) -> dict[str, list]:
    """Train with a fault; returns the log as columns, training and validation apart."""
    task.fault = fault
    model = make_model(task)
    if fault.model:
        fault.model(model)
    with tempfile.TemporaryDirectory() as folder:
        Trainer(model, task, replace(TRAINING, **fault.training), Budget(tokens=tokens), folder).run()
        lines = read_metrics(folder)
    trained = [line for line in lines if "mlm_loss" in line]
    validated = [line for line in lines if "validation_mlm_loss" in line]
    kept: dict[str, list] = {key: [round(line[key], 5) for line in trained] for key in KEPT}
    kept["validation_step"] = [line["step"] for line in validated]
    for key in ("mlm_loss", "mlm_accuracy", "nsp_accuracy"):
        kept[f"validation_{key}"] = [round(line[f"validation_{key}"], 4) for line in validated]
    ends = {key: values[-1] for key, values in kept.items() if values}
    print(f"{name:16} {json.dumps(ends)}", flush=True)
    return kept


def unigram_loss(task: MaskedWordsAndPairs) -> float:
    """The mean surprise of the validation labels to somebody who knows only how frequent each token is."""
    unigram = UnigramBaseline.fit([task.train_text.tokens], len(task.tokenizer))
    labels = torch.cat([batch["labels"][batch["labels"] != IGNORED] for batch in task.validation()])
    return float(-torch.tensor(unigram.probabilities).log()[labels].mean())


def main() -> None:
    """Record the runs and write them into one file."""
    parser = argparse.ArgumentParser(description="Record healthy and sick training runs for notebook 08.")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="real tokens in each run")
    parser.add_argument("--only", choices=FAULTS, help="one run alone")
    parser.add_argument("--output", type=Path, help="where to write, e.g. data/runs/sick_runs.json")
    parser.add_argument("--quick", action="store_true", help="20,000 tokens each")
    options = parser.parse_args()
    tokens = 20_000 if options.quick else options.tokens
    corpus = load_corpus("world")
    tokenizer = BertTokenizer.train(corpus.train_sentences(), vocab_size=SETTINGS.vocab_size)
    train, validation = (tokenize_documents(part, tokenizer) for part in (corpus.train, corpus.validation))
    task = FaultyTask(train, validation, tokenizer, SETTINGS)
    unigram = unigram_loss(task)
    print(f"V = {len(task.tokenizer):,}; unigram loss {unigram:.2f} nats; {tokens:,} tokens a run", flush=True)
    chosen = {name: fault for name, fault in FAULTS.items() if options.only in (None, name)}
    runs = {LETTERS[name]: record(name, fault, task, tokens) for name, fault in chosen.items()}
    if options.output:
        about = {"corpus": corpus.name, "tokens": tokens, "vocab_size": len(task.tokenizer), "seed": TRAINING.seed}
        text = json.dumps({**about, "unigram_loss": round(unigram, 3), "runs": runs})
        write_text(options.output, text.replace('], "', '],\n"') + "\n")  # a line for each column


if __name__ == "__main__":
    main()

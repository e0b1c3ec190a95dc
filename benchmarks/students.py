"""Records the comparison of chapter 16: copied layers or not, a teacher or not. Run: python benchmarks/students.py

Four students of two layers learn from the documentation of the installed packages, with the loop of the notebook: their
layers are copied from the checkpoint in the box or drawn, and their loss is masked words alone or distillation. Several
seeds; scored on held-out documents while they learn. Students without a teacher also take as many more steps as fit in
the time of those with one. Without --output nothing is written.
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, cross_entropy, kl_div

from bertedu.corpora import load_corpus
from bertedu.family.distilbert import student_of
from bertedu.files import write_json
from bertedu.inference import open_model
from bertedu.model.heads import IGNORED, MaskedLM
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.objectives.words import MaskedWords
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.training.devices import computes_bf16
from bertedu.training.optimization import rate_factor

CHECKPOINT = Path(__file__).resolve().parents[1] / "data" / "checkpoints" / "mixed-mini"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
WAYS = {
    "copied layers, distilled": (True, True),
    "copied layers, alone": (True, False),
    "random weights, distilled": (False, True),
    "random weights, alone": (False, False),
}
Batch = dict[str, Tensor]


def distillation_loss(student: nn.Module, teacher: nn.Module, batch: Batch, temperature: float = 2.0) -> Tensor:
    """The loss of notebook 16: 5 · KL · T² + 2 · masked words + 1 · cosine distance."""
    real = batch["attention_mask"].bool()
    with torch.no_grad():
        taught = teacher(*(batch[name] for name in INPUTS), masked_positions=real)
    said = student(*(batch[name] for name in INPUTS), masked_positions=real)
    logits = said.prediction_logits.float()  # [N, V]
    ours, theirs = ((one / temperature).log_softmax(-1) for one in (logits, taught.prediction_logits.float()))
    soft = kl_div(ours, theirs, reduction="batchmean", log_target=True) * temperature**2
    h_s, h_t = (output.bert.last_hidden_state[real].float() for output in (said, taught))  # [N, D]
    cosine = (1 - cosine_similarity(h_s, h_t, dim=-1)).mean()
    return 5 * soft + 2 * cross_entropy(logits, batch["labels"][real]) + cosine


def masked_words_loss(student: nn.Module, _teacher: nn.Module, batch: Batch) -> Tensor:
    """Masked words alone."""
    return student(*(batch[name] for name in INPUTS), labels=batch["labels"]).loss


class Classroom:
    """A teacher, the text that its students learn from, and the text that they are examined on."""

    def __init__(self, seed: int, documents: int):
        self.teacher, self.tokenizer = open_model(CHECKPOINT)
        corpus = load_corpus("documentation")
        train, unseen = list(corpus.train), list(corpus.heldout["held-out documents"])
        for part in (train, unseen):
            random.Random(0).shuffle(part)
        learned, examined = (tokenize_documents(part, self.tokenizer) for part in (train[:documents], unseen[:60]))
        settings = PretrainingSettings(max_length=64, batch_size=8, mask_rates=(0.15, 0.15), seed=seed)
        self.task = MaskedWords(learned, examined, self.tokenizer, settings)
        self.unseen = self.task.validation()
        self.right = torch.cat([batch["labels"][batch["labels"] != IGNORED] for batch in self.unseen])
        self.taught = self.at_masks(self.teacher)

    @torch.no_grad()
    def at_masks(self, model: nn.Module) -> Tensor:
        """The scores at all masked words of the unseen text, [N, V]."""
        return torch.cat(
            [
                model(*(b[name] for name in INPUTS), masked_positions=b["labels"] != IGNORED).prediction_logits
                for b in self.unseen
            ]
        )

    def measured(self, model: nn.Module) -> dict[str, float]:
        """Accuracy at the masked words, and KL(teacher ‖ student) there at T = 1."""
        logits = self.at_masks(model.eval())
        ours, theirs = (one.log_softmax(-1) for one in (logits, self.taught))
        divergence = kl_div(ours, theirs, reduction="batchmean", log_target=True)
        hits = (logits.argmax(-1) == self.right).double().mean()
        return {"accuracy": round(hits.item(), 4), "kl": round(divergence.item(), 4)}


def learn(
    student: nn.Module,
    room: Classroom,
    loss_of: Callable[[nn.Module, nn.Module, Batch], Tensor],
    steps: int,
    rate: float,
) -> list[dict[str, float]]:
    """Train a student; its figures before, at each quarter, and at the end, with the processor time until then."""
    optimizer = torch.optim.AdamW(student.parameters(), lr=rate)
    batches = [batch for number in range(1 + steps // 100) for batch in room.task.epoch(number)][:steps]
    lines: list[dict[str, float]] = [{"step": 0, "seconds": 0.0, **room.measured(student)}]
    seconds = 0.0
    for step, drawn in enumerate(batches):
        start = time.process_time()
        batch = room.task.prepare(drawn, step, step / steps)
        optimizer.param_groups[0]["lr"] = rate * rate_factor(step / steps, warmup=0.1)
        with torch.autocast("cpu", torch.bfloat16, enabled=computes_bf16("cpu")):
            loss = loss_of(student.train(), room.teacher, batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        seconds += time.process_time() - start
        if (step + 1) % max(1, steps // 4) == 0:
            lines.append({"step": step + 1, "seconds": round(seconds, 1), **room.measured(student)})
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all ways and seeds, print a line each, and write the file if one is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--longer", type=float, default=3.0, help="how many times as many steps without a teacher")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--documents", type=int, default=4000)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--output", type=Path, help="such as data/comparisons/students.json")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    found: dict[str, Any] = {
        "data": "the documentation of the installed packages: learned from train, scored on held-out documents",
        "teacher": "data/checkpoints/mixed-mini",
        "precision": "bf16" if computes_bf16("cpu") else "fp32",
        "batch": "8 passages of at most 64 tokens",
        "learning_rate": options.rate,
        "ways": {way: {} for way in options.ways},
    }
    for seed in options.seeds:
        room = Classroom(seed, options.documents)
        found["masked words scored"] = len(room.right)
        found["teacher's figures"] = room.measured(room.teacher)
        for way in options.ways:
            copied, distilled = WAYS[way]
            lengths = [options.steps] if distilled else [options.steps, round(options.steps * options.longer)]
            for steps in lengths:
                torch.manual_seed(seed)
                student = student_of(room.teacher)
                student = student if copied else MaskedLM(student.config)
                loss_of = distillation_loss if distilled else masked_words_loss
                lines = learn(student, room, loss_of, steps, options.rate)
                found["ways"][way].setdefault(f"{steps} steps", []).append(lines)
                print(f"{way:26} seed {seed} {lines[0]} ... {lines[-1]}", flush=True)
    if options.output:
        write_json(options.output, found)


if __name__ == "__main__":
    main()

"""The training of `box.py`: a BERT on packed text that lies on the device, as fast as the device computes.

Model, optimizers, learning rates and the file that a run is resumed from are the package's. What stands here is what a
minute of a large GPU needs beside them: rows that are made where they are used, masked words taken by their number
(nothing waits for the GPU to count them), and a checkpoint in float16 every now and then, in files that are small
enough to be brought back.
"""

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from box_files import save_checkpoint
from box_rows import RowMaker, Rows
from box_text import read, thinned, tokenizer_of
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.config import BertConfig
from bertedu.errors import UserError
from bertedu.files import write_json, write_text
from bertedu.model import BertForPreTraining
from bertedu.pretraining.initialization import initialize_for_matching
from bertedu.pretraining.neighbors_start import initialize_for_neighbors
from bertedu.pretraining.sentence_pairs import TokenizedText
from bertedu.training.budget import Budget, Progress
from bertedu.training.devices import choose_precision, runs_ahead
from bertedu.training.divergence import check_weights, diverged
from bertedu.training.layers import training_layers
from bertedu.training.lean_modules import lean_modules
from bertedu.training.metrics import read_metrics
from bertedu.training.optimization import build_optimizers, rate_factor, set_rates, tokens_alone_faster
from bertedu.training.resume import FILE, Standing, load_state, save_state
from bertedu.training.seeds import derive_seed

LOG = "metrics.jsonl"  # as `bertedu pretrain` calls and writes it
FIGURES = ("mlm_loss", "nsp_loss", "mlm_accuracy", "nsp_accuracy")
SHORT_EVERY, VALIDATION_RATE = 8, 0.15
COUNTED = 1_000_000  # about so many tokens word vectors are counted in


@dataclass(frozen=True)
class Recipe:
    """What is trained and how. rows of `length` tokens make a step; every eighth step has short rows, as many tokens.

    mask_rate is that of all the run, learning_rate the highest one.
    """

    layers: int = 6
    hidden_size: int = 320
    heads: int = 5
    length: int = 128
    short_length: int = 32
    rows: int = 512
    mask_rate: float = 0.2
    pair_weight: float = 0.5
    learning_rate: float = 1.5e-3
    warmup: float = 0.02
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    clip_norm: float = 1.0
    seed: int = 0

    @property
    def tokens(self) -> int:
        """Of a step."""
        return self.rows * self.length

    def shape(self, step: int) -> tuple[int, int, int]:
        """Rows, tokens of a row and masked tokens of a row at a step."""
        length = self.short_length if step % SHORT_EVERY == SHORT_EVERY - 1 else self.length
        return self.tokens // length, length, max(1, round(self.mask_rate * length))

    def config(self, vocab_size: int) -> BertConfig:
        return BertConfig(
            vocab_size=vocab_size,
            hidden_size=self.hidden_size,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            intermediate_size=4 * self.hidden_size,
            max_position_embeddings=self.length,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )


@dataclass(frozen=True)
class Job:
    """One go at a run: the text, the recipe, where its files go, and when it ends.

    until: the end by `time.monotonic`, at which the learning rate is 0; or, where tokens are given, these end the run
    and repeat exactly. state: the folder of what it is resumed from, which need not be brought back.
    """

    text: Path
    output: Path
    state: Path
    recipe: Recipe = field(default_factory=Recipe)
    until: float = math.inf
    tokens: int | None = None
    device: str = "cuda"
    precision: str = "auto"
    compiled: bool = True
    save_seconds: float = 45.0
    log_steps: int = 50


def figures(model: BertForPreTraining, rows: Rows) -> tuple[Tensor, ...]:
    """FIGURES: the mean losses of masked words and of pairs, and the shares of both that are right."""
    bert = model.bert(rows.input_ids, None, rows.token_type_ids)
    vectors = bert.last_hidden_state.flatten(0, 1).index_select(0, rows.places)  # [R · K, D]
    words = model.masked_lm(vectors).float()
    pairs = model.next_sentence(bert.pooler_output).float()
    asked = ((words, rows.words), (pairs, rows.is_not_next))
    losses = [cross_entropy(scores, right) for scores, right in asked]
    return *losses, *((scores.argmax(dim=-1) == right).float().mean() for scores, right in asked)


def initialize(model: BertForPreTraining, text: TokenizedText) -> None:
    """Heads for neighbors and counted word vectors, as in `bertedu pretrain`, counted in a part of the text: without
    them this network spends its first hundreds of steps guessing by frequency (`notes.md`, "Why a small run stands
    still"). Half a minute of one core.
    """
    part = thinned(text, max(1, len(text.tokens) // COUNTED)).tokens
    try:
        initialize_for_neighbors(model, part)
    except Exception as error:  # nobody is there to mend another version of a library
        print(f"starts by matching, since counting word vectors failed: {error!r}", flush=True)
        initialize_for_matching(model, torch.bincount(torch.from_numpy(part), minlength=model.config.vocab_size))


class Run:
    """A run from its first step, or from where it was saved, to its end."""

    def __init__(self, job: Job):
        self.job, recipe = job, job.recipe
        texts, self.about = read(job.text)
        self.tokenizer = tokenizer_of(self.about)
        self.device = torch.device(job.device)
        self.precision = choose_precision(job.precision, job.device)
        self.train, self.validation = (
            RowMaker(texts[part], self.tokenizer, recipe.length, self.device) for part in ("train", "validation")
        )
        torch.manual_seed(recipe.seed)
        model = BertForPreTraining(recipe.config(len(self.tokenizer)))
        if not (job.state / FILE).is_file():
            initialize(model, texts["train"])
        self.model = model.to(self.device).train()
        dtype = torch.bfloat16 if self.precision == "bf16" else torch.float32
        rates = recipe.learning_rate, recipe.weight_decay, recipe.betas
        self.optimizers = build_optimizers("muon", self.model, *rates, tokens_alone_faster(self.model), dtype)
        self.progress = Progress()
        self.recent: list[Tensor] = []  # FIGURES of the steps since the last line of the log
        self.since = (0, 0.0)

    def identity(self) -> dict[str, Any]:
        """What must be the same for the run to be resumed: all but a learning rate that was too high."""
        recipe = {name: value for name, value in asdict(self.job.recipe).items() if name != "learning_rate"}
        return {**recipe, "text": self.about["tokens"], "corpora": self.about["corpora"]}

    def facts(self) -> dict[str, Any]:
        """What the card says of the run beside its log."""
        return {
            "recipe": asdict(self.job.recipe),
            "corpora": self.about["corpora"],
            "text": self.about["tokens"],
            "device": torch.cuda.get_device_name() if self.device.type == "cuda" else self.device.type,
            "precision": self.precision,
            "compiled": self.job.compiled,
            "torch": torch.__version__,
        }

    def resume(self) -> None:
        """Go on from the state that was saved, where there is one."""
        if (self.job.state / FILE).is_file():
            standing = load_state(self.job.state, self.model, self.optimizers, self.identity())
            self.progress, self.since = standing.progress, standing.since
        if (path := self.job.output / LOG).is_file():  # what came after the state was saved will come again
            lines = [line for line in read_metrics(self.job.output) if line["step"] <= self.progress.step]
            write_text(path, "".join(json.dumps(line) + "\n" for line in lines))

    def rows(self, maker: RowMaker, step: int, name: str, rate: float | None = None) -> Rows:
        """The rows of a step, the same each time."""
        number, length, masked = self.job.recipe.shape(step)
        if rate is not None:
            masked = max(1, round(rate * length))
        generator = torch.Generator(self.device).manual_seed(derive_seed(self.job.recipe.seed, name, step))
        return maker.draw(number, length, masked, generator)

    def gradients(self, rows: Rows) -> Tensor:
        """FIGURES [4], and in the weights the gradients of the sum of both losses."""
        with self.numbers():
            words, pairs, *right = figures(self.model, rows)
        (words + self.job.recipe.pair_weight * pairs).backward()
        return torch.stack([words.detach(), pairs.detach(), *right])

    def numbers(self) -> torch.autocast:
        """Matrix products in 16 bits where the run has that precision."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16")

    def step(self, share: float) -> None:
        """One step of all optimizers."""
        recipe = self.job.recipe
        for optimizer in self.optimizers:
            set_rates(optimizer, recipe.learning_rate * rate_factor(share, recipe.warmup), share)
        self.recent.append(self.gradients(self.rows(self.train, self.progress.step, "rows")))
        nn.utils.clip_grad_norm_(self.model.parameters(), recipe.clip_norm)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        self.progress.step += 1
        self.progress.batch += 1  # there is one pass without end
        self.progress.tokens += recipe.tokens

    def get_ready(self) -> None:
        """Compile for long and short rows, without a step: what it takes is not part of the schedule."""
        for step in (0, SHORT_EVERY - 1):
            self.gradients(self.rows(self.train, step, "ready"))
            self.model.zero_grad()
        self.synchronize()

    def synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def go(self, ready: Callable[[], None], say: Callable[[str], None] = print) -> dict[str, Any]:
        """Train to the end, saving now and then; returns the last line of the log."""
        job, line = self.job, {}
        self.resume()
        write_json(job.output / "run.json", self.facts())
        with ExitStack() as stack:
            # Two lengths, each with code of its own: code for any length would be slower for both.
            stack.enter_context(torch._dynamo.config.patch(automatic_dynamic_shapes=False))
            if runs_ahead(self.device.type):
                stack.enter_context(lean_modules(self.model, job.compiled and self.precision == "bf16"))
            stack.enter_context(training_layers(self.model, job.compiled, checkpointing=False))
            self.get_ready()
            ready()
            for due in self.steps():
                if self.progress.step % job.log_steps == 0 or due:
                    line = self.report(due)
                    say(" ".join(f"{name} {value:.6g}" for name, value in line.items()))
                if due:
                    self.save()
        return line

    def steps(self) -> Iterator[bool]:
        """Take step after step; True where it is time to save, which the last one always is."""
        started, done = time.monotonic(), self.progress.seconds
        budget = Budget(tokens=self.job.tokens) if self.job.tokens else Budget(minutes=self.minutes(started, done))
        saved = started
        while (share := budget.share(self.progress)) < 1:
            self.step(share)
            self.progress.seconds = done + time.monotonic() - started
            ends = budget.share(self.progress) >= 1
            due = ends or time.monotonic() - saved >= self.job.save_seconds
            yield due
            if due:
                saved = time.monotonic()
                self.progress.seconds = done + saved - started

    def minutes(self, started: float, done: float) -> float:
        """How long the run takes in all, if it goes on until its end from now: what is lost shortens it."""
        left = self.job.until - started
        if left <= 0:
            raise UserError(f"there are {left:.0f} seconds left to train in: give more --seconds.")
        return (done + left) / 60

    def report(self, validate: bool) -> dict[str, float]:
        """A line of the log: the means since the last one, and now and then the validation text."""
        means = torch.stack(self.recent).mean(dim=0).tolist()  # waits for the device
        tokens, seconds = self.progress.tokens, self.progress.seconds
        speed = (tokens - self.since[0]) / max(1e-9, seconds - self.since[1])
        self.recent, self.since = [], (tokens, seconds)
        line = {
            "step": self.progress.step,
            "tokens": tokens,
            "seconds": round(seconds, 2),
            "tokens_per_second": round(speed),
            "learning_rate": self.optimizers[-1].param_groups[0]["lr"],
            **dict(zip(FIGURES, means, strict=True)),
        }
        if not math.isfinite(sum(means)):
            raise diverged(f"the losses are {means[:2]}", self.progress.step)
        if validate:
            line |= {f"validation_{name}": value for name, value in self.validate().items()}
        with open(self.job.output / LOG, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return line

    @torch.no_grad()
    def validate(self, batches: int = 4) -> dict[str, float]:
        """The losses on rows of the validation text that are always the same, at the published masking rate."""
        with torch.compiler.set_stance("force_eager"), self.numbers():
            rows = [self.rows(self.validation, SHORT_EVERY * i, "validation", VALIDATION_RATE) for i in range(batches)]
            found = torch.stack([torch.stack(figures(self.model, one)) for one in rows]).mean(dim=0)
        return dict(zip(FIGURES, found.tolist(), strict=True))

    def save(self) -> None:
        """The checkpoint that comes back, and the state to resume from; neither where the last step spoiled them."""
        check_weights(self.model, self.progress.step)
        save_checkpoint(self.model, self.tokenizer, self.job.output / "checkpoint", self.progress.step)
        standing = Standing(self.progress, -math.inf, {}, {}, self.since)
        save_state(self.job.state, self.model, self.optimizers, standing, self.identity())


def train(ready: Callable[[], None], job: Job) -> dict[str, Any]:
    """What a child does."""
    return Run(job).go(ready)

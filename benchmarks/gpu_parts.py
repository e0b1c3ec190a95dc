"""What `gpu.py` measures, each part in a process of its own (`children.py`): it says when it has compiled."""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pretraining import Side, matrix_rate, operations_per_token
from torch import Tensor

from bertedu.config import BertConfig
from bertedu.pretraining.objectives.pairs import MaskedWordsAndPairs
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import make_model
from bertedu.pretraining.sentence_pairs import Pair, TokenizedText
from bertedu.tokenization import BertTokenizer
from bertedu.training.costs import PEAKS
from bertedu.training.feeding import Portion
from bertedu.training.loop import Trainer

VOCAB_SIZE, MASK_RATE = 30522, 0.15
SENTENCE, SENTENCES_OF_A_DOCUMENT = 40, 1000  # tokens, sentences: documents so long that nearly every pair is full
BATCHES = 400  # of a pass: data workers make the pairs of a pass anew, and none should end while it is timed
STEPS_TO_BE_WARM, STEPS_OF_A_PROFILE, LINES_OF_A_PROFILE = 6, 5, 25
SHEETS = {"H100": "H100", "H200": "H100", "A100": "A100"}  # an H200 computes as fast as an H100 and reads faster
AT_ITS_BEST, AS_IT_COMES = "transformers at its best", "transformers as it comes"


def products(ready: Callable[[], None], device: str, width: int, seconds: float) -> dict[str, Any]:
    """Operations a second of plain matrix products in bf16 here, and what the maker gives for the device."""
    ready()
    name = torch.cuda.get_device_name() if device == "cuda" else device
    sheet = next((PEAKS[known] for part, known in SHEETS.items() if part in name), None)
    return {"matrix_rate": matrix_rate(device, "bf16", width, seconds), "sheet": sheet, "name": name}


class FullPairs(MaskedWordsAndPairs):
    """Pairs that are all exactly full, so that tokens a second mean the same on every side."""

    def sequences(self, maker: Any, rng: Any) -> Sequence[Pair]:
        """Those of a pass that are."""
        return [pair for pair in super().sequences(maker, rng) if len(pair) == maker.most]


class Watched(Trainer):
    """A trainer that is warm after some steps, is timed for some seconds, profiled for a few steps more, and stops."""

    def __init__(self, *given: Any, ready: Callable[[], None], seconds: float, warm: int = STEPS_TO_BE_WARM):
        super().__init__(*given)
        self.ready, self.seconds, self.warm = ready, seconds, warm
        self.began, self.last_timed = (0.0, 0), 0
        self.found: dict[str, Any] = {}
        self.profiler: Any = None

    def _save(self) -> None:
        """Nothing: there is nothing to keep, and BERT-Base with its optimizer takes seconds to write."""

    def _step(self, portion: Portion, share: float) -> None:
        if self.profiler is not None and self.progress.step == self.last_timed:
            self.profiler.__enter__()
        super()._step(portion, share)
        now, step = time.perf_counter(), self.progress.step
        if step == self.warm:
            self.began = wall(self.device), self.progress.tokens
            self.ready()
        elif step > self.warm and not self.found and now - self.began[0] >= self.seconds:
            seconds = wall(self.device) - self.began[0]
            self.found = {
                "tokens_per_second": (self.progress.tokens - self.began[1]) / seconds,
                "steps": step - self.warm,
                "seconds_a_step": seconds / (step - self.warm),
            }
            kind = (
                torch.profiler.ProfilerActivity.CUDA if self.device == "cuda" else torch.profiler.ProfilerActivity.CPU
            )
            self.profiler, self.last_timed = torch.profiler.profile(activities=[kind]), step
        elif self.found and step == self.last_timed + STEPS_OF_A_PROFILE:
            wall(self.device)
            self.profiler.__exit__(None, None, None)
            self.found["profile"] = self.profile()
            self._stop()

    def profile(self) -> str:
        """Which kernels took the time."""
        column = "self_device_time_total" if self.device == "cuda" else "self_cpu_time_total"
        return self.profiler.key_averages().table(
            sort_by=column, row_limit=LINES_OF_A_PROFILE, max_name_column_width=90
        )


def wall(device: str) -> float:
    """Seconds on the wall, once the device has caught up."""
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def trainer_speed(
    ready: Callable[[], None], device: str, size: str, rows: int, length: int, seconds: float, options: dict[str, Any]
) -> dict[str, Any]:
    """Tokens a second of the trainer itself: its feeding, its copies, its steps, as `bertedu pretrain` takes them."""
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan.from_options(
            corpus=("world",),
            preset=size,
            vocab_size=VOCAB_SIZE,
            max_length=length,
            batch_size=rows,
            dropout=0.0,
            mask_rates=(MASK_RATE, MASK_RATE),
            initialization="published",
            steps=10**6,
            validations=0,
            log_steps=10**6,
            device=device,
            compile=device == "cuda",
            output=Path(folder) / "run",
            **options,
        )
        tokenizer = BertTokenizer(
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(5, VOCAB_SIZE))]
        )
        text = random_text(BATCHES * rows * length)
        task = FullPairs(text, random_text(1), tokenizer, plan.settings)
        trainer = Watched(make_model(task), task, plan.training, plan.budget, plan.folder, ready=ready, seconds=seconds)
        trainer.run()
    batch = make_batch(rows, length)
    operations = operations_per_token(trainer.bare_model.config, [batch])
    settings = {name: value for name, value in asdict(plan.training).items() if name in ("optimizer", "data_workers")}
    return {**trainer.found, "operations_per_token": operations, "memory_bytes": memory(device), **settings}


def random_text(tokens: int) -> TokenizedText:
    """At least two documents of random words, of sentences that are all of one length."""
    of_document = SENTENCE * SENTENCES_OF_A_DOCUMENT
    documents = max(2, -(-tokens // of_document))
    ids = np.random.default_rng(0).integers(1000, VOCAB_SIZE, documents * of_document, dtype=np.int32)
    marks = list(range(0, len(ids) + 1, SENTENCE))
    ends = list(range(0, documents * SENTENCES_OF_A_DOCUMENT + 1, SENTENCES_OF_A_DOCUMENT))
    return TokenizedText(ids, marks, ends, [str(number) for number in range(documents)])


def make_batch(rows: int, length: int, seed: int = 0) -> dict[str, Tensor]:
    """A batch of full texts of random words, [B, T], the same number of whose tokens are asked for in each."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(1000, VOCAB_SIZE, (rows, length), generator=generator)
    hidden = torch.rand(rows, length, generator=generator).argsort(dim=1) < round(MASK_RATE * length)
    return {
        "input_ids": ids.masked_fill(hidden, 103),
        "attention_mask": torch.ones_like(ids),
        "token_type_ids": torch.zeros_like(ids),
        "labels": ids.masked_fill(~hidden, -100),
        "next_sentence_label": torch.arange(rows) % 2,
    }


def transformers_speed(
    ready: Callable[[], None], device: str, how: str, size: str, rows: int, length: int, seconds: float
) -> dict[str, Any]:
    """Tokens a second of `transformers`' BertForPreTraining, its batches on the device beforehand.

    At its best: bf16 by autocast, sdpa without a mask (Flash attention), the whole model through torch.compile, fused
    AdamW, no dropout. As it comes: float32 with TF32, dropout 0.1, a mask, AdamW.
    """
    import transformers

    transformers.logging.set_verbosity_error()
    best = how == AT_ITS_BEST
    torch.set_float32_matmul_precision("high")
    dropout = 0.0 if best else 0.1
    config = BertConfig.preset(
        size,
        vocab_size=VOCAB_SIZE,
        max_position_embeddings=length,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    fields = {field: value for field, value in vars(config).items() if field != "hidden_act"}
    theirs = transformers.BertForPreTraining(transformers.BertConfig(**fields, attn_implementation="sdpa")).to(device)
    optimizer = torch.optim.AdamW(theirs.parameters(), lr=1e-4, fused=best)
    if best and device == "cuda":
        theirs.compile()
    batches = [make_batch(rows, length, seed) for seed in range(2)]
    if best:
        batches = [{name: tensor for name, tensor in batch.items() if name != "attention_mask"} for batch in batches]
    side = Side(theirs, [optimizer], batches, device, "bf16" if best else "fp32")
    for step in range(4):
        side.step(side.batches[step % 2])
    wall(device)
    ready()
    steps, begun = 0, wall(device)
    while time.perf_counter() - begun < seconds or not steps:
        for batch in side.batches:
            side.step(batch)
        steps += len(side.batches)
        wall(device)
    passed = wall(device) - begun
    return {"tokens_per_second": steps * rows * length / passed, "steps": steps, "memory_bytes": memory(device)}


def memory(device: str) -> int | None:
    """The most bytes that were taken on a GPU."""
    return torch.cuda.max_memory_allocated() if device == "cuda" else None

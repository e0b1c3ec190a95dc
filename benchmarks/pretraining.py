"""How fast BERT is pre-trained here, beside `transformers`' BertForPreTraining. Run: python benchmarks/pretraining.py

Both sides train on the same pairs of real text with the same masks, in this process, in turns: a few steps here, a
few there, again and again. A figure is the median of the rounds, in real (non-padding) tokens per second: of
processor time on the CPU, where other work would disturb a clock on the wall, and of the clock on a GPU. Options:
--quick (small, to see that it works), --threads N, --rounds N, --sizes tiny mini, --text world.

as it comes: each side as its users have it. `transformers`: float32, dropout 0.1, every text padded to 128 tokens,
labels for every position, torch.optim.AdamW. bertedu: `bertedu pretrain`'s defaults, that is no dropout, bfloat16
where the machine computes it, batches of about one length, words scored where there is a label, Muon and fused AdamW.
bf16, fp32: both sides at that precision, with AdamW, on the very same batches (of about one length), without dropout.

The share of the matrix rate sets the operations that the tokens need against the best rate of plain matrix products
measured in the same run. For a text of T real tokens, M of them masked, the forward pass takes, a multiplication and
an addition counted as two: L·(24·T·D² + 4·T²·D) in the encoder (four projections 8·T·D², feed-forward 16·T·D²,
attention 4·T²·D), M·(2·D² + 2·D·V) in the masked-word head and 2·D² in the pooler; training takes three times that.
"""

import argparse
import os
import platform
import random
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from bertedu.config import BertConfig
from bertedu.corpora import load_corpus
from bertedu.model import BertForPreTraining
from bertedu.pretraining.examples import Batches, collate, tokenize_documents
from bertedu.pretraining.objectives.pairs import MaskedWordsAndPairs
from bertedu.pretraining.sentence_pairs import PairMaker, TokenizedText
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.tokenization import BertTokenizer
from bertedu.training.devices import choose_precision
from bertedu.training.optimization import build_optimizers

MAX_LENGTH, BATCH = 128, 32
Batch = dict[str, Tensor]


def clock(device: str) -> float:
    """Seconds of processor time of all threads, or on a GPU, once it has caught up, of the clock on the wall."""
    if device == "cpu":
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


class Side:
    """A model that takes training steps on its batches, over and over, and is timed."""

    def __init__(
        self, model: nn.Module, optimizers: list[Optimizer], batches: list[Batch], device: str, precision: str
    ):
        self.model, self.optimizers, self.device = model.to(device).train(), optimizers, device
        self.batches = [{name: tensor.to(device) for name, tensor in batch.items()} for batch in batches]
        self.autocast = lambda: torch.autocast(device, torch.bfloat16) if precision == "bf16" else nullcontext()
        self.place, self.rates = 0, []

    def step(self, batch: Batch) -> None:
        with self.autocast():
            loss = self.model(**batch).loss
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()

    def run(self, steps: int) -> None:
        """Take some steps and note how many real tokens passed in a second."""
        chosen = [self.batches[(self.place + i) % len(self.batches)] for i in range(steps)]
        self.place += steps
        tokens = sum(int(batch["attention_mask"].sum()) for batch in chosen)
        start = clock(self.device)
        for batch in chosen:
            self.step(batch)
        self.rates.append(tokens / (clock(self.device) - start))

    def rate(self) -> float:
        return statistics.median(self.rates)


def ours(config: BertConfig, batches: list[Batch], device: str, precision: str, optimizer: str) -> Side:
    """The model of this course with an optimizer of its own, or two."""
    model = BertForPreTraining(config).to(device)
    optimizers = build_optimizers(optimizer, model, 1e-4, 0.01, (0.9, 0.98))
    return Side(model, optimizers, batches, device, precision)


def theirs(config: BertConfig, batches: list[Batch], device: str, precision: str) -> Side:
    """The same size in `transformers` with torch's AdamW."""
    import transformers  # not above: `gpu.py` measures without it where it is missing

    fields = {name: value for name, value in vars(config).items() if name != "hidden_act"}
    model = transformers.BertForPreTraining(transformers.BertConfig(**fields)).to(device)
    return Side(model, [torch.optim.AdamW(model.parameters(), lr=1e-4)], batches, device, precision)


def padded(batch: Batch, length: int) -> Batch:
    """Every text filled up to `length`, as `padding="max_length"` does."""
    fill = {"input_ids": 0, "attention_mask": 0, "token_type_ids": 0, "labels": -100}
    more = length - batch["input_ids"].size(1)
    widened = {name: nn.functional.pad(batch[name], (0, more), value=value) for name, value in fill.items()}
    return {**batch, **widened}


def make_batches(text: TokenizedText, tokenizer: BertTokenizer, number: int) -> tuple[list[Batch], list[Batch]]:
    """Masked batches of about one length, and the same pairs in any order and padded to 128."""
    rng = random.Random(0)
    pairs = PairMaker(text, MAX_LENGTH).next_sentence_pairs(rng)
    pairs = rng.sample(pairs, min(len(pairs), number * BATCH) // BATCH * BATCH)
    task = MaskedWordsAndPairs(text, text, tokenizer, PretrainingSettings(max_length=MAX_LENGTH))
    bucketed = list(Batches(text, pairs, BATCH, tokenizer, rng))
    mixed = [collate(text, pairs[i : i + BATCH], tokenizer) for i in range(0, len(pairs), BATCH)]
    ready = [[task.mask(batch, 0.15, seed=i) for i, batch in enumerate(batches)] for batches in (bucketed, mixed)]
    return ready[0], [padded(batch, MAX_LENGTH) for batch in ready[1]]


def operations_per_token(config: BertConfig, batches: list[Batch]) -> float:
    """Floating-point operations of a training step for one real token; the formula stands at the top."""
    tokens = torch.cat([batch["attention_mask"].sum(dim=1) for batch in batches]).double()
    masked = sum(int((batch["labels"] != -100).sum()) for batch in batches)
    size, layers, vocab = config.hidden_size, config.num_hidden_layers, config.vocab_size
    encoder = layers * (24 * tokens * size**2 + 4 * tokens**2 * size).sum()
    heads = masked * (2 * size**2 + 2 * size * vocab) + len(tokens) * 2 * size**2
    return 3 * float(encoder + heads) / float(tokens.sum())


def matrix_rate(device: str, precision: str, size: int, seconds: float) -> float:
    """Operations per second of plain matrix products [size, size], the best of several rounds."""
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    best, begun = 0.0, time.perf_counter()
    a @ b
    while time.perf_counter() - begun < seconds:
        start = clock(device)
        for _ in range(4):
            a @ b
        best = max(best, 4 * 2 * size**3 / (clock(device) - start))
    return best


def compare(make: dict[str, Callable[[], Side]], steps: int, rounds: int) -> dict[str, float]:
    """The median rate of each side; their steps alternate, and the first ones do not count."""
    sides = {name: build() for name, build in make.items()}
    for side in sides.values():
        side.run(max(1, steps // 2))
        side.rates.clear()
    for _ in range(rounds):
        for side in sides.values():
            side.run(steps)
    return {name: side.rate() for name, side in sides.items()}


def measure(
    size: str, text: TokenizedText, tokenizer: BertTokenizer, vocab_size: int, options: argparse.Namespace, device: str
) -> None:
    """Three rows of the table: as it comes, and both precisions."""
    bucketed, full = make_batches(text, tokenizer, options.batches)
    plain, dropped = (
        BertConfig.preset(
            size,
            vocab_size=vocab_size,
            max_position_embeddings=MAX_LENGTH,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
        )
        for dropout in (0.0, 0.1)
    )
    chosen = choose_precision("auto", device)
    rows = {
        "as it comes": ((plain, bucketed, device, chosen), (dropped, full, device, "fp32")),
        "bf16": ((plain, bucketed, device, "bf16"),) * 2,
        "fp32": ((plain, bucketed, device, "fp32"),) * 2,
    }
    needed = operations_per_token(plain, bucketed)
    for name, (mine, other) in rows.items():
        optimizer = "muon" if name == "as it comes" else "adamw"
        sides = {
            "ours": lambda mine=mine, optimizer=optimizer: ours(*mine, optimizer),
            "theirs": lambda other=other: theirs(*other),
        }
        rates = compare(sides, options.steps, options.rounds)
        share = rates["ours"] * needed / options.peaks[mine[-1]]
        row = f"{size:6} {vocab_size:6} {name:12} {rates['ours']:12,.0f} {rates['theirs']:12,.0f}"
        print(f"{row} {rates['ours'] / rates['theirs']:8.2f}× {share:8.0%} of {mine[-1]}", flush=True)


def describe(device: str) -> str:
    """The machine, in a line."""
    name = torch.cuda.get_device_name() if device == "cuda" else platform.processor() or platform.machine()
    if device == "cpu" and os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            name = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), name)
    versions = f"torch {torch.__version__}, transformers {version_of('transformers')}"
    return f"{name}; {torch.get_num_threads()} threads of {os.cpu_count()} processors; {versions}"


def version_of(package: str) -> str:
    """The version that is installed, or that there is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Speed of pre-training beside transformers.")
    parser.add_argument("--quick", action="store_true", help="few steps of tiny on the world's text")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, help="steps a round [20; on a GPU 50; quick 3]")
    parser.add_argument("--sizes", nargs="+", help="[tiny mini small; on a GPU base too]")
    parser.add_argument("--text", default="documentation", help="a corpus [documentation; quick: world]")
    options = parser.parse_args()
    on_gpu = torch.cuda.is_available()
    if options.quick:
        options.text, options.sizes = "world", options.sizes or ["tiny"]
    options.steps = options.steps or (3 if options.quick else 50 if on_gpu else 20)
    options.sizes = options.sizes or ["tiny", "mini", "small"] + ["base"] * on_gpu
    options.batches = 2 * options.steps if options.quick else 200
    return options


def main() -> None:
    import transformers

    options, device = parse(), "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    transformers.logging.set_verbosity_error()
    print(describe(device))
    seconds, width = (0.3, 512) if options.quick else (3.0, 1024 if device == "cpu" else 8192)
    options.peaks = {precision: matrix_rate(device, precision, width, seconds) for precision in ("fp32", "bf16")}
    print(", ".join(f"{name} matrix products {rate / 1e9:,.0f} GFLOP/s" for name, rate in options.peaks.items()))
    corpus = load_corpus([options.text])
    tokenizer = BertTokenizer.train(corpus.train_sentences(), vocab_size=8192)
    text = tokenize_documents(corpus.train[:3000] if options.quick else corpus.train, tokenizer)
    real = np.mean([len(pair) + 3 for pair in PairMaker(text, MAX_LENGTH).next_sentence_pairs(random.Random(0))])
    print(f"{corpus.name}: {real:.0f} real tokens in a pair on average, {MAX_LENGTH} at most; batches of {BATCH}\n")
    print(f"{'size':6} {'V':>6} {'':12} {'bertedu':>12} {'transformers':>12} {'':>9} {'of the matrix rate':>17}")
    for size in options.sizes:
        # The same ids in both: a larger vocabulary costs the same whichever of its words are in the text.
        for vocab_size in (8192, 30522):
            measure(size, text, tokenizer, max(vocab_size, len(tokenizer)), options, device)


if __name__ == "__main__":
    main()

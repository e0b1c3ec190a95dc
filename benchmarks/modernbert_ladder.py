"""What each change from BERT to ModernBERT does to a tiny model. Run: python benchmarks/modernbert_ladder.py

Five models, each with one change more than the one before it: BERT, rotary positions in place of the table, GeGLU,
pre-norm with a final norm, local attention in the second layer (window 16). All have 2 layers of D = 72 and read the
same texts of the small world (documents about countries, at most 48 tokens) in the same order: 600 steps of 16 texts,
AdamW with warm-up and linear decay, 15 % of the tokens replaced by [MASK]. All matrices start with the standard
deviation 0.02·√(768/72). Two learning rates and two seeds; and BERT once more for three times as many steps, because
what is late in a short run may be no worse in a longer one.

Measured on documents that nobody trained on: the cross-entropy in nats and the accuracy at the masked tokens. Prints a
table and writes data/ablations/modernbert.json, which notebook 19 draws. Five minutes of processor time. Options:
--seeds 0 1, --steps 600, --learning-rates 0.001 0.003, --output FILE.
"""

import argparse
import math
from itertools import product
from pathlib import Path
from time import process_time
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu import BertConfig, BertTokenizer
from bertedu.corpora.documents import Document
from bertedu.corpora.world import world_corpus
from bertedu.family.modernbert.attention import RotaryAttention, local_bias
from bertedu.family.modernbert.config import ModernBertConfig
from bertedu.family.modernbert.feed_forward import GeGLU
from bertedu.family.modernbert.rope import rotation
from bertedu.files import write_json
from bertedu.model.attention import SelfAttention, padding_bias
from bertedu.model.encoder import FeedForward
from bertedu.training.optimization import rate_factor

LENGTH, BATCH, HIDDEN, LAYERS, HEADS, WINDOW = 48, 16, 72, 2, 4, 16
MASKING_RATE = 0.15


class Rung(NamedTuple):
    """A model of the ladder: what of ModernBERT it has."""

    name: str
    rotary: bool = False
    gated: bool = False
    pre_norm: bool = False
    local: bool = False


RUNGS = (
    Rung("BERT"),
    Rung("+ rotary positions", True),
    Rung("+ GeGLU", True, True),
    Rung("+ pre-norm", True, True, True),
    Rung("+ local attention", True, True, True, True),
)


class Layer(nn.Module):
    """The package's own parts, put together as the rung says: [B, T, D] to [B, T, D]."""

    def __init__(self, rung: Rung, vocab_size: int):
        super().__init__()
        sizes = (vocab_size, HIDDEN, LAYERS, HEADS)
        bert = BertConfig(*sizes, 4 * HIDDEN, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        modern = ModernBertConfig(*sizes, 8 * HIDDEN // 3, pad_token_id=0)
        self.pre_norm = rung.pre_norm
        self.attention = RotaryAttention(modern) if rung.rotary else SelfAttention(bert)
        self.feed_forward = GeGLU(modern) if rung.gated else FeedForward(bert)
        self.norms = nn.ModuleList(nn.LayerNorm(HIDDEN, bias=not rung.pre_norm) for _ in range(2))

    def forward(self, x: Tensor, *hints) -> Tensor:
        first, second = self.norms
        if self.pre_norm:
            x = x + self.attention(first(x), *hints)[0]
            return x + self.feed_forward(second(x))
        x = first(x + self.attention(x, *hints)[0])
        return second(x + self.feed_forward(x))


class Model(nn.Module):
    """Embeddings, layers, and a score for every word at each masked token."""

    def __init__(self, rung: Rung, vocab_size: int):
        super().__init__()
        self.rung = rung
        self.words = nn.Embedding(vocab_size, HIDDEN)
        self.table = None if rung.rotary else nn.Embedding(LENGTH, HIDDEN)
        self.embedding_norm = nn.LayerNorm(HIDDEN)
        self.layers = nn.ModuleList(Layer(rung, vocab_size) for _ in range(LAYERS))
        self.final_norm = nn.LayerNorm(HIDDEN) if rung.pre_norm else nn.Identity()
        self.bias = nn.Parameter(torch.zeros(vocab_size))
        for part in self.modules():
            if isinstance(part, nn.Linear | nn.Embedding):
                nn.init.normal_(part.weight, std=0.02 * math.sqrt(768 / HIDDEN))
            if isinstance(part, nn.Linear) and part.bias is not None:
                nn.init.zeros_(part.bias)

    def forward(self, ids: Tensor, mask: Tensor, chosen: Tensor) -> Tensor:
        """ids and mask [B, T], chosen [B, T] booleans: scores [number of chosen tokens, V]."""
        positions = torch.arange(ids.size(1))
        x = self.words(ids)
        x = self.embedding_norm(x if self.table is None else x + self.table(positions))
        bias = padding_bias(mask, x.dtype)
        nearby = local_bias(positions, WINDOW, bias, x.dtype)
        turn = rotation(positions, HIDDEN // HEADS, 10_000.0)
        for number, layer in enumerate(self.layers):
            hidden = nearby if self.rung.local and number % 3 else bias
            x = layer(x, turn, hidden) if self.rung.rotary else layer(x, hidden)
        return self.final_norm(x[chosen]) @ self.words.weight.T + self.bias


def hide(ids: Tensor, rate: float, tokenizer: BertTokenizer, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """What is seen, with [MASK] for about `rate` of the tokens, and which were chosen: [B, T] each."""
    chosen = (torch.rand(ids.shape, generator=generator) < rate) & (ids > tokenizer.mask_token_id)
    return ids.masked_fill(chosen, tokenizer.mask_token_id), chosen


def train(rung: Rung, ids: Tensor, tokenizer: BertTokenizer, steps: int, rate: float, seed: int) -> Model:
    """A new model after so many steps."""
    torch.manual_seed(seed)
    model = Model(rung, len(tokenizer))
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.01)
    generator = torch.Generator().manual_seed(seed)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * rate_factor(step / steps, warmup=0.1)
        batch = ids[torch.randint(len(ids), (BATCH,), generator=generator)]
        seen, chosen = hide(batch, MASKING_RATE, tokenizer, generator)
        scores = model(seen, (batch != tokenizer.pad_token_id).long(), chosen)
        optimizer.zero_grad()
        cross_entropy(scores, batch[chosen]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()


@torch.no_grad()
def measure(model: Model, ids: Tensor, tokenizer: BertTokenizer) -> tuple[float, float]:
    """Cross-entropy in nats and accuracy at the masked tokens of new texts."""
    seen, chosen = hide(ids, MASKING_RATE, tokenizer, torch.Generator().manual_seed(0))
    scores = model(seen, (ids != tokenizer.pad_token_id).long(), chosen)
    right = (scores.argmax(dim=-1) == ids[chosen]).double().mean()
    return cross_entropy(scores, ids[chosen]).item(), right.item()


def joined(documents: list[Document]) -> list[str]:
    """The documents about countries, each as one string."""
    return [" ".join(document.sentences) for document in documents if document.source == "country"]


def texts(documents: list[Document], tokenizer: BertTokenizer) -> Tensor:
    """The documents about countries as ids, [N, LENGTH]."""
    return tokenizer(joined(documents), max_length=LENGTH).input_ids


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--learning-rates", type=float, nargs="+", default=[1e-3, 3e-3])
    parser.add_argument("--output", type=Path, default=Path("data/ablations/modernbert.json"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus, runs = world_corpus(), []
    tokenizer = BertTokenizer.train(joined(corpus.train), vocab_size=600)
    ids, new_ids = texts(corpus.train, tokenizer), texts(corpus.heldout["held-out documents"], tokenizer)
    plan = [(rung, options.steps, *rest) for *rest, rung in product(options.learning_rates, options.seeds, RUNGS)]
    plan.append((RUNGS[0], 3 * options.steps, max(options.learning_rates), options.seeds[0]))
    for rung, steps, rate, seed in plan:
        start = process_time()
        model = train(rung, ids, tokenizer, steps, rate, seed)
        seconds = process_time() - start
        loss, accuracy = measure(model, new_ids, tokenizer)
        parameters = sum(parameter.numel() for parameter in model.layers.parameters())
        runs.append({"model": rung.name, "steps": steps, "learning_rate": rate, "seed": seed, "loss": round(loss, 4),
                     "accuracy": round(accuracy, 4), "parameters": parameters})  # fmt: skip
        figures = f"loss {loss:.3f}  accuracy {accuracy:.3f}  {seconds:.0f} s"
        print(f"{rung.name:20} {steps} steps at {rate}, seed {seed}: {figures}", flush=True)
        about = {"texts": len(ids), "batch": BATCH, "length": LENGTH}
        write_json(options.output, {"about": "benchmarks/modernbert_ladder.py", **about, "runs": runs})


if __name__ == "__main__":
    main()

"""What training without padding would save on a CPU, and how much padding there is. Run: python benchmarks/unpadding.py

1. Padding in the batches of `bertedu pretrain` and `bertedu finetune`, which put texts of about one length together,
   and in the same texts as they come. Other texts: --texts FILE, one a line.
2. Processor time of a forward and backward pass of masked-word training, one thread, float32, no dropout, 16 texts of
   up to 128 tokens: with padding, and with the real tokens [N, D] alone. All that treats one token at a time is then
   computed for N tokens; attention gets its texts back in one of three ways: padded again; text by text; as a nested
   tensor (torch's jagged layout). The fastest of eight in turns. Loss and gradients of all ways are compared.
"""

import argparse
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from torch.testing import assert_close

from bertedu import BertConfig, BertForPreTraining
from bertedu.corpora import load_corpus
from bertedu.family.modernbert.unpadding import pad_again
from bertedu.finetuning.examples import ExampleBatches, encode_text
from bertedu.model.attention import SelfAttention, padding_bias
from bertedu.pretraining.run import make_task
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.registry import TASKS
from bertedu.tokenization import BertTokenizer
from bertedu.training.feeding import tokens_in

ROWS, LENGTH, SHORTEST = 16, 128, (128, 115, 77, 51, 13)
SENTIMENT = Path(__file__).resolve().parents[1] / "data" / "tasks" / "stress" / "sentiment" / "train.tsv"
Way = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]  # queries, keys, values [N, H, d] and mask [B, T] to [N, D]


def padded_again(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    heads = query.size(1)
    parts = (
        pad_again(part.flatten(1), mask).unflatten(-1, (heads, -1)).transpose(1, 2) for part in (query, key, value)
    )
    mixed = scaled_dot_product_attention(*parts, attn_mask=padding_bias(mask, query.dtype))  # [B, H, T, d]
    return mixed.transpose(1, 2).flatten(-2)[mask.bool()]


def text_by_text(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    lengths = mask.sum(dim=1).tolist()
    texts = zip(*(part.transpose(0, 1)[None].split(lengths, dim=2) for part in (query, key, value)), strict=True)
    return torch.cat([scaled_dot_product_attention(*text)[0].transpose(0, 1).flatten(1) for text in texts])


def nested(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    offsets = torch.cat([mask.new_zeros(1), mask.sum(dim=1).cumsum(0)])
    parts = (torch.nested.nested_tensor_from_jagged(part, offsets).transpose(1, 2) for part in (query, key, value))
    return scaled_dot_product_attention(*parts).transpose(1, 2).values().flatten(1)


WAYS: dict[str, Way | None] = {
    "padded": None,
    "padded again": padded_again,
    "text by text": text_by_text,
    "nested": nested,
}


@contextmanager
def attention(way: Way, mask: Tensor) -> Iterator[None]:
    """The package's attention, but on real tokens [N, D] alone, in one of the ways."""

    def forward(self, hidden_states, bias=None, output_attentions=False):
        parts = (project(hidden_states) for project in (self.query, self.key, self.value))
        mixed = way(*(part.unflatten(-1, (self.num_heads, -1)) for part in parts), mask)
        return self.output(mixed), None

    before, SelfAttention.forward = SelfAttention.forward, forward
    try:
        yield
    finally:
        SelfAttention.forward = before


def step(model: BertForPreTraining, ids: Tensor, mask: Tensor, labels: Tensor, way: Way | None) -> Tensor:
    """One forward and backward pass; the loss. Ids, mask and labels are [B, T]."""
    model.zero_grad()
    if way is None:
        vectors = model.bert(ids, mask).last_hidden_state[mask.bool()]
    else:
        with attention(way, mask):
            vectors = model.bert.encoder(model.bert.embeddings(ids, None)[mask.bool()])[0][-1]
    asked = labels[mask.bool()]
    loss = cross_entropy(model.masked_lm(vectors[asked >= 0]), asked[asked >= 0])
    loss.backward()
    return loss.detach()


def compare(size: str, shortest: int) -> str:
    """A row of the table: lengths between the shortest and LENGTH, at random."""
    torch.manual_seed(0)
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = BertForPreTraining(BertConfig.preset(size, vocab_size=8192, **no_dropout)).train()
    lengths = torch.randint(shortest, LENGTH + 1, (ROWS,))
    mask = (torch.arange(LENGTH) < lengths[:, None]).long()
    ids = torch.randint(8192, (ROWS, LENGTH))
    labels = ids.masked_fill(torch.rand(ROWS, LENGTH) > 0.15, -100)
    best, found = dict.fromkeys(WAYS, float("inf")), {}
    for name, way in WAYS.items():
        loss = step(model, ids, mask, labels, way)
        found[name] = {key: w.grad.clone() for key, w in model.named_parameters() if w.grad is not None} | {"": loss}
        assert_close(found[name], found["padded"], atol=1e-5, rtol=1e-5)
    for _ in range(8):
        for name, way in WAYS.items():
            start = time.process_time()
            step(model, ids, mask, labels, way)
            best[name] = min(best[name], time.process_time() - start)
    times = " | ".join(f"{best['padded'] / best[name]:.2f}" for name in list(WAYS)[1:])
    return f"| {size} | {1 - mask.float().mean():.0%} | {1000 * best['padded']:.0f} | {times} |"


def padding(lengths: list[int], batches: list[list[int]]) -> float:
    """The share of [PAD] in batches of numbers of texts."""
    return 1 - sum(lengths) / sum(len(batch) * max(lengths[number] for number in batch) for batch in batches)


def of_fine_tuning(name: str, texts: list[str]) -> None:
    tokenizer = BertTokenizer.train(texts, vocab_size=8192)
    examples = [encode_text(tokenizer, text, None, LENGTH) for text in texts]
    lengths = [len(example["input_ids"]) for example in examples]
    order = random.Random(1).sample(range(len(texts)), len(texts))
    as_they_come = [order[start : start + ROWS] for start in range(0, len(order), ROWS)]
    together = ExampleBatches(examples, ROWS, tokenizer.pad_token_id, random.Random(0)).batches
    mean, found = sum(lengths) / len(lengths), padding(lengths, together)
    print(f"{name}, {mean:.0f} tokens: {found:.1%}, as they come {padding(lengths, as_they_come):.1%}")


def of_pretraining(preset: str) -> None:
    batches = make_task(load_corpus(["world"]), PretrainingSettings.for_preset(preset)).epoch(0)
    places = sum(batches[number]["input_ids"].numel() for number in range(len(batches)))
    print(f"pretrain {preset}: {1 - sum(tokens_in(batches, n) for n in range(len(batches))) / places:.1%}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, action="append", default=[])
    options = parser.parse_args()
    torch.set_num_threads(1)
    for preset in ("tiny", "base"):
        of_pretraining(preset)
    of_fine_tuning("sentiment", [row.text for row in TASKS["classification"].read_rows(str(SENTIMENT))])
    for path in options.texts:
        of_fine_tuning(path.stem, path.read_text(encoding="utf-8").splitlines())
    print("| size | padding | padded, ms | padded again | text by text | nested |\n" + "|---" * 6 + "|")
    for size in ("tiny", "mini"):
        for shortest in SHORTEST:
            print(compare(size, shortest), flush=True)


if __name__ == "__main__":
    main()

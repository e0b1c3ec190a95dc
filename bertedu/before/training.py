"""Training, the same for all models of this folder: an endless row of losses, and optimizers that follow them.

Each model has a function here that yields one loss after another, batch by batch, on the device where the model is. So
all get the same optimizer, the same learning rate schedule and the same seconds.
Shapes: N sentences or words, B batch, T tokens, V vocabulary.
"""

import time
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from bertedu.before.elmo import Elmo
from bertedu.before.glove import Glove, cooccurrences
from bertedu.before.gpt import Gpt
from bertedu.before.word2vec import SkipGram, draw_negatives
from bertedu.before.words import keep_probabilities, noise_distribution, window_pairs
from bertedu.errors import UserError
from bertedu.model.heads import IGNORED, MaskedLM
from bertedu.pretraining.masking import mask_tokens
from bertedu.training.muon import Muon
from bertedu.training.optimization import EMBEDDING_RATE, adamw, rate_factor, set_rates

SENTENCES, PAIRS = 64, 2048  # in a batch
WINDOW, NEGATIVES = 5, 5
WARMUP, DECAY, BETAS = 0.1, 0.01, (0.9, 0.98)
MASKING_RATE = 0.3  # as at the end of the package's short runs; 0.15 in the paper
FIRST_WORD = 5  # the five special tokens have the first ids
MASK_ID = 4


def device_of(model: nn.Module) -> torch.device:
    """Where the weights of a model are."""
    return next(model.parameters()).device


def build_optimizers(model: nn.Module, learning_rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, as in the package's own pre-training of BERT, and AdamW for all else.

    word2vec, GloVe and fastText have no layers. Beside Muon, tables of word vectors learn 6 times as fast.
    """
    tables = {id(part.weight) for part in model.modules() if isinstance(part, nn.Embedding | nn.EmbeddingBag)}
    matrices: list[nn.Parameter] = []
    words: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for name, weight in model.named_parameters():
        if "layers." in name and weight.dim() == 2:
            matrices.append(weight)
        else:
            (words if id(weight) in tables else others).append(weight)
    groups: list[dict] = [
        {"params": words, "scale": EMBEDDING_RATE if matrices else 1.0},
        {"params": others, "scale": 1.0},
    ]
    groups = [{**group, "weight_decay": DECAY, "start": 0.0} for group in groups if group["params"]]
    optimizers: list[torch.optim.Optimizer] = [adamw(groups, learning_rate, BETAS)]
    if matrices:
        one = {"params": matrices, "scale": 1.0, "weight_decay": DECAY, "start": 0.0}
        optimizers.append(Muon([one], learning_rate, torch.float32))
    return optimizers


def train(
    model: nn.Module,
    losses: Iterator[Tensor],
    learning_rate: float,
    steps: int | None = None,
    seconds: float | None = None,
) -> int:
    """Follow the losses for so many steps, or seconds of processor time; gives the number of steps.

    The learning rate rises for a tenth of the time, then falls to 0. The model is left in evaluation mode.
    """
    if (steps is None) == (seconds is None):
        raise UserError("train needs either steps or seconds: give one of them.")
    optimizers = build_optimizers(model, learning_rate)
    model.train()
    start, done = time.process_time(), 0
    while (share := done / steps if steps else (time.process_time() - start) / (seconds or 1)) < 1:
        loss = next(losses)
        model.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            set_rates(optimizer, learning_rate * rate_factor(share, WARMUP), share)
            optimizer.step()
        done += 1
    model.eval()
    return done


def skipgram_losses(
    model: SkipGram, words: Tensor, sentences: Tensor, generator: torch.Generator, window: int = WINDOW
) -> Iterator[Tensor]:
    """For word2vec and fastText. words, sentences [N] from `flat`."""
    counts = torch.bincount(words, minlength=model.contexts.num_embeddings)
    keep, noise = keep_probabilities(counts), noise_distribution(counts)
    while True:
        pairs = window_pairs(words, sentences, window, keep, generator)
        for centers, contexts in zip(*(side.split(PAIRS) for side in pairs), strict=True):
            negatives = draw_negatives(noise, len(centers), NEGATIVES, generator)
            yield model.loss(*(ids.to(device_of(model)) for ids in (centers, contexts, negatives)))


def glove_losses(
    model: Glove, words: Tensor, sentences: Tensor, generator: torch.Generator, window: int = 2 * WINDOW
) -> Iterator[Tensor]:
    """For GloVe: count once, then the pairs in another order each time. words, sentences [N] from `flat`."""
    pairs, counts = cooccurrences(words, sentences, model.first.num_embeddings, window)
    while True:
        for chosen in torch.randperm(len(pairs), generator=generator).split(PAIRS):
            yield model.loss(pairs[chosen].to(device_of(model)), counts[chosen].to(device_of(model)))


def batches(ids: Tensor, generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Endless batches of sentences of like lengths, and their masks: [B, T] each. ids [N, longest], padded with 0."""
    lengths = (ids != 0).sum(dim=1)
    while True:
        order = torch.randperm(len(ids), generator=generator)
        order = order[lengths[order].argsort(stable=True)]  # equal lengths stay shuffled
        chunks = order.split(SENTENCES)
        for number in torch.randperm(len(chunks), generator=generator).tolist():
            batch = ids[chunks[number]][:, : int(lengths[chunks[number]].max())]
            yield batch, (batch != 0).long()


def elmo_losses(model: Elmo, ids: Tensor, generator: torch.Generator) -> Iterator[Tensor]:
    """Each word from those before it, and from those after it. ids [N, longest]."""
    for batch, mask in batches(ids, generator):
        yield model.loss(batch.to(device_of(model)), mask.to(device_of(model)))


def gpt_losses(model: Gpt, ids: Tensor, generator: torch.Generator) -> Iterator[Tensor]:
    """Each word from those before it. ids [N, longest]."""
    for batch, mask in batches(ids, generator):
        labels = batch.masked_fill(mask == 0, IGNORED)
        yield model(*(ids.to(device_of(model)) for ids in (batch, mask, labels))).loss


def bert_losses(model: MaskedLM, ids: Tensor, generator: torch.Generator) -> Iterator[Tensor]:
    """The masked words, from both sides. ids [N, longest]."""
    for batch, mask in batches(ids, generator):
        masked, labels = mask_tokens(
            batch, batch >= FIRST_WORD, MASKING_RATE, MASK_ID, model.config.vocab_size, generator, special_tokens=2
        )
        masked, mask, labels = (ids.to(device_of(model)) for ids in (masked, mask, labels))
        yield model(masked, mask, labels=labels).loss

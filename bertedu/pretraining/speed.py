"""How fast this machine trains a model: real optimizer steps on random ids, for a few seconds."""

import time

import torch

from bertedu.config import BertConfig
from bertedu.model import BertForPreTraining
from bertedu.model.heads import IGNORED
from bertedu.pretraining.settings import LEARNING_RATES, OPTIMIZERS, PretrainingSettings
from bertedu.training.optimization import build_optimizers
from bertedu.training.settings import TrainingSettings


def clock(device: str) -> float:
    """Seconds, after everything that was asked of the device is done."""
    if device == "cuda":
        torch.cuda.synchronize()
    elif device == "mps":
        torch.mps.synchronize()
    return time.perf_counter()


def training_speed(device: str, precision: str, preset: str = "tiny", seconds: float = 2.0) -> float:
    """Tokens a second of the steps that `bertedu pretrain` takes with this preset, its optimizer and its batches."""
    settings = PretrainingSettings.for_preset(preset)
    shape = (settings.batch_size, settings.max_length)
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(settings.vocab_size, shape, generator=generator).to(device)
    masked = (torch.rand(shape, generator=generator) < sum(settings.mask_rates) / 2).to(device)
    labels = ids.masked_fill(~masked, IGNORED)
    follows = torch.zeros(settings.batch_size, dtype=torch.long, device=device)
    with torch.random.fork_rng(devices=[]):
        model = BertForPreTraining(config_for(settings)).to(device).train()
    defaults = TrainingSettings(LEARNING_RATES[preset], OPTIMIZERS[settings.initialization])
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    rates = defaults.learning_rate, defaults.weight_decay, defaults.betas
    optimizers = build_optimizers(defaults.optimizer, model, *rates, dtype=dtype)

    def step() -> None:
        with torch.autocast(device, dtype=torch.bfloat16, enabled=precision == "bf16"):
            loss = model(ids, labels=labels, next_sentence_label=follows).loss
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()

    for _ in range(3):
        step()
    steps, start = 0, clock(device)
    while (passed := clock(device) - start) < seconds:
        step()
        steps += 1
    return steps * ids.numel() / passed


def config_for(settings: PretrainingSettings) -> BertConfig:
    """The model that `bertedu pretrain` makes for these settings."""
    return BertConfig.preset(
        settings.preset,
        vocab_size=settings.vocab_size,
        max_position_embeddings=settings.max_length,
        hidden_dropout_prob=settings.dropout,
        attention_probs_dropout_prob=settings.dropout,
    )

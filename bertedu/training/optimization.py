"""AdamW, or Muon and AdamW, and their learning rate over a run.

Decoupled weight decay: Loshchilov & Hutter 2019. No decay on biases and LayerNorm, warm-up, linear decay:
Devlin et al. 2019, appendix A.2, and google-research/bert (which leaves out Adam's bias correction; torch has it).

Muon (Jordan et al. 2024) evens out the update of a matrix: what many examples ask for and what few ask for count
alike, so that rare facts are learned sooner. Its learning rate is scaled to the size of AdamW's steps (Liu et al. 2025,
"Muon is scalable for LLM training", section 2.2), so both share one, but for the embeddings: the row of a word has a
gradient of its own only in the few batches that hold the word. Muon came after BERT, and is for short runs.
"""

from collections.abc import Callable

import torch
from torch import nn

from bertedu.errors import UserError
from bertedu.model.pretrained import PretrainedModel
from bertedu.training.muon import Muon

Pace = Callable[[str], tuple[float, float]]
Choice = Callable[[str, nn.Parameter], bool]
OPTIMIZERS = ("adamw", "muon")
# Beside Muon. On the world 3.5 M tokens then gave 83 % of the facts in place of 74 %; 3 and 10 gave about as many.
EMBEDDING_RATE = 6.0


def at_full_rate(name: str) -> tuple[float, float]:
    """The pace of a weight by its name: the share of the learning rate, and the share of the run when it starts."""
    return 1.0, 0.0


def every_weight(name: str, parameter: nn.Parameter) -> bool:
    """What AdamW trains where it is alone."""
    return True


def is_matrix(name: str, parameter: nn.Parameter) -> bool:
    """Whether a weight maps vectors, and is no bias or scale. XLNet's biases have an axis for the heads, [H, d]."""
    return parameter.dim() > 1 and not name.endswith("bias")


def matrices_of(model: PretrainedModel) -> Choice:
    """What Muon trains: the matrices of the encoder's layers, not embeddings or heads. XLNet's attention has matrices
    [D, H, d], with an axis for the heads, and in each layer a table of two segments, which is an embedding.
    """

    def chosen(name: str, parameter: nn.Parameter) -> bool:
        in_layers = 1 <= model.depth(name) <= model.config.num_hidden_layers
        return in_layers and is_matrix(name, parameter) and not name.endswith("segments")

    return chosen


def faster_embeddings(model: PretrainedModel, pace: Pace) -> Pace:
    """The pace with EMBEDDING_RATE times the learning rate for embeddings."""

    def paced(name: str) -> tuple[float, float]:
        scale, start = pace(name)
        return scale * EMBEDDING_RATE if model.depth(name) == 0 else scale, start

    return paced


def tokens_alone_faster(model: PretrainedModel) -> Pace:
    """A pace that takes the factor of `faster_embeddings` from everything at that depth but the table of tokens.

    A token's row has a gradient of its own only in the few batches that hold the token. A position is in each batch: at
    six times the learning rate its sinusoids are noise after 3 million tokens, and heads that use them are lost.
    """
    found = (getattr(part, "token_embeddings", None) for part in model.modules())
    tables = {id(table.weight) for table in found if isinstance(table, nn.Embedding)}
    others = {name for name, weight in model.named_parameters() if id(weight) not in tables and model.depth(name) == 0}
    return lambda name: (1 / EMBEDDING_RATE if name in others else 1.0, 0.0)


def parameter_groups(
    model: nn.Module,
    weight_decay: float,
    pace: Pace = at_full_rate,
    chosen: Choice = every_weight,
) -> list[dict]:
    """Groups for the optimizer of the chosen weights: those that decay, and biases and LayerNorm, which don't.

    Weights of another pace get groups of their own, with their "scale" and "start".
    """
    groups: dict[tuple[float, float, float], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and chosen(name, parameter):
            decay = weight_decay if is_matrix(name, parameter) else 0.0
            groups.setdefault((decay, *pace(name)), []).append(parameter)
    return [
        {"params": parameters, "weight_decay": decay, "scale": scale, "start": start}
        for (decay, scale, start), parameters in groups.items()
    ]


def build_optimizer(
    model: nn.Module,
    learning_rate: float,
    weight_decay: float,
    betas: tuple[float, float],
    pace: Pace = at_full_rate,
) -> torch.optim.AdamW:
    """AdamW in one fused kernel; epsilon 1e-6 as in Google's code."""
    return adamw(parameter_groups(model, weight_decay, pace), learning_rate, betas)


def adamw(groups: list[dict], learning_rate: float, betas: tuple[float, float]) -> torch.optim.AdamW:
    """AdamW for these groups."""
    return torch.optim.AdamW(groups, lr=learning_rate, betas=betas, eps=1e-6, fused=True)


def build_optimizers(
    name: str,
    model: PretrainedModel,
    learning_rate: float,
    weight_decay: float,
    betas: tuple[float, float],
    pace: Pace = at_full_rate,
    dtype: torch.dtype = torch.float32,
) -> list[torch.optim.Optimizer]:
    """AdamW for all weights; or, named "muon", Muon for the matrices of the encoder and AdamW for all else.

    dtype: the precision of the run, in which Muon computes its updates. Raises UserError for another name.
    """
    if name not in OPTIMIZERS:
        raise UserError(f"there is no optimizer {name!r}: choose one of {', '.join(OPTIMIZERS)}.")
    if name == "adamw":
        return [build_optimizer(model, learning_rate, weight_decay, betas, pace)]
    chosen = matrices_of(model)
    others = parameter_groups(
        model, weight_decay, faster_embeddings(model, pace), lambda name, weight: not chosen(name, weight)
    )
    matrices = parameter_groups(model, weight_decay, pace, chosen)
    return [adamw(others, learning_rate, betas), Muon(matrices, learning_rate, dtype)]


def set_rates(optimizer: torch.optim.Optimizer, rate: float, share: float) -> None:
    """Give each group its learning rate: its own scale of `rate`, and 0 as long as its start lies ahead."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group["scale"] if share >= group["start"] else 0.0


def rate_factor(progress: float, warmup: float) -> float:
    """What the peak learning rate is multiplied with at a share of the run: up from 0 to 1, then down to 0."""
    if progress < warmup:
        return progress / warmup
    return max(0.0, 1 - progress) / (1 - warmup)


def check_warmup(warmup: float) -> None:
    """Raise UserError for a warm-up that is no share of a run."""
    if not 0 <= warmup < 1:
        raise UserError(f"warmup is {warmup}: give the share of the run from 0 up to 1, 1 left out.")

"""What a fine-tuning run is made of, besides its data and its model."""

from dataclasses import asdict, dataclass
from typing import Any

from bertedu.config import POOLINGS
from bertedu.errors import UserError

MOST = 1_000_000  # epochs, rows in a batch and the like: inf is no number of them


@dataclass(frozen=True)
class FinetuningSettings:
    """Defaults are the paper's (Devlin et al. 2019, appendix A.3: batch 16 or 32, 2 to 4 epochs).

    max_length cuts longer texts (in tokens). dropout: None is what the model was pre-trained with (0.1 for the
    published ones). class_weights="balanced" makes rare classes count as much as frequent ones; crf lets a tagger
    choose the tags of a sentence together. The last four say how the weights learn; see `strategies.py`.
    """

    epochs: float = 3.0
    batch_size: int = 16
    max_length: int = 128
    dropout: float | None = None
    pooling: str = "pooler"
    class_weights: str = "none"
    crf: bool = False
    seed: int = 0
    freeze_encoder: bool = False
    layer_decay: float = 1.0
    head_rate: float = 1.0
    unfreeze_over: float = 0.0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "head_rate"):
            if not 0 < getattr(self, name) <= MOST:
                raise UserError(f"{name} is {getattr(self, name)!r}: give a number above 0, at most {MOST:,}.")
        if not 0 <= self.seed < 2**32:
            raise UserError(f"seed is {self.seed}: give a whole number from 0 up to {2**32 - 1:,}.")
        if not 8 <= self.max_length <= MOST:
            raise UserError(f"max_length is {self.max_length}: a text needs at least 8 tokens, and at most {MOST:,}.")
        if self.dropout is not None and not 0 <= self.dropout < 1:
            raise UserError(f"dropout is {self.dropout}: give a share from 0 up to 1.")
        if not 0 < self.layer_decay <= 1:
            raise UserError(f"layer_decay is {self.layer_decay}: give a share above 0 and at most 1, such as 0.9.")
        if not 0 <= self.unfreeze_over < 1:
            raise UserError(f"unfreeze_over is {self.unfreeze_over}: give a share of the run, from 0 up to 1.")
        for name, known in (("pooling", POOLINGS), ("class_weights", ("none", "balanced"))):
            if getattr(self, name) not in known:
                raise UserError(f"{name} is {getattr(self, name)!r}: choose one of {', '.join(known)}.")

    def identity(self) -> dict[str, Any]:
        """The settings that a resumed run must share."""
        return asdict(self)

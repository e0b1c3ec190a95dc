"""The sizes and switches of an XLNet."""

from dataclasses import dataclass
from typing import Any, ClassVar

from bertedu.config import EncoderConfig
from bertedu.errors import UserError


@dataclass(frozen=True)
class XLNetConfig(EncoderConfig):
    """What an XLNet is made of; the defaults are XLNet-Large, cased, as in `transformers`.

    It has one dropout rate. max_position_embeddings limits what the tools around the model feed it, 512 tokens as in
    its pre-training: the encoder has no position embeddings and reads texts of any length.
    """

    model_type: ClassVar[str] = "xlnet"
    names_on_disk: ClassVar[dict[str, str]] = {
        "hidden_size": "d_model",
        "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head",
        "intermediate_size": "d_inner",
        "hidden_act": "ff_activation",
        "hidden_dropout_prob": "dropout",
        "max_position_embeddings": "training_length",  # `transformers` refuses the usual name: XLNet has no limit
    }
    fixed: ClassVar[dict[str, Any]] = {
        "attn_type": "bi",
        "bi_data": False,
        "clamp_len": -1,
        "same_length": False,
        "summary_type": "last",
        "summary_use_proj": True,
        "summary_activation": "tanh",
    }

    vocab_size: int = 32000
    hidden_size: int = 1024
    num_hidden_layers: int = 24
    num_attention_heads: int = 16
    intermediate_size: int = 4096
    pad_token_id: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden_size % 2:
            raise UserError(
                f"config: hidden_size is {self.hidden_size}: give an even number, half sines and half cosines."
            )
        if self.attention_probs_dropout_prob != self.hidden_dropout_prob:
            raise UserError(
                f"config: hidden_dropout_prob is {self.hidden_dropout_prob} and attention_probs_dropout_prob "
                f"{self.attention_probs_dropout_prob}: XLNet has one dropout rate; give both the same."
            )

    def on_disk(self) -> dict[str, Any]:
        """One dropout rate for all; `transformers` has an entry of its own for that of the heads."""
        values = super().on_disk()
        del values["attention_probs_dropout_prob"]
        return {**values, "summary_last_dropout": self.hidden_dropout_prob}

    @classmethod
    def from_disk(cls, values: dict[str, Any]) -> dict[str, Any]:
        """The one dropout rate is that of attention, too."""
        return {**values, "attention_probs_dropout_prob": values.get("dropout")}

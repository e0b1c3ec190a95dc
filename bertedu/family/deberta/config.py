"""What a DeBERTa is made of, and how its config.json says so. Names: `transformers`."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from bertedu.config import EncoderConfig, check_choices
from bertedu.errors import UserError, shown


@dataclass(frozen=True)
class DebertaConfig(EncoderConfig):
    """What a DeBERTa is made of; the defaults are those of microsoft/deberta-base.

    max_relative_positions: from which distance on all are alike; -1 takes max_position_embeddings. With
    position_biased_input the embeddings have absolute positions as well, as BERT's; no published DeBERTa has them.
    """

    model_type: ClassVar[str] = "deberta"
    fixed: ClassVar[dict[str, Any]] = {
        "relative_attention": True,
        "pos_att_type": ["c2p", "p2c"],
        "type_vocab_size": 0,
        "talking_head": False,
        "pooler_hidden_act": "gelu",
        "pooler_dropout": 0,
    }

    vocab_size: int = 50265
    layer_norm_eps: float = 1e-7
    max_relative_positions: int = -1
    position_biased_input: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_relative_positions != -1:
            self.check_size("max_relative_positions")
        if type(self.position_biased_input) is not bool:
            raise UserError(f"config: position_biased_input is {self.position_biased_input!r}: give true or false.")

    @property
    def farthest(self) -> int:
        """From which distance on all are alike."""
        return self.max_position_embeddings if self.max_relative_positions == -1 else self.max_relative_positions

    @property
    def span(self) -> int:
        """How many distances in each direction have a vector of their own."""
        return self.farthest

    def on_disk(self) -> dict[str, Any]:
        """With what must be said: `transformers` takes a DeBERTa for one without relative positions if it is not."""
        return {**super().on_disk(), "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}

    @classmethod
    def from_disk(cls, values: dict[str, Any]) -> dict[str, Any]:
        """pos_att_type is "c2p|p2c" in Microsoft's files and a list in those of `transformers`. What is missing has the
        value that it has there, which is not the published one.
        """
        values = {"relative_attention": False, "pos_att_type": [], "position_biased_input": True, **values}
        kinds = values["pos_att_type"] or []
        kinds = kinds.lower().split("|") if isinstance(kinds, str) else kinds
        values["pos_att_type"] = sorted(str(kind).strip() for kind in kinds) if isinstance(kinds, list) else kinds
        hidden_size, heads = (values.get(name) or getattr(cls, name) for name in ("hidden_size", "num_attention_heads"))
        sizes = {"embedding_size": hidden_size, "pooler_hidden_size": hidden_size}
        for name, size in {**sizes, "attention_head_size": hidden_size // max(1, heads)}.items():
            if values.get(name, size) != size:
                raise UserError(f"config: {name} is {shown(values[name])}, and only {size} can be read here.")
        if isinstance(values.get("max_relative_positions"), int) and values["max_relative_positions"] < 1:
            values["max_relative_positions"] = -1
        return values


@dataclass(frozen=True)
class DebertaV2Config(DebertaConfig):
    """What versions 2 and 3 are made of; the defaults are those of microsoft/deberta-v3-base.

    position_buckets: how many vectors there are for the distances in each direction. conv_kernel_size: how many
    neighbouring tokens a convolution beside the first layer reads, 0 for none (the two largest of version 2 have one).
    """

    model_type: ClassVar[str] = "deberta-v2"
    fixed: ClassVar[dict[str, Any]] = {
        **DebertaConfig.fixed,
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
        "conv_groups": 1,
    }

    vocab_size: int = 128100
    position_buckets: int = 256
    conv_kernel_size: int = 0
    conv_act: str = "tanh"  # in `transformers`; the published models with a convolution have "gelu"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_size("position_buckets")
        if self.position_buckets < 2:
            raise UserError("config: position_buckets is 1: give at least 2, so that near distances have their own.")
        if type(self.conv_kernel_size) is not int or (self.conv_kernel_size != 0 and self.conv_kernel_size % 2 != 1):
            raise UserError(
                f"config: conv_kernel_size is {self.conv_kernel_size!r}: give an odd number, or 0 for none."
            )
        check_choices(self, {"conv_act": ("tanh", "gelu")})

    @classmethod
    def for_texts(cls, preset: str, tokens: int, **changes: Any) -> Self:
        """A preset for texts of so many tokens, with half as many buckets, as published (256 for 512 tokens), and at
        least 2."""
        buckets = max(2, min(cls.position_buckets, tokens // 2))
        return super().for_texts(preset, tokens, **{"position_buckets": buckets, **changes})

    @property
    def span(self) -> int:
        """How many distances in each direction have a vector of their own."""
        return self.position_buckets

    def on_disk(self) -> dict[str, Any]:
        """With what makes a version 2 of what `transformers` would read as another model."""
        return {**super().on_disk(), "share_att_key": True, "norm_rel_ebd": "layer_norm"}

    @classmethod
    def from_disk(cls, values: dict[str, Any]) -> dict[str, Any]:
        """What is missing has the value that it has in `transformers`: nothing of what makes a version 2."""
        missing = {"share_att_key": False, "norm_rel_ebd": "none", "position_buckets": -1}
        return super().from_disk({**missing, **values})

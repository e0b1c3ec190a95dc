"""The sizes of a ModernBERT, and the older and newer names of its config on disk."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from bertedu.config import PRESETS, EncoderConfig, check_choices
from bertedu.errors import UserError, shown

GLOBAL, LOCAL = "full_attention", "sliding_attention"  # what `transformers` calls the two kinds of layers
THETAS = {GLOBAL: "global_rope_theta", LOCAL: "local_rope_theta"}


@dataclass(frozen=True)
class ModernBertConfig(EncoderConfig):
    """What a ModernBERT is made of; the defaults are ModernBERT-base (Warner et al. 2024, section 2.1).

    Every global_attn_every_n_layers-th layer, from the first one, attends to the whole text; the others to the tokens
    at most local_attention / 2 away, on both sides. The thetas are the bases of the rotary embeddings in the two kinds.
    hidden_dropout_prob is that inside the feed-forward, attention_probs_dropout_prob that of the attention weights and
    of what attention returns. classifier_pooling ("cls" or "mean"): which vector stands for a text.

    There is no table of positions: max_position_embeddings is how long the texts were in training, and the model
    computes beyond it.
    """

    model_type: ClassVar[str] = "modernbert"
    names_on_disk: ClassVar[dict[str, str]] = {
        "hidden_act": "hidden_activation",
        "hidden_dropout_prob": "mlp_dropout",
        "attention_probs_dropout_prob": "attention_dropout",
        "layer_norm_eps": "norm_eps",
    }
    fixed: ClassVar[dict[str, Any]] = {
        "norm_bias": False,
        "attention_bias": False,
        "mlp_bias": False,
        "classifier_bias": False,
        "decoder_bias": True,
        "tie_word_embeddings": True,
        "classifier_activation": "gelu",
        "rope_scaling": None,
    }
    also_on_disk: ClassVar[dict[str, Any]] = {
        "layer_types": list[str] | None,
        "rope_parameters": dict[str, dict[str, Any]] | None,
    }

    # Warner et al. 2024, section 2.1.3: deeper and thinner than BERT's. The smaller sizes are BERT's.
    presets: ClassVar[dict[str, tuple[int, int, int]]] = {**PRESETS, "base": (22, 768, 12), "large": (28, 1024, 16)}

    vocab_size: int = 50368
    num_hidden_layers: int = 22
    intermediate_size: int = 1152
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.0
    max_position_embeddings: int = 8192
    layer_norm_eps: float = 1e-5
    pad_token_id: int = 50283
    embedding_dropout: float = 0.0
    classifier_dropout: float = 0.0
    classifier_pooling: str = "cls"
    local_attention: int = 128
    global_attn_every_n_layers: int = 3
    global_rope_theta: float = 160_000.0
    local_rope_theta: float = 10_000.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("local_attention", "global_attn_every_n_layers"):
            self.check_size(name)
        for name in ("embedding_dropout", "classifier_dropout"):
            self.check_share(name)
        for name in THETAS.values():
            self.check_positive(name)
        check_choices(self, {"classifier_pooling": ("cls", "mean")})
        if self.head_size % 2:
            raise UserError(
                f"config: hidden_size {self.hidden_size} over num_attention_heads {self.num_attention_heads} gives "
                f"heads of {self.head_size} numbers, and rotary embeddings turn pairs: choose an even size."
            )

    @property
    def head_size(self) -> int:
        """How many numbers of a vector belong to one head."""
        return self.hidden_size // self.num_attention_heads

    @property
    def head_dropout_prob(self) -> float:
        """The dropout before the last layer of a task."""
        return self.classifier_dropout

    def is_global(self, layer: int) -> bool:
        """Whether a layer, counted from 0, attends to the whole text."""
        return layer % self.global_attn_every_n_layers == 0

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """A published size, with fields changed as given. The smaller ones have a feed-forward of 1.5 times the hidden
        size, as base has.
        """
        hidden_size = cls.presets.get(name, (0, 0, 0))[1]
        intermediate_size = 2624 if name == "large" else 3 * hidden_size // 2
        return super().preset(name, **{"intermediate_size": intermediate_size, **changes})

    def on_disk(self) -> dict[str, Any]:
        """The fields, and no ids of special tokens: `transformers` would take those of the published vocabulary."""
        return {**super().on_disk(), **dict.fromkeys(("bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id"))}

    @classmethod
    def from_disk(cls, values: dict[str, Any]) -> dict[str, Any]:
        """The entries as the published checkpoints name them. Newer files of `transformers` list the kind of each layer
        in layer_types and the thetas in rope_parameters; where a file has both, `transformers` goes by these.
        """
        # Published files also hold entries of BERT's config (layer_norm_eps, hidden_dropout_prob) that nothing reads.
        values = {name: value for name, value in values.items() if name not in cls.names_on_disk}
        if layer_types := values.get("layer_types"):
            layers = values.get("num_hidden_layers") or cls.num_hidden_layers
            if len(layer_types) != layers:
                raise UserError(
                    f"config: num_hidden_layers is {layers} and layer_types names {len(layer_types)} layers: name each."
                )
            usual = values.get("global_attn_every_n_layers") or cls.global_attn_every_n_layers
            values["global_attn_every_n_layers"] = interval(layer_types, usual)
        for kind, rope in (values.get("rope_parameters") or {}).items():
            if (rope_type := rope.get("rope_type", "default")) != "default":
                raise UserError(f"config: rope_type of {kind} is {shown(rope_type)}: only 'default' can be read here.")
            if kind in THETAS and rope.get("rope_theta") is not None:
                values[THETAS[kind]] = rope["rope_theta"]
        return values


def interval(layer_types: list[str], usual: int) -> int:
    """Every how many layers one is global. Raises UserError where that is not one number, beginning with layer 0.

    Of several that fit (two layers of which the second is local do not tell 2 from 3) it is the usual one.
    """
    for number in (usual, *range(1, len(layer_types) + 1)):
        if layer_types == [LOCAL if layer % number else GLOBAL for layer in range(len(layer_types))]:
            return number
    raise UserError(
        f"config: layer_types is {shown(layer_types)}: what can be read here has {GLOBAL!r} first and then at equal "
        f"distances, and {LOCAL!r} in between."
    )

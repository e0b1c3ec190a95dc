"""The sizes and switches of a BERT, every one checked. Names are those of `transformers`."""

import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from bertedu.errors import UserError, shown
from bertedu.files import read_json_object, write_json

# Layers, hidden size, heads. Base and Large: Devlin et al. 2019, section 3; the others: Turc et al. 2019, table 1.
PRESETS = {
    "tiny": (2, 128, 2),
    "mini": (4, 256, 4),
    "small": (4, 512, 8),
    "medium": (8, 512, 8),
    "base": (12, 768, 12),
    "large": (24, 1024, 16),
}
ACTIVATIONS = ("gelu", "gelu_new")
PROBLEMS = ("single_label_classification", "multi_label_classification", "regression")
POOLINGS = ("pooler", "cls", "mean", "max", "last four layers")
# Fields in a config.json of `transformers` that change what is computed, and the one value that BERT has.
FIXED = {"model_type": "bert", "position_embedding_type": "absolute", "is_decoder": False}


@dataclass(frozen=True)
class BertConfig:
    """What a BERT is made of; the defaults are BERT-Base, uncased (Devlin et al. 2019, section 3).

    hidden_act is "gelu" (exact, as in `transformers`) or "gelu_new" (the tanh form in Google's code). The last
    four fields are of fine-tuned models: the names of the classes, what is asked about them, which vector stands for a
    text, and by how much "no answer" must be preferred to the best answer before a question gets none.
    Raises UserError that names the field, the value and the remedy.
    """

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int = 0
    labels: tuple[str, ...] = ()
    problem_type: str = "single_label_classification"
    pooling: str = "pooler"
    no_answer_threshold: float = 0.0

    def __post_init__(self) -> None:
        sizes = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
        for name in (*sizes, "max_position_embeddings", "type_vocab_size"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise UserError(f"config: {name} is {value!r}: give a whole number of at least 1.")
        for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not 0 <= value < 1:
                raise UserError(f"config: {name} is {value!r}: give a number from 0 up to, not including, 1.")
        for name in ("initializer_range", "layer_norm_eps"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not 0 < value < math.inf:
                raise UserError(f"config: {name} is {value!r}: give a number above 0.")
        if self.hidden_size % self.num_attention_heads:
            raise UserError(
                f"config: hidden_size {self.hidden_size} cannot be shared out over num_attention_heads "
                f"{self.num_attention_heads}: choose a number of heads that divides it."
            )
        threshold = self.no_answer_threshold
        if type(threshold) not in (int, float) or not math.isfinite(threshold):
            raise UserError(f"config: no_answer_threshold is {threshold!r}: give a number.")
        choices = {"hidden_act": ACTIVATIONS, "problem_type": PROBLEMS, "pooling": POOLINGS}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise UserError(f"config: {name} is {getattr(self, name)!r}: choose one of {', '.join(known)}.")
        if len(set(self.labels)) < len(self.labels):
            raise UserError(f"config: the labels {', '.join(self.labels)} hold one twice: name each class once.")
        if type(self.pad_token_id) is not int or not 0 <= self.pad_token_id < self.vocab_size:
            raise UserError(
                f"config: pad_token_id is {self.pad_token_id!r}: give the id of [PAD], from 0 to {self.vocab_size - 1}."
            )

    @classmethod
    def preset(cls, name: str, **changes: Any) -> "BertConfig":
        """One of the published sizes (tiny, mini, small, medium, base, large), with fields changed as given."""
        if name not in PRESETS:
            raise UserError(f"config: there is no preset {name!r}: choose one of {', '.join(PRESETS)}.")
        layers, hidden_size, heads = PRESETS[name]
        sizes = {"num_hidden_layers": layers, "hidden_size": hidden_size, "num_attention_heads": heads}
        return cls(**{**sizes, "intermediate_size": 4 * hidden_size, **changes})

    def save(self, folder: str | Path, architecture: str) -> None:
        """Write config.json as `transformers` reads it; architecture is a class name such as "BertModel"."""
        values = {"architectures": [architecture], "model_type": "bert", **asdict(self)}
        labels = values.pop("labels")
        if labels:
            values["id2label"] = {str(number): label for number, label in enumerate(labels)}
            values["label2id"] = {label: number for number, label in enumerate(labels)}
        else:  # nothing is asked about classes
            del values["problem_type"]
        if self.pooling == "pooler":  # BERT's own needs no name, and `transformers` knows no other
            del values["pooling"]
        if self.no_answer_threshold == 0.0:
            del values["no_answer_threshold"]
        write_json(Path(folder) / "config.json", values)

    @classmethod
    def load(cls, folder: str | Path) -> "BertConfig":
        """Read config.json of this course or of `transformers`; fields that BERT does not have are left out."""
        path = Path(folder) / "config.json"
        types = {name: kind | None for name, kind in get_type_hints(cls).items()}  # transformers writes null
        values = read_json_object(path, {**types, "id2label": dict[str, str] | None})
        for name, value in FIXED.items():
            if values.get(name, value) != value:
                raise UserError(f"{path}: {name} is {values[name]!r}, and only {value!r} can be read here.")
        names = values.get("id2label") or {}
        if names.keys() != {str(number) for number in range(len(names))}:
            raise UserError(f"{path}: id2label has {shown([*names])}: number the classes 0, 1, 2 and so on.")
        values["labels"] = tuple(names[str(number)] for number in range(len(names)))
        values = {name: value for name, value in values.items() if value is not None}  # as transformers writes defaults
        known = {field.name for field in fields(cls)}
        values = {name: value for name, value in values.items() if name in known}
        if values.get("hidden_act") == "gelu_pytorch_tanh":  # another name for the same formula
            values["hidden_act"] = "gelu_new"
        try:
            return cls(**values)
        except UserError as error:
            raise UserError(f"{path}: {error}") from error


def architecture_of(folder: str | Path) -> str:
    """The class name of the model in a folder: "" where its config.json does not say."""
    values = read_json_object(Path(folder) / "config.json", {"architectures": list[str] | None})
    return (values.get("architectures") or [""])[0]

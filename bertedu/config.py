"""The sizes and switches of an encoder, and what a task adds to it, every one checked. Names: `transformers`.

On disk both stand in one config.json, as `transformers` reads it.
"""

import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, get_type_hints

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
TEXTS, TOKENS = "ForSequenceClassification", "ForTokenClassification"  # how `transformers` names heads with classes
USUAL_CLASSES = 2  # of such a head, where config.json does not say
CONFIG = "config.json"
MOST_SIZE, MOST = 10_000_000, {"num_hidden_layers": 1000, "hidden_size": 100_000, "intermediate_size": 1_000_000}
Config = TypeVar("Config", bound="EncoderConfig | TaskConfig")


@dataclass(frozen=True)
class EncoderConfig:
    """What every encoder of the family is made of; the defaults are those of BERT-Base.

    hidden_act is "gelu" (exact, as in `transformers`) or "gelu_new" (the tanh form in Google's code). A member adds
    fields of its own, and says what its config.json calls those that have another name there, and which fields of it
    change what is computed and can have one value only. also_on_disk holds entries of config.json that are no fields,
    with their types, for `from_disk` to read. Raises UserError that names field, value and remedy.
    """

    model_type: ClassVar[str] = ""
    names_on_disk: ClassVar[dict[str, str]] = {}
    fixed: ClassVar[dict[str, Any]] = {}
    also_on_disk: ClassVar[dict[str, Any]] = {}
    presets: ClassVar[dict[str, tuple[int, int, int]]] = PRESETS

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int = 0

    def __post_init__(self) -> None:
        sizes = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
        for name in (*sizes, "max_position_embeddings"):
            self.check_size(name)
        for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
            self.check_share(name)
        for name in ("initializer_range", "layer_norm_eps"):
            self.check_positive(name)
        if self.hidden_size % self.num_attention_heads:
            raise UserError(
                f"config: hidden_size {self.hidden_size} cannot be shared out over num_attention_heads "
                f"{self.num_attention_heads}: choose a number of heads that divides it."
            )
        check_choices(self, {"hidden_act": ACTIVATIONS})
        if type(self.pad_token_id) is not int or not 0 <= self.pad_token_id < self.vocab_size:
            raise UserError(
                f"config: pad_token_id is {self.pad_token_id!r}: give the id of padding, from 0 to "
                f"{self.vocab_size - 1}."
            )

    @property
    def max_tokens(self) -> int:
        """How many tokens a text may have, special tokens included."""
        return self.max_position_embeddings

    @property
    def head_dropout_prob(self) -> float:
        """The dropout before the last layer of a task."""
        return self.hidden_dropout_prob

    def check_size(self, name: str) -> None:
        """Raise UserError where a field is no whole number above 0, or larger than any model's."""
        value = getattr(self, name)
        if type(value) is not int or value < 1:
            raise UserError(f"config: {name} is {value!r}: give a whole number of at least 1.")
        if value > (most := MOST.get(name, MOST_SIZE)):
            raise UserError(f"config: {name} is {value}: give at most {most:,}.")

    def check_share(self, name: str) -> None:
        """Raise UserError where a field is no number from 0 up to, not including, 1."""
        value = getattr(self, name)
        if type(value) not in (int, float) or not 0 <= value < 1:
            raise UserError(f"config: {name} is {value!r}: give a number from 0 up to, not including, 1.")

    def check_positive(self, name: str) -> None:
        """Raise UserError where a field is no number above 0."""
        value = getattr(self, name)
        if type(value) not in (int, float) or not 0 < value < math.inf:
            raise UserError(f"config: {name} is {value!r}: give a number above 0.")

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """One of the published sizes (tiny, mini, small, medium, base, large), with fields changed as given."""
        if name not in cls.presets:
            raise UserError(f"config: there is no preset {name!r}: choose one of {', '.join(cls.presets)}.")
        layers, hidden_size, heads = cls.presets[name]
        sizes = {"num_hidden_layers": layers, "hidden_size": hidden_size, "num_attention_heads": heads}
        return cls(**{**sizes, "intermediate_size": 4 * hidden_size, **changes})

    @classmethod
    def for_texts(cls, preset: str, tokens: int, **changes: Any) -> Self:
        """A preset for texts of at most so many tokens, special ones included. A member that counts its positions in
        another way than from 0 says here how many it needs.
        """
        return cls.preset(preset, **{"max_position_embeddings": tokens, **changes})

    def save(self, folder: str | Path, class_name: str, task: "TaskConfig | None" = None) -> None:
        """Write config.json as `transformers` reads it; class_name is the model's there, such as "BertModel"."""
        about = {"architectures": [class_name], "model_type": self.model_type}
        write_json(Path(folder) / CONFIG, {**about, **self.on_disk(), **(task.on_disk() if task else {})})

    def on_disk(self) -> dict[str, Any]:
        """The fields as config.json holds them; a member adds what `transformers` would otherwise take for another."""
        return {self.names_on_disk.get(name, name): value for name, value in asdict(self).items()}

    @classmethod
    def from_disk(cls, values: dict[str, Any]) -> dict[str, Any]:
        """The fields of config.json; a member puts other spellings in order and adds defaults of `transformers`."""
        return values

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read config.json of this course or of `transformers`; fields that this encoder does not have are left out."""
        path = Path(folder) / CONFIG
        types = {cls.names_on_disk.get(name, name): kind for name, kind in types_of(cls).items()}
        values = read_json_object(path, {**types, **cls.also_on_disk})
        try:
            values = cls.from_disk(values)
        except UserError as error:
            raise UserError(f"{path}: {error}") from error
        for name, value in {"model_type": cls.model_type, **cls.fixed}.items():
            if values.get(name, value) != value:
                raise UserError(f"{path}: {name} is {shown(values[name])}, and only {value!r} can be read here.")
        ours = {theirs: name for name, theirs in cls.names_on_disk.items()}
        values = {ours.get(name, name): value for name, value in values.items()}
        if values.get("hidden_act") == "gelu_pytorch_tanh":  # another name for the same formula
            values["hidden_act"] = "gelu_new"
        return known_fields(cls, values, path)


@dataclass(frozen=True)
class BertConfig(EncoderConfig):
    """What a BERT is made of; the defaults are BERT-Base, uncased (Devlin et al. 2019, section 3).

    type_vocab_size: how many segments it tells apart, the first and the second text.
    """

    model_type: ClassVar[str] = "bert"
    fixed: ClassVar[dict[str, Any]] = {"position_embedding_type": "absolute", "is_decoder": False}

    type_vocab_size: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_size("type_vocab_size")


@dataclass(frozen=True)
class TaskConfig:
    """What a task adds to an encoder: the names of the classes, what is asked about them (one class, several, or a
    score), which vector stands for a text, and by how much "no answer" must be preferred to the best answer before a
    question gets none. While scores far from 0 are learned, the last layer says how many standard deviations
    (score_deviation) they lie above their mean (score_mean).
    """

    labels: tuple[str, ...] = ()
    problem_type: str = "single_label_classification"
    pooling: str = "pooler"
    no_answer_threshold: float = 0.0
    score_mean: float = 0.0
    score_deviation: float = 1.0

    def __post_init__(self) -> None:
        for name in ("no_answer_threshold", "score_mean", "score_deviation"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not math.isfinite(value):
                raise UserError(f"config: {name} is {value!r}: give a number.")
        if self.score_deviation <= 0:
            raise UserError(f"config: score_deviation is {self.score_deviation!r}: give a number above 0.")
        check_choices(self, {"problem_type": PROBLEMS, "pooling": POOLINGS})
        if len(set(self.labels)) < len(self.labels):
            raise UserError(f"config: the labels {', '.join(self.labels)} hold one twice: name each class once.")

    def on_disk(self) -> dict[str, Any]:
        """The fields as config.json holds them: what is as usual needs no mention, and `transformers` has no name for
        some of it.
        """
        values: dict[str, Any] = {}
        if self.labels:
            values["problem_type"] = self.problem_type
            values["id2label"] = {str(number): label for number, label in enumerate(self.labels)}
            values["label2id"] = {label: number for number, label in enumerate(self.labels)}
        if self.pooling != "pooler":
            values["pooling"] = self.pooling
        for name, usual in (("no_answer_threshold", 0.0), ("score_mean", 0.0), ("score_deviation", 1.0)):
            if getattr(self, name) != usual:
                values[name] = getattr(self, name)
        return values

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read what a task left in config.json; a model that was only pre-trained has nothing of it there.

        As `transformers` reads it: classes without names are LABEL_0, LABEL_1 and so on, two where no number is given;
        one class of texts is a score where no problem is named. Raises UserError for one class that would be chosen
        among one, and for several scores.
        """
        path = Path(folder) / CONFIG
        types = {**types_of(cls), "id2label": dict[str, str] | None, "num_labels": int | None}
        values = read_json_object(path, {**types, "architectures": list[str] | None})
        name, problem = (values.get("architectures") or [""])[0], values.get("problem_type")
        values["labels"] = labels = labels_on_disk(values, name, path)
        if name.endswith(TEXTS) and len(labels) == 1 and problem is None:
            values["problem_type"] = "regression"
        elif name.endswith(TEXTS) and len(labels) == 1 and problem == "single_label_classification":
            raise UserError(
                f"{path}: problem_type is {problem!r} with one class, whose probability is always 1: write "
                "'regression' where it is a score, 'multi_label_classification' where it is a yes or no."
            )
        elif name.endswith(TEXTS) and len(labels) > 1 and problem == "regression":
            raise UserError(f"{path}: problem_type is {problem!r} with {len(labels)} scores: one score is read here.")
        return known_fields(cls, values, path)


def labels_on_disk(values: dict[str, Any], name: str, path: Path) -> tuple[str, ...]:
    """The names of the classes in a config.json for the class of models `name`; none where it has no classes."""
    names, number = values.get("id2label"), values.get("num_labels")
    if names is None:
        classes = (USUAL_CLASSES if number is None else number) if name.endswith((TEXTS, TOKENS)) else 0
        if not 0 <= classes <= MOST_SIZE:
            raise UserError(f"{path}: num_labels is {shown(number)}: give the number of classes.")
        return tuple(f"LABEL_{index}" for index in range(classes))
    if names.keys() != {str(index) for index in range(len(names))}:
        raise UserError(f"{path}: id2label has {shown([*names])}: number the classes 0, 1, 2 and so on.")
    if number is not None and number != len(names) and name.endswith((TEXTS, TOKENS)):
        raise UserError(
            f"{path}: num_labels is {number}, and id2label names {len(names)} classes: correct one of them."
        )
    return tuple(names[str(index)] for index in range(len(names)))


def check_choices(config: Any, choices: dict[str, tuple[str, ...]]) -> None:
    """Raise UserError where a field has a value that is none of those known."""
    for name, known in choices.items():
        if getattr(config, name) not in known:
            raise UserError(f"config: {name} is {shown(getattr(config, name))}: choose one of {', '.join(known)}.")


def types_of(kind: type) -> dict[str, Any]:
    """The types of a config's fields as config.json may hold them: `transformers` writes null for a default."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] | None for field in fields(kind)}


def known_fields(kind: type[Config], values: dict[str, Any], path: Path) -> Config:
    """A dataclass from those values that are its fields; null is the default, as `transformers` writes it."""
    names = {field.name for field in fields(kind)}
    try:
        return kind(**{name: value for name, value in values.items() if name in names and value is not None})
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def architecture_of(folder: str | Path) -> str:
    """The class name of the model in a folder: "" where its config.json does not say."""
    values = read_json_object(Path(folder) / CONFIG, {"architectures": list[str] | None})
    return (values.get("architectures") or [""])[0]


def model_type_of(folder: str | Path) -> str:
    """The member of the family whose model a folder holds; BERT where its config.json does not say."""
    return read_json_object(Path(folder) / CONFIG, {"model_type": str | None}).get("model_type") or "bert"

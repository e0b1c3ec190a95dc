"""The settings of a pre-training run, and for each size those that were found to work."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from bertedu.config import PRESETS
from bertedu.errors import UserError
from bertedu.family import MEMBERS
from bertedu.pretraining.members import INITIALIZATIONS, check_objective, default_architecture, member, one_of
from bertedu.registry import OBJECTIVES

PAIRS = ("next", "order")
# The least and the most of each number. A pair needs 8 tokens; the five special tokens are in every vocabulary.
LIMITS = {
    "vocab_size": (6, 1_000_000),
    "max_length": (8, 100_000),
    "batch_size": (1, 1_000_000),
    "seed": (0, 2**32 - 1),
}


@dataclass(frozen=True)
class PretrainingSettings:
    """What a pre-training run is made of, besides its text and its budget. Defaults: short runs of `tiny`.

    architecture is the member of the family, by its model_type. What is left "" is as the member has it (see
    `family/__init__.py`); without an architecture it is BERT, or the member whose own the objective is. mask_rates:
    share of the tokens that are masked at the start and at the end of the run; the paper has 0.15, and short runs learn
    more from more questions (as large models do: Wettig et al. 2023). objective is one of those in
    `pretraining/objectives/`, by the name of its file. pairs: "next" for
    next sentence prediction, "order" for sentence order prediction; pair_weight is what their loss counts beside that
    of the words. initialization: "neighbors", "matching" and "counted" are starts for short runs, in
    `pretraining/neighbors_start.py`, `initialization.py` and `counted_start.py`. start: a pre-trained model to go on
    from, with its vocabulary and size, for example before fine-tuning on texts of another kind (Gururangan et al.
    2020); "" is a new model. new_vocabulary: with a start, learn a vocabulary from the text all the same, see
    `new_vocabulary.py`. cased: the vocabulary keeps capitals and accents, as BERT's cased models do; without it they
    are taken away where a member's tokenizer is WordPiece. teacher: the model to learn from, whose vocabulary is
    taken; without `start` half of its layers are copied.
    """

    preset: str = "tiny"
    vocab_size: int = 4096
    max_length: int = 64
    batch_size: int = 32
    dropout: float = 0.0
    mask_rates: tuple[float, float] = (0.40, 0.30)
    whole_words: bool = False
    cased: bool = False
    architecture: str = ""
    objective: str = ""
    pairs: str = ""
    pair_weight: float = 1.0
    initialization: str = ""
    start: str = ""
    new_vocabulary: bool = False
    teacher: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        taught = bool(self.objective) and OBJECTIVES[self.objective].has_teacher
        if taught and not self.teacher:
            raise UserError(f"the objective {self.objective!r} needs a teacher: give its folder with --teacher.")
        if self.teacher and not taught:
            raise UserError(
                f"a teacher is given, and the objective {self.objective or 'pairs'!r} has none: leave --teacher out "
                "or take --objective distillation."
            )
        self.fill_in("architecture", "distilbert" if self.teacher else default_architecture(self.objective))
        check_objective(self.architecture, "words" if self.teacher else self.objective)  # a student fills masks
        of = member(self.architecture)
        self.fill_in("objective", of.objective)
        objective = OBJECTIVES[self.objective]
        self.fill_in("pairs", of.pairs if objective.of_pairs else "next")
        self.fill_in("initialization", of.initializations[0])
        objective.check(self)
        if self.pairs not in PAIRS:
            raise UserError(f"there are no pairs of the kind {self.pairs!r}: choose one of {', '.join(PAIRS)}.")
        if self.initialization not in INITIALIZATIONS:
            choices = ", ".join(INITIALIZATIONS)
            raise UserError(f"there is no initialization {self.initialization!r}: choose one of {choices}.")
        if self.initialization not in of.initializations:
            raise UserError(
                f"the initialization {self.initialization!r} does not fit the layers of {of.name}: take "
                f"{one_of(of.initializations)}."
            )
        self.check_vocabulary()
        for name, (least, most) in LIMITS.items():
            if type(value := getattr(self, name)) is not int or not least <= value <= most:
                raise UserError(f"{name} is {value!r}: give a whole number from {least:,} to {most:,}.")
        if not 0 <= self.dropout < 1:
            raise UserError(f"dropout is {self.dropout}: give a share from 0 up to 1.")
        if len(self.mask_rates) != 2:
            raise UserError(f"mask_rates is {self.mask_rates}: give two, of the start and of the end.")
        if not 0 < self.pair_weight < math.inf:
            raise UserError(f"pair_weight is {self.pair_weight}: give a number above 0, such as 1.")
        for rate in self.mask_rates:
            if not 0 < rate < 1:
                raise UserError(f"a masking rate is {rate}: give shares between 0 and 1.")

    def check_vocabulary(self) -> None:
        """Raise UserError for a vocabulary that cannot be learned so."""
        if self.new_vocabulary and self.teacher:
            raise UserError(
                "new_vocabulary is set, and a student has its teacher's vocabulary: leave --new-vocabulary out, or "
                "--teacher."
            )
        if self.new_vocabulary and (self.architecture != "bert" or not self.start):
            raise UserError(
                "new_vocabulary is set: it gives a BERT that is pre-trained already the vocabulary of other texts, so "
                "name that BERT with --from, or leave it out."
            )
        if self.cased and not member(self.architecture).wordpiece:
            raise UserError(
                f"cased is set, and the tokenizer of {member(self.architecture).name} decides on capitals by itself: "
                "leave it out, or take the architecture "
                f"{one_of(name for name, one in MEMBERS.items() if one.wordpiece)}."
            )

    def fill_in(self, name: str, default: str) -> None:
        """Give a field that was left "" its default."""
        if not getattr(self, name):
            object.__setattr__(self, name, default)  # the class is frozen

    @classmethod
    def for_preset(cls, preset: str, **changes: Any) -> "PretrainingSettings":
        """The settings for one of the sizes of BertConfig, with fields changed as given (None changes nothing)."""
        if preset not in PRESETS:
            raise UserError(f"there is no preset {preset!r}: choose one of {', '.join(PRESETS)}.")
        changes = {name: value for name, value in changes.items() if value is not None}
        asked = {name: changes[name] for name in ("architecture", "objective", "teacher") if name in changes}
        of = cls(**asked)  # with what follows from these
        found = {**FOUND_TO_WORK[preset]}
        if FOUND_TO_WORK[preset] is PUBLISHED:
            found |= member(of.architecture).published
        start = {"initialization": of.initialization, **found, **changes}["initialization"]
        if OBJECTIVES[of.objective].of_pairs and not changes.get("start"):
            found |= OF_INITIALIZATIONS.get(start, {})
        return cls(**{"preset": preset, **found, **OBJECTIVES[of.objective].defaults, **changes})

    def data_identity(self) -> dict[str, Any]:
        """The settings that a resumed run must share. The architecture is part of the model's identity, and a teacher
        is known by its weights, wherever it lies.
        """
        return {name: value for name, value in asdict(self).items() if name not in ("architecture", "teacher")}


# Devlin et al. 2019, section 3.1 and appendix A.2, with shorter texts.
PUBLISHED: dict[str, Any] = {
    "vocab_size": 30522,
    "max_length": 128,
    "batch_size": 256,
    "dropout": 0.1,
    "mask_rates": (0.15, 0.15),
    "initialization": "published",
}
# Neighbors' heads are there from the first step, and pairs are learned early: at 5 M tokens half of their loss gave
# one point more of the words, and two points fewer of the pairs.
OF_INITIALIZATIONS: dict[str, dict[str, Any]] = {"neighbors": {"pair_weight": 0.5}}
# tiny and mini: measured on two CPU cores. base and large are for the long runs of the paper, by its recipe.
FOUND_TO_WORK: dict[str, dict[str, Any]] = {
    "tiny": {},
    "mini": {"vocab_size": 8192, "max_length": 128, "batch_size": 16},
    "small": {"vocab_size": 8192, "max_length": 128},
    "medium": {"vocab_size": 16384, "max_length": 128, "batch_size": 64},
    "base": PUBLISHED,
    "large": PUBLISHED,
}
# Appendix A.2: warm-up for 10,000 of 1,000,000 steps.
PUBLISHED_TRAINING: dict[str, Any] = {"warmup": 0.01, "betas": (0.9, 0.999), "weight_decay": 0.01}
TRAINING = {"base": PUBLISHED_TRAINING, "large": PUBLISHED_TRAINING}
LEARNING_RATES = {"tiny": 2e-3, "mini": 5e-4, "small": 5e-4, "medium": 2e-4, "base": 1e-4, "large": 1e-4}
# By the start: with Muon a short run on the world had after 2.3 M tokens AdamW's loss of 3.3 M; the paper has Adam.
OPTIMIZERS = {"counted": "muon", "matching": "muon", "neighbors": "muon", "published": "adamw"}


def rate_of_size(num_hidden_layers: int, hidden_size: int) -> float:
    """The learning rate for a model that is given: that of the smallest size which is as deep and wide, or of large."""
    sizes = [name for name, (depth, width, _) in PRESETS.items() if depth >= num_hidden_layers and width >= hidden_size]
    return LEARNING_RATES[sizes[0] if sizes else "large"]

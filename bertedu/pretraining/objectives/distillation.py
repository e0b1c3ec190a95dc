"""Distillation: a small student learns what a teacher predicts. (DistilBERT's.)

Sanh et al. 2019, sections 2 and 3. The weights of the three losses, and the tokens over which each is a mean, are those
of the authors' code (`distiller.py` in the research projects of `transformers`): masked words for the cross-entropy,
all real tokens, [CLS] and [SEP] among them, for the other two.
Shapes: B batch, T tokens, N real tokens of a batch, D hidden size, V vocabulary.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from bertedu.checkpoints.folder import find_folder
from bertedu.config import EncoderConfig
from bertedu.errors import UserError
from bertedu.family.distilbert import student_of
from bertedu.inference import LanguageModel, check_fills, open_filler
from bertedu.json_values import check_object, whole
from bertedu.model.architecture import architecture, architecture_in
from bertedu.model.heads import IGNORED, MaskedLM
from bertedu.pretraining.objectives.words import MaskedWords
from bertedu.pretraining.scoring import HeldOut, score
from bertedu.pretraining.sentence_pairs import TokenizedText
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.tokenization import Tokenizer
from bertedu.training.figures import Figures, Measure, Result, results_of
from bertedu.training.loop import evaluate
from bertedu.training.soft_targets import TEMPERATURE, soft_divergence

HELP = "a DistilBERT made of a teacher's layers, or what --from names, learns what the teacher predicts"
KL_WEIGHT, MLM_WEIGHT, COSINE_WEIGHT = 5.0, 2.0, 1.0
OF_A_TEACHER = {"masked_words": int, "mlm_accuracy": float, "perplexity": float, "parameters": int}
OF_TEACHERS = {
    "mlm_accuracy": Measure("masked words, accuracy of the teacher"),
    "perplexity": Measure("masked words, perplexity of the teacher", True, ",.1f"),
}
FIGURES = ("kl_loss", "kl_agreement", "kl_copied", "mlm_agreement", "cos_loss")  # the last where widths are equal


def cosine_distance(student: Tensor, teacher: Tensor) -> Tensor:
    """1 - the cosine of the angle between two vectors of a token, summed over N tokens; both [N, D]."""
    return (1 - cosine_similarity(student.float(), teacher.float(), dim=-1)).sum()


def open_teacher(settings: PretrainingSettings) -> LanguageModel:
    """The model settings.teacher, frozen and in evaluation mode. Raises UserError where it can teach nothing."""
    name = settings.teacher
    teacher, _ = open_filler(name)
    check_fills(teacher)
    kind, positions = teacher.config.model_type, teacher.config.max_tokens
    if architecture(kind).for_masked_lm is not None:
        raise UserError(
            f"the teacher {name} is of the type {kind!r}, which predicts no token that it can see: give a teacher that "
            "was trained with masked words."
        )
    if settings.max_length > positions:
        raise UserError(f"max_length is {settings.max_length}, and the teacher {name} has {positions} positions.")
    return teacher.eval().requires_grad_(False)


def digest_of(model: Any) -> str:
    """A fingerprint of a model's config and weights: the same wherever it lies."""
    digest = hashlib.sha256(json.dumps(model.identity(), sort_keys=True, default=str).encode())
    for name, weight in model.state_dict().items():
        digest.update(name.encode())
        digest.update(weight.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


class Distillation(MaskedWords):
    """5 · KL from the teacher's predictions at T = 2 (times T²) + 2 · masked words + 1 · cosine distance of the last
    hidden states.

    The teacher belongs to the task: it reads the same masked text as the student, without dropout and without
    gradient, and is neither trained nor saved. The cosine is left out where the student has another hidden size.

    The figures beside those of masked words: kl_loss, in nats, without T²; kl_agreement, the share of all real tokens
    for which both think the same word the likeliest; kl_copied, the share for which that is to the teacher the token
    that stands there, so that repeating the text agrees as often; of the masked words mlm_agreement, and mlm_teacher,
    the share that the teacher has right; cos_loss, 1 - cosine.
    """

    model_class = MaskedLM
    few_shapes = False
    has_teacher = True
    section = "distillation"
    section_types = MappingProxyType(
        {
            **{"tokens": int, "kl_loss": float, "kl_agreement": float, "kl_copied": float, "mlm_agreement": float},
            "teacher": dict[str, float],
        }
    )
    measures = MappingProxyType(
        {
            "mlm_agreement": Measure("masked words, same answer as the teacher"),
            # Repeating the text agrees with the teacher about most tokens that are not hidden.
            "kl_agreement": Measure("all tokens, same answer as the teacher"),
            "kl_loss": Measure("all tokens, KL divergence from the teacher (nats, T = 2)", True, ".3f"),
            "cosine": Measure("all tokens, cosine with the teacher's last hidden states", form=".3f"),
        }
    )
    filler_name = "student"
    panels = MappingProxyType({**MaskedWords.panels, "kl_loss": "KL divergence from the teacher (nats)"})
    about_curves = (
        f"{MaskedWords.about_curves} The student learns to predict what its teacher does, for hidden tokens and for "
        "those that it can see: the KL divergence says how far it is from that. Dotted too: what the teacher reaches "
        "on masked words."
    )
    loss_weights = MappingProxyType(
        {"kl_loss": KL_WEIGHT * TEMPERATURE**2, "mlm_loss": MLM_WEIGHT, "cos_loss": COSINE_WEIGHT}
    )

    @classmethod
    def check_figures(cls, figures: dict[str, Any], place: str) -> None:
        """A cosine is there where both are as wide."""
        super().check_figures(figures, place)
        if cls.section in figures:
            place = f"{place}, {cls.section}"
            found = check_object(figures[cls.section], {"cos_loss": float}, place)
            whole(found["teacher"], OF_A_TEACHER, f"{place}, teacher")

    @classmethod
    def results(cls, text: str, figures: Mapping[str, Any]) -> list[Result]:
        """The rows for a teacher and for how near its student is to it."""
        if not (found := figures.get(cls.section)):
            return []
        teacher = results_of(OF_TEACHERS, found["teacher"], text, f"{found['teacher']['masked_words']:,} words")
        if "cos_loss" in found:
            found = {**found, "cosine": 1 - found["cos_loss"]}
        repeating = {"repeating the text": {"kl_agreement": found["kl_copied"]}}
        return [*teacher, *results_of(cls.measures, {**found, "baselines": repeating}, text, cls.counted(found))]

    @classmethod
    def summary(cls, figures: Mapping[str, Any], of_words: str) -> str:
        """The teacher beside the student."""
        found = figures[cls.section]
        teacher = found["teacher"]
        return (
            f"{of_words} Its teacher has {teacher['parameters']:,} parameters and fills in "
            f"{teacher['mlm_accuracy']:.1%}; both give the same answer to {found['mlm_agreement']:.1%}."
        )

    @classmethod
    def panel_baselines(cls, figures: Mapping[str, Any]) -> Figures:
        """What the teacher reaches on masked words."""
        teacher = figures[cls.section]["teacher"]
        return {
            "mlm_loss": {"the teacher": math.log(teacher["perplexity"])},
            "mlm_accuracy": {"the teacher": teacher["mlm_accuracy"]},
        }

    @classmethod
    def facts(cls, plan: Mapping[str, Any], figures: Mapping[str, Any], config: EncoderConfig) -> dict[str, str]:
        """The size is not that of a preset; vocabulary and layers are the teacher's."""
        layers, width, heads = config.num_hidden_layers, config.hidden_size, config.num_attention_heads
        found = {
            "size": f"{layers} layers, hidden size {width}, {heads} heads",
            "vocabulary": f"{config.vocab_size:,} tokens, those of the teacher",
            "initialization": plan.get("start") or "half of the teacher's layers, copied",
            "teacher": plan["teacher"],
        }
        if cls.section in figures:
            found["parameters of the teacher"] = f"{figures[cls.section]['teacher']['parameters']:,}"
        return found

    def __init__(
        self, train: TokenizedText, validation: TokenizedText, tokenizer: Tokenizer, settings: PretrainingSettings
    ):
        self.teacher = open_teacher(settings)
        super().__init__(train, validation, tokenizer, settings)

    def __getstate__(self) -> dict[str, Any]:
        """For data workers, which mask words and need no teacher."""
        return {name: value for name, value in self.__dict__.items() if name != "teacher"}

    @cached_property
    def digests(self) -> dict[str, str]:
        """Also the teacher's: with another one it is another run."""
        return {**super().digests, "teacher": digest_of(self.teacher)}

    def given_model(self, **dropout: Any) -> MaskedLM:
        """The model to be trained: settings.start, or else a copy of half of the teacher's layers.

        Raises UserError where settings.start has another vocabulary, and where no layers can be copied.
        """
        settings, kind = self.settings, self.teacher.config.model_type
        if settings.start:
            student = MaskedLM.from_pretrained(settings.start, **dropout)
            self.check_vocabulary(student)
            return student
        if kind != "bert":
            raise UserError(
                f"the teacher {settings.teacher} is of the type {kind!r}, and layers are copied from a BERT only: give "
                "with --from the folder of a student that has the teacher's vocabulary."
            )
        copied = student_of(self.teacher)
        student = MaskedLM(replace(copied.config, **dropout))
        student.load_state_dict(copied.state_dict())
        return student

    def check_vocabulary(self, student: MaskedLM) -> None:
        """Raise UserError where the scores of both are not of the same words."""
        settings, folder = self.settings, find_folder(self.settings.start)
        vocab = architecture_in(folder).tokenizer.from_pretrained(folder).vocab
        scores = student.config.vocab_size, self.teacher.config.vocab_size
        if vocab != self.tokenizer.vocab or scores[0] != scores[1]:
            raise UserError(
                f"the student {settings.start} has another vocabulary than the teacher {settings.teacher} (it scores "
                f"{scores[0]:,} tokens, and the teacher {scores[1]:,}): give a student that has the teacher's."
            )

    def counts(self, batch: dict[str, Tensor]) -> dict[str, int]:
        """Masked words, and for both comparisons with the teacher all real tokens."""
        real = int(batch["attention_mask"].sum())
        return {**super().counts(batch), "kl": real, "cos": real}

    def sums(self, model: nn.Module, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Summed losses and hits; all real tokens are scored."""
        real, chosen = batch["attention_mask"].bool(), batch["labels"] != IGNORED
        inputs = [batch[name] for name in ("input_ids", "attention_mask", "token_type_ids")]
        student = model(*inputs, masked_positions=real)
        with torch.no_grad():
            teacher = self.teacher_on(real.device)(*inputs, masked_positions=real)
        masked, right = chosen[real], batch["labels"][chosen]  # [N] of booleans, and the ids where it is true
        said, taught = student.prediction_logits, teacher.prediction_logits  # [N, V]
        likeliest, best = said.argmax(dim=-1), taught.argmax(dim=-1)
        sums = {
            **self.sums_of(replace(student, prediction_logits=said[masked]), right, batch),
            "mlm_teacher": (best[masked] == right).sum(),
            "mlm_agreement": (likeliest == best)[masked].sum(),
            "kl_loss": soft_divergence(said, taught),
            "kl_agreement": (likeliest == best).sum(),
            "kl_copied": (best == batch["input_ids"][real]).sum(),
        }
        ours, theirs = (output.bert.last_hidden_state[real] for output in (student, teacher))  # [N, D]
        if ours.size(-1) == theirs.size(-1):
            sums["cos_loss"] = cosine_distance(ours, theirs)
        return sums

    def teacher_on(self, device: torch.device) -> LanguageModel:
        """The teacher, where the run computes."""
        if next(self.teacher.parameters()).device != device:
            self.teacher.to(device)
        return self.teacher

    def quality(self, figures: dict[str, float]) -> float:
        """Minus the joint loss."""
        return -sum(weight * figures[name] for name, weight in self.loss_weights.items() if name in figures)

    def evaluate(self, model: Any, held_out: HeldOut) -> dict[str, Any]:
        """How near the student is to its teacher, and what the teacher knows."""
        teacher = {**score(self.teacher, held_out.batches), "parameters": self.parameters_of_teacher()}
        return {self.section: {**self.compared(model, held_out.batches), "teacher": teacher}}

    def compared(self, model: nn.Module, batches: list[dict[str, Tensor]]) -> dict[str, Any]:
        """On masked batches, how near the student is to its teacher."""
        figures = evaluate(model, self, batches, next(model.parameters()).device)
        tokens = sum(self.counts(batch)["kl"] for batch in batches)
        return {"tokens": tokens, **{name: figures[name] for name in FIGURES if name in figures}}

    def notes(self, student: Any) -> list[str]:
        """What was left out of the loss, in a sentence."""
        sizes = student.config.hidden_size, self.teacher.config.hidden_size
        if sizes[0] == sizes[1]:
            return []
        return [
            f"The student's hidden size is {sizes[0]} and the teacher's {sizes[1]}: the cosine of their last hidden "
            "states was left out of the loss."
        ]

    def parameters_of_teacher(self) -> int:
        """How many weights the teacher has."""
        return sum(weight.numel() for weight in self.teacher.parameters())


OBJECTIVE = Distillation

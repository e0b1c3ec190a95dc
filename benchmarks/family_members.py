"""The members that `family.py` compares: what each is trained for, on which text, and for how many tokens.

The budget of a member is seconds of processor time on one thread. A run that is cut off by a clock cannot be repeated,
so the seconds are turned into tokens first. The recipe says how many BERT reads in a second; the speed of a member is
measured in turns with BERT's, some steps of the one and some of the other, so that other work on the machine slows down
both. Warm-up and decay of the learning rate
then go over the whole run, and a run that was killed goes on bit for bit.
"""

import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bertedu.corpora import load_corpus
from bertedu.corpora.documents import Corpus
from bertedu.family.distilbert import student_of
from bertedu.inference import open_filler
from bertedu.model.architecture import architecture
from bertedu.model.heads import MaskedLM
from bertedu.pretraining.examples import TokenizedText, tokenize_documents
from bertedu.pretraining.initialization import initialize_for_matching
from bertedu.pretraining.run import make_model
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.registry import OBJECTIVES
from bertedu.tokenization import Tokenizer
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer
from bertedu.training.optimization import tokens_alone_faster
from bertedu.training.run_folder import begun
from bertedu.training.settings import TrainingSettings

TEACHER = Path(__file__).resolve().parents[1] / "data" / "checkpoints" / "mixed-mini"
# Two million words: history, business, music and the writing of agencies, and ten novels for young readers.
PROSE = ("01", "02", "03", "05", "06", "07", "08", "13", "15", "18")
BOOKS = ("00036", "00045", "00046", "00047", "00055", "00074", "00103", "00113", "00120", "00146")
DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob")
SEARCH_SEED = 1000  # no run of the table has it


@dataclass(frozen=True)
class Member:
    """A row of the table: its name there, the architecture, and the objective. A student has a teacher, or is the same
    network with the same vocabulary, trained alone.
    """

    name: str
    architecture: str
    objective: str
    student: bool = False
    fills_masks: bool = True  # with the model that is fine-tuned: ELECTRA's generator is another, smaller one


MEMBERS = {
    "bert": Member("BERT", "bert", "pairs"),
    "roberta": Member("RoBERTa", "roberta", "words"),
    "spanbert": Member("SpanBERT", "bert", "spans"),
    "albert": Member("ALBERT", "albert", "pairs"),
    "distilbert-alone": Member("DistilBERT, alone", "distilbert", "words", student=True),
    "distilbert-taught": Member("DistilBERT, taught", "distilbert", "distillation", student=True),
    "electra": Member("ELECTRA", "electra", "replaced-tokens", fills_masks=False),
    "deberta": Member("DeBERTa", "deberta", "words"),
    "deberta-v2": Member("DeBERTa v2", "deberta-v2", "words"),
    "modernbert": Member("ModernBERT", "modernbert", "words"),
    "xlnet": Member("XLNet", "xlnet", "permutation"),
}


@dataclass(frozen=True)
class Recipe:
    """What all members share. seconds: of processor time for each run; search_seconds: for each learning rate that is
    tried; bert_tokens: what BERT reads in a second (a core of an Intel Xeon server processor read 16,400 while the
    other one trained, too, and 19,000 while it was idle). precision is float32, so that every machine computes the
    same. Vocabulary, length, batch and optimizer are the defaults of `bertedu pretrain` for this preset. Numbers of a
    state folder belong to one recipe.
    """

    seconds: float = 600.0
    search_seconds: float = 100.0
    bert_tokens: float = 18_000.0
    precision: str = "fp32"
    preset: str = "tiny"
    vocab_size: int = 4096
    max_length: int = 64
    batch_size: int = 32
    initializer_range: float = 0.05
    optimizer: str = "muon"
    rates: tuple[float, ...] = (8e-4, 2e-3, 5e-3)
    rows: int | None = None  # at most so many labelled rows of a task


class CountingTrainer(Trainer):
    """A trainer that knows how many tokens it has read since this process began: read."""

    read = 0

    def _step(self, portion: Any, share: float) -> None:
        super()._step(portion, share)
        self.read += portion.tokens


class Workshop:
    """Makes tasks and models of the recipe, with the tokenizers and the text kept between them.

    state is the folder of runs and checkpoints; datasets the folder of the public sets.
    """

    def __init__(self, state: Path, datasets: Path, recipe: Recipe):
        self.state, self.datasets, self.recipe = state, datasets, recipe
        self.known: dict[str, tuple[Any, ...]] = {}

    @cached_property
    def corpus(self) -> Corpus:
        """The text, the same for all; 1 % of the documents is for validation, 2 % is held out."""
        folders = {"modern_prose": PROSE, "public_domain_books": BOOKS}
        return load_corpus(
            [
                found
                for name, files in folders.items()
                for file in files
                for found in (self.datasets / name).glob(f"{file}_*")
            ]
        )

    def tokenizer(self, member: Member) -> Tokenizer:
        """The member's own kind, learned once from the training text; a student has its teacher's vocabulary."""
        kind = architecture(member.architecture).tokenizer
        if member.student:
            return kind.from_pretrained(TEACHER)
        folder = self.state / "tokenizers" / kind.__name__
        if not (folder / "ready").exists():
            kind.train(self.corpus.train_sentences(), vocab_size=self.recipe.vocab_size).save_pretrained(folder)
            (folder / "ready").touch()
        return kind.from_pretrained(folder)

    def texts(self, name: str) -> tuple[Any, ...]:
        """The member's tokenizer, and training and validation text as its tokens."""
        if name not in self.known:
            self.known[name] = self.tokenized(MEMBERS[name])
        return self.known[name]

    def tokenized(self, member: Member) -> tuple[Any, ...]:
        """The same, computed."""
        tokenizer = self.tokenizer(member)
        return tokenizer, *(tokenize_documents(part, tokenizer) for part in (self.corpus.train, self.corpus.validation))

    def settings(self, name: str, seed: int) -> PretrainingSettings:
        """How a member is pre-trained: its own objective and masking rate, for the rest as all."""
        member, recipe = MEMBERS[name], self.recipe
        of_student: dict[str, Any] = {}
        if member.objective == "distillation":
            of_student["teacher"] = str(TEACHER)  # without a start, half of its layers are copied
        elif member.student:
            of_student["start"] = str(self.new_student(seed))
        return PretrainingSettings.for_preset(
            recipe.preset,
            architecture=member.architecture,
            objective=member.objective,
            vocab_size=recipe.vocab_size,
            max_length=recipe.max_length,
            batch_size=recipe.batch_size,
            initialization="published",
            seed=seed,
            **of_student,
        )

    def new_student(self, seed: int) -> Path:
        """The folder of an untrained student: as wide as its teacher, with half of its layers and its vocabulary."""
        folder = self.state / "students" / f"seed-{seed}"
        if not (folder / "ready").exists():
            shape = student_of(open_filler(TEACHER)[0]).config
            shape = replace(shape, initializer_range=self.recipe.initializer_range)
            torch.manual_seed(seed)
            student, (tokenizer, train, _) = MaskedLM.from_config(shape), self.texts("distilbert-alone")
            initialize_for_matching(student, counted(train, tokenizer))
            student.save_pretrained(folder)
            tokenizer.save_pretrained(folder, shape.max_tokens)
            (folder / "ready").touch()
        return folder

    def trainer(self, name: str, seed: int, rate: float, budget: Budget, folder: Path) -> CountingTrainer:
        """A run of a member from a seed."""
        tokenizer, train, validation = self.texts(name)
        settings = self.settings(name, seed)
        task = OBJECTIVES[settings.objective](train, validation, tokenizer, settings)
        model = self.model(task)
        training = TrainingSettings(
            learning_rate=rate,
            optimizer=self.recipe.optimizer,
            precision=self.recipe.precision,
            seed=seed,
            log_steps=20,
            validations=5,
            device="cpu",
        )
        return CountingTrainer(model, task, training, budget, folder, tokens_alone_faster(model))

    def model(self, task: Any) -> Any:
        """What is trained. A member that adds learned positions to its vectors starts with `matching`: as published it
        sits for ten minutes where it guesses by frequency alone. The others start as their authors do, but for the
        scale: the published standard deviation, 0.02, is for a width of 768; the recipe's is 0.02 · √(768 / 128).
        """
        settings, tokenizer = task.settings, task.tokenizer
        if settings.start or settings.teacher:
            return make_model(task)
        torch.manual_seed(settings.seed)
        member = architecture(settings.architecture)
        config = member.config.for_texts(
            settings.preset,
            settings.max_length,
            vocab_size=len(tokenizer),
            pad_token_id=tokenizer.pad_token_id,
            initializer_range=self.recipe.initializer_range,
            **dict.fromkeys(DROPOUTS, settings.dropout),
        )
        model = task.new_model(config)
        if member.matching is not None:
            for part in dict.fromkeys((task.filler(model), task.reader(model))):  # once, where both are one
                initialize_for_matching(part, counted(task.train_text, tokenizer))
        return model

    def pretrain(self, name: str, seed: int, rate: float, tokens: int, folder: Path) -> dict[str, Any]:
        """Train to the end, also where an earlier process was killed; the last weights are in folder/checkpoint.

        processor_seconds are those of the training loop with its saves and its looks at the validation text; where a
        process was killed, those of the last one, scaled up from the tokens that it read (measured_tokens) to all.
        """
        trainer = self.trainer(name, seed, rate, Budget(tokens=tokens), folder)
        model, tokenizer = trainer.bare_model, self.texts(name)[0]
        for part in model.folders:
            tokenizer.save_pretrained(folder / "checkpoint" / part, model.config.max_tokens)
        resume, start = begun(folder) and (folder / "resume.safetensors").exists(), time.process_time()
        trainer.run(resume)
        refuse_stopped(trainer)
        seconds, read = time.process_time() - start, max(1, trainer.read)
        figures = trainer.task.validate(model, trainer.torch_device)
        return {
            "rate": rate,
            "tokens": trainer.progress.tokens,
            "steps": trainer.progress.step,
            "processor_seconds": seconds * trainer.progress.tokens / read,
            "measured_tokens": trainer.read,
            "quality": trainer.task.quality(figures),
            "validation": figures,
        }


def counted(text: TokenizedText, tokenizer: Tokenizer) -> torch.Tensor:
    """How often each id stands in a text, [V]."""
    return torch.from_numpy(np.bincount(text.tokens, minlength=len(tokenizer)))


def refuse_stopped(trainer: Trainer) -> None:
    """Go no further with a run that Ctrl-C or SIGTERM has stopped: it is saved, and not at its end."""
    if trainer.stopped:
        raise KeyboardInterrupt

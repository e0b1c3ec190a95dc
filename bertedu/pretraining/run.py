"""A whole pre-training run: text, vocabulary, examples, model, training, evaluation, a folder with all of it."""

from collections.abc import Callable
from dataclasses import asdict
from itertools import product
from typing import Any, cast

import numpy as np
import torch

from bertedu.checkpoints.folder import find_folder
from bertedu.corpora import load_corpus
from bertedu.corpora.documents import Corpus
from bertedu.errors import UserError
from bertedu.files import quoted, write_json
from bertedu.inference import LanguageModel
from bertedu.model.architecture import architecture, architecture_in, tokenizer_in
from bertedu.pretraining.counted_start import initialize_by_counting
from bertedu.pretraining.evaluation import Evaluation
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.forecast import forecast, is_default
from bertedu.pretraining.initialization import initialize_for_matching
from bertedu.pretraining.members import member
from bertedu.pretraining.neighbors_start import initialize_for_neighbors
from bertedu.pretraining.new_vocabulary import with_vocabulary
from bertedu.pretraining.objectives.words import MaskedWords
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.pretraining.speed import training_speed
from bertedu.registry import OBJECTIVES
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.lost_marks import warn_of_lost_marks
from bertedu.training.devices import describe_machine
from bertedu.training.loop import Trainer
from bertedu.training.optimization import at_full_rate, tokens_alone_faster
from bertedu.training.processes import is_main_process
from bertedu.training.run_folder import begun, holding, refuse_begun


def make_task(corpus: Corpus, settings: PretrainingSettings) -> MaskedWords:
    """Learn the vocabulary from the training text, or take that of a model in the settings; tokenize all text."""
    if not any(document.sentences for document in corpus.train):
        raise UserError(f"the corpus {corpus.name} holds no training text: give more text.")
    if (given := settings.teacher or settings.start) and not settings.new_vocabulary:
        folder = find_folder(given)
        of = architecture_in(folder)
        if not settings.teacher and of.config.model_type != settings.architecture:
            raise UserError(
                f"{settings.start} holds a model of the type {of.config.model_type!r}, and the architecture is "
                f"{settings.architecture!r}: leave the architecture out."
            )
        tokenizer = tokenizer_in(folder)
        if isinstance(tokenizer, BertTokenizer) and tokenizer.normalization.strips_accents:
            warn_of_lost_marks(corpus.train_sentences())
    else:
        kind = architecture(settings.architecture).tokenizer
        letters = {"lowercase": not settings.cased} if member(settings.architecture).wordpiece else {}
        tokenizer = kind.train(corpus.train_sentences(), vocab_size=settings.vocab_size, **letters)
    train, validation = (tokenize_documents(part, tokenizer) for part in (corpus.train, corpus.validation))
    return OBJECTIVES[settings.objective](train, validation, tokenizer, settings)


def make_model(task: MaskedWords) -> LanguageModel:
    """A new model of the size that the settings name, initialized as they say; or the model settings.start;
    or a teacher's student.
    """
    settings, vocab_size = task.settings, len(task.tokenizer)
    counts = torch.from_numpy(np.bincount(task.train_text.tokens, minlength=vocab_size))
    torch.manual_seed(settings.seed)
    dropout = {"hidden_dropout_prob": settings.dropout, "attention_probs_dropout_prob": settings.dropout}
    if (given := task.given_model(**dropout)) is not None:
        model = fitting(given, settings)
        if settings.new_vocabulary:
            old = BertTokenizer.from_pretrained(find_folder(settings.start))
            return with_vocabulary(model, old, cast(BertTokenizer, task.tokenizer), counts)
        return model
    config = architecture(settings.architecture).config.for_texts(
        settings.preset,
        settings.max_length,
        vocab_size=vocab_size,
        pad_token_id=task.tokenizer.pad_token_id,
        **dropout,
    )
    model = task.new_model(config)
    if settings.initialization == "matching":
        for part in dict.fromkeys((task.filler(model), task.reader(model))):  # once, where both are one
            initialize_for_matching(part, counts)
    elif settings.initialization == "neighbors":
        initialize_for_neighbors(task.filler(model), task.train_text.tokens)
    elif settings.initialization == "counted":
        initialize_by_counting(task.filler(model), task.train_text.tokens)
    return model


def fitting(model: LanguageModel, settings: PretrainingSettings) -> LanguageModel:
    """The model, where its positions are enough. Raises UserError where they are not."""
    positions = model.config.max_tokens
    if settings.max_length > positions:
        raise UserError(
            f"max_length is {settings.max_length}, and {settings.start} has {positions} positions: give less."
        )
    return model


def pretrain(plan: Plan, say: Callable[[str], None] = print) -> dict[str, Any] | None:
    """Carry out a plan; returns what metrics.json holds, or None when the run was stopped by Ctrl-C.

    The plan's folder gets run.json (what was asked for), metrics.jsonl, tensorboard/, checkpoint/,
    checkpoint-best/ and at the end metrics.json. Raises UserError for a folder that holds a run already.
    """
    if not plan.resume:
        refuse_begun(plan.folder)
    say(f"reading {', '.join(plan.corpus)}")
    corpus = load_corpus(list(plan.corpus))
    for note in corpus.notes:
        say(f"  {note}")
    say("learning the vocabulary")
    task = make_task(corpus, plan.settings)
    model = make_model(task)
    resume = plan.resume and begun(plan.folder)  # asked before the processes meet in Trainer, so before one writes
    starts_with_neighbors = plan.settings.initialization == "neighbors" and not plan.settings.start
    needs_positions = starts_with_neighbors and plan.training.optimizer == "muon"
    pace = tokens_alone_faster(model) if needs_positions else at_full_rate
    trainer = Trainer(model, task, plan.training, plan.budget, plan.folder, pace)
    if not is_main_process():
        trainer.run(resume)
        return None
    with holding(plan.folder):
        if not plan.resume:
            refuse_begun(plan.folder)  # by another run, while this one was reading
        return train_and_evaluate(plan, corpus, task, model, trainer, resume, say)


def train_and_evaluate(
    plan: Plan,
    corpus: Corpus,
    task: MaskedWords,
    model: LanguageModel,
    trainer: Trainer,
    resume: bool,
    say: Callable[[str], None],
) -> dict[str, Any] | None:
    """The run from its first file to metrics.json, in a folder that nobody else writes into."""
    folder = plan.folder
    parameters = sum(parameter.numel() for parameter in model.parameters())
    if not resume:  # what is there must not change before it is known to be of the same run
        for name, part in product(("checkpoint", "checkpoint-best"), model.folders):
            task.tokenizer.save_pretrained(folder / name / part, model.config.max_tokens)
        plan.save()
    say(
        f"{len(task.train_text.tokens):,} tokens of text, {len(task.tokenizer):,} in the vocabulary; "
        f"{named(plan.settings)} with {parameters:,} parameters, "
        f"{trainer.precision} on {trainer.device}"
    )
    if plan.budget.minutes and not resume and is_default(plan.corpus, plan.settings):
        for sentence in forecast(training_speed(trainer.device, trainer.precision), plan.budget.minutes):
            say(f"  {sentence}")
    progress = trainer.run(resume)
    if trainer.stopped:
        say(f"stopped and saved: go on with `bertedu pretrain --resume {quoted(folder)}`")
        return None
    say("evaluating on held-out text")
    evaluation = Evaluation(task, corpus)
    figures = evaluation(model)
    for note in evaluation.notes:
        say(f"  {note}")
    results = {
        "corpus": corpus.name,
        "run": {**asdict(progress), "parameters": parameters, **describe_machine(trainer)},
        "evaluation": figures,
        "notes": [*corpus.notes, *evaluation.notes],
    }
    write_json(folder / "metrics.json", results)
    return results


def named(settings: PretrainingSettings) -> str:
    """What is trained, in a few words: where it comes from, or of a new model its size, and its member if not BERT."""
    if settings.start or settings.teacher:
        return settings.start or f"a student of {settings.teacher}"
    name = member(settings.architecture).name
    return settings.preset if settings.architecture == "bert" else f"{name} {settings.preset}"

"""What a pre-trained member is worth: fine-tuned, read by linear probes, as a language model, and what it costs.

Every member and seed gets the same rows, the same batches in the same order, the same learning rate and the same head:
a linear layer on the mean of the token vectors for a text, on each token's vector for tags and answers. The best epoch
by validation is scored on the test rows, once.
"""

import math
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from family_members import refuse_stopped
from finetuning import told
from public_sets import answers, inference, likeness, movies, names, parts_of_speech, shuffled
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from bertedu.checkpoints.folder import find_folder
from bertedu.corpora.documents import Corpus
from bertedu.corpora.task_data import read_labelled, read_questions, read_tagged
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.strategies import pace
from bertedu.inference import LanguageModel, open_model, span_vectors
from bertedu.interpretation.probing import Probe, tagged_vectors
from bertedu.model.architecture import architecture_in
from bertedu.registry import TASKS
from bertedu.tokenization import Tokenizer
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer, TrainingSettings

DATA = Path(__file__).resolve().parents[1] / "data" / "tasks"
Rows = list[Any]
Parts = tuple[Rows, Rows, Rows]
LEARNING_RATE = 5e-4  # as in chapter 10, whose model is twice as wide
PROBED = 400  # sentences of a probe, for each of training, validation and test
SENTENCES, SHORTEST, LONGEST = 120, 40, 120  # of the pseudo-perplexity; characters of a sentence


@dataclass(frozen=True)
class Exam:
    """A task: its kind, how its rows are read, the figure, and how many rows there are to train and to test on."""

    kind: str
    read: Callable[[Path], Parts]
    figure: str
    rows: int
    epochs: int
    max_length: int = 64
    most_test: int = 1000


def made(read: Callable[[Path], Rows], folder: str, ending: str) -> Callable[[Path], Parts]:
    """The reader of a task in data/tasks; the figures on file were measured on rows made of templates."""

    def parts(datasets: Path) -> Parts:
        train, validation, test = (read(DATA / folder / f"{part}.{ending}") for part in ("train", "validation", "test"))
        return shuffled(train), validation, test

    return parts


EXAMS = {
    "reviews": Exam("classification", made(read_labelled, "stress/sentiment", "tsv"), "accuracy", 1500, 4),
    "entities": Exam("entities", made(read_tagged, "stress/entities", "conll"), "f1", 1500, 4),
    "inference": Exam("classification", made(read_labelled, "stress/inference", "tsv"), "accuracy", 1800, 4),
    "questions": Exam("question-answering", made(read_questions, "stress/questions", "json"), "f1", 1200, 4),
    "films (MR)": Exam("classification", movies, "accuracy", 3000, 3),
    "posts (WNUT 17)": Exam("entities", names, "f1", 2000, 4),
    "NLI (CAD)": Exam("classification", inference, "accuracy", 2400, 3),
    "captions (STS)": Exam("regression", likeness, "spearman", 1000, 6),
    "answers (SQuAD)": Exam("question-answering", answers, "f1", 600, 3),
}


def rows_of(exam: Exam, datasets: Path, most: int | None = None) -> Parts:
    """The rows of a task, the same for every member and seed: the first of an order that is always the same."""
    train, validation, test = ([row for row in part if leaves_room(row)] for part in exam.read(datasets))
    test = shuffled(test)[: exam.most_test]
    train, validation = train[: exam.rows], shuffled(validation)[: exam.most_test // 2]
    return (train, validation, test) if most is None else (train[:most], validation[:most], test[:most])


def leaves_room(row: Any) -> bool:
    """Whether a window of 64 tokens holds some of the context beside the question, in every vocabulary."""
    return len(getattr(row, "question", "")) <= 90


def examined(exam: Exam, parts: Parts, model: Path, seed: int) -> dict[str, float]:
    """The figures of a model that is fine-tuned from one seed, on validation and test."""
    train, validation, test = parts
    kind, start = TASKS[exam.kind], time.process_time()
    member = architecture_in(find_folder(model))
    longest = min(exam.max_length, member.config.load(find_folder(model)).max_tokens)
    settings = FinetuningSettings(
        epochs=exam.epochs, max_length=longest, seed=seed, **{"pooling": "mean"} if exam.kind in POOLED else {}
    )
    torch.manual_seed(seed)
    network, task = kind.make(train, validation, member.tokenizer.from_pretrained(model), str(model), settings)
    steps = exam.epochs * len(task.epoch(0))
    training = TrainingSettings(
        learning_rate=LEARNING_RATE,
        warmup=0.1,
        betas=(0.9, 0.999),
        precision="fp32",
        seed=seed,
        validations=exam.epochs,
        device="cpu",
    )
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(network, task, training, Budget(steps=steps), folder, pace(settings, network))
        trainer.run()
        refuse_stopped(trainer)
        best = type(network).from_pretrained(Path(folder) / "checkpoint-best").to(trainer.torch_device)
        found = told(task, best, validation, test, exam.figure, trainer.precision)
    figures = {name: found[name] for name in ("validation", "test")}
    return {**figures, "processor_seconds": time.process_time() - start}


POOLED = ("classification", "regression")


def simple(exam: Exam, parts: Parts) -> dict[str, float]:
    """What needs no network gets on the same rows."""
    train, _, test = parts
    return {name: figures[exam.figure] for name, figures in TASKS[exam.kind].baselines(train, test).items()}


def probed(model: Path, datasets: Path, most: int | None = None) -> dict[str, float]:
    """Test accuracies of linear probes on frozen vectors, of the layer that is best on validation: the tag of a word
    (UD English EWT), and whether a film is praised (MR), by the mean of a sentence's vectors.
    """
    network, tokenizer = open_model(model)
    films = rows_of(EXAMS["films (MR)"], datasets, most)
    return {
        "probe: tags": best_layer(*(of_words(network, tokenizer, part[:most]) for part in tagged_parts(datasets))),
        "probe: films": best_layer(*(of_texts(network, tokenizer, part[: 2 * PROBED]) for part in films)),
    }


def tagged_parts(datasets: Path) -> list[Rows]:
    """Sentences for the probe of words, which fit whole in every vocabulary: no addresses, no lines of dashes."""
    parts = parts_of_speech(datasets)
    short = ([row for row in part if len(row.words) <= 20 and all(map(is_plain, row.words))] for part in parts)
    return [shuffled(part)[:PROBED] for part in short]


def is_plain(word: str) -> bool:
    """Whether a word is made of few pieces."""
    return word.isascii() and len(word) <= (15 if word.isalpha() else 3)


def of_words(network: LanguageModel, tokenizer: Tokenizer, rows: Rows) -> tuple[Tensor, list[str]]:
    """The vectors of words [N, L + 1, D], and their tags."""
    sentences = [list(zip(row.words, row.tags, strict=True)) for row in rows]
    tagged = tagged_vectors(network, tokenizer, sentences)
    return tagged.vectors, tagged.labels


def of_texts(network: LanguageModel, tokenizer: Tokenizer, rows: Rows) -> tuple[Tensor, list[str]]:
    """The mean vectors of texts [N, L + 1, D], and their labels; of a long text the words that fit."""
    texts = [that_fits(row.text, tokenizer, network.config.max_tokens) for row in rows]
    return span_vectors(network, tokenizer, texts, [[(0, len(text))] for text in texts]), [row.label for row in rows]


def that_fits(text: str, tokenizer: Tokenizer, most: int) -> str:
    """As many words from the beginning of a text as make at most so many tokens, special ones included."""
    words = text.split()
    while tokenizer(" ".join(words)).input_ids.size(1) > most:
        words.pop()
    return " ".join(words)


Labelled = tuple[Tensor, list[str]]


def best_layer(train: Labelled, validation: Labelled, test: Labelled) -> float:
    """The test accuracy of the probe on the layer that validation prefers."""
    probes = [Probe().fit(train[0][:, layer], train[1]) for layer in range(train[0].size(1))]
    scores = [probe.accuracy(validation[0][:, layer], validation[1]) for layer, probe in enumerate(probes)]
    layer = int(np.argmax(scores))
    return probes[layer].accuracy(test[0][:, layer], test[1])


def held_out_sentences(corpus: Corpus) -> list[str]:
    """Held-out sentences of modern prose: the teacher of the students has read the books. Plain letters and marks only,
    so that no vocabulary lacks one.
    """
    documents = corpus.heldout["held-out documents"]
    modern = [one for one in documents if not one.source[:5].isdigit()]
    found = {line for one in modern for line in one.sentences if SHORTEST <= len(line) <= LONGEST and line.isascii()}
    return shuffled(sorted(found))[:SENTENCES]


@torch.no_grad()
def word_nats(model: Path, sentences: Sequence[str]) -> dict[str, float]:
    """The pseudo-perplexity of a word and the bits for a character of masked language models.

    Each token is hidden in turn, with the later tokens of its word: else the rest of a word gives a piece of it away,
    and the vocabulary that cuts words smaller would seem to know more (Kauf & Ivanova 2023). Sums over tokens are
    divided by what all tokenizers share, words between spaces and characters.
    """
    network, tokenizer = open_model(model)
    nats = 0.0
    for sentence in sentences:
        nats += hidden_nats(network, tokenizer, sentence)
    words, characters = (sum(map(size, sentences)) for size in (lambda line: len(line.split()), len))
    return {"perplexity of a word": math.exp(nats / words), "bits per character": nats / characters / math.log(2)}


def hidden_nats(network: LanguageModel, tokenizer: Tokenizer, sentence: str) -> float:
    """Minus the log-probabilities of the tokens of a sentence, added up."""
    encoding = tokenizer(sentence)
    ids, spans = encoding.input_ids[0], encoding.offsets[0]
    tokens = [place for place, (start, end) in enumerate(spans) if start < end]
    word = {place: len(sentence[: spans[place][1]].split()) for place in tokens}
    hidden = torch.zeros(len(tokens), len(ids), dtype=torch.bool)
    for row, place in enumerate(tokens):
        hidden[row, [other for other in tokens if other >= place and word[other] == word[place]]] = True
    batch = {name: encoding[name].expand(len(tokens), -1) for name in encoding}
    batch["input_ids"] = batch["input_ids"].masked_fill(hidden, tokenizer.mask_token_id)
    logits = network(**batch, masked_positions=hidden).prediction_logits.float()  # in reading order, row by row
    first = (hidden.long().cumsum(dim=1) == 1) & hidden  # of each row the token asked for
    return float(cross_entropy(logits[first[hidden]], ids[tokens], reduction="sum"))


def cost(trainer: Trainer) -> dict[str, float]:
    """What a member costs: parameters, of what is kept and of all that is trained, and bytes of one step, counted."""
    model, task = trainer.bare_model, trainer.task
    kept = task.reader(model)
    portion = next(trainer._portions())
    held: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        held[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor), trainer._numbers():
        loss = sum(value for name, value in task.sums(model.train(), portion.batch).items() if name.endswith("_loss"))
    del loss
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    activations = sum(size for at, size in held.items() if at not in weights)
    trainer._step(portion, 0.5)
    kept_by_optimizers = (of for one in trainer.optimizers for of in one.state.values())
    states = sum(value.nbytes for of in kept_by_optimizers for value in of.values() if isinstance(value, Tensor))
    trained = sum(weight.nbytes for weight in model.parameters())
    return {
        "parameters": parameters(kept),
        "trained parameters": parameters(model),
        "megabytes of a step": (2 * trained + states + activations) / 1e6,
    }


def parameters(model: nn.Module) -> int:
    """How many weights a model has, shared ones once."""
    return sum(weight.numel() for weight in model.parameters())


@torch.no_grad()
def milliseconds(models: Mapping[str, tuple[Any, Tokenizer]], length: int = 64, rounds: int = 60) -> dict[str, float]:
    """The median processor time of each model's encoder for one text of so many tokens, in float32.

    The models take turns, so that other work on the machine slows down all of them.
    """
    times: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(rounds + 3):
        for name, (model, tokenizer) in models.items():
            encoder = model.get_submodule(model.encoder_name).eval()
            ids = torch.randint(10, len(tokenizer), (1, min(length, model.config.max_tokens)))
            start = time.process_time()
            encoder(ids, torch.ones_like(ids), torch.zeros_like(ids))
            times[name].append(1000 * (time.process_time() - start))
    return {name: statistics.median(of[3:]) for name, of in times.items()}

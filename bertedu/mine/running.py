"""A my_bert.py that runs: which of its parts are called, how long each takes, and what the whole says."""

import contextlib
import functools
import io
import linecache
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from bertedu.course.data import data_path
from bertedu.course.keeping import Answer
from bertedu.course.parts import PARTS
from bertedu.inference import fill_mask
from bertedu.mine.writing import my_bert, section_of
from bertedu.model import BertForPreTraining
from bertedu.tokenization import BertTokenizer

CHECKPOINT = "checkpoints/world-tiny"
FILE = "my_bert.py"
LENGTH = 40  # tokens of a text with its padding
MASKS = (  # of chapter 00
    *(f"A young [MASK] is called a {young}." for young in ("kitten", "duckling", "puppy", "lamb")),
    "The capital of France is [MASK].",
    "The capital of Atlantis is [MASK].",
    "A young piano is called a [MASK].",
    "Bananas speak [MASK].",
    "Paris is the capital of [MASK].",
    "The people of Brazil speak [MASK].",
)
HEADS = {"dense": "masked_lm.dense", "norm": "masked_lm.norm", "bias": "masked_lm.decoder.bias"}


class Fault(Exception):
    """What is wrong with what a program gives, in a sentence."""


class Program:
    """The program made of some answers, loaded. `calls` and `seconds` count by exercise, a part in another left out."""

    def __init__(self, answers: Mapping[str, Answer]):
        self.text = my_bert(answers)
        self.yours = [part for part in PARTS if part.number in answers]
        self.calls: Counter[str] = Counter()
        self.seconds: dict[str, float] = defaultdict(float)
        self.prints: set[str] = set()
        self.printed, self.told = io.StringIO(), 0  # what parts printed, and how much of it is known to be whose
        self.inside: list[float] = []  # of each part that is being called, the seconds that others took in it
        self.module: Any = ModuleType("my_bert")
        linecache.cache[FILE] = (len(self.text), None, self.text.splitlines(keepends=True), FILE)
        with self.quietly():
            exec(compile(self.text, FILE, "exec"), vars(self.module))
        for part in PARTS:
            self.watch(part.number, part.name)
        self.model, self.vocab = self.load(data_path(CHECKPOINT))

    def load(self, folder: Any) -> tuple[Any, dict[str, int]]:
        """The model and the vocabulary in a folder."""
        with self.quietly():
            return self.module.load(folder)

    def quietly(self) -> contextlib.AbstractContextManager:
        """What parts print goes nowhere while this lasts."""
        return contextlib.redirect_stdout(self.printed)

    def watch(self, number: str, name: str) -> None:
        """Count the calls of a part: of a function, or of what a class has in place of it."""
        part = getattr(self.module, name)
        if isinstance(part, type):
            for method in ("__init__", "forward"):
                setattr(part, method, self.counted(number, getattr(part, method)))
        else:
            setattr(self.module, name, self.counted(number, part))

    def counted(self, number: str, function: Callable) -> Callable:
        """A function that counts its calls and its own seconds."""

        @functools.wraps(function)
        def call(*inputs: Any, **named: Any) -> Any:
            self.calls[number] += 1
            start = time.perf_counter()
            self.inside.append(0.0)
            try:
                return function(*inputs, **named)
            finally:
                spent = time.perf_counter() - start
                self.seconds[number] += spent - self.inside.pop()
                if self.inside:
                    self.inside[-1] += spent
                if self.printed.tell() > self.told:
                    self.prints.add(number)
                    self.told = self.printed.tell()

        return call

    def lit(self) -> set[str]:
        """The reader's parts that were called."""
        return {part.number for part in self.yours if self.calls[part.number]}

    def batch(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """Texts as the program makes a batch of them, all of one length [B, T]."""
        with self.quietly():
            rows = [self.module.encode(self.module.ids_of(text, self.vocab), None, LENGTH) for text in texts]
        return {name: torch.cat([row[name] for row in rows]) for name in rows[0]}

    def scores(self, texts: Sequence[str], dtype: torch.dtype = torch.float32) -> tuple[list[Tensor], Tensor]:
        """All hidden states and the scores of words for a batch of texts."""
        batch = self.batch(texts)
        with self.quietly(), torch.no_grad():
            states, words, _ = self.model.to(dtype)(**batch)
            self.model.float()
        return list(states), words

    def fill(self, text: str) -> str:
        """The most probable word for the mask of a text."""
        with self.quietly():
            return self.module.fill_mask(self.model, self.vocab, text)

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        """The weights under their names in the package's BertForPreTraining."""
        for name, weight in self.module.weights_of(self.model).items():
            head, _, last = name.rpartition(".")
            if name.startswith(("embeddings.", "encoder.", "pooler.")):
                yield f"bert.{name}", weight
            elif name.startswith("next_sentence."):
                yield name, weight
            else:
                yield HEADS.get(name) or f"{HEADS[head]}.{last}", weight


@functools.cache
def package() -> tuple[BertForPreTraining, BertTokenizer]:
    """The package's model of the same checkpoint, and its tokenizer."""
    folder = data_path(CHECKPOINT)
    return BertForPreTraining.from_pretrained(folder).eval(), BertTokenizer.from_pretrained(folder)


@functools.cache
def package_fills() -> dict[str, str]:
    """What the package says for each mask of chapter 00."""
    return {text: fill_mask(*package(), text, top=1)[0][0][0] for text in MASKS}


def differences(program: Program) -> tuple[float, float]:
    """The largest difference from the package, of all hidden states and of the scores, where there is text. Raises
    Fault where there are other tokens, or other shapes."""
    model, tokenizer = package()
    with program.quietly():
        for text in MASKS:
            ids = list(program.module.ids_of(text, program.vocab))
            if ids != tokenizer.encode(text):
                raise Fault(f"{text!r} becomes the ids {ids}, and the package's tokenizer gives others")
    batch = program.batch(MASKS)
    with torch.no_grad():
        expected = model(**batch, output_hidden_states=True)
    states, scores = program.scores(MASKS)
    real, pairs = batch["attention_mask"].bool(), list(zip(states, expected.hidden_states, strict=False))
    if len(states) != len(expected.hidden_states) or any(one.shape != other.shape for one, other in pairs):
        raise Fault("the hidden states have other shapes than the package's")
    hidden = max(float((one - other)[real].abs().max()) for one, other in pairs)
    return hidden, float((scores - expected.prediction_logits)[real].abs().max())


def where(error: BaseException) -> tuple[str | None, str]:
    """In which part of the program that was loaded last something was raised, and the line."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == FILE]
    if not lines:
        return None, ""
    program = linecache.getlines(FILE)
    return section_of("".join(program), lines[-1]), program[lines[-1] - 1].strip()


def optimizer_of(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    """torch's AdamW with the numbers of exercise 8.2."""
    return torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01)

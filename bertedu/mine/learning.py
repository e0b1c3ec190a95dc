"""Pre-training of a my_bert.py beside the package's BERT: the same texts, the same batches, the same first weights."""

import random
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from bertedu.corpora.documents import Document
from bertedu.corpora.world import world_corpus
from bertedu.course.data import data_path
from bertedu.mine.running import CHECKPOINT, LENGTH, Fault, Program, optimizer_of, package
from bertedu.model import BertForPreTraining
from bertedu.pretraining.examples import tokenize_documents
from bertedu.pretraining.sentence_pairs import PairMaker, Stretch, TokenizedText, Truncate

Part = dict[str, Tensor]
HIDDEN = 5  # tokens of a pair that are asked for: as many in each, so that a pair weighs the same in every part
TRIAL = (  # two texts, long enough for two steps with pairs that have to be truncated
    "Paris is the capital of France. The people of France speak French. Bread and cheese are eaten there every day. "
    "A baker makes bread in a bakery. He gets up early in the morning. The bread is sold in the shop.",
    "A young cat is called a kitten. Cats hunt mice at night. The moon goes around the earth once a month. "
    "The sun is a star, and the earth goes around it once a year. A cat sleeps for most of the day.",
)
RATE, WARMUP = 0.002, 40  # the highest learning rate, and the steps until it is reached
EVERY = 5  # steps between two points of a curve


def by_lists(cut: Callable) -> Truncate:
    """Exercise 7.2, which takes two lists of tokens, as what making pairs calls: it has starts and stops."""

    def truncate(first: Stretch, second: Stretch, most: int, rng: random.Random) -> tuple[Stretch, Stretch]:
        one, two = cut(list(range(*first)), list(range(*second)), most, rng)
        return stretch(one, first), stretch(two, second)

    return truncate


def stretch(kept: Any, given: Stretch) -> Stretch:
    """Start and stop of the tokens that were kept."""
    return (kept[0], kept[-1] + 1) if kept else (given[0], given[0])


def batches(program: Program, text: TokenizedText, size: int, rng: random.Random) -> Iterator[list[Part]]:
    """Batches of pairs without end, each in two parts, made by the reader's 7.2, 1.4 and 6.2."""
    maker = PairMaker(text, LENGTH, short_share=0.0, truncate=by_lists(program.module.cut))
    while True:
        with program.quietly():
            pairs = [pair for pair in maker.next_sentence_pairs(rng) if len(pair) >= 2 * HIDDEN]
        if any(len(pair) > LENGTH - 3 for pair in pairs):
            raise Fault("a pair is longer than the model takes")
        rng.shuffle(pairs)
        for start in range(0, len(pairs) - size + 1, size):
            chosen = pairs[start : start + size]
            with program.quietly():
                yield [part_of(program, text, chosen[half::2]) for half in (0, 1)]


def part_of(program: Program, text: TokenizedText, pairs: list) -> Part:
    """Some pairs as tensors, with masks and labels."""
    module = program.module
    rows = [
        module.encode(text.tokens[slice(*pair.first)].tolist(), text.tokens[slice(*pair.second)].tolist(), LENGTH)
        for pair in pairs
    ]
    part: Part = {name: torch.cat([row[name] for row in rows]) for name in rows[0]}
    input_ids = part["input_ids"]
    order = torch.rand(input_ids.shape).masked_fill(input_ids < 5, 2.0)  # special tokens come last
    chosen = torch.zeros_like(input_ids).scatter(1, order.argsort(dim=1)[:, :HIDDEN], 1).bool()
    seen, labels = module.corrupt(input_ids.clone(), chosen.clone(), program.vocab["[MASK]"], len(program.vocab))
    if not torch.equal(labels, input_ids.masked_fill(~chosen, -100)):
        raise Fault("the labels are not the ids of the chosen tokens")
    if not torch.equal(seen[~chosen], input_ids[~chosen]):
        raise Fault("tokens that were not chosen have changed")
    label = torch.tensor([pair.label for pair in pairs])
    return part | {"input_ids": seen, "labels": labels, "next_sentence_label": label}


class Beside:
    """The package's BERT and torch's AdamW, on the batches of a program."""

    def __init__(self, model: BertForPreTraining, rate: float):
        self.model, self.optimizer = model.train(), optimizer_of(model, rate)

    def step(self, parts: list[Part], rate: float) -> float:
        """One step for a whole batch; returns its loss."""
        batch = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        loss = self.model(**batch).loss
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())


def try_two_steps(program: Program) -> None:
    """Two steps on a few sentences, which must change the weights as the package's two steps do. Raises Fault where
    they do not."""
    _, tokenizer = package()
    documents = [Document(tuple(f"{one}." for one in text.rstrip(".").split(". ")), "") for text in TRIAL]
    text = tokenize_documents(documents, tokenizer)
    averages: dict[Tensor, list[Tensor]] = {}
    beside = Beside(deepcopy(package()[0]), 0.001)
    program.model, _ = program.load(data_path(CHECKPOINT))
    for step, parts in enumerate(islice(batches(program, text, 4, random.Random(0)), 2), start=1):
        with program.quietly():
            program.module.training_step(program.model, averages, parts, step, 0.001)
        beside.step(parts, 0.001)
    expected = dict(beside.model.named_parameters())
    moved = [(weight - expected[name]).detach().abs().flatten() for name, weight in program.weights()]
    apart = float(torch.cat(moved).mean())  # the bias of keys has no gradient but rounding, which Adam scales up
    program.model, _ = program.load(data_path(CHECKPOINT))
    if not apart < 1e-6:
        raise Fault(f"after two steps of training, weights differ by {apart:.2g} from the package's on average")


@dataclass
class Learned:
    """Two curves of the loss by steps, the reader's and the package's, and the seconds of each."""

    steps: list[int] = field(default_factory=list)
    yours: list[float] = field(default_factory=list)
    package: list[float] = field(default_factory=list)
    seconds: float = 0.0
    package_seconds: float = 0.0

    @property
    def count(self) -> int:
        """The steps that were made."""
        return self.steps[-1] if self.steps else 0

    def sentence(self) -> str:
        """What the two curves show."""
        first, last = (f"{self.yours[at]:.1f} (the package's {self.package[at]:.1f})" for at in (0, -1))
        return f"The loss of words and pairs over {self.count} steps: from {first} to {last}."


@cache
def world() -> TokenizedText:
    """The training text of the small world as ids."""
    return tokenize_documents(world_corpus().train, package()[1])


def learn(program: Program, seconds: float) -> Learned:
    """Train a new model for about so many seconds, and the package's beside it: on the same batches, from the same
    weights. The time is that of the reader's steps."""
    torch.manual_seed(0)
    fresh = BertForPreTraining(package()[0].config)
    with TemporaryDirectory() as folder:
        fresh.save_pretrained(folder)
        package()[1].save_pretrained(folder)
        program.model, _ = program.load(folder)
    averages: dict[Tensor, list[Tensor]] = {}
    beside, learned = Beside(fresh, RATE), Learned()
    for step, parts in enumerate(batches(program, world(), 32, random.Random(0)), start=1):
        rate = RATE * min(1.0, step / WARMUP)
        with program.quietly():
            own = loss_of(program, parts) if step % EVERY in (0, 1) else None
            begun = time.perf_counter()
            program.module.training_step(program.model, averages, parts, step, rate)
        middle = time.perf_counter()
        other = beside.step(parts, rate)
        learned.seconds += middle - begun
        learned.package_seconds += time.perf_counter() - middle
        if own is not None:
            learned.steps.append(step)
            learned.yours.append(own)
            learned.package.append(other)
        if learned.seconds >= seconds:
            return learned
    raise AssertionError("batches come without end")


def loss_of(program: Program, parts: list[Part]) -> float:
    """The loss of a batch before a step."""
    with torch.no_grad():
        sums = [program.module.summed_loss(program.model, part) for part in parts]
    return float(sum(float(one) for one, _ in sums) / sum(count for _, count in sums))

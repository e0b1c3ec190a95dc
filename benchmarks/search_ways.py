"""The searches of search.py: how each is trained, and what the table calls it."""

import json
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import torch
from search_sets import DATA, Room

from bertedu.files import write_json
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.starting import with_new_head
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel
from bertedu.finetuning.tasks.similarity import SentenceEncoder
from bertedu.model.heads import MaskedLM
from bertedu.search.collection import with_hard_negatives
from bertedu.search.contrastive import ContrastiveTask
from bertedu.search.dense import DenseRetriever, DenseSearch
from bertedu.search.hits import Search
from bertedu.search.late_interaction import LateInteraction, LateRetriever, LateSearch
from bertedu.search.levels import level_logits
from bertedu.search.reranking import LateReranking, RerankedSearch, fitted_share, reranking_task
from bertedu.search.sparse import SparseRetriever, SparseSearch
from bertedu.tokenization import BertTokenizer
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer
from bertedu.training.settings import TrainingSettings

CHECKPOINT = str(DATA / "checkpoints" / "mixed-mini")
RATE = 3e-4  # of all
START = "start of the cross-encoder"  # late interaction, once more: its weights already compare words
BATCH = {"bi-encoder": 32, "late interaction": 32, "SPLADE": 32, START: 32, "cross-encoder": 16}
NEGATIVES, DEPTH = 3, 20  # of the cross-encoder: so many, drawn from BM25's first wrong hits
LEVEL_STEPS = 150  # of SPLADE's head, before it learns to search
# Steps, by set. Those of the first three are 12 to 39 seconds of a core, SPLADE's 43 to 166 with its levelling, and not
# chosen by any result. The cross-encoder's are what time allowed; what was tried on validation: see the README.
STEPS = {
    "public": {"bi-encoder": 60, "late interaction": 50, "SPLADE": 40, START: 50, "cross-encoder": 160},
    "stories": {"bi-encoder": 60, "late interaction": 50, "SPLADE": 40, START: 50, "cross-encoder": 240},
}


class RememberingSearch(RerankedSearch):
    """A reranked search that scores no pair twice: ways of the table share `known`. None is for timing."""

    known: dict[tuple[str, int], float] | None = None

    def scores(self, question: str, numbers: Sequence[int]) -> list[float]:
        """The cross-encoder's scores, [C]."""
        if self.known is None:
            return super().scores(question, numbers)
        new = [number for number in numbers if (question, number) not in self.known]
        scored = zip(new, super().scores(question, new), strict=True)
        self.known.update({(question, number): score for number, score in scored})
        return [self.known[question, number] for number in numbers]


class Trained:
    """The searches of one room that learn, from one seed."""

    def __init__(self, room: Room, seed: int, tokenizer: BertTokenizer, work: Path, share: float):
        self.room, self.seed, self.tokenizer, self.share = room, seed, tokenizer, share
        self.work = work / f"{room.name}-{seed}"
        self.seconds: dict[str, float] = {}
        self.known: dict[tuple[str, int], float] = {}  # scores of the cross-encoder

    def model(self, way: str, kind: Any, new: Callable[[], Any], task_of: Callable[..., Any]) -> Any:
        """The model of a way, trained or as it was saved after its training. Those that make the cross-encoder learn
        only from the questions that are not held out.
        """
        steps = max(1, round(STEPS[self.room.name][way] * self.share))
        folder, done = self.work / f"{way.replace(' ', '-')}-{steps}", self.work / f"{way}-{steps}.json"
        if done.exists():
            self.seconds[way] = json.loads(done.read_text(encoding="utf-8"))["seconds"]
            return kind.from_pretrained(folder / "checkpoint")
        settings = FinetuningSettings(batch_size=BATCH[way], pooling="mean", seed=self.seed)
        torch.manual_seed(self.seed)
        start = time.process_time()
        model = new()
        rows = self.room.remaining if way == START else self.room.train
        if way == "cross-encoder":
            without = self.room.not_negative
            rows = with_hard_negatives(self.room.remaining, self.room.bm25, NEGATIVES, DEPTH, without, self.seed)
        task = task_of(rows, [], self.room.collection.passages, self.tokenizer, settings)
        training = TrainingSettings(RATE, seed=self.seed, device="cpu", validations=0, log_steps=10, warmup=0.1)
        trainer = Trainer(model, task, training, Budget(steps=steps), folder)
        trainer.run()
        if trainer.stopped:  # a model that learned for fewer steps must not be taken for this one
            raise SystemExit(f"{way} was stopped in its training.")
        self.seconds[way] = round(time.process_time() - start, 1)
        write_json(done, {"seconds": self.seconds[way]})
        return model.eval()

    def with_retriever(self, retriever: Any) -> Callable[..., ContrastiveTask]:
        return lambda *given: ContrastiveTask(retriever, *given)

    def sentence_encoder(self) -> SentenceEncoder:
        return with_new_head(SentenceEncoder, CHECKPOINT, FinetuningSettings(pooling="mean"), pooling="mean")

    def not_trained(self) -> DenseSearch:
        return DenseSearch(self.sentence_encoder(), self.tokenizer, self.room.collection.passages)

    @cached_property
    def dense(self) -> DenseSearch:
        task = self.with_retriever(DenseRetriever())
        model = self.model("bi-encoder", SentenceEncoder, self.sentence_encoder, task)
        return DenseSearch(model, self.tokenizer, self.room.collection.passages)

    def late_model(self, way: str) -> LateInteraction:
        def new() -> LateInteraction:
            return with_new_head(LateInteraction, CHECKPOINT, FinetuningSettings())

        return self.model(way, LateInteraction, new, self.with_retriever(LateRetriever()))

    @cached_property
    def late(self) -> LateSearch:
        return LateSearch(self.late_model("late interaction"), self.tokenizer, self.room.collection.passages)

    @cached_property
    def sparse(self) -> SparseSearch:
        passages = self.room.collection.passages

        def new() -> MaskedLM:
            model = MaskedLM.from_pretrained(CHECKPOINT)
            level_logits(model, self.tokenizer, passages, max(1, round(LEVEL_STEPS * self.share)), self.seed)
            return model

        model = self.model("SPLADE", MaskedLM, new, self.with_retriever(SparseRetriever()))
        return SparseSearch(model, self.tokenizer, passages)

    @cached_property
    def cross_encoder(self) -> ChoiceModel:
        start = self.late_model(START).encoder.state_dict()

        def new() -> ChoiceModel:
            model = with_new_head(ChoiceModel, CHECKPOINT, FinetuningSettings())  # the pooler is the checkpoint's
            model.encoder.load_state_dict({**model.encoder.state_dict(), **start})
            return model

        model = self.model("cross-encoder", ChoiceModel, new, reranking_task)
        self.seconds["cross-encoder"] = round(self.seconds["cross-encoder"] + self.seconds[START], 1)
        return model

    def reranked(self, first: Search) -> RememberingSearch:
        search = RememberingSearch(first, self.cross_encoder, self.tokenizer, self.room.collection.passages, DEPTH)
        search.known = self.known
        return search

    def added(self) -> RememberingSearch:
        """BM25's and the cross-encoder's scores in the share that suits the validation questions."""
        search = self.reranked(self.room.bm25)
        search.share = fitted_share(search, self.room.validation)
        return search


class Way(NamedTuple):
    """A line of the table: how its search is made, and which model's training time it tells, if it learns."""

    make: Callable[[Trained], Search]
    model: str = ""


WAYS = {
    "BM25": Way(lambda it: it.room.bm25),
    "bi-encoder, not trained": Way(Trained.not_trained),
    "bi-encoder": Way(lambda it: it.dense, "bi-encoder"),
    "late interaction": Way(lambda it: it.late, "late interaction"),
    "SPLADE": Way(lambda it: it.sparse, "SPLADE"),
    "BM25, reranked": Way(lambda it: it.reranked(it.room.bm25), "cross-encoder"),
    "BM25, reranked, scores added": Way(Trained.added, "cross-encoder"),
    "bi-encoder, reranked": Way(lambda it: it.reranked(it.dense), "cross-encoder"),
    "BM25, late interaction on its hits": Way(
        lambda it: LateReranking(it.room.bm25, it.late, DEPTH), "late interaction"
    ),
    "BM25, late interaction on its hits, scores added": Way(
        lambda it: LateReranking(it.room.bm25, it.late, DEPTH, share=0.5), "late interaction"
    ),
}

"""The two collections of search.py: their passages, the questions learned from, and those asked."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bertedu.corpora.task_data import read_questions
from bertedu.search.bm25 import BM25Search
from bertedu.search.collection import Asked, Collection
from bertedu.tokenization import BertTokenizer

DATA = Path(__file__).resolve().parents[1] / "data"
MOST_TOKENS = 64  # of a passage
ASKED = 300  # of the questions of XQuAD, always the same
HELD_OUT = 100  # at most, of the training questions
BLOCK = 20  # passages that stand beside each other, so from the same article: they are held out together


@dataclass
class Room:
    """A set: its passages, the questions learned from, and those asked."""

    name: str
    collection: Collection
    train: list[Asked]
    test: list[Asked]

    @cached_property
    def bm25(self) -> BM25Search:
        return BM25Search(self.collection.passages)

    @cached_property
    def held_out(self) -> set[int]:
        """An eighth of the training passages, in blocks: the cross-encoder's validation questions are about them."""
        numbers = sorted({row.passage for row in self.train})
        blocks = [numbers[start : start + BLOCK] for start in range(0, len(numbers), BLOCK)]
        drawn = random.Random("validation").sample(blocks, max(1, len(blocks) // 8))
        return {number for block in drawn for number in block}

    @property
    def remaining(self) -> list[Asked]:
        """The training questions without those that are held out."""
        return [row for row in self.train if row.passage not in self.held_out]

    @cached_property
    def validation(self) -> list[Asked]:
        """Some of the questions that are held out."""
        rows = [row for row in self.train if row.passage in self.held_out]
        return random.Random("validation").sample(rows, min(HELD_OUT, len(rows)))

    @property
    def not_negative(self) -> set[int]:
        """The passages that a cross-encoder isn't told are wrong: those that answer a question that it doesn't know."""
        return self.held_out | {row.passage for row in self.test}


def token_count(tokenizer: BertTokenizer) -> Callable[[str], int]:
    """How many tokens a text has, without [CLS] and [SEP]."""
    return lambda text: len(tokenizer.encode(text))


def public(folder: Path, tokenizer: BertTokenizer) -> Room:
    """Learn on SQuAD, ask XQuAD's questions; what XQuAD holds is not learned from."""
    learned = read_questions(folder / "squad_v2_half_dev" / "dev-v2.0.json.gz")
    asked = read_questions(folder / "xquad_en" / "xquad.en.json.gz")
    contexts = {row.context.strip() for row in asked}
    collection, size = Collection(), token_count(tokenizer)
    test = collection.add_questions(asked, MOST_TOKENS, size)
    train = collection.add_questions([row for row in learned if row.context.strip() not in contexts], MOST_TOKENS, size)
    tested = {one.passage for one in test}
    test = random.Random("asked").sample(test, ASKED)
    return Room("public", collection, [one for one in train if one.passage not in tested], test)


def stories(tokenizer: BertTokenizer) -> Room:
    """The course's own questions: learn on the training stories, ask those on the test stories."""
    collection, size = Collection(), token_count(tokenizer)
    folder = DATA / "tasks" / "stress" / "questions"
    parts = {
        name: collection.add_questions(read_questions(folder / f"{name}.json"), MOST_TOKENS, size)
        for name in ("train", "validation", "test")
    }
    return Room("stories", collection, parts["train"], parts["test"])

"""What is searched and what is asked: passages, and questions of which each has one passage that answers it."""

import random
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace

from bertedu.corpora.readers import Question
from bertedu.errors import UserError
from bertedu.search.hits import Search
from bertedu.segmentation import joined, split_sentences


@dataclass(frozen=True)
class Asked:
    """A question, the number of the passage that answers it, and the numbers of some that look like it and do not."""

    question: str
    passage: int
    negatives: tuple[int, ...] = ()


@dataclass
class Collection:
    """Passages by number, each text once. Texts that are added get the next numbers."""

    passages: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def add(self, passage: str) -> int:
        """The number of a passage."""
        if passage not in self.numbers:
            self.numbers[passage] = len(self.passages)
            self.passages.append(passage)
        return self.numbers[passage]

    def add_questions(self, rows: Sequence[Question], most: int, size: Callable[[str], int]) -> list[Asked]:
        """Add the contexts of these questions, cut into passages of at most `most` by `size`, and say which passage
        each question is answered by: the one in which its first answer begins.

        A question without an answer adds its context, and is not asked. Returns one entry for each answered question.
        """
        asked = []
        cut: dict[str, list[str]] = {}
        for row in rows:
            if row.context not in cut:
                cut[row.context] = cut_context(row.context, most, size)
                for passage in cut[row.context]:
                    self.add(passage)
            if row.answers and not row.is_impossible:
                passage = passage_with(cut[row.context], row.context, row.answers[0].start)
                asked.append(Asked(row.question, self.add(passage)))
        return asked


def cut_context(context: str, most: int, size: Callable[[str], int]) -> list[str]:
    """A context as passages of whole sentences, each as long as fits in `most`. A sentence that is longer stands alone.

    White space inside of it becomes single spaces, and none where Chinese or Japanese goes on in the next line.
    """
    passages: list[str] = []
    for sentence in split_sentences(context):
        longer = joined((passages[-1], sentence)) if passages else ""
        if passages and size(longer) <= most:
            passages[-1] = longer
        else:
            passages.append(sentence)
    return passages


def passage_with(passages: Sequence[str], context: str, start: int) -> str:
    """The one of a context's passages in which the character at `start` of the context stands.

    White space may differ between them, so the other characters are counted. Raises UserError for a position beyond the
    context.
    """
    before = len("".join(context[:start].split()))
    for passage in passages:
        before -= len("".join(passage.split()))
        if before < 0:
            return passage
    raise UserError(f"an answer begins at character {start} of a text of {len(context)}: correct answer_start.")


def with_hard_negatives(
    asked: Sequence[Asked],
    search: Search,
    count: int,
    depth: int | None = None,
    without: Set[int] = frozenset(),
    seed: int = 0,
) -> list[Asked]:
    """The questions, each with `count` wrong passages among the best that a search finds for it: the first ones, or,
    with a depth, a random draw from the first `depth` wrong hits.

    Karpukhin et al. 2020 (section 3.2) take those of BM25; Gao et al. 2021 draw from the hits that are to be reranked.
    without: passages that are no negatives, such as those that answer test questions: a model that is told only that
    they are wrong may remember it. A passage that answers the question too, and is not known to, becomes a false
    negative. Raises UserError where the search finds too few.
    """
    rng, most = random.Random(f"{seed} negatives"), max(count, depth or 0)
    found = search.search([one.question for one in asked], most + 1 + len(without))
    filled = []
    for one, hits in zip(asked, found, strict=True):
        wrong = [number for number, _ in hits if number != one.passage and number not in without][:most]
        if len(wrong) < count:
            raise UserError(
                f"a search finds {len(wrong)} wrong passages for {one.question[:40]!r}, and {count} are asked for: ask "
                "for fewer."
            )
        filled.append(replace(one, negatives=tuple(rng.sample(wrong, count) if depth else wrong[:count])))
    return filled

"""A text, or a pair of texts, as the numbers that a graph takes; and many of them as one padded batch.

Shapes: B batch, T tokens, M masked positions of a text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertedu.errors import UserError
from bertedu.production.graphs import POSITIONS
from bertedu.production.uses import TAGS, WORDS
from bertedu.tokenization import Tokenizer

WORD = re.compile(r"\w+|[^\w\s]")
MOST_MASKS = 16
Arrays = dict[str, np.ndarray]


class TooLong(UserError):
    """A text has more tokens than the model reads."""


@dataclass(frozen=True, slots=True)
class Question:
    """One text or pair as numbers, not padded. marks: the positions of its masked tokens, or of the first pieces of
    its words; spans: where those words stand in the text.
    """

    ids: list[int]
    types: list[int]
    marks: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()

    def __len__(self) -> int:
        return len(self.ids)


def ask(tokenizer: Tokenizer, use: str, max_tokens: int, text: str, pair: str | None = None) -> Question:
    """A text, or a pair, as a question. Raises UserError for one that cannot be answered: too long, no mask."""
    if use == TAGS:
        return tagging_question(tokenizer, max_tokens, text, pair)
    text = tokenizer.with_mask(text) if use == WORDS else text
    second = None if pair is None else tokenizer.encode(pair)
    ids, types = tokenizer.layout.sequence(tokenizer.encode(text), second)
    check_length(len(ids), max_tokens)
    if use != WORDS:
        return Question(ids, types)
    marks = tuple(at for at, one in enumerate(ids) if one == tokenizer.mask_token_id)
    if not 1 <= len(marks) <= MOST_MASKS:
        raise UserError(
            f"the text has {len(marks)} [MASK]: write [MASK] for each word that is to be guessed, at most {MOST_MASKS}."
        )
    return Question(ids, types, marks)


def tagging_question(tokenizer: Tokenizer, max_tokens: int, text: str, pair: str | None) -> Question:
    """A sentence cut into words and signs; a word without a piece (a control character) becomes [UNK]."""
    if pair is not None:
        raise UserError("this model tags the words of one text: leave out the second.")
    found = list(WORD.finditer(text))
    ids: list[int] = []
    first: list[int] = []
    for match in found:
        pieces = tokenizer.encode_after_space(match.group()) or [tokenizer.unk_token_id]
        ids += pieces
        first += [1] + [0] * (len(pieces) - 1)
    row, types = tokenizer.layout.sequence(ids)
    check_length(len(row), max_tokens)
    marks = tuple(at for at, one in enumerate(tokenizer.layout.beside(0, first)) if one)
    return Question(row, types, marks, tuple(match.span() for match in found))


def check_length(tokens: int, most: int) -> None:
    """Raise TooLong for more tokens than a model reads. Nothing is cut silently: its answer would be about a part."""
    if tokens > most:
        raise TooLong(
            f"the text has {tokens:,} tokens with the special ones, and this model reads {most:,}: shorten or split it."
        )


def batch_of(questions: Sequence[Question], tokenizer: Tokenizer, use: str) -> Arrays:
    """Questions as int64 arrays [B, T], padded on the tokenizer's side; positions are [B, M]."""
    longest = max(map(len, questions))
    shape = (len(questions), longest)
    arrays = {
        "input_ids": np.full(shape, tokenizer.pad_token_id, dtype=np.int64),
        "attention_mask": np.zeros(shape, dtype=np.int64),
        "token_type_ids": np.full(shape, tokenizer.pad_token_type_id, dtype=np.int64),
    }
    for row, question in enumerate(questions):
        here = real_tokens(question, longest, tokenizer)
        arrays["input_ids"][row, here] = question.ids
        arrays["token_type_ids"][row, here] = question.types
        arrays["attention_mask"][row, here] = 1
    if use == WORDS:
        arrays[POSITIONS] = np.zeros((len(questions), max(len(one.marks) for one in questions)), dtype=np.int64)
        for row, question in enumerate(questions):
            start = real_tokens(question, longest, tokenizer).start
            arrays[POSITIONS][row, : len(question.marks)] = np.array(question.marks) + start
    return arrays


def real_tokens(question: Question, longest: int, tokenizer: Tokenizer) -> slice:
    """Where a question stands in a padded row."""
    start = 0 if tokenizer.padding_side == "right" else longest - len(question)
    return slice(start, start + len(question))


def rows_of(output: np.ndarray, questions: Sequence[Question], tokenizer: Tokenizer, use: str) -> list[np.ndarray]:
    """What belongs to each question in the output of a batch: [C], [D], a row for each word [W, C] or mask [M, V]."""
    if use == WORDS:
        return [row[: len(question.marks)] for row, question in zip(output, questions, strict=True)]
    if use != TAGS:
        return list(output)
    longest = output.shape[1]
    found = []
    for row, question in zip(output, questions, strict=True):
        start = real_tokens(question, longest, tokenizer).start
        found.append(row[[start + mark for mark in question.marks]])
    return found

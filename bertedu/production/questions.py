"""A text, or a pair of texts, as the numbers that a graph takes; and many of them as one padded batch.

A text is one sequence of tokens. The passage in which an answer is looked for may be longer than the model reads: it
becomes several sequences, windows that overlap.

Shapes: B sequences, T tokens, M masked positions of a text, C classes or tags, D hidden size, V vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertedu.errors import UserError
from bertedu.finetuning.task import ANSWERS, TAGS, WORDS
from bertedu.finetuning.windows import TooLong, Window, asked_windows, windows
from bertedu.production.graphs import POSITIONS
from bertedu.segmentation import segments
from bertedu.tokenization import Tokenizer

MOST_MASKS = 16
MOST_WINDOWS = 64  # of one passage: a bound for memory
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Question:
    """One text or pair as numbers, not padded. marks: the positions of its masked tokens, or of the first pieces of
    its words; spans: where those words stand in the text. windows: of a passage in which an answer is looked for.
    """

    ids: list[int]
    types: list[int]
    marks: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    windows: tuple[Window, ...] = ()
    passage: str = ""

    def __len__(self) -> int:
        """Tokens that the model reads for it, in all its windows."""
        return sum(len(ids) for ids, _ in self.sequences)

    @property
    def sequences(self) -> list[tuple[list[int], list[int]]]:
        """Ids and token types of each sequence that is read."""
        return [(one.input_ids, one.token_type_ids) for one in self.windows] or [(self.ids, self.types)]


def ask(tokenizer: Tokenizer, use: str, max_tokens: int, text: str, pair: str | None = None) -> Question:
    """A text, or a pair, as a question. Raises UserError for one that cannot be answered: too long, no mask."""
    if use == TAGS:
        return tagging_question(tokenizer, max_tokens, text, pair)
    if use == ANSWERS:
        return question_about(tokenizer, max_tokens, text, pair)
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
    found = segments(text)
    ids: list[int] = []
    first: list[int] = []
    for start, end in found:
        pieces = tokenizer.encode_after_space(text[start:end]) or [tokenizer.unk_token_id]
        ids += pieces
        first += [1] + [0] * (len(pieces) - 1)
    row, types = tokenizer.layout.sequence(ids)
    check_length(len(row), max_tokens)
    marks = tuple(at for at, one in enumerate(tokenizer.layout.beside(0, first)) if one)
    return Question(row, types, marks, tuple(found))


def question_about(tokenizer: Tokenizer, max_tokens: int, text: str, passage: str | None) -> Question:
    """A question and the passage in which its answer is looked for, in the windows of `bertedu answer`."""
    if passage is None:
        raise UserError("this model looks for an answer in a passage: send the question as text, the passage as pair.")
    length, stride = asked_windows(tokenizer, text, max_tokens)
    found = windows(tokenizer, text, passage, length, stride)
    if len(found) > MOST_WINDOWS:
        raise TooLong(
            f"the passage makes {len(found):,} windows of {length} tokens, and {MOST_WINDOWS} are read: send a part."
        )
    ids, types = tokenizer.layout.sequence(tokenizer.encode(text), tokenizer.encode(passage))
    return Question(ids, types, windows=tuple(found), passage=passage)


def check_length(tokens: int, most: int) -> None:
    """Raise TooLong for more tokens than a model reads. Nothing is cut silently: its answer would be about a part."""
    if tokens > most:
        raise TooLong(
            f"the text has {tokens:,} tokens with the special ones, and this model reads {most:,}: shorten or split it."
        )


def batch_of(questions: Sequence[Question], tokenizer: Tokenizer, use: str) -> Arrays:
    """Questions as int64 arrays [B, T], padded on the tokenizer's side; positions are [B, M]."""
    sequences = [one for question in questions for one in question.sequences]
    longest = max(len(ids) for ids, _ in sequences)
    shape = (len(sequences), longest)
    arrays = {
        "input_ids": np.full(shape, tokenizer.pad_token_id, dtype=np.int64),
        "attention_mask": np.zeros(shape, dtype=np.int64),
        "token_type_ids": np.full(shape, tokenizer.pad_token_type_id, dtype=np.int64),
    }
    for row, (ids, types) in enumerate(sequences):
        here = real_tokens(len(ids), longest, tokenizer)
        arrays["input_ids"][row, here] = ids
        arrays["token_type_ids"][row, here] = types
        arrays["attention_mask"][row, here] = 1
    if use == WORDS:
        arrays[POSITIONS] = np.zeros((len(questions), max(len(one.marks) for one in questions)), dtype=np.int64)
        for row, question in enumerate(questions):
            start = real_tokens(len(question), longest, tokenizer).start
            arrays[POSITIONS][row, : len(question.marks)] = np.array(question.marks) + start
    return arrays


def real_tokens(length: int, longest: int, tokenizer: Tokenizer) -> slice:
    """Where a sequence stands when it is padded."""
    start = 0 if tokenizer.padding_side == "right" else longest - length
    return slice(start, start + length)


def rows_of(output: np.ndarray, questions: Sequence[Question], tokenizer: Tokenizer, use: str) -> list[np.ndarray]:
    """What belongs to each question in the output of a batch: [C], [D], a row for each word [W, C] or mask [M, V], or
    the logits of start and end at the tokens of all its windows, one after the other, [T, 2].
    """
    if use == ANSWERS:
        return rows_of_windows(output, questions, tokenizer)
    if use == WORDS:
        return [row[: len(question.marks)] for row, question in zip(output, questions, strict=True)]
    if use != TAGS:
        return list(output)
    longest = output.shape[1]
    found = []
    for row, question in zip(output, questions, strict=True):
        start = real_tokens(len(question), longest, tokenizer).start
        found.append(row[[start + mark for mark in question.marks]])
    return found


def rows_of_windows(output: np.ndarray, questions: Sequence[Question], tokenizer: Tokenizer) -> list[np.ndarray]:
    """The logits of each question's windows without padding, joined: output [B, T, 2], of each question [T, 2]."""
    rows, longest = iter(output), output.shape[1]
    return [
        np.concatenate([next(rows)[real_tokens(len(ids), longest, tokenizer)] for ids, _ in question.sequences])
        for question in questions
    ]

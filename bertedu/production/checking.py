"""Does a graph say what the model says? Compared on texts of every length, one alone against many in a batch.

Shapes: B batch, C classes.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bertedu.errors import UserError
from bertedu.files import read_text
from bertedu.finetuning.task import ANSWERS, CLASSES, SEVERAL, TAGS, WORDS
from bertedu.finetuning.windows import TooLong
from bertedu.json_values import check_object, parse_json, whole
from bertedu.model.pretrained import PretrainedModel
from bertedu.production.graphs import graph_of
from bertedu.production.questions import Question, ask, batch_of, rows_of
from bertedu.production.sessions import Session
from bertedu.tokenization import Tokenizer

PREDICTIONS, CHECKPOINT = "predictions.jsonl", "checkpoint"
TEXT_ROW: dict[str, Any] = {"text": str}
ROWS: dict[str, dict[str, Any]] = {TAGS: {"words": list[str]}, ANSWERS: {"question": str, "context": str}}
CHECKED, LONGEST_CHECKED, BATCH = 48, 512, 8
Asked = tuple[str, str | None]


@dataclass(frozen=True)
class Comparison:
    """How far a graph is from its model on some texts: the largest difference, and how often both choose the same
    (None where nothing is chosen). real: the texts are those of the model's own task, not made up; shortened: so many
    of them are longer than the model reads, and their beginnings were taken.
    """

    texts: int
    longest: int  # tokens
    largest_difference: float
    same_choice: float | None
    real: bool = False
    shortened: int = 0


def texts_of_run(source: Path, use: str) -> list[Asked]:
    """The texts of the run that a checkpoint belongs to, as predictions.jsonl keeps them; none without a run. Raises
    UserError with the line where the file is damaged, or of a model for another use.
    """
    path = source.parent / PREDICTIONS
    if source.name != CHECKPOINT or not path.is_file():
        return []
    types = ROWS.get(use, TEXT_ROW)
    found: list[Asked] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            place = f"{path}, line {number}"
            row = whole(parse_json(line, path, number), types, place)
            check_object(row, {"pair": str | None}, place)
            first = row.get("question") or row.get("text") or " ".join(row.get("words", ()))
            if first.strip():
                found.append((first, row.get("context") if use == ANSWERS else row.get("pair")))
    if not found:
        raise UserError(f"{path} holds no text: run it again, or remove the file to be checked on made-up texts.")
    return found


def made_up_texts(tokenizer: Tokenizer, use: str) -> list[Asked]:
    """Texts of random words of the vocabulary, where no real ones are at hand."""
    rng = random.Random(0)
    words = [token for token in tokenizer.tokens if token.isalpha()] or [tokenizer.unk_token]
    lengths = [1 + number % 30 for number in range(CHECKED)]
    texts = [with_mask(" ".join(rng.choices(words, k=length)), use) for length in lengths]
    return [(text, text if use == ANSWERS else None) for text in texts]


def with_mask(text: str, use: str) -> str:
    """The text with its middle word masked, where words are to be guessed."""
    if use != WORDS or "[MASK]" in text:
        return text
    words = text.split() or [""]
    words[len(words) // 2] = "[MASK]"
    return " ".join(words)


def of_every_length(
    texts: Sequence[Asked], tokenizer: Tokenizer, use: str, max_tokens: int
) -> tuple[list[Question], int]:
    """CHECKED texts as questions, from short ones to those that fill the model: other texts are added to each until it
    has its length (to the passage, where answers are looked for). Of a text that is too long by itself the beginning is
    taken; one that cannot be asked (with many masks) is left out. Also returns how many were too long.
    """
    longest = min(max_tokens, LONGEST_CHECKED)
    count = min(CHECKED, len(texts))
    chosen = [texts[number * len(texts) // count] for number in range(count)]
    questions, shortened = [], 0
    for number, asked in enumerate(chosen):
        text, pair = begun = beginning(asked, tokenizer, use, longest)
        shortened += begun != asked
        wanted = longest * number // len(chosen)
        found = None
        for more in range(longest):
            try:
                found = ask(tokenizer, use, longest, with_mask(text, use), pair)
            except UserError:
                break
            if len(found) >= wanted:
                break
            added = texts[(number + more) % len(texts)][0].replace("[MASK]", "")
            text, pair = (text, f"{pair} {added}") if use == ANSWERS else (f"{text} {added}", pair)
        questions += [found] if found else []
    return questions, shortened


def beginning(asked: Asked, tokenizer: Tokenizer, use: str, most: int) -> Asked:
    """A text, or a pair, that the model reads: the longer of both halved until it does."""
    text, pair = asked
    while True:
        try:
            ask(tokenizer, use, most, with_mask(text, use), pair)
        except TooLong:
            if max(len(text), len(pair or "")) < 2:
                return asked
            if len(pair or "") > len(text):
                pair = (pair or "")[: len(pair or "") // 2]
            else:
                text = text[: len(text) // 2]
        except UserError:
            return asked
        else:
            return text, pair


def questions_to_check(
    texts: Sequence[Asked], tokenizer: Tokenizer, use: str, max_tokens: int
) -> tuple[list[Question], bool, int]:
    """What a graph is checked on: the texts of a run where there are any that can be asked, else made-up ones. Also
    returns whether they are real, and how many were too long. Raises UserError where there is nothing to check.
    """
    questions, shortened = of_every_length(texts, tokenizer, use, max_tokens)
    if questions:
        return questions, True, shortened
    questions, _ = of_every_length(made_up_texts(tokenizer, use), tokenizer, use, max_tokens)
    if not questions:
        raise UserError(f"a model that reads {max_tokens} tokens cannot be asked a single text: train one with more.")
    return questions, False, 0


@torch.no_grad()
def compare(
    model: PretrainedModel, use: str, tokenizer: Tokenizer, session: Session, questions: Sequence[Question]
) -> Comparison:
    """The model, a text at a time, against the graph, texts of unlike lengths in one batch: padding must not tell."""
    graph = graph_of(model.float().cpu(), use)
    largest, same, total = 0.0, 0, 0
    for start in range(0, len(questions), BATCH):
        batch = questions[start : start + BATCH]
        said = rows_of(session.run(batch_of(batch, tokenizer, use)), batch, tokenizer, use)
        for question, row in zip(batch, said, strict=True):
            alone = {name: torch.from_numpy(array) for name, array in batch_of([question], tokenizer, use).items()}
            right = rows_of(graph(**alone).numpy(), [question], tokenizer, use)[0]
            if not np.isfinite(right).all():
                raise UserError("the model answers with numbers that are not finite: train it again.")
            largest = max(largest, float(np.abs(row - right).max(initial=0.0)))
            if not np.isfinite(row).all():
                largest = float("inf")
            agreed = agreements(row, right, use)
            same, total = same + int(agreed.sum()), total + agreed.size
    longest = max((len(ids) for question in questions for ids, _ in question.sequences), default=0)
    return Comparison(len(questions), longest, largest, same / total if total else None)


def agreements(one: np.ndarray, other: np.ndarray, use: str) -> np.ndarray:
    """Where two outputs choose the same class, set of classes, or first and last token; scores and vectors choose
    nothing: [0].
    """
    if use == ANSWERS:
        return one.argmax(axis=0) == other.argmax(axis=0)
    if use == SEVERAL:
        return np.all((one > 0) == (other > 0), axis=-1, keepdims=True)
    if use in (CLASSES, TAGS, WORDS):
        return np.atleast_1d(one.argmax(axis=-1) == other.argmax(axis=-1))
    return np.zeros(0, dtype=bool)

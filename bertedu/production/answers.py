"""From a graph's numbers to an answer: a label with its probability, tags of words, a span of a passage, likely words,
a vector.

Shapes, for one text: T tokens, C classes or tags, W words, M masked positions, V vocabulary, D hidden size.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bertedu.checkpoints.weights import read_tensors
from bertedu.config import TaskConfig
from bertedu.errors import UserError
from bertedu.finetuning.crf import ConditionalRandomField
from bertedu.finetuning.spans import are_entities, tag_spans
from bertedu.finetuning.task import ANSWERS, CLASSES, SCORE, SEVERAL, TAGS, WORDS
from bertedu.finetuning.windows import Answered, best_over_windows
from bertedu.production.exported import CRF, Export
from bertedu.production.questions import Question
from bertedu.tokenization import Tokenizer

DIGITS = 6
LIKELY_WORDS = 5
CHOSEN = 0.5  # where several classes may fit: those that are likelier than not


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said about a text. value is JSON; confidence is the probability of what was chosen (the mean over words),
    None where nothing is chosen; pieces are the ids of the text's tokens, special ones included.
    """

    value: dict[str, Any]
    confidence: float | None
    pieces: list[int]


Said = tuple[dict[str, Any], float | None]
Reader = Callable[[np.ndarray, Question], Said]


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities over the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def rounded(value: Any) -> float:
    """A number as an answer shows it."""
    return round(float(value), DIGITS)


def reader_of(about: Export, tokenizer: Tokenizer, folder: Path) -> Reader:
    """The function from a row of output and its question to an answer, by the folder's use."""
    labels = about.labels
    if about.use == CLASSES:
        return lambda row, question: read_classes(row, labels)
    if about.use == SEVERAL:
        return lambda row, question: read_several(row, labels)
    if about.use == SCORE:
        return lambda row, question: ({"score": rounded(row.reshape(-1)[0])}, None)
    if about.use == TAGS:
        crf = open_crf(labels, folder) if about.crf else None
        return lambda row, question: read_tags(row, question, labels, crf)
    if about.use == ANSWERS:
        threshold = TaskConfig.load(folder).no_answer_threshold
        return lambda row, question: read_answer(row, question, threshold)
    if about.use == WORDS:
        return lambda row, question: read_words(row, tokenizer)
    return lambda row, question: ({"vector": [rounded(number) for number in row]}, None)


def open_crf(labels: tuple[str, ...], folder: Path) -> ConditionalRandomField:
    """The CRF beside a graph. Raises UserError where its file does not fit."""
    crf = ConditionalRandomField(labels)
    try:
        crf.load_state_dict(read_tensors(folder / CRF))
    except RuntimeError as error:
        raise UserError(f"{folder / CRF} is of another model: export it again.") from error
    return crf.eval()


def read_classes(logits: np.ndarray, labels: tuple[str, ...]) -> Said:
    """The likeliest class, and how likely each is. logits [C]."""
    shares = softmax(logits)
    best = int(shares.argmax())
    probabilities = {label: rounded(share) for label, share in zip(labels, shares, strict=True)}
    return {"label": labels[best], "probability": rounded(shares[best]), "probabilities": probabilities}, shares[best]


def read_several(logits: np.ndarray, labels: tuple[str, ...]) -> Said:
    """The classes that are likelier than not. logits [C]."""
    shares = 1 / (1 + np.exp(-logits.astype(np.float64)))
    probabilities = {label: rounded(share) for label, share in zip(labels, shares, strict=True)}
    chosen = [label for label, share in zip(labels, shares, strict=True) if share >= CHOSEN]
    return {"labels": chosen, "probabilities": probabilities}, float(np.maximum(shares, 1 - shares).mean())


def read_tags(
    logits: np.ndarray, question: Question, labels: tuple[str, ...], crf: ConditionalRandomField | None
) -> Said:
    """The tag of each word, by its position in the text, and the entities that the tags make. logits [W, C]."""
    if not len(logits):
        return {"words": []}, None
    if crf is None:
        shares = softmax(logits)
        chosen = shares.argmax(axis=-1).tolist()
    else:
        emissions, there = torch.from_numpy(logits).unsqueeze(0), torch.ones(1, len(logits), dtype=torch.bool)
        chosen, shares = crf.decode(emissions, there)[0], crf.marginals(emissions, there)[0].numpy()
    tags = [labels[number] for number in chosen]
    sure = [float(shares[word, number]) for word, number in enumerate(chosen)]
    rows = zip(question.spans, tags, sure, strict=True)
    words = [{"start": start, "end": end, "tag": tag, "probability": rounded(p)} for (start, end), tag, p in rows]
    value: dict[str, Any] = {"words": words}
    if are_entities(labels):
        value["entities"] = [
            {"type": kind, "start": question.spans[first][0], "end": question.spans[last - 1][1]}
            for kind, first, last in tag_spans(tags)
        ]
    return value, sum(sure) / len(sure)


def read_answer(logits: np.ndarray, question: Question, threshold: float) -> Said:
    """The likeliest span of the passage, None where no answer is preferred by more than the threshold. logits [T, 2]
    of all windows, one after the other.
    """
    ends = np.cumsum([len(ids) for ids, _ in question.sequences])
    of_windows = np.split(logits, ends[:-1])
    read = [(window, row[:, 0], row[:, 1]) for window, row in zip(question.windows, of_windows, strict=True)]
    candidates, no_answer = best_over_windows(read)
    best = candidates[0].score if candidates else no_answer
    found = Answered(candidates, no_answer - best)
    text = found.text(question.passage, threshold)
    sure, none = found.probability(bool(text)), rounded(found.probability(False))
    value: dict[str, Any] = {"answer": text or None, "probability": rounded(sure), "no_answer": none}
    if text:
        value |= {"start": candidates[0].start, "end": candidates[0].end}
    return value, sure


def read_words(logits: np.ndarray, tokenizer: Tokenizer) -> Said:
    """The likeliest words for each mask. logits [M, V]."""
    shares = softmax(logits[:, : len(tokenizer)])
    best = np.argsort(-shares, axis=-1)[:, :LIKELY_WORDS]
    masks = [
        [{"word": tokenizer.readable(tokenizer.tokens[number]), "probability": rounded(row[number])} for number in few]
        for few, row in zip(best, shares, strict=True)
    ]
    return {"masks": masks}, float(shares.max(axis=-1).mean())

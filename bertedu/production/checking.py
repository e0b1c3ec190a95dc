"""Does a graph say what the model says? Compared on texts of every length, one alone against many in a batch.

Shapes: B batch, C classes.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from bertedu.errors import UserError
from bertedu.files import read_text
from bertedu.finetuning.task import ANSWERS, CLASSES, SEVERAL, TAGS, WORDS
from bertedu.json_values import parse_json
from bertedu.model.pretrained import PretrainedModel
from bertedu.production.graphs import graph_of
from bertedu.production.questions import Question, ask, batch_of, rows_of
from bertedu.production.sessions import Session
from bertedu.tokenization import Tokenizer

PREDICTIONS = "predictions.jsonl"
CHECKED, LONGEST_CHECKED, BATCH = 48, 512, 8
Asked = tuple[str, str | None]


@dataclass(frozen=True)
class Comparison:
    """How far a graph is from its model on some texts: the largest difference, and how often both choose the same
    (None where nothing is chosen). real: the texts are those of the model's own task, not made up.
    """

    texts: int
    longest: int  # tokens
    largest_difference: float
    same_choice: float | None
    real: bool = False


def texts_of_run(source: Path) -> list[Asked]:
    """The texts of the run that a checkpoint belongs to, as predictions.jsonl keeps them; none without a run."""
    path = source.parent / PREDICTIONS
    if not path.is_file():
        return []
    found: list[Asked] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        row = parse_json(line, path, number) if line else {}
        text = row.get("text") or row.get("question") or " ".join(row.get("words", ()))
        if text:
            found.append((text, row.get("pair", row.get("context"))))
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


def of_every_length(texts: Sequence[Asked], tokenizer: Tokenizer, use: str, max_tokens: int) -> list[Question]:
    """CHECKED texts as questions, from short ones to those that fill the model: other texts are added to each until it
    has its length (to the passage, where answers are looked for). A text that cannot be asked (with many masks, or too
    long by itself) is left out.
    """
    longest = min(max_tokens, LONGEST_CHECKED)
    chosen = [texts[number * len(texts) // CHECKED] for number in range(min(CHECKED, len(texts)))]
    questions = []
    for number, (text, pair) in enumerate(chosen):
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
    return questions


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
            largest = max(largest, float(np.abs(row - right).max(initial=0.0)))
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

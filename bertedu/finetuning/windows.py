"""Long contexts through a short model: windows that overlap, and the best spans over all of them. Notebook 12.

Sliding windows with a stride: google-research/bert (run_squad.py); n-best and the score of no answer as there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import softmax

from bertedu.errors import UserError
from bertedu.finetuning.examples import Example, example_of
from bertedu.tokenization import Tokenizer
from bertedu.tokenization.encoding import without_space_before

LONGEST_QUESTION = 64  # tokens
WINDOW = 256  # tokens, where the model reads as many


@dataclass(frozen=True, slots=True)
class Window:
    """A question and a piece of the context, as a pair. offsets: for each token of the context its characters there.

    cls is the position of [CLS], which stands for "no answer".
    """

    input_ids: list[int]
    first: int  # where the context begins among the tokens
    offsets: list[tuple[int, int]]
    token_type_ids: list[int] = field(default_factory=list)
    cls: int = 0

    def numbers(self) -> Example:
        """The window as an example for a model."""
        return example_of(self.input_ids, self.token_type_ids)


class TooLong(UserError):
    """A text has more tokens than the model reads."""


def asked_windows(tokenizer: Tokenizer, question: str, max_tokens: int) -> tuple[int, int]:
    """The length of the windows in which somebody's question is answered, and how far they lie apart, in tokens.

    Raises TooLong for a question that would be cut: the answer would be to another question.
    """
    length = min(WINDOW, max_tokens)
    stride, asked = max(1, length // 3), len(tokenizer.encode(question))
    most = min(LONGEST_QUESTION, length - tokenizer.layout.special_tokens(pair=True) - stride)
    if asked > most:
        raise TooLong(f"the question has {asked:,} tokens, and this model reads {most}: shorten it.")
    return length, stride


def windows(tokenizer: Tokenizer, question: str, context: str, max_length: int, stride: int) -> list[Window]:
    """The windows of a context, each of at most max_length tokens with the question; neighbours share tokens.

    A question loses what it has after LONGEST_QUESTION tokens, as in Google's code: see `asked_windows` for those that
    must not. stride is how far each window begins after the one before, in tokens. Raises UserError where the question
    leaves no room, and for a stride that would skip tokens.
    """
    asked = tokenizer.encode(question)[:LONGEST_QUESTION]
    ids, offsets = tokenizer.encode_with_offsets(context)
    offsets = [without_space_before(offset, context) for offset in offsets]
    layout = tokenizer.layout
    room = max_length - len(asked) - layout.special_tokens(pair=True)
    if not 0 < stride <= room:
        raise UserError(
            f"stride is {stride} and a window of {max_length} tokens holds {room} of the context beside the question "
            f"{question[:40]!r}: shorten the question, or give a larger max_length (in Python also a stride from 1 to "
            f"{max(1, room)})."
        )
    first = layout.text_start(len(asked), len(ids))
    found = []
    for start in range(0, max(1, len(ids)), stride):
        piece = slice(start, start + room)
        input_ids, types = layout.sequence(asked, ids[piece])
        cls = layout.position(tokenizer.cls_token_id, len(asked), len(ids[piece]))
        found.append(Window(input_ids, first, offsets[piece], types, cls))
        if start + room >= len(ids):
            break
    return found


def on_tokens(answer: tuple[int, int], found: Sequence[Window]) -> tuple[int, int] | None:
    """An answer without what has no token at its ends: spaces, or marks that the tokenizer drops.

    found: all windows of the context. None where nothing of the answer has a token.
    """
    touched = [one for window in found for one in window.offsets if one[0] < answer[1] and one[1] > answer[0]]
    if not touched:
        return None
    return max(answer[0], min(start for start, _ in touched)), min(answer[1], max(end for _, end in touched))


def label_of(window: Window, answer: tuple[int, int] | None) -> tuple[int, int]:
    """The first and last token of an answer (start, end) of characters; [CLS] twice where it is not all in here."""
    if answer is None:
        return window.cls, window.cls
    inside = [
        place
        for place, (start, end) in enumerate(window.offsets)
        if start < answer[1] and end > answer[0]  # the token shares a character with the answer
    ]
    whole = inside and window.offsets[inside[0]][0] <= answer[0] and window.offsets[inside[-1]][1] >= answer[1]
    return (window.first + inside[0], window.first + inside[-1]) if whole else (window.cls, window.cls)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span of the context, in characters, and its score: start logit plus end logit."""

    start: int
    end: int
    score: float


def best_spans(
    window: Window, start_logits: np.ndarray, end_logits: np.ndarray, longest: int = 30, n_best: int = 20
) -> list[Candidate]:
    """The n best spans of one window: in the context, not ending before they start, of at most `longest` tokens.

    Starts and ends are the n best of the context each. (Google's code takes the n best of the whole row, and leaves
    those outside the context out afterwards.) The best span comes first.
    """
    length = len(window.offsets)
    starts, ends = (logits[window.first : window.first + length] for logits in (start_logits, end_logits))
    pairs = [
        (float(starts[start] + ends[end]), int(start), int(end))
        for start in top(starts, n_best)
        for end in top(ends, n_best)
        if start <= end < start + longest
    ]
    pairs.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    return [Candidate(window.offsets[a][0], window.offsets[b][1], score) for score, a, b in pairs[:n_best]]


def top(logits: np.ndarray, number: int) -> np.ndarray:
    """The positions of the highest logits, the highest first; of equal ones the first."""
    return np.argsort(-logits, kind="stable")[:number]


def best_over_windows(
    found: Sequence[tuple[Window, np.ndarray, np.ndarray]], longest: int = 30, n_best: int = 20
) -> tuple[list[Candidate], float]:
    """The n best spans over all windows of a context, each span once, and the score of no answer.

    found: each window with its start and end logits, [T] each. The score of no answer is that of [CLS] in the window
    that is least sure of it: one window that sees an answer is enough.
    """
    best: dict[tuple[int, int], Candidate] = {}
    for window, start_logits, end_logits in found:
        for candidate in best_spans(window, start_logits, end_logits, longest, n_best):
            key = (candidate.start, candidate.end)
            if key not in best or candidate.score > best[key].score:
                best[key] = candidate
    ordered = sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.start, candidate.end))
    no_answer = min((float(starts[window.cls] + ends[window.cls]) for window, starts, ends in found), default=0.0)
    return ordered[:n_best], no_answer


@dataclass(frozen=True, slots=True)
class Answered:
    """What a model says to a question: the best spans of the context, and by how much it prefers no answer."""

    candidates: list[Candidate]
    no_answer_score: float  # score of no answer minus that of the best span

    def text(self, context: str, threshold: float = 0.0) -> str:
        """The best span's text, or "" where no answer is preferred by more than the threshold."""
        if not self.candidates or self.no_answer_score > threshold:
            return ""
        return context[self.candidates[0].start : self.candidates[0].end]

    def probability(self, says_something: bool) -> float:
        """How likely the best span is, or no answer: softmax over the scores of the best spans and of no answer."""
        best = self.candidates[0].score if self.candidates else 0.0
        scores = np.array([*(candidate.score - best for candidate in self.candidates), self.no_answer_score])
        return float(softmax(scores)[0 if says_something else -1])

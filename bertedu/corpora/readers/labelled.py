"""What the readers of labelled data hand over: one small frozen class for each kind of example."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, or a pair of texts, and what it is labelled with.

    label is a name (one label), a tuple of names (many labels, perhaps none) or a number (a score).
    """

    text: str
    label: str | float | tuple[str, ...]
    pair: str | None = None


@dataclass(frozen=True, slots=True)
class TaggedWords:
    """The words of one sentence and a tag for each: entities as B-person, I-person, O; parts of speech as NOUN."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A span of a question's context: context[start : start + len(text)] is text, counted in characters."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a context. Its answers are spans of it; where is_impossible there are none."""

    id: str
    question: str
    context: str
    answers: tuple[Answer, ...]
    is_impossible: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """A question (or the beginning of a sentence), what may follow it, and the position of the right one, from 0."""

    question: str
    choices: tuple[str, ...]
    label: int
    context: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """A text and the summary that a person wrote of it."""

    text: str
    summary: str

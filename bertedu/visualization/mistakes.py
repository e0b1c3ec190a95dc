"""Errors to read: the rows of predictions.jsonl in which a model was most sure and wrong, in words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from bertedu.finetuning.spans import Span, are_entities, tag_spans

Row = Mapping[str, Any]
LONGEST = 360  # characters of a text on the page


@dataclass(frozen=True)
class Mistake:
    """What was asked, what is right, and what the model said."""

    asked: str
    right: str
    said: str


def most_telling(rows: Sequence[Row], most: int = 20) -> list[Row]:
    """The rows with mistakes, the most telling first: those in which the model was surest, or the furthest off."""
    return sorted((row for row in rows if row["mistake"] > 0), key=lambda row: -row["mistake"])[:most]


def in_words(row: Row) -> Mistake:
    """A row of any task for people."""
    for name, form in FORMS.items():
        if name in row:
            return form(row)
    raise KeyError(f"a row of predictions with {', '.join(row)} is of no task")


def labelled(row: Row) -> Mistake:
    """Classes, sets of classes, and scores."""
    said = one_or_more(row["prediction"])
    if "probability" in row:
        said += f" ({row['probability']:.0%})"
    text = row["text"] if "pair" not in row else f"{row['text']} ‖ {row['pair']}"
    return Mistake(shortened(text), one_or_more(row["label"]), said)


def one_or_more(label: Any) -> str:
    """A label, several of them, or a score."""
    if isinstance(label, list):
        return ", ".join(label) or "none"
    return f"{label:.2f}" if isinstance(label, float) else str(label)


def tagged(row: Row) -> Mistake:
    """The entities that were missed and those that were found instead, or the words whose tags are wrong."""
    words, tags, prediction, sure = row["words"], row["tags"], row["prediction"], row["probability"]
    if are_entities((*tags, *prediction)):
        right, found = tag_spans(tags), tag_spans(prediction)
        missed = [entity(words, span) for span in right if span not in found]
        # As sure as it is of the least sure word.
        wrong = [f"{entity(words, one)} ({min(sure[one[1] : one[2]]):.0%})" for one in found if one not in right]
        return Mistake(" ".join(words), ", ".join(missed) or "no entity", ", ".join(wrong) or "no entity")
    places = [i for i, (a, b) in enumerate(zip(tags, prediction, strict=True)) if a != b]
    return Mistake(
        " ".join(words),
        ", ".join(f"{words[i]} {tags[i]}" for i in places),
        ", ".join(f"{words[i]} {prediction[i]} ({sure[i]:.0%})" for i in places),
    )


def entity(words: Sequence[str], span: Span) -> str:
    """An entity of a sentence as "John Smith [person]"."""
    kind, start, end = span
    return f"{' '.join(words[start:end])} [{kind}]"


def answered(row: Row) -> Mistake:
    """A question, and the part of its context in which the answers stand."""
    context, spans = row["context"], [*row["answers"], row["span"]]
    places = [place for place in (context.find(span) for span in spans if span) if place >= 0]
    middle = sum(places) // len(places) if places else 0
    right = " / ".join(dict.fromkeys(row["answers"])) or "no answer"
    said = f"{row['prediction'] or 'no answer'} ({row['probability']:.0%})"
    return Mistake(f"{row['question']} ‖ {shortened(context, middle)}", right, said)


def chosen(row: Row) -> Mistake:
    """A question, the right choice and the one that was taken."""
    choices = row["choices"]
    asked = " ".join(part for part in (row["context"], row["question"]) if part)
    return Mistake(shortened(asked), choices[row["label"]], f"{choices[row['prediction']]} ({row['probability']:.0%})")


def summarized(row: Row) -> Mistake:
    """A text and two summaries of it."""
    said = f"{row['prediction']} (ROUGE-1 {row['rouge1']:.2f}, {row['mistake']:.2f} below the best choice)"
    return Mistake(shortened(" ".join(row["sentences"])), row["summary"], said)


# By a name that only rows of this form have.
FORMS: dict[str, Callable[[Row], Mistake]] = {
    "words": tagged,
    "no_answer_score": answered,
    "choices": chosen,
    "sentences": summarized,
    "text": labelled,
}


def shortened(text: str, middle: int = 0, longest: int = LONGEST) -> str:
    """A part of a long text around the character `middle`, whole words; with … where something is left out."""
    if len(text) <= longest:
        return text
    start = max(0, min(middle - longest // 2, len(text) - longest))
    part = text[start : start + longest]
    if start:
        part = "… " + part.partition(" ")[2]
    return part if start + longest >= len(text) else part.rpartition(" ")[0] + " …"


def mistakes_html(rows: Sequence[Row]) -> str:
    """The errors as a list for the page."""
    if not rows:
        return "<p>There is no error to read: every row is right.</p>"
    items = []
    for mistake in map(in_words, rows):
        parts = "".join(
            f"<div><dt>{name}</dt><dd>{escape(text)}</dd></div>"
            for name, text in (("right", mistake.right), ("the model", mistake.said))
        )
        items.append(f"<li><p>{escape(mistake.asked)}</p><dl>{parts}</dl></li>")
    return f"<ol class='mistakes'>{''.join(items)}</ol>"

"""What may be meant otherwise than it is read: said in a note, once for a file."""

import re
import unicodedata
import warnings
from collections.abc import Iterable, Sequence

from bertedu.corpora.readers.labelled import LabelledText

EMPTY_FOR_OTHERS = ("N/A", "NA", "n/a", "NULL", "null", "None")  # may be names, too: NA is Namibia
WHOLE_NUMBER = re.compile(r"\+?0*([0-9]+)")
BETWEEN = (",", ";", "\t", "|")  # values of a table
AS_TWO = "write one of them if they are meant to be the same"


def warn_of_doubts(places: Sequence[str], examples: Sequence[LabelledText]) -> None:
    """Warn of texts and labels that other programs read as nothing, of rows inside a text, and of labels that look
    alike.
    """
    both = list(zip(places, examples, strict=True))
    named = [(place, name) for place, one in both for name in names_in(one.label)]
    warn_of_empty_for_others([*((place, one.text) for place, one in both), *named])
    warn_of_swallowed_rows(both)
    warn_of_likenesses(named)


def names_in(label: str | float | tuple[str, ...]) -> tuple[str, ...]:
    """The names of classes in a label: none in a score."""
    return label if isinstance(label, tuple) else (label,) if isinstance(label, str) else ()


def warn_of_empty_for_others(values: Iterable[tuple[str, str]]) -> None:
    """Warn of a text or label, each given with its place, that stands for an empty cell in `pandas`."""
    for place, value in values:
        if value.strip() in EMPTY_FOR_OTHERS:
            warnings.warn(
                f"{place}: {value.strip()!r} is taken as it stands, where pandas would read an empty cell: remove such "
                "rows if nothing is meant.",
                stacklevel=4,
            )
            return


def warn_of_swallowed_rows(examples: Iterable[tuple[str, LabelledText]]) -> None:
    """Warn of a text that seems to hold further rows, each with a label: so it does where a quote was never closed."""
    examples = list(examples)
    labels = {one.label for _, one in examples if isinstance(one.label, str)}
    for place, one in examples:
        before, *after = one.text.split("\n")
        lasts = (line.rpartition(mark) for line in (before, *after[:-1]) for mark in BETWEEN)
        firsts = (line.partition(mark)[::-1] for line in after for mark in BETWEEN)
        if after and any(mark and label.strip('"') in labels for _, mark, label in (*lasts, *firsts)):
            warnings.warn(
                f"{place}: the text has several lines, and one of them a label, as a row has: look for a quote that "
                "is never closed.",
                stacklevel=4,
            )
            return


def warn_of_likenesses(names: Iterable[tuple[str, str]], what: str = "labels") -> None:
    """Warn of names, each given with its place, that differ alone in capitals, in what nobody sees, in how an accent
    or a number is written: they are learned as two.
    """
    seen: dict[str, str] = {}
    for place, name in names:
        other = seen.setdefault(alike(name), name)
        if other != name:
            spelt = ascii if other.casefold() != name.casefold() else repr
            warnings.warn(
                f"{place}: the {what} {spelt(other)} and {spelt(name)} look alike and are learned as two: {AS_TWO}.",
                stacklevel=4,
            )
            return


def alike(name: str) -> str:
    """A name without all in which names may differ that look alike."""
    seen = "".join(one for one in unicodedata.normalize("NFKC", name) if unicodedata.category(one) != "Cf")
    number = WHOLE_NUMBER.fullmatch(seen)
    return number[1] if number else " ".join(seen.casefold().split())


def warn_of_choice(place: str, chosen: str, others: Sequence[str]) -> None:
    """Warn where several columns could be meant and one of them is taken."""
    if others:
        warnings.warn(
            f"{place}: the column {chosen!r} is taken, and not {' or '.join(map(repr, others))}: remove it if another "
            "is meant.",
            stacklevel=4,
        )

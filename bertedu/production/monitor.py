"""Drift: are the texts of today still like those that the model was tested on?

Nobody labels what a service is asked, so its accuracy cannot be watched. Two things can, without labels: how sure the
model is, and how much of a text is made of word pieces that the reference texts did not have. Both are compared with
the reference by the difference of the means, in standard errors. Only numbers are kept, never a text.

The share of new pieces cannot be taken on the reference texts themselves, where nothing is new: it is taken for each of
them against the others (leave one out), which is Good and Turing's estimate of the unseen (Good 1953).
"""

from collections import Counter, deque
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from bertedu.errors import UserError
from bertedu.files import read_json_object, write_json
from bertedu.production.exported import REFERENCE

NEEDED, RECENT, FEWEST = 300, 300, 50  # texts: of a reference taken from requests, of the window, to judge by
ALARM = 4.0  # standard errors: by chance, one window in 16,000
LEAST_VARIANCE = 1e-4  # a reference without a single unknown piece has a variance of 0
MEASURES = ("confidence", "new_pieces", "unknown_pieces")


@dataclass(frozen=True)
class Reference:
    """What the reference texts were like: mean and variance over them of each measure (None where there is none), and
    the ids of their pieces.
    """

    texts: int
    confidence: tuple[float, float] | None
    new_pieces: tuple[float, float]
    unknown_pieces: tuple[float, float]
    pieces: tuple[int, ...]

    def save(self, folder: Path) -> None:
        """Write reference.json."""
        write_json(folder / REFERENCE, asdict(self))

    @classmethod
    def load(cls, folder: Path) -> "Reference | None":
        """Read reference.json; None where a folder has none. Raises UserError where it is damaged."""
        path = folder / REFERENCE
        if not path.is_file():
            return None
        types = get_type_hints(cls)
        values = read_json_object(path, types)
        if missing := [name for name in types if name not in values]:
            raise UserError(f"{path} is damaged ({', '.join(missing)}): export the model again.")
        saved: Any = {name: tuple(v) if isinstance(v := values[name], list) else v for name in types}
        return cls(**saved)


def shares_in(pieces: Sequence[int], chosen: Collection[int]) -> float:
    """The share of pieces that are among the chosen."""
    return sum(piece in chosen for piece in pieces) / len(pieces) if pieces else 0.0


def moments(values: Sequence[float]) -> tuple[float, float]:
    """Mean and variance."""
    return float(np.mean(values)), float(np.var(values))


def reference_of(texts: Sequence[Sequence[int]], confidences: Sequence[float | None], unknown: int) -> Reference:
    """The reference that these texts (as ids of their pieces) make, with the model's confidence in each."""
    in_texts = Counter(piece for text in texts for piece in set(text))
    alone = {piece for piece, count in in_texts.items() if count == 1}  # new, had its only text come later
    sure = [one for one in confidences if one is not None]
    return Reference(
        texts=len(texts),
        confidence=moments(sure) if sure else None,
        new_pieces=moments([shares_in(text, alone) for text in texts]),
        unknown_pieces=moments([shares_in(text, (unknown,)) for text in texts]),
        pieces=tuple(sorted(in_texts)),
    )


class Monitor:
    """Compares the newest texts with a reference; without one, with the first NEEDED texts that it sees."""

    def __init__(self, unknown: int, reference: Reference | None = None):
        self.unknown = unknown
        self.first: list[tuple[list[int], float | None]] = []
        self.recent: deque[tuple[float | None, float, float]] = deque(maxlen=RECENT)
        self.from_requests = reference is None
        self.reference: Reference | None = None
        if reference is not None:
            self.begin(reference)

    def begin(self, reference: Reference) -> None:
        """Compare with this reference from now on."""
        self.reference, self.known, self.first = reference, frozenset(reference.pieces), []

    def add(self, pieces: list[int], confidence: float | None) -> None:
        """Note a text that was answered, by the ids of its pieces."""
        if self.reference is None:
            self.first.append((pieces, confidence))
            if len(self.first) == NEEDED:
                texts, confidences = zip(*self.first, strict=True)
                self.begin(reference_of(texts, confidences, self.unknown))
            return
        new = 1 - shares_in(pieces, self.known) if pieces else 0.0
        self.recent.append((confidence, new, shares_in(pieces, (self.unknown,))))

    def report(self) -> dict[str, Any]:
        """Each measure in the reference and lately, how many standard errors apart they are, and the alarms."""
        found: dict[str, Any] = {"reference": "the first texts" if self.from_requests else "the test texts of the run"}
        found["reference_texts"] = len(self.first) if self.reference is None else self.reference.texts
        found["recent_texts"] = len(self.recent)
        if self.reference is None or len(self.recent) < FEWEST:
            return {**found, "alarms": []}
        for number, name in enumerate(MEASURES):
            before = getattr(self.reference, name)
            lately = [float(one) for row in self.recent if (one := row[number]) is not None]
            if before is not None and lately:
                found[name] = compared(before, lately, self.reference.texts)
        alarms = [name for name in MEASURES if name in found and abs(found[name]["standard_errors"]) > ALARM]
        return {**found, "alarms": alarms}


def compared(before: tuple[float, float], lately: list[float], texts: int) -> dict[str, float]:
    """A measure of the reference beside its values of late."""
    mean, variance = before
    error = (max(variance, LEAST_VARIANCE) * (1 / max(texts, 1) + 1 / len(lately))) ** 0.5
    now = float(np.mean(lately))
    return {"reference": round(mean, 4), "recent": round(now, 4), "standard_errors": round((now - mean) / error, 1)}

"""The clock of the drills and the best times: a small file beside the ticks of the exercises.

It can be deleted: only the times are lost. A file that is missing or damaged counts as empty.
"""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bertedu.course.ticks import ticks_file
from bertedu.errors import UserError
from bertedu.files import write_json

MOST = 1e12  # seconds: what is beyond is no time


@dataclass
class Times:
    """What is kept of one drill: when its clock was started (seconds since 1970, None where it does not run), how many
    hints were given since then, and the shortest time in seconds."""

    begun: float | None = None
    hints: int = 0
    best: float | None = None


kept_here: dict[str, Times] | None = None  # for this session, where no file can be written


def times_file() -> Path | None:
    """The file beside the ticks, progress_drills.json; None where nothing is kept."""
    ticks = ticks_file()
    return ticks.with_name(f"{ticks.stem}_drills.json") if ticks and ticks.name else None


def all_times() -> dict[str, Times]:
    """What is kept, by the drill's name."""
    if kept_here is not None:
        return kept_here
    file = times_file()
    try:
        content = json.loads(file.read_text(encoding="utf-8")) if file else {}
    except (OSError, ValueError, RecursionError):
        content = {}
    entries = content.items() if isinstance(content, dict) else ()
    return {name: read(entry) for name, entry in entries if isinstance(entry, dict)}


def read(entry: dict[str, Any]) -> Times:
    """One entry of the file; what is no number counts as missing."""
    hints = entry.get("hints")
    return Times(number(entry.get("begun")), max(0, hints) if type(hints) is int else 0, number(entry.get("best")))


def number(value: Any) -> float | None:
    """A number above 0, or None."""
    return value if type(value) in (int, float) and 0 < value < MOST else None


def times_of(name: str) -> Times:
    """What is kept of one drill."""
    return all_times().get(name, Times())


def keep(name: str, times: Times) -> None:
    """Write what is to be kept of a drill. A disk that cannot be written costs the times after this session only."""
    global kept_here
    file, found = times_file(), {**all_times(), name: times}
    kept_here = found
    if file is None:
        return
    try:
        write_json(file, {one: asdict(entry) for one, entry in sorted(found.items())})
    except UserError:
        return
    kept_here = None  # the file has it, and another process may change it


def start(name: str) -> None:
    """Start the clock of a drill, from 0 where it runs already."""
    keep(name, Times(begun=time.time(), best=times_of(name).best))


def elapsed(name: str) -> float | None:
    """Seconds on the clock; None where it does not run, or where the machine's clock was set back."""
    begun = times_of(name).begun
    seconds = None if begun is None else time.time() - begun
    return seconds if seconds is not None and seconds >= 0 else None


def stop(name: str) -> None:
    """Stop the clock; no time counts."""
    times = times_of(name)
    if times.begun is not None:
        keep(name, Times(best=times.best))


def passed(name: str, seconds: float) -> bool:
    """Stop the clock and keep the time if it is the best one: returns whether it is."""
    best = times_of(name).best
    is_best = best is None or seconds < best
    keep(name, Times(best=max(seconds, 0.1) if is_best else best))
    return is_best


def count_hint(name: str) -> None:
    """Note that one more hint was given."""
    times = times_of(name)
    keep(name, Times(times.begun, times.hints + 1, times.best))


def in_words(seconds: float) -> str:
    """A time as people say it: 45 s, 12 min 5 s, 1 h 10 min."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def told(name: str, minutes: int, has_passed: bool, seconds: float | None) -> str | None:
    """What to say of the time when an answer was examined after so many seconds; stops the clock if it has passed."""
    if seconds is None:
        return None
    limit = f"{minutes} minutes"
    over = seconds - 60 * minutes
    used = f"{in_words(seconds)} of {limit}" if over <= 0 else f"{in_words(seconds)}, {in_words(over)} over {limit}"
    if not has_passed:
        return f"The clock is running: {used}."
    hints, before = times_of(name).hints, times_of(name).best
    helped = "" if not hints else f" You asked for {'a hint' if hints == 1 else f'{hints} hints'}."
    if passed(name, seconds):
        best = "It is your best time." if before else "It is your first time."
    else:
        best = f"Your best is {in_words(before or 0)}."
    return f"Time: {used}. {best}{helped}"

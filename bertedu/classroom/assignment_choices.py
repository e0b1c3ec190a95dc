"""What a teacher types for an assignment: chapters, points, a time."""

import math
from collections.abc import Iterable
from datetime import datetime, time, timedelta

from bertedu.errors import UserError, shown

MOST_POINTS = 1000


def read_points(typed: Iterable[str], numbers: Iterable[str]) -> dict[str, float]:
    """{"3.2": 4.0} for ["3.2=4"]. Raises UserError for another form, for an exercise that is not in the assignment, and
    for one that is named twice."""
    chosen: dict[str, float] = {}
    known = list(numbers)
    for text in typed:
        number, equals, amount = text.replace(" ", "").partition("=")
        if not equals or not number or not amount:
            raise UserError(f"--points {shown(text)}: write the exercise and its points, as in --points 3.2=4.")
        if number not in known:
            raise UserError(f"--points {shown(text)}: {number} is no exercise of these chapters: {', '.join(known)}.")
        if number in chosen:
            raise UserError(f"--points {shown(text)}: {number} has been given {chosen[number]:g} already.")
        chosen[number] = points_of(amount, text)
    return chosen


def points_of(amount: str, text: str) -> float:
    """The number that is written there, above 0."""
    try:
        points = float(amount)
    except ValueError:
        points = math.nan
    if not 0 < points <= MOST_POINTS:
        raise UserError(f"--points {shown(text)}: points are a number above 0 and up to {MOST_POINTS}.")
    return points


def read_due(typed: str, now: datetime | None = None) -> datetime:
    """The time with its offset from UTC: "2026-12-01" is the end of that day, "2026-12-01 18:00" is in the time zone of
    this machine. Raises UserError for another form and for a time that has passed."""
    text, now = typed.strip(), now or datetime.now().astimezone()
    try:
        due = datetime.fromisoformat(text)
        if len(text) <= len("2026-12-01"):
            due = datetime.combine(due.date(), time(23, 59))
        due = due.astimezone()
    except (ValueError, OverflowError, OSError):
        raise UserError(
            f"--due {shown(typed)} is no date: write it as 2026-12-01, or with a time as in '2026-12-01 18:00'."
        ) from None
    if due <= now:
        raise UserError(f"--due {shown(typed)} has passed: choose a day from {now + timedelta(days=1):%Y-%m-%d} on.")
    return due


def check_share(almost: float) -> None:
    """Raise UserError for what is no share of the points."""
    if not 0 <= almost < 1:
        raise UserError(f"--almost {almost:g}: give a share of the points: 0 or more, and less than 1.")

"""`check("3.2", attention)` answers in words; `hint("3.2")` gives the next hint."""

from dataclasses import replace
from typing import Any

from bertedu.course.case import Case
from bertedu.course.comparing import type_name
from bertedu.course.exercise import Exercise
from bertedu.course.guarding import ORIGINALS, within
from bertedu.course.honest import is_the_packages
from bertedu.course.keeping import keep
from bertedu.course.loading import find
from bertedu.course.raising import text_of
from bertedu.course.settings import own_settings
from bertedu.course.stubs import LINE, code_that_raised, never_reached
from bertedu.course.ticks import remember
from bertedu.course.verdict import Ended, StillRunning, Verdict

SECONDS = 10.0  # of work for one check, all of its tries together
hints_given: dict[str, int] = {}


class Text(str):
    """A text that a notebook shows as it is, without quotes."""

    def __repr__(self) -> str:
        return str(self)


def check(number: str, answer: Any = None) -> Verdict:
    """Examine the answer to an exercise: what was tried, what was expected, what came, what it looks like.

    `answer` is the function, class or value that the exercise asks for, by its name: `check("3.2", attention)`.
    The result shows itself; `.passed` says whether the exercise is solved. Raises UserError for a number that no
    exercise has.
    """
    exercise = find(number)
    with ORIGINALS.restored(), own_settings():
        verdict = examine(exercise, answer)
        if verdict.passed:
            remember(exercise.number)
            if trouble := keep(exercise.number, answer):
                verdict = replace(verdict, lines=(*verdict.lines, trouble))
    return verdict


def examine(exercise: Exercise, answer: Any) -> Verdict:
    """Run an exercise's check on an answer; whatever happens becomes a verdict."""
    if answer is None or answer is ...:
        return not_attempted(exercise.number)
    case = Case(exercise.number, answer, without=exercise.without)
    try:
        if wrong := wrong_kind(exercise, answer):
            return Verdict(case.number, "not yet", (wrong,))
        within(SECONDS, lambda: exercise.examine(case))
        case.refuse_in_place()
        if not exercise.nan:
            case.refuse_nan()
    except KeyboardInterrupt:
        raise
    except StillRunning:
        slow = f"It was still running after {SECONDS:g} seconds, so I stopped it: is there a loop that never ends?"
        return not_yet(case, *case.said_so_far(), slow)
    except BaseException as error:  # an answer can return anything, and a check cannot foresee everything
        return ended(case, error) if isinstance(error, Ended) and not code_that_raised(error) else odd(case, error)
    tried = (f"I tried {shortened(case.tried)}.",) if case.tried else ()
    left = (f"You can delete the line {LINE}: Python never gets there.",) if never_reached(answer) else ()
    return Verdict(case.number, "yes", tried + case.closing + left)


def ended(case: Case, end: Ended) -> Verdict:
    """What the check itself said."""
    if end.status == "not attempted yet":
        return not_attempted(case.number)
    return not_yet(case, *end.lines) if end.status == "not yet" else Verdict(case.number, "almost", end.lines)


def not_yet(case: Case, *lines: str, trouble: tuple[str, str] | None = None) -> Verdict:
    """Not solved, and where the next hint is."""
    return Verdict(case.number, "not yet", (*lines, f'Next hint: hint("{case.number}")'), trouble)


def odd(case: Case, error: BaseException) -> Verdict:
    """The check failed on what the answer gave."""
    if "modified by an inplace operation" in text_of(error):
        return not_yet(
            case,
            *case.said_so_far(),
            "But the backward pass failed: a step in place, such as `*=` or `x[…] = …`, overwrote numbers it needs.",
            "Create a new tensor instead.",
        )
    sentence = "But what came back could not be examined: its kind or size is not what the exercise asks for."
    if case.doubles:
        sentence = (
            "But what came back has the type float64, and the inputs are float32, so they cannot be used together. "
            "Keep the type of the inputs: `.to(x.dtype)`, or no NumPy on the way."
        )
    return not_yet(case, *case.said_so_far(), sentence, trouble=(type(error).__name__, text_of(error)))


def not_attempted(number: str) -> Verdict:
    """What a stub hears."""
    return Verdict(
        number, "not attempted yet", (f'Write your answer above and run the cell again. Help: hint("{number}")',)
    )


def wrong_kind(exercise: Exercise, answer: Any) -> str | None:
    """A sentence where a function is asked for and something else was handed in."""
    number, given = exercise.number, "a class" if isinstance(answer, type) else type_name(answer)
    if exercise.kind == "value" and callable(answer):
        return f"I was given {given}, and the exercise asks for a value."
    if exercise.kind == "class" and not isinstance(answer, type):
        return f'I was given {given}. Hand in the class itself, without parentheses: check("{number}", YourClass).'
    if exercise.kind == "function" and (not callable(answer) or isinstance(answer, type)):
        hand_in = "Hand in the function itself, by its name and without parentheses"
        return f'I was given {given}. {hand_in}: check("{number}", your_function).'
    if exercise.kind != "value" and is_the_packages(answer):
        return "I was given the package's own. Hand in what you wrote yourself."
    return None


def shortened(items: list[str]) -> str:
    """a; b; and 7 more."""
    if len(items) > 3:
        items = [*items[:2], f"{len(items) - 2} more"]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def hint(number: str) -> Text:
    """The next hint of an exercise; after the last one, all of them. Raises UserError as `check` does."""
    exercise = find(number)
    given = hints_given[number] = hints_given.get(number, 0) + 1
    count = len(exercise.hints)
    if given > count:
        return Text("\n".join((f"All hints of {number} · {exercise.title}", *exercise.hints)))
    more = f'\nOne more: hint("{number}")' if given < count else ""
    return Text(f"Hint {given} of {count} · {number} {exercise.title}\n{exercise.hints[given - 1]}{more}")

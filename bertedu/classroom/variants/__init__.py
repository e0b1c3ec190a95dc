"""Graded variants of exercises, which no public solution answers: `bertedu assignment 3 --variant SEED`."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import iter_modules

from bertedu.classroom.variants.variant import Draws, Maker, Variant
from bertedu.course.exercise import EXERCISES

CHAPTER_FILES = sorted(one.name for one in iter_modules(__path__) if one.name.startswith("chapter_"))
MAKERS: dict[str, Maker] = {
    number: maker for name in CHAPTER_FILES for number, maker in import_module(f"{__name__}.{name}").MAKERS.items()
}
CHAPTERS = sorted({int(number.partition(".")[0]) for number in MAKERS})


def variants(token: str, chapters: tuple[int, ...] = ()) -> list[Variant]:
    """The variants of these chapters (none: of all) that follow from a token."""
    wanted = [number for number in MAKERS if not chapters or int(number.partition(".")[0]) in chapters]
    return [MAKERS[number](Draws(token, number)) for number in wanted]


def use_variant(token: str) -> None:
    """Let `check` and `hint` know the variants of a token. A notebook of an assignment calls it."""
    for variant in variants(token):
        EXERCISES[variant.exercise.number] = variant.exercise


@contextmanager
def using(token: str) -> Iterator[None]:
    """Inside the block, `check` and `hint` know the variants of a token."""
    use_variant(token)
    try:
        yield
    finally:
        for number in MAKERS:
            EXERCISES.pop(number, None)

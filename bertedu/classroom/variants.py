"""Graded variants of exercises, which no public solution answers: `bertedu assignment 3 --variant SEED`."""

from collections.abc import Iterator
from contextlib import contextmanager

from bertedu.course.exercise import EXERCISES
from bertedu.course.loading import all_chapters, load
from bertedu.course.rooms import chapter_of
from bertedu.course.variant import Draws, Maker, Variant

MAKERS: dict[str, Maker] = {
    number: maker
    for chapter in all_chapters()
    for module in load(chapter, "variants")
    for number, maker in module.MAKERS.items()
}
CHAPTERS = sorted({chapter_of(number) for number in MAKERS})


def variants(token: str, chapters: tuple[str, ...] = ()) -> list[Variant]:
    """The variants of these chapters (none: of all) that follow from a token."""
    wanted = [number for number in MAKERS if not chapters or chapter_of(number) in chapters]
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

"""A deck of slides for each chapter, made by rules from its stored notebook: one HTML file that runs offline."""

from pathlib import Path

from bertedu.classroom.slides.page import deck_html
from bertedu.classroom.slides.rules import slides_of
from bertedu.classroom.stored import stored_chapters
from bertedu.course.building.places import Places
from bertedu.files import write_text


def write_slides(chapters: tuple[str, ...], folder: Path, places: Places | None = None) -> list[tuple[Path, int]]:
    """Write the decks of the chapters given (none for all) into a folder; returns files and numbers of slides."""
    written = []
    for chapter in stored_chapters(chapters, solved=True, places=places):
        slides = slides_of(chapter)
        path = folder / f"{chapter.name}_slides.html"
        write_text(path, deck_html(chapter.title, slides))
        written.append((path, len(slides)))
    return written


__all__ = ["write_slides"]

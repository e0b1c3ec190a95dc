"""No chapter from 00 to 05 uses a term before it is explained: bertedu/chapters/terms.toml says where each one is.

Looked at is what everybody sees: no folded box, no code, no picture's alternative, no title of another chapter. A
heading may name what its section explains. The lists of what a chapter will teach, the map of the course and the
questions at the beginning of a chapter name terms on purpose.
"""

import re
import tomllib

import pytest

from bertedu.course.building.minutes import FOLDED
from bertedu.course.building.versions import read_source
from bertedu.course.rooms import CHAPTERS, number_of, sources_in

TERMS = tomllib.loads((CHAPTERS / "terms.toml").read_text(encoding="utf-8"))
AHEAD = re.compile(r"^## (?:What you will be able to do|Recall)\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
ROW_OF_THE_MAP = re.compile(r"^\| (?:\[?\d\d[a-z]? |chapter \|).*$", re.MULTILINE)
UNREAD = re.compile(r"```.*?```|!\[[^\]]*\]\([^)]*\)|\[[^\]]*\]\([^)]*\)|`[^`\n]*`|<!--.*?-->", re.DOTALL)
LISTED = [(chapter, names, words) for chapter, entries in TERMS.items() for names, words in entries.items()]


def seen() -> list[tuple[str, str]]:
    """(chapter, paragraph) of all that everybody sees in the chapters, in the order of reading."""
    found = []
    for source in sources_in(CHAPTERS):
        if (chapter := number_of(source)) > "05":
            break
        for cell in read_source(source).cells:
            if cell.cell_type == "markdown" and "solution" not in cell.metadata.get("tags", []):
                text = ROW_OF_THE_MAP.sub("", AHEAD.sub("", FOLDED.sub("", cell.source)))
                parts = re.split(r"\n\s*\n", HEADING.sub("", text))
                found += [(chapter, " ".join(paragraph.split())) for paragraph in parts]
    return found


SEEN = seen()


def first_use(names: str, texts: list[tuple[str, str]]) -> int | None:
    """The index of the first text that has one of the spellings as a word of its own."""
    spelt = "|".join(re.escape(name.strip()) for name in names.split("|"))
    pattern = re.compile(rf"(?<![\w-])(?:{spelt})s?(?![\w-])", re.IGNORECASE)
    return next((place for place, (_, text) in enumerate(texts) if pattern.search(UNREAD.sub(" ", text))), None)


@pytest.mark.parametrize(("chapter", "names", "words"), LISTED, ids=[names for _, names, _ in LISTED])
def test_no_term_is_used_before_it_is_explained(chapter, names, words):
    explained = next((place for place, (of, text) in enumerate(SEEN) if of == chapter and words in text), None)
    assert explained is not None, f"chapter {chapter} does not say {words!r}, which should explain {names}"
    used = first_use(names, SEEN)
    assert used is not None and used >= explained, (
        f"{names} is explained in chapter {chapter}, and used before, in chapter {SEEN[used][0]}: {SEEN[used][1]}"
    )


def test_a_term_in_code_in_a_link_or_within_a_word_is_no_use_of_it():
    texts = [
        ("00", "`loss` and [the loss](a.ipynb), a cross-loss and lossless"),
        ("01", "two losses"),
        ("02", "The loss"),
    ]
    assert first_use("gradient | loss", texts) == 2

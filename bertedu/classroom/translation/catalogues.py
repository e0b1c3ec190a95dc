"""The catalogues: data/translations/LANGUAGE/chapter_NN.po, and shared.po with what all chapters share.

They are files of gettext, which every tool for translators opens. What can be translated is found in the sources anew
each time (`template`); what a translator wrote is kept, and marked fuzzy where the English has changed (`update`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, get_args

from babel import Locale, UnknownLocaleError
from babel.messages import Catalog, Message
from babel.messages.pofile import PoFileError, read_po, write_po

from bertedu.classroom.translation.prose import rewritten
from bertedu.classroom.translation.sentences import sentences
from bertedu.course.building.places import Places
from bertedu.course.building.versions import GUESS, STUB, read_source
from bertedu.course.quizzes import read_quiz
from bertedu.course.verdict import Status
from bertedu.errors import UserError
from bertedu.files import read_bytes, read_text, write_text

SHARED = "shared"
SPOKEN_BY_ALL = ("checking", "case", "comparing", "raising", "copying", "honest")  # modules of bertedu.course
PATTERN = "python-brace-format"  # the flag of a text with {placeholders}; tools for translators know it
PLACEHOLDER = re.compile(r"\{(\w+)\}")
DATE = re.compile(r'^"(?:POT-Creation|PO-Revision)-Date:.*\n', re.MULTILINE)


@dataclass(frozen=True)
class Text:
    """One text to translate: where it stands, what it is, and whether {…} in it stands for a value."""

    words: str
    file: str
    line: int
    what: str
    pattern: bool = False


def code_comment(stub: str) -> str:
    """What a stub says to the learner."""
    return stub.partition("# ")[2]


def shared_texts(places: Places) -> Iterator[Text]:
    """What the checks and hints of all chapters say."""
    folder = places.root / "bertedu" / "course"
    for status in get_args(Status):
        yield Text(
            status, "bertedu/course/verdict.py", 8, "the first words of what a check says, as in: 3.2 · not yet."
        )
    for stub in (STUB, GUESS):
        yield Text(code_comment(stub), "bertedu/course/building/versions.py", 21, "the comment in an empty exercise")
    for name in SPOKEN_BY_ALL:
        yield from spoken(folder / f"{name}.py", places)


def spoken(path: Path, places: Places) -> Iterator[Text]:
    """The sentences of a module."""
    for one in sentences(path):
        what = f"said by a check or hint{'; ' + one.note if one.note else ''}"
        yield Text(one.text, path.relative_to(places.root).as_posix(), one.line, what, bool(one.values))


def chapter_texts(chapter: str, places: Places) -> Iterator[Text]:
    """A chapter's prose, its quiz, and what its checks and hints say, in this order."""
    (source,) = places.all_sources((chapter,))
    yield from prose_texts(source, places)
    quiz = places.data / "quizzes" / f"{source.name[:2]}.json"
    if quiz.exists():
        yield from quiz_texts(quiz, places)
    folder = places.root / "bertedu" / "course" / "exercises"
    for path in sorted(folder.glob(f"chapter_{source.name[:2]}*.py")):
        yield from spoken(path, places)


def prose_texts(source: Path, places: Places) -> Iterator[Text]:
    """The texts of the cells of Markdown, with their lines in the source."""
    lines, at = read_text(source).splitlines(), 0
    found: list[tuple[str, str, int]] = []

    def note(words: str, what: str, line: int) -> str:
        found.append((words, what, line))
        return words

    for cell in read_source(source).cells:
        first = cell.source.partition("\n")[0]
        written = {first} if cell.cell_type == "code" else {f"# {first}", first}
        at = next((place for place in range(at, len(lines)) if lines[place] in written), at)
        if cell.cell_type == "markdown":
            rewritten(cell.source, note, at + 1)
        at += cell.source.count("\n")
    for words, what, line in found:
        yield Text(words, source.relative_to(places.root).as_posix(), line, what)


def quiz_texts(path: Path, places: Places) -> Iterator[Text]:
    """Questions, answers and feedbacks of a quiz."""
    lines, name = read_text(path).splitlines(), path.relative_to(places.root).as_posix()

    def text(number: int, words: str, what: str) -> Text:
        line = next((place for place, line in enumerate(lines, start=1) if words in line), 1)
        return Text(words, name, line, f"quiz, question {number}: {what}")

    for number, question in enumerate(read_quiz(path), start=1):
        yield text(number, question["question"], "the question")
        for answer in question["answers"]:
            kind = "right" if answer["correct"] else "wrong"
            yield text(number, answer["answer"], f"an answer ({kind})")
            yield text(number, answer["feedback"], f"what the reader of this {kind} answer is told")


def template(name: str, places: Places) -> Catalog:
    """The texts of a chapter ("00"), or those that all share ("shared"), as a catalogue without translations. A text
    that is in the shared catalogue is in no other."""
    shared = list(shared_texts(places))
    catalogue, common = Catalog(project="bertedu", charset="utf-8"), {text.words for text in shared}
    for text in shared if name == SHARED else chapter_texts(name, places):
        if name == SHARED or text.words not in common:
            message = catalogue.add(text.words, locations=[(text.file, text.line)], auto_comments=[text.what])
            mend_flags(message, text.pattern)
    return catalogue


def mend_flags(message: Any, pattern: bool) -> None:
    """Babel takes "92 % of" for a format of C; only the sentences of checks have placeholders."""
    message.flags.difference_update({"python-format", PATTERN})
    if pattern:
        message.flags.add(PATTERN)


# Files ----------------------------------------------------------------------------------------------------------


def language_folder(language: str, places: Places) -> Path:
    """Where the catalogues of a language are. Raises UserError for a code that no language has."""
    try:
        Locale.parse(language)
    except (ValueError, UnknownLocaleError, TypeError) as error:
        raise UserError(f"{language!r} is no code of a language: write one such as de, fr or pt_BR.") from error
    return places.data / "translations" / language


def catalogue_path(language: str, name: str, places: Places) -> Path:
    """data/translations/de/chapter_00.po for "00", and shared.po for "shared"."""
    return language_folder(language, places) / (f"{name}.po" if name == SHARED else f"chapter_{name}.po")


def catalogues(language: str, places: Places) -> list[Path]:
    """The catalogues of a language. Raises UserError where there are none."""
    found = sorted(language_folder(language, places).glob("*.po"))
    if not found:
        raise UserError(
            f"there is no translation into {language} yet: begin with `bertedu translate update {language} 00`."
        )
    return found


def read_catalogue(path: Path) -> Catalog:
    """A catalogue from its file. Raises UserError, with the line, for a file that is damaged."""
    try:
        catalogue = read_po(BytesIO(read_bytes(path)), charset="utf-8", abort_invalid=True)
    except PoFileError as error:
        raise UserError(
            f"{path}, line {error.lineno + 1} is no line of a catalogue: correct it, or restore the file."
        ) from error
    except (ValueError, LookupError, UnknownLocaleError) as error:
        raise UserError(f"{path} is no catalogue that can be read ({error}): restore the file.") from error
    for message in messages(catalogue):
        mend_flags(message, is_pattern(message))
    return catalogue


def is_pattern(message: Message) -> bool:
    """Whether {…} in a text stands for a value: in what checks say, and in nothing else."""
    spoken = any(file.startswith("bertedu/course/") for file, _ in message.locations)
    return spoken and bool(PLACEHOLDER.search(str(message.id)))


def messages(catalogue: Catalog) -> list[Any]:
    """The messages, without the header."""
    return [message for message in catalogue if message.id]


@dataclass(frozen=True)
class Count:
    """How far a catalogue is: its texts, those without a translation, those marked fuzzy."""

    path: Path
    texts: int
    missing: int
    fuzzy: int


def update(language: str, chapters: tuple[str, ...], places: Places | None = None) -> list[Count]:
    """Bring the shared catalogue and those of the chapters up to date with the sources; returns how far each is.

    Translations are kept; one whose English has changed is kept as a suggestion and marked fuzzy.
    """
    places = places or Places()
    language_folder(language, places)  # refuses before it writes
    names = [SHARED, *(source.name[:2] for source in places.all_sources(chapters))]
    return [update_one(catalogue_path(language, name, places), language, template(name, places)) for name in names]


def update_one(path: Path, language: str, wanted: Catalog) -> Count:
    """One catalogue brought up to date; the file is written only where something other than a date has changed."""
    kept = read_catalogue(path) if path.exists() else Catalog(locale=language, project="bertedu", charset="utf-8")
    patterns = {message.id for message in messages(wanted) if PATTERN in message.flags}
    kept.update(wanted)
    for message in messages(kept):
        mend_flags(message, message.id in patterns)
    kept.header_comment = f"# The translation of the course into {Locale.parse(language).english_name}."
    kept.project, kept.version, kept.fuzzy = "bertedu", "1", False
    kept.revision_date = datetime.now(UTC)
    text = BytesIO()
    write_po(text, kept, width=100, include_previous=True)
    new = text.getvalue().decode()
    if not path.exists() or DATE.sub("", read_text(path)) != DATE.sub("", new):
        write_text(path, new)
    found = messages(kept)
    fuzzy = sum(message.fuzzy for message in found)
    return Count(path, len(found), sum(not message.string for message in found), fuzzy)

"""`bertedu translate build`: a chapter's two notebooks in another language, executed."""

import ast
import os
import re
from pathlib import Path
from urllib.parse import quote

import nbformat
from nbformat import NotebookNode

from bertedu.classroom.translation.answers import translation
from bertedu.classroom.translation.catalogues import SHARED, catalogue_path, code_comment, messages, read_catalogue
from bertedu.classroom.translation.prose import rewritten
from bertedu.classroom.translation.refusals import check
from bertedu.course.building.executing import execute, scrub
from bertedu.course.building.places import Places
from bertedu.course.building.versions import GUESS, STUB, learner_version, read_source, solution_version
from bertedu.errors import UserError
from bertedu.files import naming_failures, write_text

TRANSLATED = ("check", "hint", "quiz")
LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[)#])")  # an address inside the course: a path, no https:
Words = dict[str, str]


def build(language: str, chapters: tuple[str, ...], folder: Path, places: Places | None = None) -> list[Path]:
    """Write the learner's and the solved notebook of each chapter into the folder, executed; returns their paths.

    Raises UserError where a catalogue is missing or a translation has lost something (see `check`), and for a folder
    that holds the English notebooks.
    """
    places = places or Places()
    sources = places.all_sources(chapters)
    if folder.resolve().is_relative_to(places.notebooks.resolve()):
        raise UserError(f"{folder} holds the English notebooks: choose another folder.")
    words = {source: words_of(language, source.name[:2], places) for source in sources}
    check(language, places)
    names = {f"{source.stem}.ipynb" for source in sources}
    made = []
    for source in sources:
        for solved, path in enumerate((folder / f"{source.stem}.ipynb", folder / "solutions" / f"{source.stem}.ipynb")):
            notebook = translated(source, language, words[source], bool(solved))
            mend_links(notebook, places.pair(source)[solved].parent, path.parent, names)
            with naming_failures(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            execute(notebook, path.parent, path.name)
            scrub(notebook)
            write_text(path, nbformat.writes(notebook, indent=1, sort_keys=True) + "\n")
            made.append(path)
    return made


def words_of(language: str, chapter: str, places: Places) -> Words:
    """What is translated of a chapter and of what all share."""
    found: Words = {}
    for name in (SHARED, chapter):
        path = catalogue_path(language, name, places)
        if not path.exists():
            raise UserError(f"{path} is missing: run `bertedu translate update {language} {chapter}` and translate it.")
        found |= {message.id: translation(message) for message in messages(read_catalogue(path))}
    return found


def translated(source: Path, language: str, words: Words, solved: bool) -> NotebookNode:
    """One version of a chapter, not yet executed. Code stays as it is, but for the imports of what answers."""
    english = read_source(source)
    notebook = solution_version(english) if solved else learner_version(english, source)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = rewritten(cell.source, lambda text, what, line: words.get(text, text))
        else:
            cell.source = answering(cell.source, language)
            for stub in map(code_comment, (STUB, GUESS)):
                cell.source = cell.source.replace(f"# {stub}", f"# {words.get(stub, stub)}")
    notebook.metadata.language_of_prose = language
    return notebook


def answering(code: str, language: str) -> str:
    """The code with check, hint and quiz imported from the module that answers in the language."""
    lines, found = code.split("\n"), []
    if "bertedu.course" not in code:
        return code
    for node in ast.parse(code).body:
        if isinstance(node, ast.ImportFrom) and node.module == "bertedu.course":
            found.append(node)
    for node in reversed(found):
        spoken = [alias for alias in node.names if alias.name in TRANSLATED]
        others = [alias for alias in node.names if alias.name not in TRANSLATED]
        if spoken:
            names = ", ".join(alias.asname or alias.name for alias in spoken)
            values = ", ".join(f'in_language("{language}").{alias.name}' for alias in spoken)
            new = ["from bertedu.classroom.translation.answers import in_language"]
            if others:
                new.append(ast.unparse(ast.ImportFrom(node.module, others, 0)))
            new += ["", f"{names} = {values}"]
            lines[node.lineno - 1 : node.end_lineno] = new
    return "\n".join(lines)


def mend_links(notebook: NotebookNode, english: Path, folder: Path, translated_names: set[str]) -> None:
    """Let links lead to the translated notebook where one is made or is there, else to what the English links to."""

    def address(found: re.Match[str]) -> str:
        target = found[1]
        if target in translated_names or (target.endswith(".ipynb") and (folder / target).is_file()):
            return target
        if not (english / target).exists():
            return target
        return quote(Path(os.path.relpath((english / target).resolve(), folder.resolve())).as_posix())

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(address, cell.source)

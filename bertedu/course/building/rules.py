"""What is wrong with a source, found by reading it: before the first cell of any notebook is executed."""

import ast
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import jupytext
from nbformat import NotebookNode

from bertedu.course.building.guesses import is_guess
from bertedu.course.building.pictures import faults_of_pictures
from bertedu.course.building.places import Places
from bertedu.course.building.versions import BEGIN, END, learner_version, read_source
from bertedu.course.exercise import Exercise
from bertedu.course.loading import all_exercises
from bertedu.course.rooms import drawing_files, number_of
from bertedu.errors import UserError
from bertedu.files import read_text

TAGS = ("exercise", "solution", "guess", "hide-input", "raises-exception", "nbval-ignore-output", "nbval-skip")
HEADING = re.compile(r"^### Exercise (\S+) · (.+?)\s*$", flags=re.MULTILINE)
CHECK = re.compile(r"""\bcheck\(\s*["']([^"']*)["']""")
LINK = re.compile(r"\[[^\]]+\]\((\d\d[a-z]?_\w+\.ipynb)[^)]*\)")
MAGIC = re.compile(r"^\s*(%|!|\?)|\?\s*$", flags=re.MULTILINE)


def refuse_faults(sources: Iterable[Path], places: Places) -> None:
    """Raise UserError with all that is wrong with these sources."""
    found = [fault for path in sources for fault in faults(path, places)]
    if found:
        raise UserError("nothing was executed, because of what the sources say:\n" + "\n".join(found))


def faults(path: Path, places: Places) -> list[str]:
    """What is wrong with a source: "FILE, line 12: …" for each."""
    text = read_text(path)
    try:
        cells = jupytext.reads(text, fmt="py:percent").cells
    except Exception as error:  # of many kinds
        first = str(error).strip().partition("\n")[0]
        return [f'{path} is no notebook in the py:percent format: {first} (tags are a list, as tags=["exercise"]).']
    starts = lines_of_cells(text, len(cells))
    known = registered(path, cells)
    drawn = bool(drawing_files(path.parent))
    found = [
        (start + line, sentence)
        for cell, start in zip(cells, starts, strict=True)
        for line, sentence in (*faults_of(cell, known), *dead_ends(cell, places, drawn))
    ]
    found += [(1, sentence) for sentence in left_out(path, cells, known)]
    if not found:
        found += [(starts[place], sentence) for place, sentence in guesses_of_answers(cells)]
        found += [(starts[place], sentence) for place, sentence in changed_before_drawn(path, cells)]
    if not found:
        try:
            learner_version(read_source(path), path)
        except UserError as error:
            return [str(error)]
    return [f"{path}, line {line}: {sentence}" for line, sentence in sorted(found)]


def lines_of_cells(text: str, count: int) -> list[int]:
    """The line of the source on which the text of each cell begins; 1 for all where that cannot be told."""
    starts = [number + 1 for number, line in enumerate(text.splitlines(), start=1) if re.match(r"# ?%%", line)]
    return starts if len(starts) == count else [1] * count


def line_in(cell: NotebookNode, place: int) -> int:
    """The number of lines of a cell before a position in its text."""
    return cell.source.count("\n", 0, place)


def registered(path: Path, cells: Sequence[NotebookNode]) -> Mapping[str, Exercise | None]:
    """The exercises that a source may speak of: the course's, and those that the source itself registers (None)."""
    own = re.findall(r"""^@exercise\(\s*["']([^"']+)["']""", "\n".join(cell.source for cell in cells), re.MULTILINE)
    return {**{exercise.number: exercise for exercise in all_exercises()}, **dict.fromkeys(own)}


def faults_of(cell: NotebookNode, known: Mapping[str, Exercise | None]) -> Iterator[tuple[int, str]]:
    """What is wrong with one cell, and on which of its lines (from 0)."""
    for tag in sorted(set(cell.metadata.get("tags", [])) - set(TAGS)):
        if near := difflib.get_close_matches(tag, TAGS, n=1, cutoff=0.75):
            yield 0, f"the tag {tag!r} means nothing here: did you mean {near[0]!r}?"
    if cell.cell_type == "markdown":
        yield from faults_of_headings(cell, known)
    elif cell.cell_type == "code":
        yield from faults_of_code(cell, known)


def faults_of_headings(cell: NotebookNode, known: Mapping[str, Exercise | None]) -> Iterator[tuple[int, str]]:
    """Exercises that are announced and nowhere registered, or under another title."""
    for heading in HEADING.finditer(cell.source):
        number, title = heading.groups()
        exercise = known.get(number)
        if number not in known:
            yield line_in(cell, heading.start()), f"exercise {number} is not registered: no check examines it."
        elif exercise and exercise.title != title:
            yield line_in(cell, heading.start()), f"{number} is registered as {exercise.title!r}, and not as {title!r}."


def faults_of_code(cell: NotebookNode, known: Mapping[str, Exercise | None]) -> Iterator[tuple[int, str]]:
    """Code that is none, marks of a solution that do not fit together, and answers that nothing examines."""
    if not MAGIC.search(cell.source):
        try:
            ast.parse(cell.source)
        except SyntaxError as error:
            yield (error.lineno or 1) - 1, f"this is no Python: {error.msg}."
            return
    yield from ((line, sentence) for line, sentence in faults_of_marks(cell))
    for call in CHECK.finditer(cell.source):
        if call[1] not in known:
            yield line_in(cell, call.start()), f"check({call[1]!r}, …): there is no such exercise."
    answer = BEGIN in cell.source
    if answer and "exercise" not in cell.metadata.get("tags", []):
        yield 0, 'a cell with a solution needs tags=["exercise"].'
    if answer and not CHECK.search(cell.source) and not cell.metadata.get("nbgrader"):
        yield 0, "nothing examines this answer: end the cell with its check(…)."


def faults_of_marks(cell: NotebookNode) -> Iterator[tuple[int, str]]:
    """Marks of a solution without their partner."""
    is_open = False
    for number, line in enumerate(cell.source.splitlines()):
        word = line.strip()
        if word.startswith(BEGIN if is_open else END):
            yield number, f"{BEGIN if is_open else END} comes twice, or without {END if is_open else BEGIN} before it."
            return
        is_open ^= word.startswith((BEGIN, END))
    if is_open:
        yield len(cell.source.splitlines()) - 1, f"{BEGIN} has no {END} in its cell."


def guesses_of_answers(cells: Sequence[NotebookNode]) -> Iterator[tuple[int, str]]:
    """Guesses that read what an exercise defines: their outputs would differ from reader to reader."""
    answers: set[str] = set()
    for place, cell in enumerate(cells):
        if cell.cell_type != "code" or MAGIC.search(cell.source):
            continue
        tree = ast.parse(cell.source)
        own = defined(tree)
        read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        if is_guess(cell) and (used := sorted(read & answers - own)):
            yield place, f"this guess depends on the exercise that defines {', '.join(used)}: use the package's."
        answers = answers | own - imported(tree) if BEGIN in cell.source else answers - own


def changed_before_drawn(path: Path, cells: Sequence[NotebookNode]) -> Iterator[tuple[int, str]]:
    """Names that a picture takes and two cells define: pictures are drawn after the last cell, from its values."""
    pictures = taken_by_pictures(drawing_files(path.parent))
    taker = {name: picture for picture, names in pictures.items() for name in names}
    first: dict[str, int] = {}
    for place, cell in enumerate(cells):
        if cell.cell_type != "code" or MAGIC.search(cell.source):
            continue
        for name in sorted(defined(ast.parse(cell.source)) & taker.keys()):
            if name in first:
                yield place, f"{name} gets a second value here; the picture {taker[name]} would show only this one."
            first[name] = place


def taken_by_pictures(files: Iterable[Path]) -> dict[str, list[str]]:
    """The names that each picture of a room takes, by picture."""
    statements = [node for path in files for node in ast.parse(read_text(path)).body]
    functions = (node for node in statements if isinstance(node, ast.FunctionDef))
    return {one.name: [argument.arg for argument in one.args.args] for one in functions if not one.name.startswith("_")}


def defined(node: ast.AST) -> set[str]:
    """The names that code leaves to what comes after it: none that are local to a function, class or comprehension."""
    found = imported(node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(child.name)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            found.add(child.id)
        elif not isinstance(child, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            found |= defined(child)
    return found


def imported(node: ast.AST) -> set[str]:
    """The names that the imports of a piece of code bring."""
    imports = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.Import | ast.ImportFrom))
    return {(alias.asname or alias.name).partition(".")[0] for one in imports for alias in one.names}


def dead_ends(cell: NotebookNode, places: Places, drawn: bool) -> Iterator[tuple[int, str]]:
    """Links to notebooks that no source makes, and pictures that nobody would see."""
    if cell.cell_type != "markdown":
        return
    yield from faults_of_pictures(cell.source, places, drawn)
    for link in LINK.finditer(cell.source):
        if link[1].removesuffix(".ipynb") not in (source.stem for source in places.all_sources()):
            yield line_in(cell, link.start()), f"the link leads to {link[1]}, which no source makes."


def left_out(path: Path, cells: Sequence[NotebookNode], known: Mapping[str, Exercise | None]) -> Iterator[str]:
    """Exercises of the chapter that its notebook does not announce or does not check."""
    announced = {found[1] for cell in cells if cell.cell_type == "markdown" for found in HEADING.finditer(cell.source)}
    checked = {found[1] for cell in cells if cell.cell_type == "code" for found in CHECK.finditer(cell.source)}
    for number, exercise in known.items():
        own = exercise is not None and exercise.chapter == number_of(path)
        if own and number not in announced:
            yield f"exercise {number} is registered, and no heading `### Exercise {number} · …` announces it."
        if (own or number in announced) and number not in checked:
            yield f"no cell calls check({number!r}, …)."

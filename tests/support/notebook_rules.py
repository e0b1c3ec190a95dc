"""The rules that every stored notebook keeps. Each function returns sentences: what is wrong, and where."""

import re
from html.parser import HTMLParser

from nbformat import NotebookNode

from bertedu.course.building.limits import begins, code_cells, long_cells, wide_lines, wrong_size
from bertedu.course.building.pictures import pictures_in, seen_from_below
from bertedu.course.building.sittings import LINE, Sittings, sittings_in

__all__ = ["long_cells", "wide_lines", "wrong_size"]  # and all of this file

MOST_BARE_TRUTHS = 3
SITTING = range(15, 71)  # minutes; a short one is one that waits for a training
UNCOMPARED = ("nbval-ignore-output", "nbval-skip", "pytest-validate-ignore-output")
UNCOMPARED_COMMENTS = ("NBVAL_IGNORE_OUTPUT", "NBVAL_SKIP", "PYTEST_VALIDATE_IGNORE_OUTPUT")
HEADINGS = (
    "What you will be able to do",
    "Recall",
    "The proof",
    "Broken BERT: ",
    "Paper and code",
    "Summary",
    "Quiz",
    "Interview questions",
    "Next",
)
NOT_IN_CHAPTER_ZERO = ("Recall", "The proof", "Broken BERT: ", "Paper and code")


def tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def never_ran(notebook: NotebookNode) -> list[str]:
    return [f"{begins(c)} never ran" for c in code_cells(notebook) if not c.execution_count]


def errors(notebook: NotebookNode) -> list[str]:
    found = []
    for cell in code_cells(notebook):
        failed = [output.ename for output in cell.outputs if output.output_type == "error"]
        meant = "raises-exception" in tags(cell)
        if failed and not meant:
            found.append(f"{begins(cell)} stored a {failed[0]}")
        if meant and not failed:
            found.append(f"{begins(cell)} is tagged raises-exception and raised nothing")
    return found


def uncompared(cell: NotebookNode) -> bool:
    comments = {line.strip().lstrip("#").strip() for line in cell.source.splitlines() if line.strip().startswith("#")}
    return bool(set(tags(cell)) & set(UNCOMPARED) or comments & set(UNCOMPARED_COMMENTS))


def too_much_uncompared(notebook: NotebookNode) -> list[str]:
    """Besides the quiz and what one can touch, which have tests of their own."""
    cells = [cell for cell in code_cells(notebook) if not re.search(r"^(?:quiz|explorable)\(", cell.source, re.M)]
    count = sum(map(uncompared, cells))
    return (
        [f"{count} of {len(cells)} code cells are not compared, more than one in six"] if count * 6 > len(cells) else []
    )


class Pictures(HTMLParser):
    """Collects the pictures of an HTML text that say nothing to somebody who does not see them."""

    def __init__(self) -> None:
        super().__init__()
        self.silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        needed = {"img": ("alt",), "svg": ("aria-label", "aria-labelledby"), "iframe": ("title",)}.get(tag)
        if needed and not any((dict(attrs).get(name) or "").strip() for name in needed):
            self.silent.append(f"<{tag}> has no {needed[0]}")


def silent_pictures(text: str) -> list[str]:
    parser = Pictures()
    parser.feed(text)
    return parser.silent


def pictures_without_words(notebook: NotebookNode) -> list[str]:
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"```.*?```|`[^`\n]*`", "", cell.source, flags=re.DOTALL)
            found += [f"{begins(cell)} has an image without a text" for one in pictures_in(prose) if not one.words]
            found += [f"{begins(cell)} has an <svg>, and JupyterLab strips it" for _ in re.findall(r"<svg\b", prose)]
            found += [f"in {begins(cell)} {silence}" for silence in silent_pictures(prose)]
        for output in cell.get("outputs", []):
            for kind, data in output.get("data", {}).items():
                if kind.startswith("image/") and len(output.metadata.get(kind, {}).get("alt", "").split()) < 3:
                    found.append(f"the picture of {begins(cell)} has no alternative: show it as Picture(figure, alt=…)")
                if kind == "text/html":
                    found += [
                        f"in the output of {begins(cell)} {silence}" for silence in silent_pictures("".join(data))
                    ]
    return found


def bare_truths(notebook: NotebookNode) -> list[str]:
    """True and False where the reader came for a number: alone, or after a colon, in what a cell shows."""
    found = []
    for cell in code_cells(notebook):
        for run in re.findall(r"(?:^|[:=])[ \t]*((?:(?:True|False)\b[ \t,]*)+)", said(cell), flags=re.MULTILINE):
            found += [cell] * len(re.findall("True|False", run))
    if len(found) <= MOST_BARE_TRUTHS:
        return []
    cells = ", ".join(dict.fromkeys(map(begins, found)))
    return [f"it shows {len(found)} bare truths, and {MOST_BARE_TRUTHS} may stand; print the numbers in {cells}"]


def headings(notebook: NotebookNode, level: int) -> list[str]:
    """The Markdown headings of one level, without those inside fenced code."""
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return re.findall(rf"^{'#' * level} (.+?)\s*$", re.sub(r"^```.*?^```", "", prose, flags=re.M | re.S), flags=re.M)


def missing_sections(notebook: NotebookNode, chapter: str) -> list[str]:
    wanted = [name for name in HEADINGS if chapter != "00" or name not in NOT_IN_CHAPTER_ZERO]
    found = headings(notebook, 2)
    missing = [f"it has no section `## {name}`" for name in wanted if not any(map(matches(name), found))]
    order = [name for heading in found for name in HEADINGS if matches(name)(heading)]
    if not missing and [name for name in order if name in wanted] != wanted:
        missing.append(f"its sections are in another order than {', '.join(wanted)}: {', '.join(order)}")
    first = notebook.cells[0].source.splitlines()[0]
    if not re.fullmatch(rf"# {chapter} · .+", first):
        missing.append(f"it begins with {first!r} and not with a title as `# {chapter} · …`")
    return missing + opening(notebook, chapter)


def matches(name: str):
    return lambda heading: heading.startswith(name) if name.endswith(": ") else heading == name


def opening(notebook: NotebookNode, chapter: str) -> list[str]:
    """Objectives and time, below the first heading."""
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    section = re.search(rf"^## {HEADINGS[0]}\n(.*?)(?=^## |\Z)", prose, flags=re.M | re.S)
    text, found = section[1] if section else "", []
    points = len(re.findall(r"^[-*] ", text, flags=re.M))
    if not 3 <= points <= 5:
        found.append(f"it has {points} objectives (`- …` below the first heading), and a chapter has three to five")
    time = LINE.search(text)
    if not time:
        found.append(f"its time is not told as `**Time:** {Sittings((50, 55), 20)}`")
    elif not all(minutes in SITTING for minutes in sittings_in(time).each):
        found.append(f"a sitting takes {SITTING.start} to {SITTING.stop - 1} minutes, and its are {time[0]!r}")
    found += [f"its opening does not tell **{word}:**" for word in ("You need", "Next") if f"**{word}:**" not in text]
    return found


def quiz_problems(notebook: NotebookNode, chapter: str) -> list[str]:
    shown = chapter.removeprefix("0")
    if any(re.search(rf"\bquiz\(\"?{shown}\"?\)", cell.source) for cell in code_cells(notebook)):
        return []
    return [f"no cell shows quiz({shown})"]


def exercise_problems(notebook: NotebookNode, chapter: str, registered: list, solved: bool) -> list[str]:
    """Headings, dots and minutes are those registered; every exercise is checked, and answered as it should be."""
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    shown = [heading for heading in headings(notebook, 3) if heading.startswith("Exercise ")]
    wanted = [f"Exercise {exercise.number} · {exercise.title}" for exercise in registered]
    found = []
    if shown != wanted:
        found.append(f"its exercises are {shown}, and those registered are {wanted}")
    if not 3 <= len(registered) <= 5 and chapter != "00":
        found.append(f"it has {len(registered)} exercises, and a chapter has three to five")
    for exercise in registered:
        line = f"{exercise.dots} · {exercise.minutes} minutes"
        if not any(f"Exercise {exercise.number} · {exercise.title}\n{line}" in text for text in prose):
            found.append(f"below the heading of {exercise.number} there should be {line!r}")
        checks = [c for c in code_cells(notebook) if f'check("{exercise.number}"' in c.source and "exercise" in tags(c)]
        status = "yes" if solved else "not attempted yet"
        if not checks:
            found.append(f'no cell tagged exercise calls check("{exercise.number}", …)')
        found += [
            f"{exercise.number} is not answered {status!r} here: {said(cell)!r}"
            for cell in checks
            if f"{exercise.number} · {status}." not in said(cell)
        ]
    return found


def said(cell: NotebookNode) -> str:
    texts = [output.get("text", output.get("data", {}).get("text/plain", "")) for output in cell.outputs]
    return "".join("".join(text) for text in texts)


def differences(learner: NotebookNode, solution: NotebookNode) -> list[str]:
    """Where the two versions differ outside exercises and solutions."""
    kept = [cell for cell in solution.cells if "solution" not in tags(cell)]
    if len(kept) != len(learner.cells):
        return [f"the learner's has {len(learner.cells)} cells, the solution {len(kept)} that are no solutions"]
    found = []
    for one, other in zip(learner.cells, kept, strict=True):
        answer = "exercise" in tags(one)
        same_code = without_answer(one.source) == without_answer(other.source) if answer else same_text(one, other)
        if not same_code or (one.cell_type, one.id, tags(one)) != (other.cell_type, other.id, tags(other)):
            found.append(f"{begins(one)} differs outside an answer")
        elif (
            not answer
            and not uncompared(one)
            and [plain(o) for o in one.get("outputs", [])] != [plain(o) for o in other.get("outputs", [])]
        ):
            found.append(
                f"{begins(one)} has another output than in the solution: tag it exercise, or free it of answers"
            )
    return found


def same_text(learner: NotebookNode, solution: NotebookNode) -> bool:
    """Whether two cells say the same: the solution lies one folder deeper, and so its pictures are one higher."""
    said = seen_from_below(learner.source) if learner.cell_type == "markdown" else learner.source
    return said == solution.source


def plain(output: NotebookNode) -> dict:
    """What is compared of an output. A picture with an alternative text is compared by it, as nbval does: what is drawn
    may be times that were measured.
    """
    kept = {key: value for key, value in output.items() if key != "execution_count"}
    if "text/plain" in kept.get("data", {}):
        kept["data"] = {kind: value for kind, value in kept["data"].items() if kind != "image/png"}
    return kept


def without_answer(code: str) -> str:
    """The code with whatever stands for an answer taken out."""
    code = re.sub(r"^ *### BEGIN SOLUTION.*?### END SOLUTION *\n?", "", code, flags=re.M | re.S)
    return re.sub(r"^[^\n]*# Your turn: [^\n]*\n?", "", code, flags=re.M)

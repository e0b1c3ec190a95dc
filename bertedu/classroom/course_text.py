"""What a notebook of a teacher's course says of the others: links, "You need", "Next", and the map."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from bertedu.classroom.course_file import Entry

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?:\./|solutions/)?([^\s()/#?]+\.ipynb)(#[^)]*)?\)")
OPENING = re.compile(r"^\*\*Time:\*\*.*?(?=\n\s*\n|\Z)", flags=re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"\*\*You need:\*\*(.*?)(?=\*\*\w|\Z)", flags=re.DOTALL)
NEXT_LINK = re.compile(r"\*\*Next:\*\*.*?(?=\n\*\*|\s·\s\*\*|\Z)", flags=re.DOTALL)
NEXT = re.compile(r"^## Next\n.*?(?=^## |\Z)", flags=re.MULTILINE | re.DOTALL)
MAP = re.compile(r"^\| *chapter *\|[^\n]*\n\|[-| :]+\|\n((?:\|[^\n]*\n?)+)", flags=re.MULTILINE)
AFTER_MAP = re.compile(r"\A\n*Chapters \d\d[a-z]? to \d\d[a-z]? [^\n]*(?:\n(?!\n|#)[^\n]*)*")


@dataclass(frozen=True)
class Remark:
    """A warning: the cell it is about, how many of its lines come before, and a sentence."""

    cell: str
    line: int
    sentence: str


@dataclass(frozen=True)
class Named:
    """An entry with what its notebook is called, and a line about it for the map."""

    entry: Entry
    title: str
    about: str = ""
    minutes: str = ""

    @property
    def link(self) -> str:
        """A Markdown link to it."""
        return f"[{self.title}]({self.entry.file})"


def named(entries: Mapping[str, NotebookNode], order: Sequence[Entry], start: NotebookNode | None) -> list[Named]:
    """The titles of all notebooks, and what our own map (in chapter 00, `start`) says about them."""
    rows = {}
    for cell in start.cells if start else ():
        for row in re.findall(r"^\| *\[?(\d\d[a-z]?) [^|]*\|([^|]*)\|([^|]*)\|", cell.source, flags=re.MULTILINE):
            rows[row[0]] = row[1].strip(), row[2].strip()
    found = []
    for entry in order:
        about, minutes = rows.get(entry.number, ("", "")) if entry.number is not None else ("", "")
        title = entry.title or heading(entries[entry.file]) or entry.source.stem
        if entry.number is not None and entry.title:
            title = f"{entry.number} · {entry.title}"  # check("3.2") and the file keep this number
        found.append(Named(entry, title, entry.about or about, str(entry.minutes or minutes)))
    return found


def heading(notebook: NotebookNode) -> str | None:
    """The first heading of a notebook."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (found := re.search(r"^# (.+?)\s*$", cell.source, flags=re.MULTILINE)):
            return found[1]
    return None


def rewritten(notebook: NotebookNode, place: int, course: Sequence[Named]) -> list[Remark]:
    """Change what a notebook says of others, in place; returns what a teacher should know."""
    after = course[place + 1] if place + 1 < len(course) else None
    remarks: list[Remark] = []
    titled, ours = False, course[place].entry.number is not None
    if not any(OPENING.search(cell.source) for cell in notebook.cells if cell.cell_type == "markdown"):
        add_navigation(notebook, place, course)
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        if not titled and re.search(r"^# ", cell.source, flags=re.MULTILINE):
            cell.source = re.sub(r"^# .*", lambda _: f"# {course[place].title}", cell.source, count=1, flags=re.M)
            titled = True
        text = cell.source
        remarks += needs_later(cell, place, course)
        text = OPENING.sub(lambda found: opening(found[0], place, course), text, count=1)
        text = NEXT.sub(lambda found: closing(found[0], after) if ours else found[0], text)
        text = with_map(text, place, course)
        text, dropped = relinked(text, cell, course)
        remarks += dropped
        cell.source = text
    return remarks


def opening(text: str, place: int, course: Sequence[Named]) -> str:
    """The lines with the time, what is needed and what comes next; the teacher's date and links below."""
    after = course[place + 1] if place + 1 < len(course) else None
    said = after.link if after else "this is the last notebook of the course"
    if not leads_to(NEXT_LINK.search(text), after):
        text = NEXT_LINK.sub(lambda _: f"**Next:** {said}", text)
    if place and "**Previous:**" not in text:
        text += f" ·\n**Previous:** {course[place - 1].link}"
    return "\n\n".join([text, *facts(course[place].entry)])


def add_navigation(notebook: NotebookNode, place: int, course: Sequence[Named]) -> None:
    """Below the first text of a teacher's own notebook, what comes before and after it."""
    cell = next((cell for cell in notebook.cells if cell.cell_type == "markdown"), None)
    ways = [("Previous", course[place - 1])] if place else []
    ways += [("Next", course[place + 1])] if place + 1 < len(course) else []
    said = " · ".join(f"**{way}:** {one.link}" for way, one in ways)
    if cell is not None:
        cell.source = "\n\n".join(filter(None, [cell.source.rstrip(), said, *facts(course[place].entry)]))


def facts(entry: Entry) -> list[str]:
    """The date and the links of a notebook, as a paragraph."""
    links = ", ".join(f"[{text}]({to})" for text, to in entry.links)
    both = [f"**Date:** {entry.date}" if entry.date else "", f"**Links:** {links}" if links else ""]
    said = " · ".join(filter(None, both))
    return [said] if said else []


def leads_to(found: re.Match[str] | None, after: Named | None) -> bool:
    """Whether the first link of a text leads to the notebook that comes next."""
    link = LINK.search(found[0]) if found else None
    return bool(link and after and link[2] == after.entry.file)


def closing(text: str, after: Named | None) -> str:
    """The section "Next": as it is where one of its links leads to what comes next in this course, else new."""
    if after and any(link[2] == after.entry.file for link in LINK.finditer(text)):
        return text
    said = f"Go on with {after.link}." if after else "This was the last notebook of the course."
    return f"## Next\n\n{said}\n"


def with_map(text: str, place: int, course: Sequence[Named]) -> str:
    """The text with the course's own map, where it has a map."""
    found = MAP.search(text)
    if not found:
        return text
    rest = text[found.end() :]
    if {link[2] for link in LINK.finditer(found[0])} - {one.entry.file for one in course}:
        rest = AFTER_MAP.sub("", rest, count=1)  # it tells the parts of the whole course
    return f"{text[: found.start()]}{the_map(course, here=place)}\n\n{rest.lstrip()}"


def the_map(course: Sequence[Named], here: int | None = None) -> str:
    """A table of all notebooks of the course, in its order."""
    dated = any(one.entry.date for one in course)
    lines = ["| chapter | what you build | minutes |" + " date |" * dated, "|---|---|---|" + "---|" * dated]
    for place, one in enumerate(course):
        name = one.title if place == here else one.link
        cells = [name, one.about, one.minutes, *([one.entry.date or ""] if dated else [])]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def needs_later(cell: NotebookNode, place: int, course: Sequence[Named]) -> list[Remark]:
    """What a notebook needs and what comes after it in this course, or not at all."""
    remarks = []
    places = {one.entry.file: at for at, one in enumerate(course)}
    for needs in NEEDS.finditer(cell.source):
        required = re.split(r"\bbest after\b", needs[1])[0]
        for link in LINK.finditer(required):
            at = places.get(link[2])
            if at is None or at > place:
                line = cell.source.count("\n", 0, needs.start(1) + link.start())
                where = "which comes later in this course" if at is not None else "which is not in this course"
                remarks.append(Remark(cell.id, line, f'"You need" names {plain(link[1])}, {where}.'))
    return remarks


def relinked(text: str, cell: NotebookNode, course: Sequence[Named]) -> tuple[str, list[Remark]]:
    """The text with links to what the course has, under their titles there, and plain text for the others."""
    there = {one.entry.file: one for one in course}
    remarks = []

    def new(link: re.Match[str]) -> str:
        target = there.get(link[2])
        if target is None:
            at = cell.source.find(link[0])
            line = cell.source.count("\n", 0, max(at, 0))
            remarks.append(
                Remark(cell.id, line, f"the link to {link[2]}, not in this course, became text: {plain(link[1])}.")
            )
            return link[1]
        own = target.entry.title and re.match(r"\d\d[a-z]?\b", link[1])
        return f"[{target.title if own else link[1]}]({link[2]}{link[3] or ''})"

    return LINK.sub(new, text), remarks


def plain(text: str) -> str:
    """A text in quotes, on one line."""
    return f"“{' '.join(text.split())}”"

"""The slides that every chapter has: title, goals, recall, exercises, paper and code, summary, interview, next."""

import re
from math import ceil

from bertedu.classroom.slides import fitting
from bertedu.classroom.slides.blocks import Block, Section
from bertedu.classroom.slides.fitting import Part
from bertedu.classroom.slides.sentences import BESIDE_THE_TASK, asks, sentences, shortened, visible_length
from bertedu.classroom.slides.slide import Slide

LONGEST_TASK = 420
LEFT_OUT = ("Quiz",)
SOLUTION = re.compile(r"^ *### (BEGIN|END) SOLUTION\n?", re.MULTILINE)


def frame_slides(section: Section, chapter: str) -> list[Slide] | None:
    """The slides of a section that every chapter has; None for one of the author's own."""
    title = section.title
    if section.level <= 1:
        return [title_slide(section), *picture_slides(section, chapter)] if title else []
    if title.startswith("Exercise "):
        return [exercise_slide(section, chapter)]
    if title in LEFT_OUT:
        return []
    makers = {
        "What you will be able to do": list_slides,
        "Recall": question_slides,
        "Paper and code": table_slides,
        "Summary": list_slides,
        "Interview questions": question_slides,
        "Next": next_slide,
    }
    return (makers[title](section, chapter) or None) if title in makers else None


def title_slide(section: Section) -> Slide:
    """The chapter's name and its promise."""
    number, _, name = section.title.partition(" · ")
    promise = [block.text for block in section.prose if block.kind == "paragraph"]
    parts = [fitting.text_part(shortened(promise[0], 330))] if promise else []
    return Slide("title", name or number, f"Build BERT yourself · chapter {number}", parts, promise)


def list_slides(section: Section, chapter: str) -> list[Slide]:
    """The points of a list, on a second slide where one has no room for them, and the pictures beside it."""
    points = [shortened(item, 180) for block in section.prose for item in block.items]
    pages = in_pages(points, section.title, numbered=False)
    made = [Slide("list", section.title, chapter, [page]) for page in pages]
    if made:
        made[0].notes = [block.text for block in section.prose]
    return made + picture_slides(section, chapter)


def picture_slides(section: Section, chapter: str) -> list[Slide]:
    """A slide for each picture, which stands beside a list of points or under the title."""
    title = section.title.partition(" · ")[2] or section.title if section.level <= 1 else section.title
    pictures = [block.text for block in section.prose if block.text.startswith("<img ")]
    return [Slide("picture", title, chapter, [fitting.figure_part(html)]) for html in pictures]


def question_slides(section: Section, chapter: str) -> list[Slide]:
    """Questions to the room; the answers are in the notes."""
    asked = []
    for block in section.prose:
        if block.kind == "list":
            asked += block.items
        elif block.kind == "paragraph" and block.text.startswith("**") and block.text.endswith("**"):
            asked.append(re.sub(r"^\d+\. *", "", " ".join(block.text.replace("**", "").split())))
    shown = [shortened(text, 230) for text in asked]
    made = [
        Slide("questions", section.title, chapter, [page]) for page in in_pages(shown, section.title, numbered=True)
    ]
    if made:
        made[0].notes = [block.text for block in section.prose]
    return made


def in_pages(points: list[str], title: str, numbered: bool) -> list[Part]:
    """The points as lists that each fit a slide."""
    for most in range(1, len(points) + 1):  # on as few pages as possible, and as many points on each
        share = ceil(len(points) / most)
        groups = [points[start : start + share] for start in range(0, len(points), share)]
        for small in (False, True):
            pages = [fitting.points_part(group, numbered, small) for group in groups]
            if all(fitting.fits([page], title) for page in pages):
                return pages
    return pages if points else []


def table_slides(section: Section, chapter: str) -> list[Slide]:
    """The table of who does what, its fields shortened, on as few slides as have room for it."""
    made: list[Slide] = []
    for block in section.prose:
        if block.kind != "table":
            continue
        lines = block.text.splitlines()
        head, *rows = [[cell.strip() for cell in fitting.split_row(line)] for line in [lines[0], *lines[2:]]]
        rows = [[shortened(cell, 150 if len(head) < 4 else 70) for cell in row] for row in rows]
        groups: list[list[list[str]]] = [[]]
        for row in rows:
            if groups[-1] and not fitting.fits([fitting.table_part(head, [*groups[-1], row])], section.title):
                groups.append([])
            groups[-1].append(row)
        tables = [fitting.table_part(head, group) for group in groups if group]
        made += [Slide("table", section.title, chapter, [table], weight=4) for table in tables]
    if made:
        made[0].weight = 9
        made[0].notes = [block.text for block in section.prose]
    return made


def exercise_slide(section: Section, chapter: str) -> Slide:
    """The task in a few sentences; the whole task and the solution are in the notes."""
    paragraphs = [block for block in section.prose if not block.folded]
    dots = paragraphs[0].text if paragraphs else ""
    parts = [Part("dots", f"<p>{dots}</p>", 40)]
    task = ""
    for block in paragraphs[1:]:
        if block.kind == "paragraph":
            for sentence in sentences(block.text):
                if BESIDE_THE_TASK.search(sentence):
                    continue
                if visible_length(f"{task} {sentence}") <= LONGEST_TASK:
                    task = f"{task} {sentence}".strip()
    if task:
        parts.append(fitting.question_part(task) if asks(task) else fitting.text_part(task))
    for extra in filter(None, map(extra_of, paragraphs[1:])):
        if fitting.fits([*parts, extra], section.title):
            parts.append(extra)
    notes = [block.text for block in paragraphs[1:]]
    codes = [part.source for part in section.parts if not isinstance(part, Block) and "SOLUTION" in part.source]
    notes += [f"**Solution**\n\n```python\n{SOLUTION.sub('', code)}\n```" for code in codes]
    notes += [block.text for block in section.prose if block.folded]
    return Slide("exercise", section.title, chapter, parts, notes, weight=8)


def extra_of(block: Block) -> Part | None:
    """A list, table or formula that belongs to a task."""
    if block.kind == "list":
        return fitting.points_part([shortened(item, 150) for item in block.items])
    if block.kind == "table":
        return fitting.markdown_table_part(block.text)
    if block.kind == "quote":
        return fitting.quote_part(block.text)
    return fitting.formula_part(block.text) if block.kind == "formula" else None


def next_slide(section: Section, chapter: str) -> list[Slide]:
    """What comes after this chapter."""
    texts = [block.text for block in section.prose if block.kind == "paragraph"]
    said = shortened(" ".join(texts), 330)
    notes = [block.text for block in section.prose]
    return [Slide("next", "Next", chapter, [fitting.text_part(said)], notes)] if said else []

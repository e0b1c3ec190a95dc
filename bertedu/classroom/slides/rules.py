"""From a chapter's sections to slides, by rules: headings begin slides, prose becomes speaker notes.

On a slide stand: the sentence with a new term, a list, a formula, a figure, a short piece of code with its output, the
question before the answer, and what to notice. Sections that the chapter calls optional stay out, and so does what
makes no picture: set-ups, widgets, the quiz.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from nbformat import NotebookNode

from bertedu.classroom.slides import fitting
from bertedu.classroom.slides.blocks import Block, Section
from bertedu.classroom.slides.blocks import sections as sections_of
from bertedu.classroom.slides.cells import cell_slides
from bertedu.classroom.slides.fitting import Part
from bertedu.classroom.slides.frame import frame_slides
from bertedu.classroom.slides.sentences import LEANING, STAGE, points, sentences, shortened
from bertedu.classroom.slides.slide import Slide
from bertedu.classroom.stored import Chapter

MOST_SLIDES = 35
LONGEST_POINT, MOST_ITEMS = 170, 6


def slides_of(chapter: Chapter) -> list[Slide]:
    """The slides of a chapter, each with its notes."""
    found: list[Slide] = []
    kicker, optional = "", 0
    left_out: list[str] = []
    extra: set[str] = set()  # exercises that belong to optional sections
    for section in split_exercises(sections_of(chapter.notebook.cells)):
        if section.level and section.level <= (optional or 9):
            optional = 0
        if section.optional:
            optional = optional or section.level
            extra |= set(re.findall(r"\d+[a-z]?\.\d+", section.title))
        if optional or any(section.title.startswith(f"Exercise {name} ") for name in extra):
            left_out += [section.title] if section.title not in left_out else []
            continue
        if section.level == 2:
            kicker = section.title
        if (framed := frame_slides(section, chapter.title)) is not None:
            found += framed
        else:
            over = kicker if section.level > 2 and kicker != section.title else chapter.title
            made, unsaid = content_slides(section, over)
            if found:  # the prose of a section that shows nothing is said with the slide before
                found[-1].notes += unsaid
            found += made
    if found and left_out:
        found[-1].note("Not in this deck: " + ", ".join(f"*{title}*" for title in left_out) + ".")
    return thinned(found)


def split_exercises(all_sections: list[Section]) -> Iterator[Section]:
    """The sections; what follows the solution of an exercise is again a part of the section above."""
    above = Section(2, "")
    for section in all_sections:
        if section.level == 2:
            above = section
        parts = enumerate(section.parts)
        folds = {place: part.text for place, part in parts if isinstance(part, Block) and part.folded}
        if not section.title.startswith("Exercise ") or not folds:
            yield section
            continue
        end = next((place for place, text in folds.items() if "<summary>Solution" in text), max(folds))
        yield Section(section.level, section.title, section.parts[: end + 1])
        if rest := section.parts[end + 1 :]:
            yield Section(3, above.title, rest)


@dataclass
class Pending:
    """Prose that waits for the next cell of code, and the slides made so far."""

    title: str
    kicker: str
    prose: list[Block] = field(default_factory=list)
    slides: list[Slide] = field(default_factory=list)
    asked: bool = False  # whether a question waits for its answer, which may come from a later cell
    unsaid: list[str] = field(default_factory=list)  # what belongs to no slide yet


def content_slides(section: Section, kicker: str) -> tuple[list[Slide], list[str]]:
    """The slides of a section of the author's own, and the prose that none of them has in its notes."""
    state = Pending(section.title, kicker)
    after: Slide | None = None  # the slide whose output the next paragraph explains
    for part in section.parts:
        if isinstance(part, Block):
            state.asked = False
            if after is not None and part.kind == "paragraph":
                after.explain(part.text)
                after.note(part.text)
            else:
                state.prose.append(part)
            after = None
        else:
            after = take_cell(state, part)
    close(state)
    if state.slides:
        state.slides[0].notes = state.unsaid + state.slides[0].notes
    return state.slides, [] if state.slides else state.unsaid


def take_cell(state: Pending, cell: NotebookNode) -> Slide | None:
    """Make the slides of a cell of code and of the prose before it; returns the slide that shows its output."""
    lead = idea(state)
    made = cell_slides(cell, [block.text for block in state.prose], state.title, state.kicker, lead)
    if lead is None and len(made) == 1 and state.slides and state.slides[-1].takes(made[0]):
        made = [state.slides.pop().over(made[0])]
    state.asked = state.asked or any(slide.kind == "question" for slide in made)
    for slide in made:
        if state.asked and slide.shows_output:
            slide.weight = max(slide.weight, 7)
    notes = [block.text for block in state.prose]
    state.prose = []
    if not made:
        keep_notes(state, notes)
        return None
    target = state.slides[-1] if state.slides and state.slides[-1].wants_notes else made[0]
    target.wants_notes = False
    for text in notes:
        target.note(text)
    state.slides += made
    return made[-1] if made[-1].shows_output else None


def idea(state: Pending) -> str | None:
    """Make a slide of the prose that waits, where it has more to show than a sentence; else return that sentence."""
    said = points([block.text for block in state.prose if block.kind == "paragraph"])
    parts = list(shown_parts(state.prose, said))
    shows_more = any(part.kind not in ("text", "points") for part in parts) or any(block.items for block in state.prose)
    bold = any("**" in point for point in said)
    if parts and (shows_more or bold or (len(said) >= 2 and not state.slides)):
        for number, group in enumerate(pages(parts, state.title)):
            slide = Slide("idea", state.title, state.kicker, group, weight=6 if bold or shows_more else 3)
            slide.wants_notes = number == 0
            state.slides.append(slide)
        return None
    return said[0] if said else None


def shown_parts(prose: list[Block], said: list[str]) -> Iterator[Part]:
    """What stands on a slide, in the author's order: the chosen sentences, lists, formulas, examples, drawings."""
    waiting: list[str] = []
    before = ""
    for block in prose:
        whole = " ".join(block.text.split())
        if block.kind == "paragraph":
            waiting += [sentence for sentence in said if sentence in whole]
        elif not (block.kind == "list" and before.endswith(":") and STAGE.search(before)):  # what a hidden cell does
            if block.kind == "list" and before.endswith(":") and not LEANING.search(last := sentences(before)[-1]):
                waiting = [*(other for other in waiting if other not in last), last]
            if (part := shown_part(block)) is not None:
                yield from of_text(waiting)
                yield part
                waiting = []
        before = whole
    yield from of_text(waiting)


def of_text(said: list[str]) -> list[Part]:
    """Sentences as a list, one alone as a line."""
    return [fitting.points_part(said)] if len(said) > 1 else [fitting.text_part(text) for text in said]


def shown_part(block: Block) -> Part | None:
    """A block that stands on a slide as it is."""
    if block.kind == "list":
        items = [shortened(item, LONGEST_POINT) for item in block.items[:MOST_ITEMS]]
        return fitting.points_part(items, block.text[0].isdigit())
    if block.kind == "formula":
        return fitting.formula_part(block.text)
    if block.kind == "quote":
        return fitting.quote_part(block.text)
    if block.kind == "table":
        return fitting.markdown_table_part(block.text)
    return fitting.figure_part(block.text) if block.text.startswith("<img ") else None


def pages(parts: list[Part], title: str) -> list[list[Part]]:
    """The parts on as few slides as they have room on."""
    groups: list[list[Part]] = [[]]
    for part in parts:
        if groups[-1] and not fitting.fits([*groups[-1], part], title):
            groups.append([])
        groups[-1].append(part)
    return [group for group in groups if group and fitting.fits(group, title)]


def close(state: Pending) -> None:
    """The prose after the last cell: a slide where it has more than a sentence to show, else notes."""
    if not state.prose:
        return
    before = len(state.slides)
    lead = idea(state)
    if lead and not state.slides:
        state.slides.append(Slide("idea", state.title, state.kicker, [fitting.text_part(lead)], weight=3))
    keep_notes(state, [block.text for block in state.prose], min(before, len(state.slides) - 1))
    state.prose = []


def keep_notes(state: Pending, notes: list[str], place: int = -1) -> None:
    """Give the notes to a slide that is there, or keep them for the first one that comes."""
    if not state.slides:
        state.unsaid += notes
        return
    state.slides[place].wants_notes = False
    for text in notes:
        state.slides[place].note(text)


def drawn(slide: Slide) -> bool:
    """Whether a slide shows a picture of the chapter."""
    return any(part.kind == "figure" for part in slide.parts)


def thinned(slides: list[Slide]) -> list[Slide]:
    """At most MOST_SLIDES: those that weigh least go, the later ones first, and leave their notes to the slide before.
    The last slide under a heading stays as long as another heading has two, and pictures go after all others."""
    kept = list(slides)
    while len(kept) > MOST_SLIDES:
        under, over = Counter(slide.title for slide in kept), Counter(slide.kicker for slide in kept)
        ranks = [
            (
                drawn(slide),
                (under[slide.title] == 1) * 3 + slide.weight,
                -under[slide.title],
                -over[slide.kicker],
                -place,
            )
            for place, slide in enumerate(kept)
        ]
        least = ranks.index(min(ranks[1:]))
        kept[least - 1].notes += kept[least].notes
        del kept[least]
    return kept

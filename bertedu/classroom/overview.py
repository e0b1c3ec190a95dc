"""What a teacher plans with, computed from the course: times of the chapters, and which chapter needs which."""

import re
from dataclasses import dataclass
from pathlib import Path

from bertedu.course.building.sittings import Sittings, told
from bertedu.course.loading import exercises_of
from bertedu.course.rooms import number_of, sources_in
from bertedu.errors import UserError
from bertedu.files import read_text, write_text

CLASS_MINUTES = 90
ITSELF = re.compile(r"^\*\*The chapter itself:\*\* .*$", re.MULTILINE)
CHAPTER_LINK = re.compile(r"\[[^\]]+\]\((\d\d[a-z]?)_\w+\.ipynb\)")


@dataclass(frozen=True)
class Chapter:
    """A chapter as a teacher sees it: its times in minutes, what it needs, and what is only better to have."""

    number: str  # 03
    name: str  # 03_self_attention
    title: str
    sittings: Sittings  # as the chapter itself states them
    exercises: dict[str, int]  # minutes by number
    needs: tuple[str, ...]
    better_after: tuple[str, ...]

    @property
    def core(self) -> int:
        """All sittings together, without what is optional."""
        return self.sittings.core

    @property
    def everything(self) -> int:
        """The same with what is optional."""
        return self.sittings.everything

    @property
    def exercise_minutes(self) -> int:
        """All exercises together."""
        return sum(self.exercises.values())

    @property
    def reading_minutes(self) -> int:
        """Everything but the exercises: reading, running and watching cells."""
        return self.everything - self.exercise_minutes


def chapters(rooms: Path) -> list[Chapter]:
    """All chapters in a folder of their rooms, in order."""
    found = list(map(chapter, sources_in(rooms)))
    if not found:
        raise UserError(f"{rooms} has no chapters: name the folder bertedu/chapters of the course.")
    return found


def chapter(source: Path) -> Chapter:
    """One chapter, from the first lines of its source and from the exercises that are registered for it."""
    text = re.sub(r"\n# ?", " ", read_text(source).partition("\n# ## Recall")[0])
    number = number_of(source)
    title = re.search(r"# \d\d[a-z]? · (.+?)  ", text)
    needs = re.search(r"\*\*You need:\*\*(.*?)\*\*Next:\*\*", text)
    if not title or not needs:
        raise UserError(f"{source}: the first cell needs a title like '# 03 · …', and 'You need:' before 'Next:'.")
    hard, _, soft = needs[1].partition("best after")
    return Chapter(
        number,
        source.stem,
        title[1],
        told(source),
        {exercise.number: exercise.minutes for exercise in exercises_of(number)},
        tuple(CHAPTER_LINK.findall(hard)),
        tuple(CHAPTER_LINK.findall(soft)),
    )


def times_table(all_chapters: list[Chapter]) -> str:
    """The sittings, reading and exercises of every chapter, apart, as a Markdown table."""
    rows = [
        f"| [{c.number} · {c.title}](../../bertedu/chapters/ch{c.name}/teaching.md) | "
        f"{' + '.join(map(str, c.sittings.each))} | {c.sittings.optional or ''} | {c.reading_minutes} | "
        f"{c.exercise_minutes} | {', '.join(f'{n} ({m})' for n, m in c.exercises.items())} |"
        for c in all_chapters
    ]
    total = [sum(column) for column in zip(*((c.core, c.sittings.optional, c.reading_minutes, c.exercise_minutes)
                                            for c in all_chapters), strict=True)]  # fmt: skip
    return "\n".join((
        "| chapter | sittings | optional | of both reading and running | of both exercises | each exercise (minutes) |",
        "|---|---|---|---|---|---|",
        *rows,
        f"| together | {total[0]} | {total[1]} | {total[2]} | {total[3]} | |",
    ))  # fmt: skip


def graph(all_chapters: list[Chapter]) -> str:
    """What needs what, in the language of Mermaid: a full arrow where a chapter is needed, a dotted one for better."""
    lines = ["graph LR"]
    lines += [f'    c{c.number}["{c.number} {c.title}"]' for c in all_chapters]
    lines += [f"    c{n} --> c{c.number}" for c in all_chapters for n in c.needs]
    lines += [f"    c{n} -.-> c{c.number}" for c in all_chapters for n in c.better_after]
    return "\n".join(lines)


def missing_before(order: list[str], all_chapters: list[Chapter]) -> list[str]:
    """A sentence for each chapter of `order` that comes without, or before, one that its "You need" names."""
    needs = {c.number: c.needs for c in all_chapters}
    unknown = [f"there is no chapter {n}" for n in order if n not in needs]
    return [
        *unknown,
        *(
            f"chapter {n} needs chapter {needed}, which does not come before it"
            for i, n in enumerate(order)
            for needed in needs.get(n, ())
            if needed not in order[:i]
        ),
    ]


def refresh(page: Path, rooms: Path) -> None:
    """Compute the overview anew, and what the teacher's page of each chapter says of the chapter's own times."""
    found = chapters(rooms)
    for path, text in [(page, refreshed(read_text(page), found))] + [
        (rooms / f"ch{c.name}" / "teaching.md", ITSELF.sub(itself(c), read_text(rooms / f"ch{c.name}" / "teaching.md")))
        for c in found
    ]:
        if text != read_text(path):
            write_text(path, text)


def itself(one: Chapter) -> str:
    """The line of a teacher's page on the times of the chapter."""
    return f"**The chapter itself:** {one.sittings}; of both, exercises take {one.exercise_minutes} minutes"


def refreshed(text: str, all_chapters: list[Chapter]) -> str:
    """A page of Markdown with what stands between its marks computed anew: the times, and the graph."""
    for name, made in (("times", times_table(all_chapters)), ("graph", graph(all_chapters))):
        begin, end = (f"<!-- {name} -->", f"<!-- /{name} -->") if name == "times" else ("```mermaid", "```")
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise UserError(f"the page has no {begin} with a {end} after it: that is where the {name} belong.")
        text = f"{before}{begin}\n{made}\n{end}{after}"
    return text

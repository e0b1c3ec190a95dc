"""What a teacher plans with, computed from the course: times of the chapters, and which chapter needs which."""

import re
from dataclasses import dataclass
from pathlib import Path

from bertedu.course.loading import exercises_of
from bertedu.course.rooms import number_of, sources_in
from bertedu.errors import UserError
from bertedu.files import read_text

CLASS_MINUTES = 90
CHAPTER_LINK = re.compile(r"\[[^\]]+\]\((\d\d[a-z]?)_\w+\.ipynb\)")
IN_WORDS = {"two hours": "120 minutes"}
SITTINGS = re.compile(r"\b(two|three|four) sittings\b")
A_SITTING = 65  # minutes: a good hour


@dataclass(frozen=True)
class Chapter:
    """A chapter as a teacher sees it: its times in minutes, what it needs, and what is only better to have."""

    number: str  # 03
    name: str  # 03_self_attention
    title: str
    core: int  # the core path: what the chapter itself states
    everything: int  # the same with all exercises and optional sections
    exercises: dict[str, int]  # minutes by number
    needs: tuple[str, ...]
    better_after: tuple[str, ...]
    sittings: int  # with everything

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
    minutes = times(re.search(r"\*\*Time:\*\*(.*?)\*\*You need:\*\*", text), source)
    if not title or not needs:
        raise UserError(f"{source}: the first cell needs a title like '# 03 · …', and 'You need:' before 'Next:'.")
    hard, _, soft = needs[1].partition("best after")
    return Chapter(
        number,
        source.stem,
        title[1],
        *minutes,
        {exercise.number: exercise.minutes for exercise in exercises_of(number)},
        tuple(CHAPTER_LINK.findall(hard)),
        tuple(CHAPTER_LINK.findall(soft)),
        sittings(text, minutes[1]),
    )


def sittings(first_cell: str, everything: int) -> int:
    """In how many sittings a chapter is worked through: as many as its first cell says, or else of a good hour each."""
    stated = SITTINGS.search(first_cell)
    return ("two", "three", "four").index(stated[1]) + 2 if stated else -(-everything // A_SITTING)


def times(stated: re.Match | None, source: Path) -> tuple[int, int]:
    """Minutes of the core path and of everything, from the line that states them."""
    text = stated[1] if stated else ""
    for words, number in IN_WORDS.items():
        text = text.replace(words, number)
    core, everything = re.search(r"(\d+) minutes for the core path", text), re.search(r"about (\d+) minutes", text)
    if not core or not everything:
        raise UserError(f"{source}: 'Time:' should say '60 minutes for the core path' and 'about 120 minutes'.")
    return int(core[1]), int(everything[1])


def times_table(all_chapters: list[Chapter]) -> str:
    """Teaching and exercise minutes of every chapter, apart, as a Markdown table."""
    rows = [
        f"| [{c.number} · {c.title}](../../bertedu/chapters/ch{c.name}/teaching.md) | {c.core} | {c.everything} | "
        f"{c.reading_minutes} | {c.exercise_minutes} | {', '.join(f'{n} ({m})' for n, m in c.exercises.items())} |"
        for c in all_chapters
    ]
    total = [sum(column) for column in zip(*((c.core, c.everything, c.reading_minutes, c.exercise_minutes)
                                            for c in all_chapters), strict=True)]  # fmt: skip
    return "\n".join((
        "| chapter | core path | everything | of it reading and running | of it exercises | each exercise (minutes) |",
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

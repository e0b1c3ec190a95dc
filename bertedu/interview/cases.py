"""Design cases: data/interview/cases/*.toml, one file a case, read strictly.

A case is what an interviewer of senior people does for 45 minutes: a situation in a few sentences, facts that are told
only when somebody asks for them, stages with points that must be said, arithmetic that a test runs, and a rubric.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from bertedu.course.data import data_path
from bertedu.errors import UserError, shown
from bertedu.interview.bank import LEVELS, MOST_LINES_OF_EVIDENCE, POINTS, Evidence, Point
from bertedu.interview.names import the_one
from bertedu.interview.records import parse_toml, record

FEWEST_FACTS, FEWEST_STAGES, FEWEST_CRITERIA = 6, 4, 4


@dataclass(frozen=True)
class Fact:
    """What may be asked, and the answer. needed: without it the design goes wrong."""

    ask: str
    say: str
    needed: bool = False


@dataclass(frozen=True)
class Stage:
    """One step of the conversation: what the interviewer asks, what must be said, and how a good answer goes."""

    title: str
    ask: str
    must: tuple[Point, ...]
    answer: str
    evidence: Evidence | None = None


@dataclass(frozen=True)
class Criterion:
    """One line of the rubric: what earns 2 points, 1 and 0."""

    name: str
    full: str
    half: str
    none: str


@dataclass(frozen=True)
class DesignCase:
    """A case by its name, which is the name of its file."""

    name: str
    title: str
    level: str
    minutes: int
    situation: str
    facts: tuple[Fact, ...]
    stages: tuple[Stage, ...]
    rubric: tuple[Criterion, ...]
    chapters: tuple[str, ...]


def read_cases(folder: str | Path | None = None) -> dict[str, DesignCase]:
    """All cases by name. Raises UserError, which names the file, for one that breaks a rule."""
    folder = data_path("interview/cases") if folder is None else Path(folder)
    found = {path.stem: read_case(path) for path in sorted(folder.glob("*.toml"))}
    if not found:
        raise UserError(f"{folder}: there are no cases (NAME.toml) here: fetch the folder again.")
    return found


def find_case(name: str) -> DesignCase:
    """The case of that name. Raises UserError, which lists the names, where there is none."""
    cases = read_cases()
    return cases[the_one("case", name, cases)]


def read_case(path: Path) -> DesignCase:
    """One case, checked."""
    case: DesignCase = record(DesignCase, parse_toml(path), str(path), name=path.stem)
    if problem := what_is_wrong(case):
        raise UserError(f"{path}: {problem}.")
    return case


def what_is_wrong(case: DesignCase) -> str | None:
    """The first rule that a case breaks."""
    if case.level not in LEVELS:
        return f"level is {shown(case.level)}: choose one of {', '.join(LEVELS)}"
    if not 20 <= case.minutes <= 60:
        return f"minutes is {case.minutes}: give 20 to 60"
    if len(case.facts) < FEWEST_FACTS or not any(fact.needed for fact in case.facts):
        return f"give at least {FEWEST_FACTS} facts, and mark those that are needed"
    if len(case.stages) < FEWEST_STAGES or len(case.rubric) < FEWEST_CRITERIA:
        return f"give at least {FEWEST_STAGES} stages and {FEWEST_CRITERIA} lines of the rubric"
    if not any(stage.evidence for stage in case.stages):
        return "no stage has evidence: compute the capacity that it needs"
    for stage in case.stages:
        if not POINTS[0] <= len(stage.must) <= POINTS[1]:
            return f"the stage {stage.title} has {len(stage.must)} points: give {POINTS[0]} to {POINTS[1]}"
        if stage.evidence and len(stage.evidence.code.splitlines()) > MOST_LINES_OF_EVIDENCE:
            return f"the evidence of {stage.title} has over {MOST_LINES_OF_EVIDENCE} lines of code: show less"
    if wrong := [chapter for chapter in case.chapters if not re.fullmatch(r"\d\d[a-z]?", chapter)]:
        return f"chapters has {wrong[0]!r}: write two digits, as in 08"
    return None

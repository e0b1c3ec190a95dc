"""What a lab is, read from data/interview/bugs/NAME/: `broken.py`, the program, and `lab.toml`, all about its bugs.

A bug has the lines that are wrong and the lines that repair it, so the repaired program is made and not kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bertedu.course.data import data_path
from bertedu.errors import UserError, shown
from bertedu.files import read_text
from bertedu.interview.bank import LEVELS
from bertedu.interview.names import the_one
from bertedu.interview.records import parse_toml, record

FOLDER = "interview/bugs"
PROGRAM = "broken.py"


@dataclass(frozen=True)
class Bug:
    """One bug: `wrong` stands once in the program, and `right` is one way to repair it.

    what says what is wrong, why how that leads to the symptom, find how one would have found it. hints are two, the
    second nearer. id is the name of the hidden test, a function in bertedu/interview/bugs/NAME.py.
    """

    id: str
    wrong: str
    right: str
    what: str
    why: str
    find: str
    hints: tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """A number that the program prints: in the broken program, in the repaired one, and how far it may be from that."""

    name: str
    broken: float
    repaired: float
    within: float


@dataclass(frozen=True)
class Lab:
    """A program with bugs. symptom is what the colleague who hands it over has seen."""

    name: str
    title: str
    level: str
    minutes: int
    symptom: str
    bugs: tuple[Bug, ...]
    figures: tuple[Figure, ...]
    broken: str

    @property
    def module(self) -> str:
        """The name of its folder, of its module of hidden tests, and of the file that a learner works in."""
        return module_of(self.name)

    def line_of(self, bug: Bug) -> int:
        """The number of the first line of the broken program that differs after the repair."""
        start = self.broken.index(bug.wrong)
        same = next((n for n, (a, b) in enumerate(zip(bug.wrong, bug.right, strict=False)) if a != b), 0)
        return self.broken.count("\n", 0, start + same) + 1

    def repaired(self, left_in: Iterable[str] = ()) -> str:
        """The program without its bugs, or with those only whose ids are given."""
        kept, program = set(left_in), self.broken
        for bug in self.bugs:
            if bug.id not in kept:
                program = program.replace(bug.wrong, bug.right)
        return program


def lab_names() -> list[str]:
    """The names of all labs."""
    return sorted(path.parent.name.replace("_", "-") for path in data_path(FOLDER).glob("*/lab.toml"))


def module_of(name: str) -> str:
    """masked_lm for the lab masked-lm."""
    return name.replace("-", "_")


def read_labs() -> list[Lab]:
    """All labs, the quickest of each level first, easy levels first."""
    labs = [read_lab(name) for name in lab_names()]
    return sorted(labs, key=lambda lab: (LEVELS.index(lab.level), lab.minutes, lab.name))


def read_lab(name: str) -> Lab:
    """The lab of that name. Raises UserError for a name that is not there, and for a lab.toml that breaks a rule."""
    folder = data_path(f"{FOLDER}/{module_of(the_one('program', name, lab_names()))}")
    path, program = folder / "lab.toml", read_text(folder / PROGRAM)
    lab: Lab = record(Lab, parse_toml(path), str(path), name=name, broken=program)
    if problem := what_is_wrong(lab):
        raise UserError(f"{path}: {problem}.")
    return lab


def what_is_wrong(lab: Lab) -> str | None:
    """The first rule that a lab breaks."""
    if lab.level not in LEVELS:
        return f"level is {shown(lab.level)}: choose one of {', '.join(LEVELS)}"
    if not 1 <= lab.minutes <= 45:
        return f"minutes is {lab.minutes}: give 1 to 45"
    if not lab.figures:
        return "give at least one figure that the program prints"
    if not 1 <= len(lab.bugs) <= 4 or len({bug.id for bug in lab.bugs}) < len(lab.bugs):
        return "give one to four bugs, each with an id of its own"
    for bug in lab.bugs:
        if lab.broken.count(bug.wrong) != 1 or bug.wrong == bug.right:
            return f"{bug.id}: the lines that are wrong stand once in {PROGRAM}, and the right ones differ"
        if len(bug.hints) != 2:
            return f"{bug.id}: give two hints"
    return None

"""A design case with oneself: what was asked for, what was said in each stage, and what the rubric gives for it."""

from collections.abc import Collection
from dataclasses import dataclass, field

from bertedu.errors import UserError
from bertedu.interview.cases import DesignCase, Fact, Stage
from bertedu.interview.session import LATE

FULL, HALF, NONE = 2, 1, 0  # what a line of the rubric earns


@dataclass
class CaseSession:
    """What has been asked, said and earned in a case. Facts, points and lines of the rubric go by position from 0."""

    case: DesignCase
    asked: frozenset[int] = frozenset()
    said: list[float] = field(default_factory=list)  # the share of the points of each stage
    earned: dict[int, int] = field(default_factory=dict)

    @property
    def current(self) -> Stage | None:
        """The stage that is asked now, None after the last one."""
        return self.case.stages[len(self.said)] if len(self.said) < len(self.case.stages) else None

    def ask(self, facts: Collection[int]) -> tuple[list[Fact], list[Fact]]:
        """The facts that were asked for, and those that were needed and were not."""
        self.asked = frozenset(facts)
        told = [fact for place, fact in enumerate(self.case.facts) if place in self.asked]
        missed = [fact for place, fact in enumerate(self.case.facts) if fact.needed and place not in self.asked]
        return told, missed

    def done(self, points: Collection[int], late: Collection[int] = ()) -> None:
        """Note what was said at once and after the follow-ups, and go on to the next stage."""
        stage = self.current
        if stage is None:
            raise UserError("the case is over: begin another one.")
        if wrong := sorted({*points, *late} - set(range(len(stage.must)))):
            raise UserError(f"{stage.title} has the points 1 to {len(stage.must)}, and not {wrong[0] + 1}.")
        at_once = set(points)
        self.said.append((len(at_once) + LATE * len(set(late) - at_once)) / len(stage.must))

    def earn(self, criterion: int, points: int) -> None:
        """Score one line of the rubric: 2, 1 or 0."""
        if points not in (FULL, HALF, NONE):
            raise UserError(f"{points}: a line of the rubric earns 2, 1 or 0.")
        self.earned[criterion] = points

    def summary(self) -> list[tuple[str, str]]:
        """What the end says: needed facts, points of each stage, the rubric."""
        needed = [place for place, fact in enumerate(self.case.facts) if fact.needed]
        asked = sum(place in self.asked for place in needed)
        rows = [("needed facts that you asked for", f"{asked} of {len(needed)}")]
        rows += [(stage.title, f"{share:.0%}") for stage, share in zip(self.case.stages, self.said, strict=False)]
        most = FULL * len(self.case.rubric)
        return [*rows, ("the rubric", f"{sum(self.earned.values())} of {most}")]

"""A design case in a notebook: ask for facts, answer each stage aloud, tick what you said, and score the rubric."""

from collections.abc import Iterable
from html import escape

from ipywidgets import HTML, Dropdown, Layout, Textarea, VBox

from bertedu.interview.asking import folded, show, table_html, ticks
from bertedu.interview.case_session import FULL, HALF, NONE, CaseSession
from bertedu.interview.cases import Fact, Stage, find_case
from bertedu.visualization.widgets.view import WIDE, StillPage, WidgetView, region


def design(name: str) -> WidgetView:
    """Go through a design case, for example "semantic-search". Raises UserError for a case that is not there."""
    case = find_case(name)
    still = StillPage(
        f"<p><strong>{escape(case.title)}</strong>, {case.minutes} minutes. Run the cell to go through it.</p>"
        f"<p>{escape(case.situation)}</p>",
        f"{case.title}, {case.minutes} minutes\n{case.situation}",
    )
    return WidgetView(Designing(CaseSession(case)).box, still)


class Designing:
    """The controls of a case. `box` holds what is on the screen; every step leaves one button, as in an interview."""

    def __init__(self, session: CaseSession):
        self.session, self.case, self.box = session, session.case, VBox()
        case = self.case
        head = f"<p>{escape(case.level)} · {case.minutes} minutes</p><p><strong>{escape(case.title)}</strong></p>"
        self.situation = HTML(region(case.title, f"{head}<p>{escape(case.situation)}</p>"))
        notes = Textarea(placeholder="What do you ask first? Write your questions down.", layout=WIDE)
        show(self.box, self.situation, notes, button="I have asked: show what can be asked", then=self.facts)

    def facts(self) -> None:
        """The questions that can be asked, to tick."""
        boxes = ticks(fact.ask for fact in self.case.facts)
        told = HTML("<p>Tick what you asked for.</p>")

        def go_on() -> None:
            self.answers(*self.session.ask({place for place, box in enumerate(boxes) if box.value}))

        show(self.box, self.situation, told, *boxes, button="Go on", then=go_on)

    def answers(self, told: list[Fact], missed: list[Fact]) -> None:
        """The answers to what was asked, and the facts without which the design goes wrong."""
        parts = facts_html("You asked:", told) + facts_html("You need to know these too:", missed)
        show(self.box, self.situation, HTML(parts or "<p>Nothing.</p>"), button="First stage", then=self.stage)

    def stage(self) -> None:
        """The next stage, or the rubric after the last one."""
        stage = self.session.current
        if stage is None:
            self.rubric()
            return
        number = f"Stage {len(self.session.said) + 1} of {len(self.case.stages)}: {stage.title}"
        asked = HTML(region(number, f"<p>{escape(number)}</p><p><strong>{escape(stage.ask)}</strong></p>"))
        notes = Textarea(placeholder="Answer aloud, with figures. Here is room for them.", layout=WIDE)
        button = "I have answered: show the points"
        show(self.box, asked, notes, button=button, then=lambda: self.points(stage, asked))

    def points(self, stage: Stage, asked: HTML) -> None:
        """The points of the stage, to tick."""
        boxes = ticks(point.point for point in stage.must)
        said = HTML("<p>Tick what you said.</p>")

        def go_on() -> None:
            self.follow_ups(stage, asked, {place for place, box in enumerate(boxes) if box.value})

        show(self.box, asked, said, *boxes, button="Go on", then=go_on)

    def follow_ups(self, stage: Stage, asked: HTML, said: set[int]) -> None:
        """What an interviewer asks about the points that were missed, then how a good answer goes."""
        missed = {place: point.ask for place, point in enumerate(stage.must) if place not in said}
        boxes = dict(zip(missed, ticks(missed.values()), strict=True))
        told = "<p>Follow-ups. Tick those that you can answer.</p>" if missed else "<p>You said every point.</p>"
        answer = folded("A good answer", f"<p>{escape(stage.answer)}</p>")
        if stage.evidence:
            code, prints = escape(stage.evidence.code.strip()), escape(stage.evidence.prints.strip())
            answer += folded("The arithmetic", f"<pre>{code}</pre><p>It prints:</p><pre>{prints}</pre>")

        def go_on() -> None:
            self.session.done(said, {place for place, box in boxes.items() if box.value})
            self.stage()

        show(self.box, asked, HTML(told), *boxes.values(), HTML(answer), button="Go on", then=go_on)

    def rubric(self) -> None:
        """Each line of the rubric with what earns 2, 1 and 0, to choose from."""
        parts: list[HTML | Dropdown] = [HTML("<p>Score yourself as the interviewer would.</p>")]
        choices = []
        for line in self.case.rubric:
            earned = {FULL: line.full, HALF: line.half, NONE: line.none}
            told = "".join(f"<br>{points} for: {escape(text)}" for points, text in earned.items())
            name = f"<p style='line-height: 1.5; max-width: 60em'><strong>{escape(line.name)}</strong>{told}</p>"
            options = [(f"{line.name}: {points}", points) for points in earned]
            choices.append(Dropdown(options=options, value=NONE, layout=Layout(width="max-content")))
            parts += [HTML(name), choices[-1]]

        def end() -> None:
            for place, choice in enumerate(choices):
                self.session.earn(place, choice.value)
            self.box.children = (HTML(self.result()),)

        show(self.box, *parts, button="Result", then=end)

    def result(self) -> str:
        """The summary as a table, and the chapters to read."""
        chapters = ", ".join(self.case.chapters)
        return region(
            "Result", f"{table_html(self.case.title, self.session.summary())}<p>Chapters to read: {chapters}</p>"
        )


def facts_html(title: str, facts: Iterable[Fact]) -> str:
    """HTML of facts under a title; nothing where there are none."""
    items = "".join(f"<li>{escape(fact.ask)} <strong>{escape(fact.say)}</strong></li>" for fact in facts)
    return f"<div style='line-height: 1.5; max-width: 60em'><p>{title}</p><ul>{items}</ul></div>" if items else ""

"""An interview in a notebook: answer aloud, tick what you said, and answer the follow-ups of what you missed."""

from collections.abc import Callable, Iterable
from html import escape

from ipywidgets import HTML, Button, Checkbox, Layout, Textarea, VBox, Widget

from bertedu.interview.bank import Question, Topic, read_bank
from bertedu.interview.choosing import mock_questions
from bertedu.interview.names import the_one
from bertedu.interview.session import Session
from bertedu.templates import template
from bertedu.visualization.widgets.view import WIDE, StillPage, WidgetView, region

EVERY_LINE = Layout(width="98%", max_width="60em", height="auto")
WHOLE = (  # the text of a long point goes on in a second line, where ipywidgets would cut it
    "<style>.bertedu-tick label, .bertedu-tick span { white-space: normal; overflow: visible; height: auto; "
    "line-height: 1.5 }</style>"
)


def interview(topic: str) -> WidgetView:
    """Ask all questions of a topic, for example "attention", in the order of the bank.

    Raises UserError for a topic that is not there.
    """
    topics = {one.name: one for one in read_bank()}
    return asked(topics[the_one("topic", topic, topics)].questions, topics.values())


def mock(minutes: int = 45, seed: int = 0) -> WidgetView:
    """Ask questions of all topics for some minutes, easy ones first. Another seed asks other questions."""
    topics = read_bank()
    return asked(mock_questions(topics, minutes, seed), topics)


def asked(questions: Iterable[Question], topics: Iterable[Topic]) -> WidgetView:
    """The interview as controls; where no kernel runs, the list of the questions."""
    chosen = list(questions)
    items = "".join(f"<li>{escape(question.question)}</li>" for question in chosen)
    still = StillPage(
        f"<p>An interview of {len(chosen)} questions. Run the cell to answer them:</p><ol>{items}</ol>",
        "\n".join((f"An interview of {len(chosen)} questions:", *(question.question for question in chosen))),
    )
    return WidgetView(Interview(Session(chosen), {topic.name: topic.title for topic in topics}).box, still)


class Interview:
    """The controls of a session. `box` holds what is on the screen: a question, its points, its follow-ups, the end.

    Every step replaces the contents of the box and leaves a button to the next one, so that it is worked by keyboard.
    """

    def __init__(self, session: Session, titles: dict[str, str]):
        self.session, self.titles, self.box = session, titles, VBox()
        self.ask()

    def ask(self) -> None:
        """The next question, or the result after the last one."""
        question = self.session.current
        if question is None:
            self.box.children = (HTML(self.result()),)
            return
        number = f"Question {len(self.session.answered) + 1} of {len(self.session.questions)}"
        heading = f"<p>{number} · {question.level} · {question.minutes} minutes</p>"
        asked = HTML(region(number, f"{heading}<p><strong>{escape(question.question)}</strong></p>"))
        notes = Textarea(placeholder="Answer aloud. Here is room for notes.", layout=WIDE)
        show(
            self.box, asked, notes, button="I have answered: show the points", then=lambda: self.points(question, asked)
        )

    def points(self, question: Question, asked: HTML) -> None:
        """The points of the question, to tick."""
        boxes = ticks(point.point for point in question.must)
        show(
            self.box,
            asked,
            HTML("<p>Tick what you said.</p>"),
            *boxes,
            button="Go on",
            then=lambda: self.follow_ups(question, asked, {place for place, box in enumerate(boxes) if box.value}),
        )

    def follow_ups(self, question: Question, asked: HTML, said: set[int]) -> None:
        """What an interviewer asks about the points that were missed, to tick; then both answers."""
        missed = self.session.follow_ups(said)
        boxes = dict(zip(missed, ticks(missed.values()), strict=True))

        def go_on() -> None:
            self.session.done(said, {place for place, box in boxes.items() if box.value})
            self.ask()

        told = "<p>You said every point.</p>" if not missed else "<p>Follow-ups. Tick those that you can answer.</p>"
        answers = "".join(
            folded(name, f"<p>{escape(text)}</p>")
            for name, text in (("The answer in half a minute", question.short), ("In two minutes", question.long))
        )
        mistakes = "".join(f"<li>“{escape(one.said)}” {escape(one.because)}</li>" for one in question.wrong)
        wrong = folded("Said often, and wrong", f"<ul>{mistakes}</ul>")
        show(self.box, asked, HTML(told), *boxes.values(), HTML(answers + wrong), button="Next question", then=go_on)

    def result(self) -> str:
        """The share of the points in each topic, and what to read again."""
        shares = [(self.titles[topic], f"{share:.0%}") for topic, share in self.session.by_topic().items()]
        table = table_html("The share of the points that you said", shares)
        sections = "".join(
            f"<li>chapter {chapter}, “{escape(section)}”</li>" for chapter, section in self.session.to_read()
        )
        return region("Result", table + (f"<p>Read again:</p><ul>{sections}</ul>" if sections else ""))


def folded(title: str, html: str) -> str:
    """HTML that opens at a click, no wider than a page of text."""
    return (
        f"<details style='max-width: 60em; line-height: 1.5'><summary>{escape(title)}</summary>"
        f"<div style='margin: 0.5em 0 0.5em 1em'>{html}</div></details>"
    )


TABLE = template("""\
<table><caption style='text-align: left; white-space: nowrap; font-weight: bold; padding-bottom: 0.5em'>{{ title }}\
</caption>
{%- for name, value in rows -%}
<tr><th scope='row' style='text-align: left; font-weight: normal'>{{ name }}</th>\
<td style='text-align: right; padding-left: 2em'>{{ value }}</td></tr>
{%- endfor -%}
</table>""")


def table_html(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """HTML of a table of names and values."""
    return TABLE.render(title=title, rows=rows)


def show(box: VBox, *parts: Widget, button: str, then: Callable[[], None]) -> None:
    """Replace what is in a box by these parts, and below them a button that calls `then`."""
    below = Button(description=button, layout=Layout(width="max-content", align_self="flex-start"))
    below.on_click(lambda _: then())
    box.children = (*parts, below, HTML(WHOLE))


def ticks(texts: Iterable[str]) -> list[Checkbox]:
    """A box to tick for each text."""
    boxes = [Checkbox(False, description=text, indent=False, layout=EVERY_LINE) for text in texts]
    for box in boxes:
        box.add_class("bertedu-tick")
    return boxes

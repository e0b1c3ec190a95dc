"""The bank as a book: one page of HTML that fetches nothing, for the screen and for paper."""

from collections.abc import Iterable, Sequence
from html import escape

from bertedu.interview.bank import Question, Topic
from bertedu.visualization.page import document

TITLE = "BERT in an interview"
STYLE = """<style>
article { border-top: 1px solid var(--line); margin-top: 1.6rem; padding-top: .4rem; }
article ul { margin-top: .2rem; }
nav ol { columns: 2; }
@media print { h2 { break-before: page; } nav + h2 { break-before: auto; } article { break-inside: avoid-page; }
  pre { break-inside: avoid; } }
</style>"""


def book(topics: Sequence[Topic]) -> str:
    """All questions with their answers, a chapter for each topic, as one page of HTML."""
    count = sum(len(topic.questions) for topic in topics)
    links = "".join(f"<li><a href='#{topic.name}'>{escape(topic.title)}</a></li>" for topic in topics)
    front = (
        f"{STYLE}<h1>{TITLE}</h1>\n<p class='summary'>{count} questions. For each: what to say in half a minute and in "
        "two minutes, the points that must be in it, what people say wrongly, and evidence that you can run.</p>"
        f"<nav aria-label='topics'><ol>{links}</ol></nav>"
    )
    return document(TITLE, [front, *map(topic_html, topics)])


def topic_html(topic: Topic) -> str:
    """The questions of one topic under its title."""
    return f"<h2 id='{topic.name}'>{escape(topic.title)}</h2>\n" + "\n".join(map(question_html, topic.questions))


def question_html(question: Question) -> str:
    """One question with all that the bank has on it."""
    return (
        f"<article id='{question.id}'>\n<h3>{escape(question.question)}</h3>\n"
        f"<p class='faint'>{question.id} · {question.level} · {question.kind} · {question.minutes} minutes</p>\n"
        f"{answer_html(question)}\n</article>"
    )


def answer_html(question: Question) -> str:
    """The two answers, the points, what is said wrongly, the evidence, and where more of it stands."""
    parts = [
        f"<p><strong>In half a minute.</strong> {escape(question.short)}</p>",
        f"<p><strong>In two minutes.</strong> {escape(question.long)}</p>",
        "<p><strong>Must be said</strong> (and what is asked if it is not):</p>",
        listed(f"{escape(point.point)} <em>{escape(point.ask)}</em>" for point in question.must),
    ]
    if question.bonus:
        parts += ["<p><strong>Shows experience:</strong></p>", listed(map(escape, question.bonus))]
    parts += [
        "<p><strong>Said often, and wrong:</strong></p>",
        listed(f"“{escape(one.said)}” {escape(one.because)}" for one in question.wrong),
    ]
    if question.evidence:
        parts.append(
            f"<pre tabindex='0'><code>{escape(question.evidence.code.strip())}</code></pre>\n<p>It prints:</p>\n"
            f"<pre><code>{escape(question.evidence.prints.strip())}</code></pre>"
        )
    links = f"Chapter {question.chapter}, “{escape(question.section)}”."
    if question.source:
        links += f" Source: {escape(question.source)}."
    if question.reviewed:
        links += f" Looked up on {question.reviewed.isoformat()}."
    return "\n".join((*parts, f"<p class='faint'>{links}</p>"))


def listed(items: Iterable[str]) -> str:
    """HTML of a list."""
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"

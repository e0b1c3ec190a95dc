"""The interview bank as pages: a question, and its answer folded, to be said aloud before it is read."""

from html import escape

from bertedu.classroom.overview import Chapter
from bertedu.interview.bank import Question, Topic
from bertedu.interview.book import answer_html

INTRODUCTION = """# The question bank

Read a question, answer it aloud, then unfold the answer and tick what you said. Search for a word, or choose a level:
*screen* is asked in a first call of half an hour, *onsite* at length by those you would work with, *senior* if you are
to decide how things are built.

<form class="bank-search" role="search">
<label>Search <input type="search" placeholder="padding, softmax, 110 million …"></label>
<label>Level <select><option value="">all</option><option>screen</option><option>onsite</option>
<option>senior</option></select></label>
<output></output>
</form>
"""

# The list of contents would repeat every question.
WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"


def bank_page(topics: tuple[Topic, ...]) -> str:
    """The list of all questions, which site.js filters, with a link to each."""
    counts = (f"[{topic.title}](#{slug(topic)}) ({len(topic.questions)})" for topic in topics)
    parts = [INTRODUCTION, f"{' · '.join(counts)}\n"]
    for topic in topics:
        parts.append(f"({slug(topic)})=\n\n## [{topic.title}]({topic.name}.md)\n\n<ul class='bank'>")
        parts += [
            f"<li data-level='{question.level}' data-words='{escape(words_of(question), quote=True)}'>"
            f"<a href='{topic.name}.html#{question.id}'>{escape(question.question)}</a> "
            f"<small>{question.level} · {question.kind} · {question.minutes} min</small></li>"
            for question in topic.questions
        ]
        parts.append("</ul>\n")
    return "\n".join(parts)


def slug(topic: Topic) -> str:
    """What links to the topic's part of the list."""
    return f"questions-{topic.name}"


def words_of(question: Question) -> str:
    """What a search looks through, besides the question."""
    return " ".join([question.short, *(point.point for point in question.must)]).casefold()


def topic_page(topic: Topic, chapters: dict[str, Chapter]) -> str:
    """The questions of one topic, each with a folded answer and a link to the chapter that explains it."""
    parts = [f"{WIDE}# {topic.title}\n\n{len(topic.questions)} questions. [All topics](index.md).\n"]
    for question in topic.questions:
        chapter = chapters[question.chapter]
        parts.append(
            f"({question.id})=\n\n## {question.question}\n\n{question.level} · {question.kind} · "
            f"{question.minutes} minutes · [{chapter.number} · {chapter.title}](/chapters/{chapter.name}.ipynb)\n\n"
            f"````{{raw}} html\n<details class='answer'><summary>Answer</summary>\n{answer_html(question)}\n"
            "</details>\n````\n"
        )
    return "\n".join(parts)

"""Flashcards in the notebook: a question on the front, its half-minute answer on the back. Nothing is fetched."""

import random
from html import escape

from bertedu.interview.bank import Question, read_bank
from bertedu.interview.names import the_one

FRONT, BACK, TEXT = "#00507f", "#3d3d44", "#ffffff"  # white on both has a contrast of more than 8:1


def flashcards(topic: str | None = None) -> None:
    """Show the questions of a topic as cards, of all topics without one. Space turns a card, the right arrow goes on.

    Raises UserError for a topic that is not there.
    """
    from jupytercards import display_flashcards

    topics = {one.name: one for one in read_bank()}
    chosen_topics = topics.values() if topic is None else [topics[the_one("topic", topic, topics)]]
    chosen = [question for one in chosen_topics for question in one.questions]
    state = random.getstate()
    random.seed(topic)  # the names of the page's elements come from here: the same on each run
    try:
        display_flashcards([card(one) for one in chosen], front_colors=[FRONT], back_colors=[BACK], text_colors=[TEXT])
    finally:
        random.setstate(state)


def card(question: Question) -> dict[str, str]:
    """What jupytercards wants of a card; it takes texts as HTML."""
    return {"front": escape(question.question), "back": escape(" ".join(question.short.split()))}

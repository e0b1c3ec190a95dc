"""`bertedu interview`: a plan for the hours that are left, mock interviews, drills, and the bank as cards or a book."""

from pathlib import Path

import click

from bertedu.cli.bug import bug
from bertedu.cli.case import case
from bertedu.cli.chapters import chapters
from bertedu.cli.drill import drill
from bertedu.cli.saying import PATH, ask_follow_ups, ask_numbers, paragraph, say

EXAMPLES = """
\b
Examples:
  bertedu interview plan --hours 3          what to practise in three hours
  bertedu interview mock --minutes 30       half an hour of questions; answer aloud, then tick what you said
  bertedu interview case semantic-search    a design case of 45 minutes; without a name, all cases
  bertedu interview drill                   whiteboard tasks against the clock, with your best times
  bertedu interview bug                     programs with bugs of which only a symptom is given
  bertedu interview export --format anki    flashcards for Anki; importing them again updates them
  bertedu interview export --format pdf     a book, to read or to print; --format html for the browser
  bertedu interview export --format pdf --cheat-sheet   two pages of numbers, formulas and shapes
"""


@click.group(epilog=EXAMPLES)
def interview() -> None:
    """Prepare for an interview: questions with the points that must be said, and evidence for each answer."""


interview.add_command(case)
interview.add_command(drill)
interview.add_command(bug)
interview.add_command(chapters)


@interview.command()
@click.option("--hours", type=click.Choice(["1", "3", "10"]), default="3", show_default=True)
def plan(hours: str) -> None:
    """Print which questions to practise in the hours that are left, and what to do with each."""
    from bertedu.interview.bank import read_bank
    from bertedu.interview.choosing import FOR_THE_MOCK, READING, plan

    topics = read_bank()
    titles = {topic.name: topic.title for topic in topics}
    steps = plan(topics, int(hours))
    minutes = sum(step.minutes for step in steps)
    say(
        f"{len(steps)} questions, {minutes:.0f} minutes: read the question, say your answer aloud, then read the rest "
        f"({READING} words a minute)."
    )
    for number, step in enumerate(steps, start=1):
        question = step.question
        say(f"{number:4}  {question.id:16} {question.level:7} {step.minutes:4.1f} min  {titles[question.topic]}")
        say(f"      {question.question}")
    if FOR_THE_MOCK[int(hours)]:
        say(f"Then {FOR_THE_MOCK[int(hours)]} minutes: bertedu interview mock --minutes {FOR_THE_MOCK[int(hours)]}")


@interview.command()
@click.option("--minutes", type=int, default=45, show_default=True, help="How long the interview takes.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed asks other questions.")
def mock(minutes: int, seed: int) -> None:
    """Ask questions for some minutes: answer aloud, then tick what you said; a missed point asks its follow-up."""
    from bertedu.interview.bank import read_bank
    from bertedu.interview.choosing import mock_questions
    from bertedu.interview.session import Session

    topics = read_bank()
    session = Session(mock_questions(topics, minutes, seed))
    say(f"{minutes} minutes, questions: {len(session.questions)}. Answer each aloud before you press Enter.")
    try:
        while question := session.current:
            ask(session, question)
    finally:  # Ctrl-C, too: what has been answered counts
        if session.answered:
            result(session, {topic.name: topic.title for topic in topics})


def ask(session, question) -> None:
    """Ask one question and its follow-ups, and note what was said."""
    so_far = f"Question {len(session.answered) + 1} of {len(session.questions)}"
    say(f"\n{so_far} · {question.level} · {question.minutes} minutes\n{paragraph(question.question)}")
    click.prompt("Your answer, aloud; then Enter", default="", show_default=False, prompt_suffix=" ")
    for number, point in enumerate(question.must, start=1):
        say(paragraph(f"{number}. {point.point}", indent="   "))
    said = ask_numbers("Which of these did you say?", len(question.must))
    late = ask_follow_ups(session.follow_ups(said))
    session.done(said, late)
    say(paragraph(f"In half a minute: {question.short}"))


def result(session, titles: dict[str, str]) -> None:
    """Say which share of the points was said, and what to read again."""
    say("\nThe share of the points that you said, by topic (a point after its follow-up counts half):")
    for topic, share in session.by_topic().items():
        say(f"  {share:4.0%}  {titles[topic]}")
    if to_read := session.to_read():
        say("Read again:")
        for chapter, section in to_read:
            say(f"  chapter {chapter}, “{section}”")


BOOK, CHEAT_SHEET = "bert-interview", "bert-cheat-sheet"


@interview.command()
@click.option("--format", "form", type=click.Choice(["anki", "html", "pdf"]), required=True)
@click.option("--cheat-sheet", is_flag=True, help="The two pages of numbers and formulas in place of the questions.")
@click.option(
    "--output", type=PATH, help="The file to write.  [default: bert-interview or bert-cheat-sheet .txt, .html or .pdf]"
)
def export(form: str, cheat_sheet: bool, output: Path | None) -> None:
    """Write all questions as flashcards for Anki or as a book, or the cheat sheet, for the screen and for paper.

    A PDF is printed by the Chromium, Chrome or Edge of this machine.
    """
    from bertedu.errors import UserError
    from bertedu.files import write_text
    from bertedu.interview.anki import write_anki
    from bertedu.interview.bank import read_bank
    from bertedu.interview.book import book
    from bertedu.interview.cheat_sheet import cheat_sheet as two_pages
    from bertedu.visualization.printing import write_pdf

    if cheat_sheet and form == "anki":
        raise UserError("the cheat sheet is no deck of cards: choose --format html or --format pdf.")
    ending = "txt" if form == "anki" else form
    output = output or Path(f"{CHEAT_SHEET if cheat_sheet else BOOK}.{ending}")
    if form == "anki":
        count = write_anki((question for topic in read_bank() for question in topic.questions), output)
        say(f"Wrote {count} cards into {output}: in Anki choose File, Import. A newer file updates the same cards.")
        return
    page = two_pages() if cheat_sheet else book(read_bank())
    if form == "pdf":
        write_pdf(page, output)
    else:
        write_text(output, page)
    say(f"Wrote {output}: open it in a browser{', or print it from there' if form == 'html' else ' or print it'}.")

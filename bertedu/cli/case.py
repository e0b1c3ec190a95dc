"""`bertedu interview case`: a design interview of 40 minutes in the terminal."""

import click

from bertedu.cli.saying import ask_follow_ups, ask_numbers, paragraph, say

EXAMPLES = """
\b
Examples:
  bertedu interview case                    all cases
  bertedu interview case semantic-search    go through one: ask for facts, answer each stage aloud, score yourself
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", required=False)
def case(name: str | None) -> None:
    """List the design cases, or go through one as with an interviewer."""
    from bertedu.interview.case_session import CaseSession
    from bertedu.interview.cases import find_case, read_cases

    if name is None:
        for one in read_cases().values():
            say(f"{one.name:22} {one.level:7} {one.minutes} min  {one.title}")
        return
    session = CaseSession(find_case(name))
    one = session.case
    say(f"{one.title} · {one.level} · {one.minutes} minutes\n{paragraph(one.situation)}")
    facts(session)
    try:
        while session.current:
            stage(session)
        rubric(session)
    finally:  # Ctrl-C, too: what has been said counts
        say("")
        for what, result in session.summary():
            say(f"  {result:>8}  {what}")
        say(f"Chapters: {', '.join(one.chapters)}")


def facts(session) -> None:
    """Ask what the person asked for, and tell it."""
    wait("What do you ask first? Say or write your questions; then Enter")
    for number, fact in enumerate(session.case.facts, start=1):
        say(paragraph(f"{number}. {fact.ask}", indent="   "))
    told, missed = session.ask(ask_numbers("Which of these did you ask for?", len(session.case.facts)))
    for title, found in (("You asked:", told), ("You need to know these too:", missed)):
        if found:
            say(title)
        for fact in found:
            say(paragraph(f"{fact.ask} {fact.say}", indent="   "))


def stage(session) -> None:
    """Ask one stage, its follow-ups, and show how a good answer goes."""
    one, number = session.current, len(session.said) + 1
    say(f"\nStage {number} of {len(session.case.stages)}: {one.title}\n{paragraph(one.ask)}")
    wait("Your answer, aloud and with figures; then Enter")
    for place, point in enumerate(one.must, start=1):
        say(paragraph(f"{place}. {point.point}", indent="   "))
    said = ask_numbers("Which of these did you say?", len(one.must))
    missed = {position: point.ask for position, point in enumerate(one.must) if position not in said}
    session.done(said, ask_follow_ups(missed))
    say(paragraph(f"A good answer: {one.answer}"))
    if one.evidence:
        say(f"The arithmetic:\n{one.evidence.code.strip()}\nprints\n{one.evidence.prints.strip()}")


def rubric(session) -> None:
    """Let the person score each line."""
    say("\nScore yourself as the interviewer would.")
    for place, line in enumerate(session.case.rubric):
        say(f"{line.name}\n  2: {line.full}\n  1: {line.half}\n  0: {line.none}")
        session.earn(place, click.prompt("Points", type=click.IntRange(0, 2), default=0))


def wait(text: str) -> None:
    """Until Enter is pressed."""
    click.prompt(text, default="", show_default=False, prompt_suffix=" ")

"""`bertedu mine`: the reader's own BERT."""

from pathlib import Path

import click

from bertedu.cli.saying import PATH, Number, paragraph, say
from bertedu.errors import UserError

EXAMPLES = """
\b
Examples:
  bertedu mine                    your parts put together, and at work
  bertedu mine --minutes 2        then it learns for two minutes, beside the package's
  bertedu mine --forget 3.2       the accepted answer to 3.2 is removed
  bertedu mine --from-solutions   with the course's solutions: what it will be at the end
\b
How a part becomes yours:
  In a notebook, check("3.2", attention) says yes. The source of your function is then kept as text, with the
  helpers, constants and imports that it uses. The newest accepted answer counts. Sixteen exercises are parts of
  BERT: 1.2 1.4 2.3 2.4 3.2 3.3 3.4 4.2 4.3 4.4 5.3 6.2 6.3 7.2 8.2 8.5. A missing part is the package's.
\b
What is written:
  my_bert.py     the whole program in the order of the data, yours and the course's marked. One that you changed
                 by hand is left as it is
  my_bert.html   the map with your parts lit, the masks of chapter 00, the numbers and the program: print it or keep it
\b
In a notebook: from bertedu.mine import mine; mine()
"""


@click.command(epilog=EXAMPLES)
@click.option("--minutes", type=Number(0, 1440), default=0.0, help="Let it learn for so long.")
@click.option("--from-solutions", is_flag=True, help="Use the course's solutions, and none of your answers.")
@click.option("--forget", metavar="N.N", help="Remove the accepted answer to an exercise, and do nothing else.")
@click.option("--output", "to", type=PATH, default=Path("."), help="The folder that the two files are written to.")
@click.option("--yes", is_flag=True, help="Run your answers without asking.")
def mine(minutes: float, from_solutions: bool, forget: str | None, to: Path, yes: bool) -> None:
    """Put your accepted answers together to a BERT of your own, and see it fill masks and learn.

    Your parts are shown before they are run.
    """
    from bertedu.course.keeping import answers_file, kept
    from bertedu.course.keeping import forget as remove
    from bertedu.course.parts import PARTS
    from bertedu.mine.writing import YOURS

    if forget:
        remove(forget)
        say(f"The answer to {forget} is forgotten.")
        return
    if from_solutions:
        from bertedu.mine.solutions import solutions

        answers = solutions()
    else:
        answers = kept()
        if not answers:
            place = answers_file() or "nowhere, because BERTEDU_PROGRESS is off"
            say(paragraph(f"No part is yours yet, so everything is borrowed. Accepted answers are kept in: {place}."))
        for part in PARTS:
            if part.number in answers:
                say(f"{YOURS}{part.number}, {part.title}\n" + "\n\n".join(answers[part.number].pieces) + "\n")
        if answers and not yes and not click.confirm(f"Run these {len(answers)} parts?", default=True):
            say("Nothing was run.")
            return
    write(answers, minutes, to)


def write(answers: dict, minutes: float, to: Path) -> None:
    """Run the demonstration, say what it shows, and write both files."""
    from bertedu.files import write_text
    from bertedu.mine.file import save
    from bertedu.mine.running import FILE
    from bertedu.mine.showing import show

    shown = show(answers, minutes)
    shown.notes.append(save(to / FILE, shown.program.text))
    say(repr(shown))
    write_text(to / "my_bert.html", shown.page())
    say(f"To print or keep: {to / 'my_bert.html'}")
    if shown.broken:
        raise UserError(f"{len(shown.broken)} of your parts could not be used: see above.")

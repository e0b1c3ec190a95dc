"""Drills in a notebook: `drill("masked-attention")` starts the clock, `finish("masked-attention", attention)` examines.

Where the answer is wrong, the clock goes on.
"""

import re
import sys
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from bertedu.course import checking
from bertedu.course.checking import Text
from bertedu.course.rooms import EXERCISE
from bertedu.course.verdict import Verdict
from bertedu.interview.drills import clock
from bertedu.interview.drills.drill import Drill
from bertedu.interview.drills.register import DRILLS, examined, find
from bertedu.templates import template


def drill(name: str) -> "Begun":
    """Show the task of a drill, start its clock, and put the blank answer into a new cell.

    The names are those of `drills()`. Starting again starts the clock anew. Raises UserError for any other name.
    """
    begun = Begun(find(name))
    clock.start(name)
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        shell.set_next_input(begun.cell)
    return begun


@dataclass(frozen=True, repr=False)
class Begun:
    """The task of a drill, shown by itself."""

    drill: Drill

    @property
    def cell(self) -> str:
        """The code of the blank cell."""
        name = self.drill.name
        head = "from bertedu.interview.drills import finish, hint\n"
        hand_in = f'finish("{name}", {self.drill.answer})  # hint("{name}") gives a hint'
        return f"{head}{self.drill.stub.strip()}\n\n\n{hand_in}"

    @property
    def head(self) -> str:
        """The title and the minutes."""
        return f"{self.drill.title} · {self.drill.minutes} minutes"

    def __repr__(self) -> str:
        return "\n".join(
            (self.head, "", self.drill.task.strip(), "", "The clock is running. The cell to fill in:", self.cell)
        )

    def _repr_html_(self) -> str:
        pre = "white-space: pre-wrap; max-width: 66em; margin-bottom: 1em"
        folded = (
            "<details><summary>No new cell below? Copy this one.</summary>"
            f"<pre style='{pre}'>{escape(self.cell, quote=False)}</pre></details>"
        )
        task = f"<div style='{pre}'>{code_marked(self.drill.task.strip())}</div>"
        running = "<p>The clock is running. Write your answer into the new cell below and run it.</p>"
        return f"<p><strong>{escape(self.head)}</strong></p>{task}{running}{folded}"


def code_marked(text: str) -> str:
    """Text as HTML, with what stands in backticks as code."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", escape(text, quote=False))


def finish(name: str, answer: Any = None) -> Verdict:
    """Examine the answer to a drill; where it is right, stop the clock, say the time and keep the best.

    `answer` is the function or class that the task asks for, by its name. The result shows itself; `.passed` says
    whether the drill is solved. Raises UserError for a name that no drill has.
    """
    found, seconds = find(name), clock.elapsed(name)
    verdict = examined(name, answer)
    line = clock.told(name, found.minutes, verdict.passed, seconds)
    if line is None and verdict.passed:
        line = f'No time is kept, because the clock was not running: drill("{name}") starts it.'
    return verdict if line is None else replace(verdict, lines=(*verdict.lines, line))


def hint(name: str) -> Text:
    """The next hint of a drill, or of an exercise of a chapter; after the last one, all of them."""
    if isinstance(name, str) and EXERCISE.fullmatch(name):
        return checking.hint(name)  # the cell of a drill imports this one over the chapter's
    return Text(next_hint(find(name), f'hint("{name}")'))


def next_hint(drill: Drill, more: str) -> str:
    """The text of the next hint; `more` is how to ask for one more."""
    given, count = clock.times_of(drill.name).hints + 1, len(drill.hints)
    if given > count:
        return "\n".join((f"All hints of {drill.name} · {drill.title}", *drill.hints))
    clock.count_hint(drill.name)
    after = f"\nOne more: {more}" if given < count else f"\nThe course builds it in {drill.built_in}."
    return f"Hint {given} of {count} · {drill.title}\n{drill.hints[given - 1]}{after}"


def solution(name: str) -> Text:
    """One right answer to a drill. The clock stops, and this attempt's time does not count."""
    found = find(name)
    clock.stop(name)
    return Text(f"# {found.title}. The course builds it in {found.built_in}.\n{found.solution.strip()}")


class Table:
    """The drills with their minutes and best times."""

    def __init__(self) -> None:
        times = clock.all_times()
        self.rows = []
        for found in DRILLS.values():
            best = times[found.name].best if found.name in times else None
            said = "" if best is None else clock.in_words(best)
            self.rows.append((found.name, found.title, f"{found.minutes} min", said, found.chapter))

    def __repr__(self) -> str:
        rows = [HEAD, *self.rows]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
        lines = ("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        return TABLE.render(head=HEAD, rows=self.rows)


HEAD = ("drill", "task", "time", "your best", "chapter")
TABLE = template("""\
<table><tr>
{%- for text in head -%}<th scope='col' style='text-align: left'>{{ text }}</th>{%- endfor -%}
</tr>
{%- for row in rows -%}
<tr>{% for text in row %}<td style='text-align: left'>{{ text }}</td>{% endfor %}</tr>
{%- endfor -%}
</table>""")


def drills() -> Table:
    """All drills: their names, the minutes that an interview gives, and your best times."""
    return Table()

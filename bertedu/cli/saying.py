"""What the commands print and what they take: text that does nothing to a terminal, and names that can be names."""

import math
import os
import re
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from bertedu.errors import UserError, visible

WIDTH = 100  # characters of a line that a person reads
ADDRESS = re.compile(r"https?:/", re.IGNORECASE)
UNREPLACED = re.compile(r"\$\w+|\$\{\w+\}|%\w+%")  # the variable of a shell, which replaces it unless it is in quotes


def say(text: str = "", err: bool = False) -> None:
    """Print lines, with what would move the cursor or set the window's title spelt out."""
    click.echo(visible(text), err=err)


def readable(arguments: list[str]) -> list[str]:
    """The arguments as UTF-8, also where the language of the terminal is C and Python takes them for ASCII.

    Raises UserError for one that no file can hold: with a NUL, or with bytes that are not UTF-8.
    """
    found = []
    for argument in arguments:
        try:
            found.append(argument.encode(errors="surrogateescape").decode())
        except UnicodeError as error:
            raise UserError(f"the argument {argument!r} is not UTF-8: write it, or rename the file.") from error
        if "\0" in argument:
            raise UserError(f"the argument {argument!r} has a NUL character: remove it.")
    return found


class Name(click.ParamType):
    """Words of a person that name something: not empty, since an empty path is the present folder."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name as it is, with the home of a person for ~, which a shell leaves where it stands behind a =."""
        if not str(value).strip():
            self.fail("the name is empty: write one, or leave the option out.", param, ctx)
        if ADDRESS.match(str(value)):
            self.fail(f"{value} is an address: save what is there and name the file, or give a name of the hub.")
        if UNREPLACED.match(str(value)):
            self.fail(f"{value!r} begins with a variable that no shell has replaced: write what it stands for.")
        return os.path.expanduser(value)


class PathName(Name):
    """The same as a path."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The name as a path."""
        return Path(super().convert(value, param, ctx))


class Number(click.FloatRange):
    """A number within limits, and finite: NaN is above every limit and below it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


NAME, PATH, NUMBER = Name(), PathName(), Number()


def ask_numbers(question: str, count: int) -> set[int]:
    """The numbers that a person types, from 0; asked again until they are numbers of the list."""
    while True:
        typed = click.prompt(f"{question} (for example 1 3; Enter for none)", default="", show_default=False)
        words = typed.replace(",", " ").split()
        if all(word.isdecimal() and 1 <= int(word) <= count for word in words):
            return {int(word) - 1 for word in words}
        say(f"Type numbers from 1 to {count}, with spaces between them.")


def ask_follow_ups(asked: dict[int, str]) -> set[int]:
    """Ask about each point that was missed; returns those, by position, that could have been answered."""
    late = set()
    for position, question in asked.items():
        say(paragraph(f"Follow-up: {question}"))
        if click.confirm("Could you have answered that?", default=False):
            late.add(position)
    return late


def paragraph(text: str, indent: str = "") -> str:
    """A text in lines of a readable width."""
    return fill(" ".join(text.split()), WIDTH, initial_indent=indent, subsequent_indent=indent)

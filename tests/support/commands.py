"""Every command of the program, with its options: rules that hold for all of them go over this."""

from collections.abc import Iterator

import click
from click.testing import CliRunner, Result

from bertedu.cli import main

Path = tuple[str, ...]


def commands(group: click.Group = main, path: Path = ()) -> Iterator[tuple[Path, click.Command]]:
    """Each command that does something, with the words that call it."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def call(*arguments: object) -> Result:
    """What a command says, called in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])

"""Every command of the program, with its options: rules that hold for all of them go over this."""

from collections.abc import Iterator

import click
from click.testing import CliRunner, Result

from bertedu.cli import main
from bertedu.errors import visible

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


ALL = dict(commands())
ODD = ("", "0", "an odd \x1b[2J \u2603 name")
ODD_NUMBERS = (*ODD, "nan", "inf", "-inf", "-1", str(10**12), "1e300")
NUMBERS = (click.types.IntParamType, click.types.FloatParamType)
ENDS = {0, 1, 130}  # it works, what was asked about is not as it should be, or there was nobody to answer its questions
# What a command needs to come as far as its options.
NEEDED = {
    ("pretrain",): ["--corpus", "book.txt"],
    ("finetune",): ["classification", "--data", "a.csv", "--model", "base"],
    ("fill-mask",): ["[MASK]", "--model", "base"],
    ("attention",): ["a cat", "--model", "base"],
    ("answer",): ["who", "--text", "a cat", "--model", "base"],
    ("export",): ["nowhere"],
    ("serve",): ["nowhere"],
    ("course",): ["nowhere.toml"],
    ("assignment",): ["99"],
    ("slides",): ["99"],
    ("handout",): ["99"],
    ("grade",): ["nowhere"],
    ("interview", "drill"): ["masked-attention"],
    ("interview", "bug"): ["serving"],
}


def valued(command: click.Command) -> list[click.Option]:
    """The options that take a value."""
    return [
        one for one in command.params if isinstance(one, click.Option) and not one.is_flag and one.opts != ["--help"]
    ]


def needed(path: tuple[str, ...], but: str) -> list[str]:
    """The arguments without which a command says only that they are missing, but for one option."""
    command, given = ALL[path], [*NEEDED.get(path, ())]
    if but in given:
        del given[given.index(but) : given.index(but) + 2]
    for option in valued(command):
        if option.required and option.opts[0] not in (but, *given):
            choices = getattr(option.type, "choices", None)
            given += [option.opts[0], choices[0] if choices else "made"]
    return given


def odd_end(arguments: list[str]) -> str:
    """ "" where a command ends as it may, else how it ended."""
    done = call(*arguments)
    if visible(done.output) != done.output:
        return f"{arguments}: control characters in {done.output[:100]!r}"
    if done.exit_code in ENDS and isinstance(done.exception, SystemExit | None):
        return ""
    lines = done.stderr.splitlines()
    told = (
        len(lines) == 1 and lines[0].startswith("bertedu: ") and lines[0].endswith((".", ")")) and len(lines[0]) < 900
    )
    if done.exit_code == 2 and isinstance(done.exception, SystemExit) and told:
        return ""
    return f"{arguments}: exit code {done.exit_code}, {done.exception!r}, {done.stderr[-300:]!r}"

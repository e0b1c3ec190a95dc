"""`bertedu doctor`: what this machine has."""

import click

from bertedu.cli.saying import say


@click.command()
def doctor() -> None:
    """Say what this machine has and how fast a BERT will learn on it.

    It measures for about four seconds, writes nothing and does not use the network.

    \b
    Example:
      bertedu doctor
    """
    from bertedu.doctor import examine, warnings_for

    rows = examine()
    width = max(len(name) for _, name, _ in rows)
    before = ""
    for group, name, found in rows:
        if group != before:
            say(f"{group}")
        say(f"  {name:{width}}  {found}")
        before = group
    for sentence in warnings_for():
        say(f"! {sentence}")

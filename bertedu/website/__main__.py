"""`python -m bertedu.website`: build the website into docs/_build/site, or a class's, which has no solutions."""

from pathlib import Path

import click

from bertedu.errors import UserError
from bertedu.website.building import build_site

ROOT = Path(__file__).resolve().parents[2]


@click.command()
@click.option("--output", type=click.Path(path_type=Path), default=ROOT / "docs" / "_build" / "site")
@click.option("--without-solutions", is_flag=True, help="A site for a class: no page has a solution.")
def main(output: Path, without_solutions: bool) -> None:
    """Build the website from the stored notebooks. Nothing is executed."""
    try:
        outside = build_site(ROOT, output, solutions=not without_solutions)
    except UserError as error:
        raise click.ClickException(str(error)) from error
    (output.parent / "outside_links.txt").write_text("\n".join(outside) + "\n", encoding="utf-8")
    print(f"The site is in {output}. To look at it: python -m http.server --directory {output}")
    print(f"{len(outside)} links lead out of it: {output.parent / 'outside_links.txt'}")


if __name__ == "__main__":
    main()

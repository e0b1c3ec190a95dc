"""Printing a page: the browser that is found, and what is said where there is none or it fails."""

import sys
from pathlib import Path

import pytest

from bertedu.errors import UserError
from bertedu.visualization import printing
from bertedu.visualization.printing import CHOSEN, find_browser, write_pdf

PLACE = "place = next(a for a in sys.argv if a.startswith('--print-to-pdf=')).partition('=')[2]\n"


def program(folder: Path, code: str) -> str:
    """A program that stands in for a browser."""
    path = folder / "browser"
    path.write_text(f"#!{sys.executable}\nimport sys\n{code}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_machine_without_a_browser_is_told_in_words(monkeypatch):
    monkeypatch.delenv(CHOSEN, raising=False)
    monkeypatch.setattr(printing, "NAMES", ("no-such-browser",))
    monkeypatch.setattr(printing, "PLACES", ())
    with pytest.raises(UserError, match="none was found: install one"):
        find_browser()
    monkeypatch.setenv(CHOSEN, "no-such-browser")
    with pytest.raises(UserError, match="there is no such program"):
        find_browser()


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are scripts with a first line that names Python")
@pytest.mark.parametrize(
    ("code", "seconds", "said"),
    [
        ("print('no display', file=sys.stderr); sys.exit(1)", 60, "no display"),
        (
            f"{PLACE}open(place, 'w').write('%PDF half')\nimport time; time.sleep(60)",
            0.5,
            "not ready after 0.5 seconds",
        ),
    ],
    ids=["fails", "hangs"],
)
def test_a_browser_that_fails_or_hangs_replaces_no_file(code, seconds, said, tmp_path, monkeypatch):
    monkeypatch.setenv(CHOSEN, program(tmp_path, code))
    monkeypatch.setattr(printing, "SECONDS", seconds)
    out = tmp_path / "page.pdf"
    out.write_text("what was there", encoding="utf-8")
    with pytest.raises(UserError, match=said):
        write_pdf("<p>page</p>", out)
    assert out.read_text(encoding="utf-8") == "what was there"


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are scripts with a first line that names Python")
def test_the_pdf_is_what_the_browser_printed(tmp_path, monkeypatch):
    copies = f"{PLACE}open(place, 'w').write(open(sys.argv[-1].removeprefix('file://')).read())"
    monkeypatch.setenv(CHOSEN, program(tmp_path, copies))
    write_pdf("<p>page</p>", tmp_path / "new" / "page.pdf")
    assert (tmp_path / "new" / "page.pdf").read_text(encoding="utf-8") == "<p>page</p>"

"""`bertedu translate` as an author types it, right and wrong."""

import pytest
from click.testing import CliRunner

from bertedu.cli import main


def run(*words: str):
    return CliRunner().invoke(main, ("translate", *words))


def test_a_check_says_nothing():
    done = run("check", "de")
    assert done.exit_code == 0 and done.output.count("0 missing, 0 fuzzy, none has lost anything") == 2, done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "xx1"), "no code of a language"),
        (("check", ""), "the name is empty"),
        (("check", "fr"), "bertedu translate update fr 00"),
        (("update", "de"), "NN"),
        (("update", "../..", "00"), "no code of a language"),
        (("update", "de", "99"), "no source for 99"),
        (("build", "de", "00"), "--to"),
        (("build", "de", "00", "--to", "notebooks"), "notebooks"),
        (("build", "fr", "00", "--to", "x"), "translate update fr 00"),
        (("build", "de", "01", "--to", "x"), "translate update de 01"),
        (("build", "de", "00", "--to", "file"), "file"),
    ],
)
def test_a_wrong_word_ends_in_a_traceback_or_writes_something(words, said, tmp_path, monkeypatch):
    from bertedu.course.building.places import PACKAGE

    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    words = tuple(str(PACKAGE.parent / "notebooks") if word == "notebooks" else word for word in words)
    done = run(*words)
    assert done.exit_code == 2 and said in done.output.replace("\n", " "), done.output
    assert "Traceback" not in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["file"] and (tmp_path / "file").read_text() == "mine"

"""`bertedu slides` and `bertedu handout` as a teacher types them, right and wrong."""

import pytest
from click.testing import CliRunner

from bertedu.cli import main


def run(*words: str):
    return CliRunner().invoke(main, words)


def test_a_deck_is_written_where_it_was_asked_for_and_told(tmp_path):
    done = run("slides", "3", "--output", str(tmp_path / "new" / "folder"))
    assert done.exit_code == 0, done.output
    [path] = (tmp_path / "new" / "folder").iterdir()
    assert path.name == "03_self_attention_slides.html" and f"{path}: 35 slides" in done.output.replace("\n", "")


def test_a_handout_is_the_version_asked_for(tmp_path):
    assert run("handout", "3", "--output", str(tmp_path), "--solutions").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["03_self_attention_solutions.html"]


@pytest.mark.parametrize("command", ["slides", "handout"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["3"], "--output"),
        (["99", "--output", "x"], "no source for 99"),
        (["three", "--output", "x"], "no source for three"),
        (["-1", "--output", "x"], "No such option"),
        (["", "--output", "x"], "empty name"),
        (["3", "--output", ""], "the name is empty"),
        (["3", "--output", "file"], "file"),
        (["3", "99", "--output", "x"], "no source for 99"),
        (["03_self_attention", "--output", "x"], "no source for 03_self_attention"),
    ],
)
def test_a_wrong_word_is_refused_and_writes_nothing(command, words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    done = run(command, *words)
    assert done.exit_code == 2 and said in done.output, done.output
    assert "Traceback" not in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["file"] and (tmp_path / "file").read_text() == "mine"


def test_help_names_an_example():
    for command in ("slides", "handout"):
        assert "Examples:" in run(command, "--help").output

"""`bertedu grade` as a teacher types it: help, and wrong input."""

from click.testing import CliRunner

from bertedu.cli import main


def run(*words: str):
    return CliRunner().invoke(main, ["grade", *map(str, words)])


def test_help_shows_an_example():
    result = run("--help")
    assert result.exit_code == 0 and "--assignment week-3 --csv week-3.csv" in result.output


def test_wrong_input_is_refused_in_words(tmp_path):
    (tmp_path / "empty").mkdir()
    for words, said in [
        ((tmp_path / "none", "--assignment", tmp_path, "--csv", tmp_path / "a.csv"), "no folder that `bertedu"),
        ((tmp_path, "--assignment", tmp_path / "empty", "--csv", tmp_path / "a.csv"), "assignment.json"),
        ((tmp_path, "--csv", tmp_path / "a.csv"), "--assignment"),
        ((tmp_path, "--assignment", tmp_path), "--csv"),
        ((tmp_path, "--assignment", tmp_path, "--csv", tmp_path / "a.csv", "--almost", "2"), "0<=x<=1"),
    ]:
        result = run(*words)
        text = result.output + str(result.exception)
        assert result.exit_code and said in text and "Traceback" not in text, text


def test_the_container_option_prints_the_command_and_grades_nothing(tmp_path):
    result = run(tmp_path, "--assignment", tmp_path, "--csv", tmp_path / "a.csv", "--container", "course:1")
    assert result.exit_code == 0 and result.output.startswith("docker run --rm --network none")
    assert not (tmp_path / "a.csv").exists()

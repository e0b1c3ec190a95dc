"""Every option of every command, given what no option takes: one sentence with exit code 2, or it works."""

import json
from pathlib import Path

import click
import pytest
import torch
from support.commands import ALL, NUMBERS, ODD, ODD_NUMBERS, call, needed, odd_end, valued
from support.faults import assert_none
from support.finetuning_rows import save_base

from bertedu.cli.mistakes import tell
from bertedu.cli.saying import Number
from bertedu.errors import UserError
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.pretraining.plan import Plan
from bertedu.training.run_folder import refuse_begun
from bertedu.training.settings import TrainingSettings


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder with a model and data, where no run begins and no hub is asked."""

    def reached(*_, **__):
        raise UserError("it would begin.")

    monkeypatch.chdir(tmp_path)
    for place in ("bertedu.pretraining.run.pretrain", "bertedu.finetuning.run.finetune"):
        monkeypatch.setattr(place, reached)
    monkeypatch.setattr("bertedu.checkpoints.folder.snapshot_download", reached)
    save_base(tmp_path / "base")
    Path("book.txt").write_text("The cat sat on the mat. It was tired. It slept. " * 20)
    Path("a.csv").write_text("text,label\n" + "a cat,yes\na dog,no\n" * 9)
    return tmp_path


@pytest.mark.parametrize("path", [path for path, command in ALL.items() if valued(command)], ids=" ".join)
def test_an_odd_value_of_any_option_is_told_in_one_sentence_or_works(path, here):
    assert_none(
        fault
        for option in valued(ALL[path])
        for value in (ODD_NUMBERS if isinstance(option.type, NUMBERS) else ODD)
        if (fault := odd_end([*path, *needed(path, option.opts[0]), option.opts[0], *[value] * option.nargs]))
    )


def test_no_option_takes_a_number_that_is_none():
    assert_none(
        f"{' '.join(path)} {option.opts[0]}: give it the type NUMBER"
        for path, command in ALL.items()
        for option in valued(command)
        if isinstance(option.type, click.FloatRange | click.types.FloatParamType)
        and not isinstance(option.type, Number)
    )


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "NaN", "1e400"])
def test_what_is_not_a_finite_number_is_refused_by_every_option_for_one(value):
    options = [(path, option) for path, command in ALL.items() for option in valued(command)]
    found = [(path, option) for path, option in options if isinstance(option.type, Number)]
    assert len(found) >= 12
    for path, option in found:
        done = call(*path, *needed(path, option.opts[0]), option.opts[0], *[value] * option.nargs)
        assert done.exit_code == 2 and option.opts[0] in done.stderr, (path, option.opts, done.output)


@pytest.mark.parametrize(
    ("field", "value", "most"),
    [
        ("data_workers", 100_000, "64"),
        ("data_workers", 65, "64"),
        ("learning_rate", 1e300, "100"),
        ("patience", 10**9, "1,000,000"),
    ],
)
def test_a_number_beyond_every_machine_is_refused_with_the_largest_that_is_not(field, value, most):
    with pytest.raises(UserError, match=f"{field} is .* at most {most}"):
        TrainingSettings(**{"learning_rate": 1e-3, field: value})


def test_too_little_memory_is_told_in_one_sentence(capsys):
    with pytest.raises(RuntimeError) as found:
        torch.empty(10**15)
    tell(found.value)
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("bertedu: this machine has not enough memory") and "--batch-size" in said
    with pytest.raises(RuntimeError, match="something else"):
        tell(RuntimeError("something else"))


# A run of another kind -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "values", "says"),
    [
        (Plan, {"task": "classification", "model": "m", "data": "d", "dropout": None}, "finetune --resume run"),
        (FinetuningPlan, {"corpus": ["book.txt"], "dropout": 0.0, "seed": 0}, "pretrain --resume run"),
    ],
)
def test_a_run_of_another_command_is_named_with_the_command_that_goes_on_with_it(plan, values, says, here):
    Path("run").mkdir()
    Path("run/run.json").write_text(json.dumps(values))
    with pytest.raises(UserError, match=says):
        plan.read("run")


@pytest.mark.parametrize("command", [("pretrain",), ("finetune", "classification")])
def test_a_run_goes_on_in_its_own_folder_and_in_no_other(command, here):
    Path("run").mkdir()
    values = {"corpus": ["book.txt"], "task": "classification", "model": "base", "data": "a.csv", "seed": 0}
    Path("run/run.json").write_text(json.dumps(values))
    done = call(*command, "--resume", "run", "--output", "other")
    assert done.exit_code == 2 and "a run goes on in its own folder, run" in done.stderr, done.stderr
    assert not Path("other").exists()


def test_a_run_takes_the_place_of_no_file(here):
    with pytest.raises(UserError, match="is no folder: choose another --output"):
        refuse_begun(here / "book.txt")


# One name for one thing ----------------------------------------------------------------------------------------------


def test_one_name_stands_for_where_a_command_writes_and_for_how_many_texts_are_read_at_once():
    others = {"--to", "--out", "--output-dir", "--dest", "--batch", "--lr"}
    assert_none(
        f"{' '.join(path)}: {found}" for path, one in ALL.items() for p in one.params if (found := others & {*p.opts})
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--learning-rate", "3e\u22124"], "'3e\u22124' is no number: write it like 0.0003 or 3e-4"),
        (["--epochs", "1,5"], "'1,5' is no number"),
        (["--batch-size", "10k"], "'10k' is no whole number: write it like 10000"),
        (["\u2013epochs", "3"], "write --epochs with two hyphens"),
        (["\u2014batch-size=3"], "write --batch-size with two hyphens"),
        (["-seeds", "3"], "write --seeds with two hyphens"),
        (["--output", "$HOME/x"], "'$HOME/x' begins with a variable that no shell has replaced"),
        (["--output", "%USERPROFILE%/x"], "begins with a variable"),
        (["--test", "https://example.org/a.csv"], "https://example.org/a.csv is an address: save what is there"),
    ],
)
def test_what_is_copied_from_a_page_gets_its_remedy(arguments, says, here):
    result = call("finetune", "classification", "--data", "a.csv", "--model", "base", *arguments)
    assert result.exit_code == 2 and says in result.stderr and len(result.stderr.splitlines()) == 1, result.stderr


def test_a_text_that_begins_with_a_dash_is_no_option(here):
    result = call("fill-mask", "\u2014hola [MASK]", "--model", "base")
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("form", [["--html", "~/there/a.html"], ["--html=~/there/a.html"]])
def test_a_tilde_is_the_home_of_a_person_and_no_folder(form, here, monkeypatch):
    """A shell leaves it where it stands in quotes or behind a =, and a folder ~ is dangerous to remove."""
    monkeypatch.setenv("HOME", str(here / "home"))
    monkeypatch.setenv("USERPROFILE", str(here / "home"))
    result = call("attention", "the cat", "--model", "base", *form)
    assert result.exit_code == 0, result.stderr
    assert (here / "home" / "there" / "a.html").is_file() and not (here / "~").exists()


@pytest.mark.parametrize("chosen", ["1GB", "-1", "1e9", "\u0663"])
def test_a_limit_in_the_environment_that_is_no_number_is_not_passed_over(chosen, here, monkeypatch):
    monkeypatch.setenv("BERTEDU_MOST_BYTES", chosen)
    result = call("fill-mask", "[MASK]", "--model", "base")
    assert result.exit_code == 2 and "the variable BERTEDU_MOST_BYTES is" in result.stderr


def test_an_argument_is_read_as_utf_8_whatever_the_language_of_the_terminal(here):
    ascii_terminal = "caf\u00e9 [MASK]".encode().decode("ascii", "surrogateescape")
    assert call("fill-mask", ascii_terminal, "--model", "base").exit_code == 0

"""The command line as a saboteur meets it: control characters, devices, names that are none."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console
from support.small_runs import save_model

from bertedu.cli import main
from bertedu.errors import visible
from bertedu.finetuning.tasks.question_answering import BertForQuestionAnswering
from bertedu.model import BertForMaskedLM
from bertedu.tokenization import BertTokenizer
from bertedu.visualization.results import Result as Row
from bertedu.visualization.results import table

CLEAR, TITLE = "\x1b[2J", "\x1b]0;owned\x07"


@pytest.fixture(autouse=True)
def model(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return save_model(tmp_path / "model", kind=BertForMaskedLM)


def call(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def refused(*arguments: object) -> str:
    """The one sentence with which a command refuses."""
    result = call(*arguments)
    assert result.exit_code == 2 and isinstance(result.exception, SystemExit), (result.output, result.exception)
    (sentence,) = result.stderr.splitlines()
    assert sentence.startswith("bertedu: ") and sentence.endswith("."), sentence
    return sentence


def test_a_token_of_a_vocabulary_does_not_clear_the_screen(model):
    strange = [CLEAR + "a", TITLE, "\x9b2J", "\u202eback"]
    words = [*BertTokenizer.from_pretrained(model).tokens[: -len(strange)], *strange]
    BertTokenizer(words).save_pretrained(model)
    result = call("fill-mask", "the [MASK]", "--model", model, "--top", len(words))
    assert result.exit_code == 0 and r"\x1b[2Ja" in result.output and r"\u202eback" in result.output
    assert visible(result.output) == result.output


def test_the_name_of_a_file_does_not_set_the_title_of_the_window():
    for arguments in (
        ("fill-mask", "a", "--model", f"./{TITLE}"),
        ("finetune", TITLE),
        ("pretrain", "--preset", TITLE),
        ("pretrain", "--corpus", f"{TITLE}.txt"),
    ):
        sentence = refused(*arguments)
        assert "owned" in sentence and visible(sentence) == sentence
    result = call("attention", "the cat", "--model", "model", "--html", f"a{CLEAR}.html")
    assert result.exit_code == 0 and result.output == "written: a\\x1b[2J.html\n"


def test_brackets_in_a_name_are_no_markup():
    console = Console(record=True, width=200)
    console.print(table("of [red]my[/red] file [/]", [Row("[bold]a", "b[/]", 0.5, (("[i]c" + CLEAR, 0.4),))]))
    shown = console.export_text()
    for name in ("of [red]my[/red] file [/]", "[bold]a", "b[/]", r"[i]c\x1b[2J"):
        assert name in shown


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
@pytest.mark.parametrize("option", ["--html", "--png"])
def test_a_page_never_takes_the_place_of_a_device_a_link_or_a_folder(option):
    os.mkfifo("pipe" + option.replace("--", "."))
    Path("there").write_text("kept")
    os.symlink("there", "link" + option.replace("--", "."))
    Path("folder" + option.replace("--", ".")).mkdir()
    before = {path.name: path.lstat().st_mode for path in Path().iterdir()}
    for kind in ("pipe", "link", "folder"):
        name = kind + option.replace("--", ".")
        assert f"{name} is a {kind} and stays as it is" in refused("attention", "a", "--model", "model", option, name)
    assert {path.name: path.lstat().st_mode for path in Path().iterdir()} == before
    assert Path("there").read_text() == "kept"


@pytest.mark.parametrize(
    "arguments",
    [
        ("attention", "a", "--html", ""),
        ("attention", "a", "--png", ""),
        ("attention", "a", "--model", ""),
        ("answer", "a", ""),
        ("pretrain", "--output", ""),
        ("pretrain", "--resume", ""),
        ("pretrain", "--corpus", ""),
        ("pretrain", "--from", ""),
        ("finetune", "classification", "--data", ""),
        ("finetune", "classification", "--data", "a.csv", "--test", " "),
        ("finetune", "classification", "--data", "a.csv", "--output", ""),
        ("finetune", "--resume", ""),
    ],
)
def test_an_empty_name_is_refused(arguments):
    assert "is empty: write one, or leave the option out" in refused(*arguments)


@pytest.mark.parametrize("unseen", ["", " \n", "\u200b"])
def test_a_question_and_a_text_that_are_empty_are_refused(unseen):
    assert refused("answer", unseen, "--text", "a b", "--model", "x") == "bertedu: the question is empty: write one."
    assert "the text to look in is empty: write one" in refused("answer", "a?", "--text", unseen, "--model", "x")


@pytest.mark.parametrize("text", ["a\0b", "half \udcff"])
def test_an_argument_that_no_file_can_hold_is_refused_in_words(text):
    for arguments in (
        ("attention", text, "--model", "model", "--html", "a.html"),
        ("fill-mask", "[MASK]", "--model", text),
        ("pretrain", "--corpus", text),
        ("pretrain", "--output", text),
    ):
        assert refused(*arguments).startswith("bertedu: the argument '")


@pytest.mark.slow
def test_a_backend_of_matplotlib_that_is_not_there_does_no_harm():
    done = subprocess.run(
        [sys.executable, "-m", "bertedu", "attention", "the cat", "--model", "model", "--png", "a.png"],
        env={**os.environ, "MPLBACKEND": "nosuch"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stdout == "written: a.png\n", done.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--seed", 2**64), "seed is 18446744073709551616: give a whole number from 0"),
        (("--seed", -1), "seed is -1"),
        (("--max-length", 2**70), "max_length is 1180591620717411303424"),
        (("--batch-size", 10**9), "batch_size is 1000000000"),
        (("--vocab-size", 10**12), "vocab_size is 1000000000000"),
        (("--vocab-size", 0), "vocab_size is 0"),
        (("--accumulation", -1), "accumulation is -1"),
        (("--accumulation", 0), "accumulation is 0"),
        (("--learning-rate", "nan"), "'nan' is not a finite number"),
        (("--learning-rate", -1), "learning_rate is -1"),
        (("--learning-rate", "inf"), "'inf' is not a finite number"),
        (("--mask-rates", "nan", 0.1), "'nan' is not a finite number"),
        (("--minutes", "nan"), "'nan' is not a finite number"),
        (("--tokens", 2**70), "tokens is 1180591620717411303424"),
        (("--steps", 0), "steps is 0"),
        (("--preset", "tiny", "--from", "model"), "--preset"),
        (("--vocab-size", 300, "--from", "model"), "--vocab-size"),
        (("--corpus", "hub:"), "hub:"),
        (("--corpus", "hub:../../etc"), "hub:../../etc"),
        (("--corpus", "hub:a/b/c/d"), "hub:a/b/c/d"),
    ],
)
def test_an_impossible_option_of_pretrain_is_refused(options, says):
    Path("book.txt").write_text("The cat sat on the mat. It was tired. It slept. " * 20)
    corpus = () if "--corpus" in options else ("--corpus", "book.txt")
    long = () if options[0] in ("--minutes", "--tokens", "--steps") else ("--steps", 1)
    assert says in refused("pretrain", *corpus, "--device", "cpu", *long, *options)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    "options",
    [("--seeds", 0), ("--seeds", 10**9), ("--max-length", 2**70), ("--seed", 2**64), ("--epochs", "nan"),
     ("--batch-size", 2**70), ("--accumulation", 2**70), ("--dropout", "nan")],
)  # fmt: skip
def test_an_impossible_option_of_finetune_is_refused(options):
    Path("a.csv").write_text("text,label\nthe cat,yes\nthe dog,no\n" + "the mat,yes\na dog,no\n" * 9)
    said = refused("finetune", "classification", "--data", "a.csv", "--model", "model", "--device", "cpu", *options)
    assert re.match(r"bertedu: (\w+ is |Invalid value for '--\w+': 'nan' is not a finite number)", said)
    assert not Path("runs").exists()


@pytest.mark.parametrize("top", [0, -1])
def test_asking_for_no_answer_at_all_is_refused(top):
    save_model(Path("qa"), kind=BertForQuestionAnswering)
    assert f"top is {top}" in refused("answer", "the cat", "--text", "the dog sat", "--model", "qa", "--top", top)
    assert f"top is {top}" in refused("fill-mask", "the [MASK]", "--model", "model", "--top", top)
    assert call("answer", "the cat", "--text", "the dog sat", "--model", "qa", "--top", 2**70).exit_code == 0
    assert call("fill-mask", "the [MASK]", "--model", "model", "--top", 2**70).exit_code == 0


@pytest.mark.parametrize(
    "name", ["runs/none", "./x", "x/", "x/y/", "../x", "~/x", "/nowhere/x", "model/x", "a\\b", "a b"]
)
def test_a_path_of_this_machine_is_not_asked_for_on_the_hub(name, monkeypatch):
    def fetched(*_, **__):
        raise AssertionError("the hub was asked")

    monkeypatch.setattr("bertedu.checkpoints.folder.snapshot_download", fetched)
    assert "does not exist: give a saved model's folder" in refused("fill-mask", "the [MASK]", "--model", name)


@pytest.mark.parametrize("name", ["config.json", "vocab.txt", "model.safetensors"])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_a_pipe_in_a_model_s_folder_is_not_read(name):
    Path("model", name).unlink()
    os.mkfifo(Path("model", name))
    refused("fill-mask", "the [MASK]", "--model", "model")


def test_a_folder_with_a_space_resumes_by_the_command_that_is_printed():
    Path("my run").mkdir()
    Path("my run/run.json").write_text(json.dumps({"corpus": ["book.txt"]}))
    Path("my run/resume.safetensors").write_text("")
    Path("book.txt").write_text("The cat sat on the mat. It was tired. " * 20)
    said = refused("pretrain", "--corpus", "book.txt", "--output", "my run", "--steps", 1)
    assert "--resume 'my run'," in said


def test_a_name_of_thousands_of_characters_is_cut():
    assert len(refused("fill-mask", "the [MASK]", "--model", "x" * 5000)) < 700
    config = json.loads(Path("model/config.json").read_text())
    for name in ("model_type", "hidden_act"):
        Path("model/config.json").write_text(json.dumps({**config, name: "x" * 5000}))
        assert len(refused("fill-mask", "the [MASK]", "--model", "model")) < 700

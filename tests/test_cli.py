"""The command line as a person meets it: what is printed where, exit codes, and mistakes told in one sentence."""

import errno
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.small_runs import POSITIONS, VOCAB, metrics, save_model, save_run, small_model, small_tokenizer

import bertedu
import bertedu.pretraining.run
from bertedu.cli import main, newest_run
from bertedu.errors import UserError
from bertedu.finetuning.classification import BertForSequenceClassification
from bertedu.finetuning.tasks.question_answering import BertForQuestionAnswering
from bertedu.model import BertForMaskedLM, BertModel

MASKED = "the [MASK] sat"
COMMANDS = ("pretrain", "fill-mask", "attention", "doctor")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANK", raising=False)
    return tmp_path


def call(*arguments) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def refused(*arguments) -> str:
    """The one sentence with which a command refuses."""
    result = call(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit) and "Traceback" not in result.output
    (sentence,) = result.stderr.splitlines()
    assert sentence.startswith("bertedu: ")
    assert not list(Path().rglob("*.partial")), "half a file was left"
    return sentence


# Help and modes -------------------------------------------------------------------------------------------------


def test_help_does_not_wait_for_torch():
    code = "import sys; sys.argv[0] = 'bertedu'\ntry:\n  from bertedu.cli import main; main(['pretrain', '--help'])\n"
    code += "finally: print(sorted({'torch', 'transformers', 'numpy', 'matplotlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]" and "Usage: bertedu pretrain" in done.stdout


def test_python_m_bertedu_is_the_same_program():
    done = subprocess.run([sys.executable, "-m", "bertedu", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == f"bertedu, version {bertedu.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_gives_an_example_and_a_time(command):
    text = call(command, "--help").output
    assert f"bertedu {command}" in text.split("Example")[1]
    assert re.search(r"takes|seconds", text)


def test_help_names_the_choices_that_the_package_has():
    from bertedu.pretraining.settings import INITIALIZATIONS, PAIRS
    from bertedu.training.devices import DEVICES, PRECISIONS

    offered = {option.name: getattr(option.type, "choices", None) for option in main.commands["pretrain"].params}
    wanted = {"device": DEVICES, "precision": PRECISIONS, "pairs": PAIRS, "initialization": INITIALIZATIONS}
    for name, choices in wanted.items():
        assert set(offered[name]) == set(choices)


@pytest.mark.slow
def test_a_console_that_is_not_utf8_is_written_to(tmp_path):
    save_model(tmp_path / "model")
    done = subprocess.run(
        [sys.executable, "-m", "bertedu", "attention", "日 the cat", "--model", "model"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
    )
    assert done.returncode == 0 and b"[CLS] ? the cat [SEP]" in done.stdout, done.stderr


# What the commands do -------------------------------------------------------------------------------------------


def test_fill_mask_takes_the_newest_run(tmp_path):
    for age, name in ((100, "new"), (200, "old")):
        save_model(tmp_path / "runs" / name / "checkpoint")
        weights = tmp_path / "runs" / name / "checkpoint" / "model.safetensors"
        os.utime(weights, (weights.stat().st_mtime - age,) * 2)
    assert newest_run() == Path("runs/new")
    result = call("fill-mask", "the [MASK] sat on the [MASK]", "--top", 2)
    assert result.exit_code == 0 and result.output.count("%") == 4 and "[MASK] number 2" in result.output


def test_a_newer_run_of_another_task_is_passed_over(tmp_path):
    kinds = (BertForMaskedLM, BertForQuestionAnswering, BertForSequenceClassification)
    for age, kind in zip((300, 200, 100), kinds, strict=True):
        folder = save_model(tmp_path / "runs" / kind.kind / "checkpoint", kind=kind, labels=("a", "b"))
        weights = folder / "model.safetensors"
        os.utime(weights, (weights.stat().st_mtime - age,) * 2)
    asked = {"fill-mask": [MASKED], "answer": ["the cat", "--text", "the dog sat"], "attention": ["the cat"]}
    results = {command: call(command, *arguments) for command, arguments in asked.items()}
    assert [result.exit_code for result in results.values()] == [0, 0, 0]
    for command, kind in zip(asked, ("ForMaskedLM", "ForQuestionAnswering", "ForSequenceClassification"), strict=True):
        said = f"The model: runs/{kind}, the newest run (--model takes another)."
        notes = results[command].stderr.splitlines()
        assert notes == [said] or (command == "attention" and notes[-1] == said), "no weight is missing for an answer"
    assert newest_run() == Path("runs/ForSequenceClassification")
    assert "ForSequenceClassification, whose weights lack" in refused("fill-mask", MASKED, "--model", newest_run())
    for kind in kinds[:2]:
        shutil.rmtree(tmp_path / "runs" / kind.kind)
    assert "whose model answers questions: make one with `bertedu finetune question-answering`" in (
        refused("answer", *asked["answer"])
    )


CLONE = Path(bertedu.__file__).parents[1]
SHIPPED = f"The model: {CLONE / 'data' / 'checkpoints' / 'mixed-mini'}, the checkpoint of the course (--model takes"


@pytest.mark.parametrize("command", ["fill-mask", "attention"])
def test_a_command_in_a_fresh_clone_takes_the_courses_checkpoint_and_says_so(command):
    result = call(command, "The capital of France is [MASK].")
    assert result.exit_code == 0 and result.stderr.startswith(SHIPPED), result.output
    assert result.stdout and "The model:" not in result.stdout, "a pipe reads the answer alone"


def test_the_checkpoint_of_the_course_is_named_shortly_inside_the_clone(monkeypatch):
    monkeypatch.chdir(CLONE)
    monkeypatch.setattr("bertedu.cli.inference.newest_run", lambda *_: newest_run(folder=Path("no-runs")))
    assert call("fill-mask", MASKED).stderr.startswith("The model: data/checkpoints/mixed-mini, the checkpoint")


def test_a_question_without_a_model_that_answers_is_refused():
    assert "no run in runs/ yet: make one with `bertedu finetune question-answering`" in (
        refused("answer", "the cat", "--text", "the dog sat")
    )
    with pytest.raises(UserError):
        newest_run()


def test_a_warning_of_the_loader_comes_without_its_source_line(tmp_path):
    small_model(BertModel).save_pretrained(tmp_path / "model")
    small_tokenizer().save_pretrained(tmp_path / "model")
    result = call("attention", "the cat", "--model", "model")
    notes = result.stderr.splitlines()
    assert result.exit_code == 0 and all(note.startswith("note: model") for note in notes)
    assert any("start untrained" in note for note in notes)


def test_attention_writes_only_a_file_that_was_asked_for(tmp_path):
    save_model(tmp_path / "model")
    result = call("attention", "the cat sat", "he is on the mat", "--model", "model")
    assert result.exit_code == 0 and "layer 2 head 2" in result.output
    assert os.listdir() == ["model"]
    result = call("attention", "the cat", "--model", "model", "--html", "new/a.html", "--png", "a.png")
    assert result.exit_code == 0 and result.output == f"written: {Path('new/a.html')}\nwritten: a.png\n"
    assert Path("new/a.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")


def test_the_doctor_answers_in_words(monkeypatch):
    monkeypatch.setattr("bertedu.doctor.matrix_rate", lambda *_: 1e11)
    monkeypatch.setattr("bertedu.doctor.training_speed", lambda *_, **__: 20_000.0)
    result = call("doctor")
    assert result.exit_code == 0 and not result.stderr
    for told in ("torch", "CPU", "memory", "documentation", "20,000 tokens a second (measured)", "(estimate)"):
        assert told in result.stdout


def test_a_finished_run_prints_its_numbers_and_the_report(tmp_path, monkeypatch):
    folder = save_run(tmp_path / "run")
    monkeypatch.setattr(bertedu.pretraining.run, "pretrain", lambda plan, say: metrics())
    result = call("pretrain", "--corpus", "world", "--output", "run")
    assert result.exit_code == 0 and not result.stderr
    for told in ("40.0%", "What it fills in:", "The capital of France is [MASK].", "as good or better", "report.html"):
        assert told in result.stdout
    assert (folder / "report.html").exists()


def test_a_stopped_run_exits_with_130(monkeypatch):
    monkeypatch.setattr(bertedu.pretraining.run, "pretrain", lambda plan, say: say("stopped and saved"))
    result = call("pretrain")
    assert (result.exit_code, result.stdout) == (130, "stopped and saved\n")


def test_only_one_process_of_torchrun_talks(monkeypatch):
    monkeypatch.setattr(bertedu.pretraining.run, "pretrain", lambda plan, say: say("reading"))
    monkeypatch.setenv("RANK", "1")
    result = call("pretrain")
    assert (result.exit_code, result.output) == (0, "")


def test_control_c_before_training_ends_in_one_sentence(monkeypatch):
    def interrupted(plan, say):
        raise KeyboardInterrupt

    monkeypatch.setattr(bertedu.pretraining.run, "pretrain", interrupted)
    result = call("pretrain")
    assert (result.exit_code, result.stderr.strip()) == (130, "bertedu: stopped.")


# Bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["pretrain", "--minutes", "5", "--steps", "3"], "exactly one of minutes, tokens and steps"),
        (["pretrain", "--minutes", "0"], "minutes is 0.0: give a number above 0"),
        (
            ["pretrain", "--steps", "many"],
            "'many' is no whole number: write it like 10000: see `bertedu pretrain --help`",
        ),
        (["pretrain", "--corpus", "nowhere.txt", "--steps", "2"], "no file 'nowhere.txt'"),
        (["pretrain", "--resume", "nowhere"], "nowhere has no run.json"),
        (["pretrain", "--preset", "huge"], "'huge' is not one of"),
        (["fill-mask"], "Missing argument 'TEXT': see `bertedu fill-mask --help`"),
        (["fill-mask", MASKED, "--model", "./nowhere"], "does not exist: give a saved model's folder"),
        (["attend"], "No such command 'attend'"),
        (["doctor", "--fast"], "No such option '--fast'"),
    ],
)
def test_an_impossible_wish_is_refused_in_one_sentence(arguments, told):
    assert told in refused(*arguments)


def test_an_unknown_hub_name_is_refused_in_words(monkeypatch):
    def offline(*arguments, **options):
        raise ConnectionError("a long story")

    monkeypatch.setattr("bertedu.checkpoints.folder.snapshot_download", offline)
    sentence = refused("fill-mask", MASKED, "--model", "nobody/nothing")
    assert "nobody/nothing is neither a folder nor a model" in sentence and "a long story" not in sentence


def spoil_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def spoil_vocabulary(folder: Path, tokens: list[str]) -> None:
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token in tokens), encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder: (folder / "model.safetensors").unlink(), "holds no model.safetensors"),
        (spoil_weights, r"model\.safetensors is damaged or cut short"),
        (lambda folder: (folder / "config.json").write_text("{"), r"config\.json, line 1"),
        (lambda folder: spoil_vocabulary(folder, [*VOCAB, "cat"]), r"vocab\.txt, line \d+: the token 'cat' stands"),
        (lambda folder: spoil_vocabulary(folder, [t for t in VOCAB if t != "[MASK]"]), r"vocab\.txt.* lacks \[MASK\]"),
        (lambda folder: spoil_vocabulary(folder, [*VOCAB, "more"]), f"{len(VOCAB) + 1} tokens and the model knows"),
        (lambda folder: (folder / "vocab.txt").write_bytes(b"[PAD]\n\xff\n"), r"vocab\.txt, line 2: byte 0xff"),
    ],
)
@pytest.mark.parametrize("command", ["fill-mask", "attention"])
def test_a_spoiled_model_is_refused_in_words(spoil, told, command, tmp_path):
    spoil(save_model(tmp_path / "model"))
    assert re.search(told, refused(command, MASKED, "--model", "model"))


@pytest.mark.parametrize("command", ["fill-mask", "attention"])
def test_more_tokens_than_positions_are_refused_in_words(command, tmp_path):
    save_model(tmp_path / "model")
    sentence = refused(command, MASKED + " cat" * POSITIONS, "--model", "model")
    assert f"this model takes {POSITIONS}: shorten it" in sentence


@pytest.mark.parametrize("option", ["--html", "--png"])
def test_a_full_disk_leaves_no_half_file(option, tmp_path, monkeypatch):
    save_model(tmp_path / "model")

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    sentence = refused("attention", "the cat", "--model", "model", option, f"a.{option[2:]}")
    assert "could not be written (No space left on device)" in sentence and os.listdir() == ["model"]


def test_a_disk_that_fills_up_while_training_is_told_in_words(monkeypatch):
    def full(plan, say):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(bertedu.pretraining.run, "pretrain", full)
    assert "No space left on device" in refused("pretrain")


def test_a_table_without_held_out_text_is_printed(tmp_path, monkeypatch):
    save_run(tmp_path / "run", evaluation={})
    monkeypatch.setattr(bertedu.pretraining.run, "pretrain", lambda plan, say: metrics(evaluation={}))
    assert call("pretrain", "--output", "run").exit_code == 0

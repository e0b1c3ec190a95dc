"""An export that somebody has edited or damaged is refused in words, or answers as before: never anything else."""

import errno
import json
import shutil
from pathlib import Path

import pytest
from support.small_runs import LABELS, POSITIONS, save_classifier, small_model, small_tokenizer

from bertedu.cli import main
from bertedu.errors import UserError
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.tagging import CrfTagger
from bertedu.production import onnx_export
from bertedu.production.checking import PREDICTIONS, questions_to_check
from bertedu.production.engine import Engine
from bertedu.production.exported import CRF, EXPORT, Export, replacing_folder
from bertedu.production.onnx_export import export, export_model

TEXTS = ("the cat sat on the mat .", "people speak french", "he")
OTHERS = (
    None,
    "",
    "magic",
    "../model.onnx",
    0,
    -1,
    7,
    1.5,
    True,
    False,
    [],
    {},
    ["no", "yes"],
    {"vocab.txt": "0" * 64},
)
SAID = ("source", "source_digest", "versions", "checked", "bytes")  # what the service repeats, and does not answer by


def answers(folder: Path) -> list[dict]:
    engine = Engine(folder)
    return [answer.value for answer in engine.answer([engine.ask(text) for text in TEXTS])]


@pytest.fixture(scope="module")
def right(classifier) -> list[dict]:
    return answers(classifier / "exported")


@pytest.fixture
def copied(classifier, tmp_path) -> Path:
    return Path(shutil.copytree(classifier / "exported", tmp_path / "copied"))


def edit(folder: Path, **changes: object) -> None:
    path = folder / EXPORT
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def refused_or_equal(folder: Path, right: list[dict]) -> str:
    """What is said about a folder; nothing, where it answers as it should."""
    try:
        assert answers(folder) == right, "it answers something else"
    except UserError as error:
        said = str(error)
        assert folder.name in said and ": " in said and said.endswith("."), said
        return said
    return ""


@pytest.mark.parametrize("name", Export.__dataclass_fields__)
def test_no_field_of_an_export_can_be_edited_silently(name, copied, right):
    before = json.loads((copied / EXPORT).read_text())
    for other in (*OTHERS, "deleted"):
        values = {**before, name: other}
        if other == "deleted":
            del values[name]
        (copied / EXPORT).write_text(json.dumps(values))
        said = refused_or_equal(copied, right)
        assert said or name in SAID or other == before[name], f"{name}: {other!r} is served"
        assert not said or EXPORT in said or "is not the file that was exported" in said


@pytest.mark.parametrize(
    "files", [{}, {"../vocab.txt": "0"}, {"a/../vocab.txt": "0"}, {"C:\\vocab.txt": "0"}, {".": "0"}]
)
def test_files_that_are_not_listed_or_not_in_the_folder_are_refused(files, copied, right):
    before = json.loads((copied / EXPORT).read_text())["files"]
    edit(copied, files={**before, **files} if files else {})
    assert "files is" in refused_or_equal(copied, right)


def test_labels_in_another_order_are_refused(copied, right):
    edit(copied, labels=[*LABELS[::-1]])
    assert "labels is" in refused_or_equal(copied, right)


@pytest.mark.parametrize("use", ["several classes", "score", "tags", "answers", "vectors", "words"])
def test_another_use_than_the_models_is_refused(use, copied, right):
    edit(copied, use=use)
    assert "use is" in refused_or_equal(copied, right)


@pytest.mark.parametrize("name", ["config.json", "model.onnx", "tokenizer_config.json", "vocab.txt", EXPORT])
def test_no_file_of_an_export_can_be_damaged_silently(name, copied, right):
    path = copied / name
    whole = path.read_bytes()
    for number, damaged in enumerate((b"", whole[:-1], whole[: len(whole) // 2], whole + b" ", b"\xff" + whole)):
        path.write_bytes(damaged)
        assert refused_or_equal(copied, right) or (name == EXPORT and number in (1, 3))  # JSON may end in a space
    path.unlink()
    assert refused_or_equal(copied, right)
    path.mkdir()
    assert refused_or_equal(copied, right)


@pytest.mark.parametrize("name", ["added_tokens.json", "special_tokens_map.json", "tokenizer.json", CRF])
def test_a_file_beside_an_export_is_not_read_unseen(name, copied, right):
    (copied / name).write_text("{}")
    assert "was not exported with the model" in refused_or_equal(copied, right)


@pytest.mark.slow
def test_the_transitions_of_a_tagger_cannot_be_left_out(tmp_path):
    made = export_model(small_model(CrfTagger, ("O", "B-x", "I-x")), small_tokenizer(), tmp_path / "tagger")
    (tmp_path / "tagger" / CRF).unlink()
    files = {name: digest for name, digest in made.files.items() if name != CRF}
    edit(tmp_path / "tagger", crf=False, files=files)
    with pytest.raises(UserError, match="crf is False"):
        Engine(tmp_path / "tagger")


def run_of(folder: Path, lines: str) -> Path:
    save_classifier(folder / "checkpoint")
    (folder / PREDICTIONS).write_text(lines, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "row, words",
    [
        ("[1]", "line 2: expected a JSON object"),
        ("null", "line 2: expected a JSON object"),
        ("3", "line 2: expected a JSON object"),
        ('{"text": 3}', "line 2: text is 3"),
        ('{"text": null}', "line 2: text is None"),
        ('{"text": ["a"]}', "line 2: text is"),
        ('{"txt": "a"}', "line 2 lacks text"),
        ('{"text": "a", "pair": 3}', "line 2: pair is 3"),
        ('{"words": ["a"]}', "line 2 lacks text"),
        ('{"text": "a"', "line 2, column"),
        ("[" * 500 + "]" * 500, "line 2: JSON that cannot be read"),
    ],
)
def test_a_damaged_row_of_the_run_is_named_with_its_line(row, words, tmp_path, capsys):
    run = run_of(tmp_path / "run", f'{{"text": "the cat"}}\n{row}\n')
    assert main.run(["export", str(run), "--output", str(tmp_path / "to")]) == 2
    said = capsys.readouterr().err
    assert PREDICTIONS in said and words in said and not (tmp_path / "to").exists()


@pytest.mark.parametrize("lines", ["", "\n\n", '{"text": " "}\n'])
def test_a_run_without_a_text_is_refused(lines, tmp_path):
    with pytest.raises(UserError, match="holds no text"):
        export(run_of(tmp_path / "run", lines), tmp_path / "to")


@pytest.mark.slow
def test_texts_that_are_too_long_are_checked_by_their_beginnings_and_it_is_said(tmp_path, capsys):
    rows = "".join(json.dumps({"text": "the cat " * length}) + "\n" for length in (100, 300, 2))
    run = run_of(tmp_path / "run", rows + '{"text": "the\u2028cat"}\n')  # a line break of Unicode's, not of the file's
    assert main.run(["export", str(run), "--output", str(tmp_path / "to")]) == 0
    said = capsys.readouterr().out
    assert "checked on 4 texts of its run" in said and "2 of them are longer than the model reads" in said
    checked = Export.load(tmp_path / "to").checked
    assert checked["texts"] == 4 and checked["shortened"] == 2 and checked["longest"] > POSITIONS // 2


def test_nothing_is_checked_on_no_texts_at_all():
    questions, real, _ = questions_to_check([("[MASK] " * 17, None)], small_tokenizer(), "words", POSITIONS)
    assert len(questions) == 48 and not real, "made-up texts take their place"
    with pytest.raises(UserError, match="cannot be asked a single text"):
        questions_to_check([], small_tokenizer(), "classes", 2)


@pytest.mark.slow
def test_a_model_of_numbers_that_are_not_finite_is_not_exported(tmp_path):
    model = small_model(TextClassifier, LABELS)
    model.classifier.bias.data[0] = float("nan")
    with pytest.raises(UserError, match="not finite"):
        export_model(model, small_tokenizer(), tmp_path / "to")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_full_disk_is_named_and_nothing_half_is_left(classifier, copied, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for step in ("torch.onnx.export", "write_graph", "quantize"):
        with monkeypatch.context() as patched:
            patched.setattr(onnx_export.torch.onnx if "." in step else onnx_export, step.rpartition(".")[2], full)
            with pytest.raises(UserError, match=r"could not be written \(No space left on device\): free some space"):
                export(classifier / "saved", copied, int8=True)
        assert Export.load(copied) and [path.name for path in copied.parent.iterdir()] == ["copied"]


def test_an_earlier_export_stays_where_the_new_one_cannot_take_its_name(copied, monkeypatch):
    from bertedu.production import exported

    replace = exported.os.replace

    def in_use(source: Path, target: Path) -> None:
        if ".partial" in str(source):
            raise PermissionError(errno.EACCES, "in use")
        replace(source, target)

    monkeypatch.setattr(exported.os, "replace", in_use)
    with pytest.raises(UserError, match="could not be written"), replacing_folder(copied) as beside:
        (beside / "new").write_text("")
    assert Export.load(copied) and [path.name for path in copied.parent.iterdir()] == ["copied"]


@pytest.mark.parametrize("to", [".", "..", "here", "a/..", "/", "file", "file/below", "a" * 300, "link"])
def test_no_folder_is_replaced_that_somebody_needs(to, classifier, tmp_path, monkeypatch, capsys):
    (tmp_path / "here" / "a").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    Path("file").write_text("a letter")
    Path("link").symlink_to("a")
    target = str(tmp_path / "here") if to == "here" else to
    assert main.run(["export", str(classifier / "saved"), "--output", target]) == 2
    said = capsys.readouterr().err
    assert said.startswith("bertedu: ") and said.count("\n") == 1 and "Traceback" not in said
    assert Path("file").read_text() == "a letter" and sorted(path.name for path in Path().iterdir()) == [
        "a",
        "file",
        "link",
    ]

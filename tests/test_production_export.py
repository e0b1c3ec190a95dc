"""Export to ONNX: the graph says what the model says, and the folder is whole or not there."""

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx.numpy_helper import to_array
from support.small_runs import LABELS, POSITIONS, VOCAB, WORDS, small_model, small_tokenizer
from transformers import AutoModelForSequenceClassification

from bertedu.cli import main
from bertedu.config import TaskConfig
from bertedu.errors import UserError
from bertedu.finetuning.classification import TextClassifier
from bertedu.finetuning.tagging import CrfTagger
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel
from bertedu.finetuning.tasks.similarity import SentenceEncoder
from bertedu.model import BertForPreTraining
from bertedu.model.architecture import architecture
from bertedu.production import onnx_export
from bertedu.production.checking import made_up_texts, of_every_length
from bertedu.production.exported import CRF, EXPORT, Export, replacing_folder
from bertedu.production.graphs import Logits
from bertedu.production.onnx_export import LARGEST_DIFFERENCE, export, export_model
from bertedu.production.questions import ask, batch_of, rows_of
from bertedu.production.sessions import Session

TEXTS = [" ".join(WORDS.split()[:length]) for length in (1, 9, 3, 22, 5, 14, 2)]


@pytest.fixture
def saved(classifier) -> Path:
    return classifier / "saved"


@pytest.fixture
def exported(classifier) -> Path:
    return classifier / "exported"


def test_neither_padding_nor_a_neighbour_in_the_batch_changes_an_answer(saved, exported):
    reference = AutoModelForSequenceClassification.from_pretrained(saved).eval()
    tokenizer, session = small_tokenizer(), Session(exported / "model.onnx")
    for count in (1, 3, 7):  # a graph that was traced for two texts would refuse these
        questions = [ask(tokenizer, "classes", POSITIONS, text) for text in TEXTS[:count]]
        found = rows_of(session.run(batch_of(questions, tokenizer, "classes")), questions, tokenizer, "classes")
        for text, row in zip(TEXTS, found, strict=False):
            with torch.no_grad():
                right = reference(**tokenizer(text)).logits[0].numpy()
            assert np.abs(right).max() > 0.1 and np.abs(row - right).max() < 1e-5


def test_a_graph_is_checked_on_texts_of_every_length(saved):
    tokenizer = small_tokenizer()
    questions, shortened = of_every_length(made_up_texts(tokenizer, "classes"), tokenizer, "classes", POSITIONS)
    assert shortened == 0
    lengths = set(map(len, questions))
    assert min(lengths) <= 4 and max(lengths) >= POSITIONS - 2 and len(lengths) > 20


def test_an_exported_folder_needs_no_file_outside_itself(saved, exported, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(exported, moved)
    about = Export.load(moved)
    assert about.labels == LABELS and about.max_tokens == POSITIONS and about.checked["longest"] >= POSITIONS - 2
    assert about.checked["largest_difference"] < 1e-5 and about.checked["same_choice"] == 1.0
    assert {path.name for path in moved.iterdir()} == {
        "config.json", "export.json", "model.onnx", "tokenizer_config.json", "vocab.txt"
    }  # fmt: skip
    assert Session(moved / about.graph).names == ["input_ids", "attention_mask", "token_type_ids"]


def test_the_tokenizer_of_another_model_is_refused(exported, tmp_path):
    for name in ("vocab.txt", "tokenizer_config.json", "config.json"):
        moved = tmp_path / name
        shutil.copytree(exported, moved)
        lines = (moved / name).read_text(encoding="utf-8").splitlines()
        lines[6], lines[7] = lines[7], lines[6]  # the same lines and sizes, in another order
        (moved / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        with pytest.raises(UserError, match=f"{name} is not the file that was exported"):
            Export.load(moved)
        (moved / name).unlink()
        with pytest.raises(UserError, match=f"{name} is not the file that was exported"):
            Export.load(moved)


def test_a_graph_that_says_something_else_is_not_kept(saved, exported, monkeypatch):
    class Other(Logits):
        def forward(self, input_ids, attention_mask, token_type_ids):
            return super().forward(input_ids, torch.ones_like(attention_mask), token_type_ids)  # padding is attended to

    monkeypatch.setattr(onnx_export, "graph_of", lambda model, use: Other(model).eval())
    before = Export.load(exported)
    with pytest.raises(UserError, match=r"cannot be exported \(its logits differ by"):
        export(saved, exported)
    assert Export.load(exported) == before, "the earlier export was touched"
    assert {path.name for path in exported.parent.iterdir()} == {"saved", "exported"}, "something was left"


def test_an_export_does_not_replace_a_folder_of_something_else(saved, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "to-anna.txt").write_text("Dear Anna")
    with pytest.raises(UserError, match=r"letters is there and is no exported model"):
        export(saved, tmp_path / "letters")
    assert (tmp_path / "letters" / "to-anna.txt").read_text() == "Dear Anna"


def test_an_interrupted_export_leaves_no_half_folder(exported, tmp_path):
    shutil.copytree(exported, tmp_path / "there")
    with pytest.raises(KeyboardInterrupt), replacing_folder(tmp_path / "there") as beside:
        (beside / "model.onnx").write_bytes(b"half")
        raise KeyboardInterrupt
    assert Export.load(tmp_path / "there") and [path.name for path in tmp_path.iterdir()] == ["there"]


def test_another_graph_than_the_exported_one_is_refused(exported, tmp_path):
    shutil.copytree(exported, tmp_path / "there")
    graph = bytearray((tmp_path / "there" / "model.onnx").read_bytes())
    graph[-5] ^= 1
    (tmp_path / "there" / "model.onnx").write_bytes(graph)
    with pytest.raises(UserError, match="is not the file that was exported"):
        Export.load(tmp_path / "there")


def test_a_damaged_export_json_is_refused_in_words(exported, tmp_path):
    for number, text in enumerate(("{", "[]", "{}", '{"graph": 3}', None)):
        folder = tmp_path / str(number)
        shutil.copytree(exported, folder)
        if text is None:
            (folder / EXPORT).unlink()
        else:
            (folder / EXPORT).write_text(text)
        with pytest.raises(UserError, match=EXPORT):
            Export.load(folder)
    outside = (exported / EXPORT).read_text().replace('"model.onnx"', '"../model.onnx"')
    (tmp_path / "0" / EXPORT).write_text(outside)
    with pytest.raises(UserError, match="is damaged"):
        Export.load(tmp_path / "0")


def test_int8_quantizes_the_layers_and_not_the_embeddings(saved, tmp_path):
    made = export(saved, tmp_path / "small", int8=True)
    assert made.int8 and made.graph == "model_int8.onnx" and not (tmp_path / "small" / "model.onnx").exists()
    assert LARGEST_DIFFERENCE < made.checked["largest_difference"] < 1.0 and made.checked["same_choice"] > 0.8
    graph = onnx.load(tmp_path / "small" / made.graph).graph
    weighed = sum(node.op_type == "MatMulInteger" for node in graph.node)
    assert weighed == 2 * 6 + 2, "6 matrices a layer, the pooler's and the classifier's"
    tables = [one for one in graph.initializer if list(one.dims) == [len(VOCAB), 16]]
    assert [one.data_type for one in tables] == [onnx.TensorProto.FLOAT]
    matrices = [to_array(one) for one in graph.initializer if one.data_type == onnx.TensorProto.INT8 and one.dims]
    largest = max(abs(matrix.astype(int)).max() for matrix in matrices)
    assert 50 < largest <= 64, "processors without VNNI would cut off sums of products"


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize(
    "kind, use, shape",
    [(CrfTagger, "tags", (None, 3)), (SentenceEncoder, "vectors", (16,)), (BertForPreTraining, "words", (1, None))],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_every_use_is_exported_with_its_own_output(kind, use, shape, tmp_path):
    model, tokenizer = small_model(kind, ("O", "B-x", "I-x"), initializer_range=0.4), small_tokenizer()
    model.save_pretrained(tmp_path / "saved")
    tokenizer.save_pretrained(tmp_path / "saved")
    made = export(tmp_path / "saved", tmp_path / "exported")
    assert made.use == use and made.checked["largest_difference"] < 1e-5
    assert (tmp_path / "exported" / CRF).exists() == (kind is CrfTagger)
    question = ask(tokenizer, use, POSITIONS, "the [MASK] sat")
    arrays = batch_of([question], tokenizer, use)
    (row,) = rows_of(Session(tmp_path / "exported" / made.graph).run(arrays), [question], tokenizer, use)
    assert len(row.shape) == len(shape) and all(b in (None, a) for a, b in zip(row.shape, shape, strict=True))


def member(model_type: str) -> TextClassifier:
    sizes = {"vocab_size": len(VOCAB), "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = architecture(model_type).config(**sizes, intermediate_size=32, max_position_embeddings=POSITIONS)
    return TextClassifier.from_config(config, TaskConfig(LABELS)).eval()


@pytest.mark.slow(cases=0)  # 17 seconds
def test_a_deberta_is_exported_without_the_fused_kernel(tmp_path):
    made = export_model(member("deberta-v2"), small_tokenizer(), tmp_path / "deberta")
    assert made.checked["largest_difference"] < 1e-4


def test_a_member_that_cannot_be_traced_is_refused(tmp_path):
    """XLNet's last token is found for two texts only."""
    with pytest.raises(UserError, match=r"TextClassifier of the type 'xlnet' cannot be exported"):
        export_model(member("xlnet"), small_tokenizer(), tmp_path / "xlnet")
    assert not list(tmp_path.iterdir())


def test_a_model_that_no_service_can_ask_is_not_exported(tmp_path):
    small_model(ChoiceModel).save_pretrained(tmp_path / "saved")
    small_tokenizer().save_pretrained(tmp_path / "saved")
    with pytest.raises(UserError, match="BertForMultipleChoice, which is not exported"):
        export(tmp_path / "saved", tmp_path / "exported")


def test_the_command_says_what_it_wrote(saved, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main.run(["export", str(saved)]) == 0
    said = capsys.readouterr().out
    assert (tmp_path / "runs" / "saved-onnx" / "model.onnx").is_file()
    for words in ("for classes", "made-up texts", "largest difference", "bertedu serve runs/saved-onnx"):
        assert words in said
    assert main.run(["export", str(tmp_path / "nothing")]) == 2
    assert "does not exist" in capsys.readouterr().err

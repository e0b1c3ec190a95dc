"""Cells that are better with the internet: with a stand-in for the hub, and without any."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import huggingface_hub
import jupytext
import pytest
from datasets import ClassLabel, Dataset, Features, Value
from safetensors.torch import load_file, save_file
from support.hub import hub
from support.repository import REPOSITORY
from transformers import BertConfig, BertForTokenClassification

from bertedu import BertTokenizer
from bertedu.course.public_rows import public_rows
from bertedu.course.published import published
from bertedu.course.rooms import CHAPTERS, number_of, sources_in

BASE = "google-bert/bert-base-uncased"
SMALL = REPOSITORY / "data" / "checkpoints" / "world-tiny"
SKIPPED = {"exercise", "raises-exception", "hide-input"}


@pytest.fixture(scope="module")
def as_google_wrote_it(tmp_path_factory) -> Path:
    """The small BERT of the course under the names of the published file: with heads, LayerNorm as gamma and beta."""
    folder = tmp_path_factory.mktemp("published")
    for name in ("config.json", "vocab.txt", "tokenizer_config.json"):
        (folder / name).write_bytes((SMALL / name).read_bytes())
    older = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    tensors = load_file(SMALL / "model.safetensors")
    renamed = {re.sub("|".join(older), lambda part: older[part[0]], name): tensors[name] for name in tensors}
    assert any(name.startswith("cls.") for name in renamed) and "bert.embeddings.LayerNorm.gamma" in renamed
    save_file(renamed, folder / "model.safetensors", {"format": "pt"})
    return folder


def codes_of(chapter: str) -> list[str]:
    """The code cells of a chapter but those that a reader fills in or that fail on purpose."""
    source = next(path for path in sources_in(CHAPTERS) if number_of(path) == chapter)
    cells = [cell for cell in jupytext.read(source).cells if cell.cell_type == "code"]
    return [cell.source for cell in cells if not SKIPPED & set(cell.metadata.get("tags", []))]


def shown_by(chapter: str, environment: dict[str, str]) -> str:
    """What the first cell of a chapter that asks for a published model prints, all cells before it having run."""
    codes = codes_of(chapter)
    at = next(number for number, code in enumerate(codes) if "published(" in code)
    return printed([*codes[:at], "print('=====')", codes[at]], environment)


def printed(codes: list[str], environment: dict[str, str]) -> str:
    """What these lines print, in a process of their own, after a line of =."""
    program = "\n\n".join(codes)
    quiet = {"BERTEDU_PROGRESS": "off", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **quiet, **environment}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout.partition("=====\n")[2]


def test_without_a_network_one_line_says_what_is_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert published(BASE, "440 MB") is None
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{BASE} (440 MB) is left out")


def test_a_folder_is_taken_as_it_is(capsys):
    assert published(str(SMALL), "4 MB") == SMALL
    assert capsys.readouterr().out == ""


def test_chapter_05_opens_the_published_file_with_the_readers_own_class(as_google_wrote_it, tmp_path):
    with hub({BASE: as_google_wrote_it}) as stand_in:
        shown = shown_by("05", {**stand_in.environment, "HF_HOME": str(tmp_path)})
    encoder = [tensor for name, tensor in load_file(SMALL / "model.safetensors").items() if not name.startswith("cls.")]
    assert shown == f"{sum(tensor.numel() for tensor in encoder):,} parameters, largest difference 0.00000\n"
    assert any(path.endswith("model.safetensors") for path in stand_in.asked)


def test_chapter_00_asks_the_published_model_with_the_same_lines(as_google_wrote_it, tmp_path):
    with hub({BASE: as_google_wrote_it}) as stand_in:
        shown = shown_by("00", {**stand_in.environment, "HF_HOME": str(tmp_path)})
    answers = [re.split(r"\s{2,}|\. +", line)[1].split(", ")[0] for line in shown.splitlines()]
    assert answers[:5] == ["cat", "duck", "dog", "sheep", "paris"], shown


def function_of(chapter: str, name: str) -> str:
    """The code of one of a chapter's functions."""
    for code in codes_of(chapter):
        for part in ast.parse(code).body:
            if isinstance(part, ast.FunctionDef) and part.name == name:
                return ast.unparse(part)
    raise LookupError(name)


def sentiments(folder: Path) -> Path:
    """A data set as the hub has SST-2, with a few sentences of ours."""
    columns = {"sentence": ["A good film.", "A bad film."] * 20, "label": [1, 0] * 20, "idx": [*range(40)]}
    features = Features(sentence=Value("string"), label=ClassLabel(names=["negative", "positive"]), idx=Value("int32"))
    folder.mkdir()
    for split in ("train", "validation"):
        Dataset.from_dict(columns, features=features).to_parquet(folder / f"{split}.parquet")
    return folder


def fine_tuned_in_10(data: str, environment: dict[str, str], box: Path | str = SMALL) -> list[str]:
    """What the cells of chapter 10 that fine-tune a published BERT print, beside small reviews of the reader's own."""
    before = f"""
import torch
from torch import nn
from torch.utils.data import DataLoader
from tqdm.auto import tqdm
from transformers import AutoModelForSequenceClassification, AutoTokenizer, get_linear_schedule_with_warmup
LABELS = ["negative", "neutral", "positive"]
folder, device, options = {str(box)!r}, torch.device("cpu"), {{"num_labels": 3}}
train = validation = [{{"text": "Good.", "label": "positive"}}, {{"text": "Bad soup.", "label": "negative"}}] * 8"""
    functions = [
        function_of("10", name) for name in ("targets_of", "their_collate", "their_fine_tune", "their_accuracy")
    ]
    codes = codes_of("10")
    at = next(number for number, code in enumerate(codes) if "published(" in code)
    cells = [code.replace("stanfordnlp/sst2", data) for code in codes[at : at + 2]]
    return printed([before, *functions, "print('=====')", *cells], environment).splitlines()


def test_chapter_10_fine_tunes_the_published_model_on_the_public_set(as_google_wrote_it, tmp_path):
    data = str(sentiments(tmp_path / "sst2"))
    with hub({BASE: as_google_wrote_it}) as stand_in:
        said = fine_tuned_in_10(data, {**stand_in.environment, "HF_HOME": str(tmp_path / "cache")}, "no/box")
    assert [line for line in said if "rows" in line] and said[-1].startswith("40 rows: ")
    assert any(path.endswith("model.safetensors") for path in stand_in.asked)


def test_chapter_10_goes_on_with_the_box_where_there_is_no_network(tmp_path):
    said = fine_tuned_in_10("stanfordnlp/sst2", {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)})
    assert said[0].startswith(f"{BASE} (440 MB) is left out") and said[-1].startswith("16 rows: ")


def test_rows_that_cannot_be_had_are_told_of_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert public_rows(f"{tmp_path}/nothing", "3 MB") is None
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{tmp_path}/nothing (3 MB) is left out: hub:{tmp_path}/nothing")


def test_chapter_11_asks_the_published_tagger_with_the_same_lines(tmp_path):
    """The stand-in is BERT of random weights with the labels of CoNLL-2003: it may find anything, and prints a line for
    each text."""
    config = BertConfig(
        vocab_size=len(BertTokenizer.from_pretrained(SMALL)), hidden_size=16, num_hidden_layers=1,
        num_attention_heads=2, intermediate_size=16, id2label={0: "O", 1: "B-PER", 2: "I-PER"},
    )  # fmt: skip
    BertForTokenClassification(config).save_pretrained(tmp_path / "tagger")
    BertTokenizer.from_pretrained(SMALL).save_pretrained(tmp_path / "tagger")
    (cell,) = (code for code in codes_of("11") if "published(" in code)
    before = """
from transformers import pipeline
text = "Mina Okafor moved from Leeds to Oslo in May."
"""
    with hub({"dslim/bert-base-NER": tmp_path / "tagger"}) as stand_in:
        environment = {**stand_in.environment, "HF_HOME": str(tmp_path / "cache")}
        shown = printed([before, function_of("11", "show_names"), "print('=====')", cell], environment)
    assert [line[:4] for line in shown.splitlines()] == ["Mina", "Will", "My K"]

"""Cells that are better with the internet: with a stand-in for the hub, and without any."""

import os
import re
import subprocess
import sys
from pathlib import Path

import huggingface_hub
import jupytext
import pytest
from safetensors.torch import load_file, save_file
from support.hub import hub
from support.repository import REPOSITORY

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


def shown_by(chapter: str, environment: dict[str, str]) -> str:
    """What the first cell of a chapter that asks for a published model prints, all cells before it having run."""
    source = next(path for path in sources_in(CHAPTERS) if number_of(path) == chapter)
    codes: list[str] = []
    for cell in jupytext.read(source).cells:
        if cell.cell_type == "code" and not SKIPPED & set(cell.metadata.get("tags", [])):
            codes.append(cell.source)
            if "published(" in cell.source:
                break
    program = "\n\n".join([*codes[:-1], "print('=====')", codes[-1]])
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

"""What several test modules need: the folder of public data sets, where there is one, and a saved model."""

import os
from pathlib import Path

import pytest
from random_models import random_model


@pytest.fixture(scope="session")
def datasets_folder() -> Path:
    """The folder named by BERTEDU_DATASETS, or `shared/datasets` beside the repository."""
    chosen = os.environ.get("BERTEDU_DATASETS")
    folder = Path(chosen) if chosen else Path(__file__).resolve().parents[2] / "shared" / "datasets"
    if not folder.is_dir():
        pytest.skip(f"no public data sets in {folder}: set BERTEDU_DATASETS to their folder")
    return folder


@pytest.fixture
def saved(tmp_path) -> Path:
    """The folder of a pre-training model, saved here."""
    random_model().save_pretrained(tmp_path / "saved")
    return tmp_path / "saved"

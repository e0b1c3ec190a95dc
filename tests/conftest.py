"""How many cases of the tests run, and what several test modules need: public data sets, saved models."""

import os
from pathlib import Path

import pytest

pytest.register_assert_rewrite("support")


def pytest_addoption(parser):
    parser.addoption(
        "--thorough", action="store_true", help="run every case of the slow tests, and not a small fixed part of them"
    )
    parser.addoption(
        "--few", action="store_true", help="run few cases of each test, and all of the chapters that differ from main"
    )


@pytest.hookimpl(trylast=True)  # after -k and -m
def pytest_collection_modifyitems(config, items):
    """Without --thorough, run as many cases of each slow test as its marker says; with --few, few of every test."""
    if not config.getoption("thorough"):
        from support.slow_cases import divided

        items[:], left = divided(items)
        config.hook.pytest_deselected(items=left)
    if config.getoption("few"):
        from support.changed import differing, few, rooms

        items[:], left = few(items, rooms(differing()))
        config.hook.pytest_deselected(items=left)


@pytest.fixture(scope="session")
def thorough(request) -> bool:
    """Whether a slow test may take its time: as many rounds as it takes, and not the first few."""
    return request.config.getoption("thorough")


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
    from support.random_models import random_model

    random_model().save_pretrained(tmp_path / "saved")
    return tmp_path / "saved"


@pytest.fixture(scope="session")
def base(tmp_path_factory) -> Path:
    """The folder of a very small BERT that fine-tuning starts from: nobody writes into it."""
    from support.finetuning_rows import save_base

    return save_base(tmp_path_factory.mktemp("base"))


@pytest.fixture
def made_up(monkeypatch) -> None:
    """Pre-training reads a made-up corpus."""
    from support.made_up_text import made_up_corpus

    from bertedu.pretraining import run

    monkeypatch.setattr(run, "load_corpus", lambda names: made_up_corpus())


@pytest.fixture(scope="session")
def assigned(tmp_path_factory) -> Path:
    """The folder of an assignment of one exercise: nobody writes into it."""
    from support.hand_ins import save_assignment

    return save_assignment(tmp_path_factory.mktemp("assigned"))


@pytest.fixture(scope="session")
def classifier(tmp_path_factory) -> Path:
    """A small classifier in two folders, `saved` and `exported`: nobody writes into them."""
    from support.small_runs import save_classifier

    from bertedu.production.onnx_export import export

    folder = tmp_path_factory.mktemp("classifier")
    export(save_classifier(folder / "saved"), folder / "exported")
    return folder

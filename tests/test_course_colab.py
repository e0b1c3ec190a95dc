"""Notebooks for Colab, made from the stored ones: each stands alone, and its first cell spares what Colab runs on."""

import ast
import re
import subprocess
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from support.repository import PACKAGE, REPOSITORY, specifiers

import bertedu
from bertedu.address import colab_url
from bertedu.cli import main
from bertedu.course.building.colab import COLABS_OWN, EXTRAS, first_cell, with_addresses, write_for_colab
from bertedu.course.rooms import number_of, sources_in


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("colab")


@pytest.fixture(scope="module")
def notebook(folder):
    (path,) = write_for_colab(folder, ("03",))
    assert path == folder / "03_self_attention.ipynb"
    return nbformat.read(path, as_version=4)


@pytest.fixture
def asked(tmp_path, monkeypatch) -> list[list[str]]:
    """What pip was asked for, in an empty folder where the course is not installed."""
    calls: list[list[str]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "bertedu" else find_spec(name))

    def run(command):
        calls.append(command)
        return subprocess.CompletedProcess(command, int((tmp_path / "no network").exists()))

    monkeypatch.setattr(subprocess, "run", run)
    return calls


def test_it_is_the_stored_notebook_with_one_cell_more(notebook):
    nbformat.validate(notebook)
    stored = nbformat.read(REPOSITORY / "notebooks" / "03_self_attention.ipynb", as_version=4)
    assert len(notebook.cells) == len(stored.cells) + 1
    for cell, original in zip(notebook.cells[1:], stored.cells, strict=True):
        assert cell.id == original.id and cell.get("outputs") == original.get("outputs")
        assert cell.cell_type == "markdown" or cell.source == original.source


def test_nothing_in_it_leads_to_a_file_beside_it(notebook):
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    addresses = [address for text in texts for address in re.findall(r"\]\(([^)\s]+)", text)]
    assert len(addresses) >= 10
    assert [address for address in addresses if not address.startswith(("https://", "#"))] == []


def test_a_picture_comes_from_the_tag_of_this_version_and_a_chapter_opens_in_colab():
    picture = with_addresses("![The [MASK] of B](pictures/03_where.svg)")
    assert picture.startswith("![The [MASK] of B](https://")
    assert picture.endswith(f"/bertedu/v{bertedu.__version__}/notebooks/pictures/03_where.svg)")
    assert with_addresses("see [04](04_transformer_encoder.ipynb#why)") == (
        f"see [04]({colab_url('04_transformer_encoder.ipynb')})"
    )
    assert with_addresses("![A](https://example.org/a.png) [b](c)") == "![A](https://example.org/a.png) [b](c)"


def test_the_first_cell_installs_this_version_and_keeps_what_colab_runs_on(notebook, asked, capsys):
    exec(notebook.cells[0].source, {})
    (command,) = asked
    assert command[1:6] == ["-m", "pip", "install", "--quiet", "-c"] and command[7] == f"bertedu=={bertedu.__version__}"
    assert not any(package.startswith((*COLABS_OWN, "notebook")) for package in command[8:])
    assert set(specifiers("course")) - set(specifiers()) - set(COLABS_OWN) == {
        package.partition(">")[0].lower() for package in command[8:]
    }
    kept = Path(command[6]).read_text().split()
    assert f"torch=={version('torch')}" in kept and f"ipykernel=={version('ipykernel')}" in kept
    assert "The course is installed" in capsys.readouterr().out


def test_an_installation_that_failed_is_told_in_words(notebook, asked, capsys):
    Path("no network").touch()
    exec(notebook.cells[0].source, {})
    assert "wasn't installed" in capsys.readouterr().out


def test_where_the_course_is_installed_the_first_cell_does_nothing(notebook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "run", lambda command: pytest.fail("nothing need be installed"))
    exec(notebook.cells[0].source, {})
    assert not list(tmp_path.iterdir())


def imported(path: Path) -> set[str]:
    """The packages that the source of a notebook imports."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {name.partition(".")[0] for name in names | {str(n.module) for n in nodes if isinstance(n, ast.ImportFrom)}}


def test_every_chapter_brings_the_extra_that_it_imports():
    modules = {"production": {"onnx", "onnxruntime", "faiss", "bm25s", "httpx", "fastapi"}, "jax": {"jax", "flax"}}
    for path in sources_in(PACKAGE / "chapters"):
        for extra, names in modules.items():
            if names & imported(path):
                assert EXTRAS.get(number_of(path)) == extra, f"{path.name} imports from the extra {extra}"
    for number, extra in EXTRAS.items():
        wanted = set(specifiers(extra)) - set(specifiers("course")) - set(COLABS_OWN)
        assert wanted and all(f'"{name}>=' in first_cell(number) for name in wanted)


def test_the_command_writes_the_chapters_that_it_is_given(tmp_path):
    result = CliRunner().invoke(main, ["build", "--colab", str(tmp_path / "colab"), "00", "3"])
    assert result.exit_code == 0 and "2 notebooks for Google Colab" in result.output
    assert len(list((tmp_path / "colab").glob("*.ipynb"))) == 2

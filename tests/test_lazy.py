"""Packages that offer names of their modules, each imported when it is first asked for."""

import ast
import json
import subprocess
import sys
from importlib import import_module

import pytest
from support.repository import PACKAGE

from bertedu.course.rooms import number_of, sources_in
from bertedu.lazy import imported_for_types

ON_DEMAND = [
    ".".join(["bertedu", *path.parent.relative_to(PACKAGE).parts])
    for path in sorted(PACKAGE.rglob("__init__.py"))
    if "names_on_demand(__name__)" in path.read_text(encoding="utf-8")
]
MOST_OF_CHAPTER_4 = 75  # 48 when this was written, 73 with a picture to touch


def loaded(code: str) -> set[str]:
    """The modules of bertedu that a fresh Python has loaded after the code."""
    told = "\nimport json, sys\nprint(json.dumps([name for name in sys.modules if name.startswith('bertedu')]))"
    said = subprocess.run([sys.executable, "-c", code + told], capture_output=True, text=True, check=True)
    return set(json.loads(said.stdout.splitlines()[-1]))


def offered(package: str) -> dict[str, str]:
    """What a package finds on demand, and where."""
    return imported_for_types(PACKAGE.joinpath(*package.split(".")[1:], "__init__.py").read_text(encoding="utf-8"))


def test_packages_that_many_import_from_load_nothing_by_themselves():
    assert {"bertedu", "bertedu.model", "bertedu.tokenization", "bertedu.corpora", "bertedu.visualization"} <= {
        *ON_DEMAND
    }
    found = loaded("\n".join(f"import {package}" for package in ON_DEMAND))
    assert not found & {module for package in ON_DEMAND for module in offered(package).values()}


@pytest.mark.parametrize("package", ON_DEMAND)
def test_every_name_on_demand_is_found_offered_and_completed(package):
    module, where = import_module(package), offered(package)
    for name, place in where.items():
        assert getattr(module, name) is getattr(import_module(place), name)
        assert name in module.__all__ and name in dir(module)
    assert all(name in where or name in vars(module) for name in module.__all__)
    with pytest.raises(AttributeError, match=f"'{package}' has no attribute 'nothing'"):
        module.nothing  # noqa: B018


@pytest.mark.parametrize("package", ON_DEMAND)
def test_no_name_on_demand_is_that_of_a_module_which_would_hide_it(package):
    folder = PACKAGE.joinpath(*package.split(".")[1:])
    inside = {path.stem for path in folder.iterdir()} if folder.is_dir() else set()
    assert not inside & offered(package).keys()


def test_names_are_read_from_what_only_type_checkers_follow():
    code = "from a import one\nif TYPE_CHECKING:\n    from b.c import two, three\nelse:\n    from d import four\n"
    assert imported_for_types(code) == {"two": "b.c", "three": "b.c"}


def of_chapter(number: str) -> set[str]:
    """The modules that the imports in a chapter's cells, and its checks, load."""
    source = next(path for path in sources_in(PACKAGE / "chapters") if number_of(path) == number)
    imports = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom) and "bertedu" in ast.unparse(node)
    ]
    return loaded("\n".join([*imports, "from bertedu.course.loading import load", f"load({number!r})"]))


def test_a_chapter_depends_on_what_its_cells_and_checks_reach_and_on_little_else():
    found = of_chapter("04")
    assert "bertedu.model.attention" in found
    others = ("family.", "corpora", "training", "inference", "pretraining.objectives.", "finetuning.tasks.")
    assert not [name for name in found if name.startswith(tuple(f"bertedu.{other}" for other in others))]
    assert len(found) <= MOST_OF_CHAPTER_4, sorted(found)


def test_the_readers_own_bert_in_chapter_3_needs_none_of_the_family():
    assert not [name for name in of_chapter("03") if name.startswith("bertedu.family.")]


def test_a_bert_is_opened_and_trained_without_the_rest_of_the_family():
    """Who changes SpanBERT rebuilds the chapter of SpanBERT."""
    found = loaded(
        "from bertedu import BertModel; from bertedu.course import data_path\n"
        "BertModel.from_pretrained(data_path('checkpoints/world-tiny'))\n"
        "from bertedu.pretraining.plan import Plan; Plan.from_options(corpus='world', steps=1)\n"
        "import bertedu.pretraining.run"
    )
    assert not [name for name in found if name.startswith("bertedu.family.")]

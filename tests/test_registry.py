"""What is found by its name: imported when it is asked for, with the help that its file gives."""

from importlib import import_module
from pathlib import Path

import pytest

from bertedu.errors import UserError
from bertedu.registry import ARCHITECTURES, OBJECTIVES, TASKS, Registry

REPOSITORY = Path(__file__).resolve().parents[1]


def test_a_thing_is_imported_when_it_is_asked_for():
    registry = Registry("stone", "STONE")
    registry.add("absent", "a_module_that_is_not_there")
    registry.add("there", 7)
    assert list(registry) == ["absent", "there"] and "absent" in registry and registry["there"] == 7
    with pytest.raises(ModuleNotFoundError):
        registry["absent"]
    with pytest.raises(UserError, match="no stone 'gravel': choose one of absent, there"):
        registry["gravel"]


@pytest.mark.parametrize("registry", [OBJECTIVES, TASKS], ids=lambda registry: registry.what)
def test_a_help_text_is_that_of_the_module(registry):
    for name in registry:
        assert registry.help_of(name) == import_module(registry.places[name]).HELP.strip("\n")


def test_every_file_of_the_folder_is_registered():
    for registry, folder in ((OBJECTIVES, "pretraining/objectives"), (TASKS, "finetuning/tasks")):
        files = {path.stem for path in (REPOSITORY / "bertedu" / folder).glob("[a-z]*.py")}
        assert {name.replace("-", "_") for name in registry} == files
    assert len(ARCHITECTURES) == 10


def test_what_is_imported_already_is_told_without_importing_the_rest():
    registry = Registry("stone", "REPOSITORY")
    registry.add("absent", "a_module_that_is_not_there")
    registry.add("there", __name__)
    registry.add("itself", 7)
    assert registry.loaded() == [REPOSITORY, 7]

"""What is found by its name: members of the family, objectives of pre-training, tasks of fine-tuning.

A registry lies below what it holds and is filled from above, by the folder that owns the things: so `model/` finds a
member of the family without naming one. A thing is imported when it is first asked for; its name, and what its file
says for the help, are known before.
"""

import ast
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bertedu.errors import UserError


class Registry(Mapping[str, Any]):
    """Things of one kind by name. what: the word for one of them; attribute: what it is called in its module."""

    def __init__(self, what: str, attribute: str):
        self.what, self.attribute = what, attribute
        self.added: dict[str, Any] = {}

    @property
    def places(self) -> dict[str, Any]:
        """For each name a module, or the thing itself; what the root names registers its own, on the first look."""
        for package in import_module("bertedu").REGISTERED:
            import_module(package)
        return self.added

    def add(self, name: str, place: Any) -> None:
        """Register a module by its dotted name, or a thing."""
        self.added[name] = place

    def add_files(self, package: str, folder: list[str]) -> None:
        """Register each file of a package under its own name, with - for _. The package is being imported: no thing
        in it is."""
        for file in pkgutil.iter_modules(folder):
            self.add(file.name.replace("_", "-"), f"{package}.{file.name}")

    def __getitem__(self, name: str) -> Any:
        """The thing. Raises UserError for a name that is not there."""
        if name not in self:
            raise UserError(f"there is no {self.what} {name!r}: choose one of {', '.join(self)}.")
        place = self.places[name]
        return getattr(import_module(place), self.attribute) if isinstance(place, str) else place

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def loaded(self) -> list[Any]:
        """The things whose modules are imported already."""
        there = [name for name, place in self.places.items() if not isinstance(place, str) or place in sys.modules]
        return [self[name] for name in there]

    def help_of(self, name: str) -> str:
        """The HELP of a thing's module, read without importing it: a help text does not wait for torch."""
        place = self.places[name]
        if not isinstance(place, str):
            return str(getattr(place, "help", ""))
        spec = find_spec(place)
        source = Path(str(spec and spec.origin)).read_text(encoding="utf-8")
        found = (node for node in ast.parse(source).body if isinstance(node, ast.Assign))
        values = [node.value for node in found if ast.unparse(node.targets[0]) == "HELP"]
        return str(ast.literal_eval(values[0])).strip("\n")


ARCHITECTURES = Registry("model_type", "ARCHITECTURE")
OBJECTIVES = Registry("objective", "OBJECTIVE")
TASKS = Registry("task", "TASK")

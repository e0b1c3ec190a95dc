"""What is declared in pyproject.toml, and where the repository and its package lie."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).resolve().parents[2]

PACKAGE = REPOSITORY / "bertedu"

PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))

PROJECT = PYPROJECT["project"]


def read(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def specifiers(*extras: str) -> dict[str, Requirement]:
    """What pyproject.toml asks for, by name: the dependencies, and those of the extras given."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in PROJECT["optional-dependencies"][extra])]
    return {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, lines)}


def everything() -> dict[str, Requirement]:
    return specifiers(*PROJECT["optional-dependencies"])

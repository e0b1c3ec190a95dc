"""The reference: one page for each folder of the library, from the docstrings of its modules."""

import ast
import re
from pathlib import Path

from bertedu.files import read_text, write_text

# The folders and files of the library, in the order in which the reader meets them.
PARTS = (
    ("tokenization", "Tokenization"),
    ("model", "The model"),
    ("checkpoints", "Checkpoints"),
    ("config", "Sizes and switches"),
    ("inference", "Asking a model"),
    ("corpora", "Corpora"),
    ("training", "Training"),
    ("pretraining", "Pre-training"),
    ("finetuning", "Fine-tuning"),
    ("interpretation", "Looking inside"),
    ("family", "The family"),
    ("before", "What came before"),
    ("search", "Search"),
    ("production", "Production"),
    ("visualization", "Pictures of a model"),
    ("jax", "The same BERT in JAX"),
    ("course", "Exercises, quizzes and notebooks"),
    ("errors", "Errors"),
)
HIDDEN = re.compile(r"/(__init__|__main__|_\w+)\.py$")


def write_reference(package: Path, folder: Path) -> None:
    """Write the pages that Sphinx fills from the docstrings, and their index."""
    lines = ["# Reference", "", "The library, folder by folder. Shapes are written in one notation: B batch, T tokens,"]
    lines += ["D hidden size, H heads, L layers, V vocabulary.", "", "```{toctree}", ":titlesonly:", ""]
    lines += [f"{name}" for name, _ in PARTS] + ["```", ""]
    write_text(folder / "reference" / "index.md", "\n".join(lines))
    for name, title in PARTS:
        write_text(folder / "reference" / f"{name}.rst", page(package, name, title))


def page(package: Path, name: str, title: str) -> str:
    """The page of a folder or file of the package, in reStructuredText: its modules in order."""
    place = package / name
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    modules = [path for path in files if not HIDDEN.search(path.as_posix()) and defines(path)]
    lines = [title, "=" * len(title), ""]
    for path in modules:
        dotted = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        short = dotted.partition(".")[2]
        lines += [short, "-" * len(short), "", f".. automodule:: {dotted}", "   :members:"]
        lines += ["   :member-order: bysource", "   :show-inheritance:", ""]
    return "\n".join(lines)


def defines(path: Path) -> bool:
    """Whether a module has a public class or function."""
    found = ast.parse(read_text(path)).body
    return any(isinstance(one, ast.ClassDef | ast.FunctionDef) and not one.name.startswith("_") for one in found)

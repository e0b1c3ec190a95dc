"""An exported folder: the graph, config.json, the tokenizer, and export.json, which says what was exported."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bertedu.config import types_of
from bertedu.errors import UserError
from bertedu.files import naming_failures, read_json_object, write_json

EXPORT = "export.json"
GRAPH, INT8_GRAPH, CRF = "model.onnx", "model_int8.onnx", "crf.safetensors"


@dataclass(frozen=True)
class Export:
    """What export.json holds. digest is the SHA-256 of the graph, source_digest that of the weights it was made from,
    files has the digests of all that stands beside the graph: a graph with another vocabulary answers, and wrongly.
    checked says how far the graph is from the model (`checking.Comparison`).
    """

    graph: str
    use: str
    labels: tuple[str, ...]
    max_tokens: int
    digest: str
    source: str
    source_digest: str
    versions: dict[str, str]
    files: dict[str, str]
    checked: dict[str, Any]
    format: str = "onnx"
    int8: bool = False
    bytes: int = 0
    crf: bool = False

    def save(self, folder: Path) -> None:
        """Write export.json."""
        write_json(folder / EXPORT, asdict(self))

    @classmethod
    def load(cls, folder: Path) -> "Export":
        """Read export.json. Raises UserError where it is missing or damaged, or a file beside it is another one."""
        path = folder / EXPORT
        if not path.is_file():
            raise UserError(f"{folder} holds no {EXPORT}: give a folder that `bertedu export` wrote.")
        types = types_of(cls)
        values = read_json_object(path, types)
        missing = [name for name in types if name not in values]
        if missing or Path(values["graph"]).name != values["graph"]:
            raise UserError(f"{path} is damaged ({', '.join(missing) or 'graph'}): export the model again.")
        export = cls(**{name: as_saved(values[name]) for name in types})
        for name, digest in {export.graph: export.digest, **export.files}.items():
            file = folder / Path(name).name
            if not file.is_file() or sha256(file) != digest:
                raise UserError(f"{file} is not the file that was exported: export the model again.")
        return export


def as_saved(value: Any) -> Any:
    """JSON's lists as the tuples that they were."""
    return tuple(value) if isinstance(value, list) else value


def sha256(*paths: Path) -> str:
    """The digest of a file, or of several one after the other, read piece by piece."""
    found = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            while piece := file.read(1 << 20):
                found.update(piece)
    return found.hexdigest()


def is_exported(folder: str | Path) -> bool:
    """Whether a folder is one that `bertedu export` wrote."""
    return (Path(folder) / EXPORT).is_file()


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Give a new folder beside `folder`, which replaces `folder` when the block ends well; else all is as before.

    An earlier export is replaced; raises UserError for any other folder that has something in it.
    """
    if (folder.exists() or folder.is_symlink()) and not may_replace(folder):
        raise UserError(f"{folder} is there and is no exported model: choose another name with --output.")
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
    try:
        with naming_failures(folder):
            shutil.rmtree(beside, ignore_errors=True)
            beside.mkdir(parents=True)
            yield beside
            if folder.exists():
                os.replace(folder, old)
            os.replace(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def may_replace(folder: Path) -> bool:
    """Whether an export may replace what is there: an earlier one, or an empty folder."""
    return not folder.is_symlink() and folder.is_dir() and (is_exported(folder) or not any(folder.iterdir()))

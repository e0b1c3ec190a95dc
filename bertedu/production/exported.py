"""An exported folder: the graph, config.json, the tokenizer, and export.json, which says what was exported."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, get_type_hints

from bertedu.config import CONFIG
from bertedu.errors import UserError, shown
from bertedu.files import naming_failures, read_json_object, write_json
from bertedu.finetuning.task import USES

EXPORT = "export.json"
REFERENCE = "reference.json"  # what the texts of the run are like; the service watches by it, and answers without it
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
        """Read export.json. Raises UserError where it is missing, damaged or edited, or a file beside it is another."""
        path = folder / EXPORT
        if not path.is_file():
            raise UserError(f"{folder} holds no {EXPORT}: give a folder that `bertedu export` wrote.")
        types = get_type_hints(cls)
        values = read_json_object(path, types)
        if missing := [name for name in types if name not in values]:
            raise UserError(f"{path} is damaged (it lacks {', '.join(missing)}): export the model again.")
        export = cls(**{name: as_saved(values[name]) for name in types})
        for name, right in export.what_must_be().items():
            if not right:
                said = shown(values[name])
                raise UserError(f"{path} is damaged or was edited ({name} is {said}): export the model again.")
        export.check_files(folder)
        return export

    def what_must_be(self) -> dict[str, bool]:
        """For each field of which not every value is possible, whether its value is."""
        return {
            "format": self.format == "onnx",
            "graph": self.graph == (INT8_GRAPH if self.int8 else GRAPH),
            "use": self.use in USES,
            "max_tokens": self.max_tokens > 0,
            "files": CONFIG in self.files and all(map(is_plain, self.files)) and (CRF in self.files) == self.crf,
        }

    def check_files(self, folder: Path) -> None:
        """Raise UserError for a file that is missing, is another one, or was not exported: a tokenizer reads whatever
        stands beside it.
        """
        for name, digest in {self.graph: self.digest, **self.files}.items():
            file = folder / name
            if not file.is_file() or sha256(file) != digest:
                raise UserError(f"{file} is not the file that was exported: export the model again.")
        ours = {self.graph, *self.files, EXPORT, REFERENCE}
        if others := sorted(file.name for file in folder.iterdir() if file.name not in ours and file.name[0] != "."):
            raise UserError(f"{folder / others[0]} was not exported with the model: move it to another folder.")


def is_plain(name: str) -> bool:
    """Whether a name is that of a file in a folder, on any system, and not a way out of it."""
    return name == PurePosixPath(name).name == PureWindowsPath(name).name


def as_saved(value: Any) -> Any:
    """JSON's lists as the tuples that they were."""
    return tuple(value) if isinstance(value, list) else value


def sha256(*paths: Path) -> str:
    """The digest of a file, or of several one after the other, read piece by piece."""
    found = hashlib.sha256()
    for path in paths:
        try:
            with open(path, "rb") as file:
                while piece := file.read(1 << 20):
                    found.update(piece)
        except OSError as error:
            raise UserError(f"{path} cannot be read ({error.strerror}): check the disk and the permissions.") from error
    return found.hexdigest()


def is_exported(folder: str | Path) -> bool:
    """Whether a folder is one that `bertedu export` wrote."""
    return (Path(folder) / EXPORT).is_file()


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Give a new folder beside `folder`, which replaces `folder` when the block ends well; else all is as before.

    An earlier export is replaced; raises UserError for any other folder that has something in it.
    """
    with naming_failures(folder):
        target = Path(os.path.abspath(folder))  # "." has a name, too
        refuse_to_replace_folder(folder, target)
        beside = target.with_name(f".{target.name}.{os.getpid()}.partial")
        old = target.with_name(f".{target.name}.{os.getpid()}.old")
        try:
            shutil.rmtree(beside, ignore_errors=True)
            beside.mkdir(parents=True)
            yield beside
            if target.exists():
                os.replace(target, old)
            try:
                os.replace(beside, target)
            except OSError:
                if old.exists():
                    os.replace(old, target)
                raise
        except UserError as error:  # of a file in the folder that is still being made
            raise UserError(str(error).replace(str(beside), str(folder))) from error
        finally:
            shutil.rmtree(beside, ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)


def refuse_to_replace_folder(folder: Path, target: Path) -> None:
    """Raise UserError for a folder that no export may replace: one that holds something else, or where somebody is."""
    here = Path.cwd()
    if target == here or target in here.parents:
        raise UserError(f"{folder} is the folder in which you are, or holds it: choose a name inside it with --output.")
    if (target.exists() or target.is_symlink()) and not may_replace(target):
        what = "is there and is no exported model" if target.is_dir() else "is there and is no folder"
        raise UserError(f"{folder} {what}: choose another name with --output.")


def may_replace(folder: Path) -> bool:
    """Whether an export may replace what is there: an earlier one, or an empty folder."""
    return not folder.is_symlink() and folder.is_dir() and (is_exported(folder) or not any(folder.iterdir()))

"""Labels as names of files (one text a line) or of folders (one text a file)."""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from bertedu.corpora.readers.doubts import warn_of_likenesses
from bertedu.corpora.readers.labelled import LabelledText
from bertedu.corpora.readers.opening import read_data_text, read_lines
from bertedu.corpora.readers.values import counted, label_value, text_value
from bertedu.errors import UserError

OF_A_SYSTEM = re.compile(r"\..*|.*~|#.*#|Thumbs\.db|desktop\.ini|__MACOSX", re.IGNORECASE | re.DOTALL)
UNLABELLED = "unsup"  # the folder of IMDB whose reviews have no label
NO_LABEL = re.compile(r"(\.txt)?(\.gz)?\Z", re.IGNORECASE)  # an ending that says how to read a file


def label_files(paths: Iterable[str | Path]) -> dict[str, Path]:
    """The label of each file: what stands last in its name, without .txt and .gz (rt-polarity.pos, pos.txt: pos)."""
    files: dict[str, Path] = {}
    for path in map(Path, paths):
        label = NO_LABEL.sub("", path.name).rpartition(".")[2]
        if label in files:
            raise UserError(
                f"{files[label]} and {path} both name the label {label!r}: "
                "rename one, or give a dict of label and file."
            )
        files[label] = path
    return files


def read_files_by_label(
    files: Mapping[str, str | Path] | Iterable[str | Path], labels: Collection[str] | None = None
) -> list[LabelledText]:
    """The lines of one file for each label, one text a line, as they are.

    files maps labels to files, or lists files whose names end in their label (see `label_files`).
    Raises UserError for an empty line, a single label, and what else cannot be a text.
    """
    by_label = files if isinstance(files, Mapping) else label_files(files)
    if len(by_label) < 2:
        raise UserError(f"files by label: {', '.join(by_label) or 'none'} is not enough: give a file for each label.")
    examples: list[LabelledText] = []
    for label, path in by_label.items():
        label = label_value(label, str(path), labels)
        for number, line in enumerate(read_lines(path), start=1):
            examples.append(LabelledText(text_value(line, f"{path}, line {number}", "the text"), label))
    return examples


def read_folders_by_label(folder: str | Path, labels: Collection[str] | None = None) -> list[LabelledText]:
    """The files in one folder for each label, each file one text, in the order of the names.

    The names of the folders are the labels. Hidden files, those that systems and editors leave (see `OF_A_SYSTEM`), and
    files beside the folders are not data.
    Raises UserError for fewer than two folders, an empty one, folders inside them, or one of texts without a label.
    """
    folder = Path(folder)
    folders = [path for path in visible(folder) if path.is_dir()]
    if len(folders) < 2:
        raise UserError(
            f"{folder} is a folder and has {counted(len(folders), 'folder')} in it where each label has its own: "
            "name a file, or the folder of those folders."
        )
    examples: list[LabelledText] = []
    for inner in folders:
        label = label_value(inner.name, str(inner), labels)
        if label == UNLABELLED:
            raise UserError(f"{inner} holds texts without a label, as in the set IMDB: move it to another folder.")
        files = visible(inner)
        if not files:
            raise UserError(f"{inner} is empty: put the texts of the label {label!r} there, or remove it.")
        for path in files:
            if path.is_dir():
                raise UserError(f"{path} is a folder among the texts of {label!r}: move its files up, or remove it.")
            text = read_data_text(path).replace("\r\n", "\n").rstrip("\n")
            examples.append(LabelledText(text_value(text, str(path), "the text"), label))
    warn_of_likenesses((str(inner), inner.name) for inner in folders)
    return examples


def visible(folder: Path) -> list[Path]:
    """What a folder holds, by name, without hidden files and those that systems and editors leave."""
    try:
        return sorted(path for path in folder.iterdir() if not OF_A_SYSTEM.fullmatch(path.name))
    except OSError as error:
        raise UserError(f"{folder} cannot be read ({error.strerror}): check the name and the permissions.") from error

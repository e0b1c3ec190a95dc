"""One folder for one labelled set: a file, or a folder with one folder for each label, named after each split."""

from pathlib import Path

from bertedu.errors import UserError

SPLITS = ("train", "validation", "test")


def split_sources(folder: str | Path) -> dict[str, Path]:
    """What in a folder is named train, validation or test, whatever its ending (train.csv, test.jsonl.gz, train/).

    Nothing else in the folder counts; where nothing has such a name the answer is empty. Raises UserError where a
    split stands there twice, and where there is something to choose or to test by and nothing to learn from.
    """
    folder = Path(folder)
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        name = path.name.split(".")[0].lower()  # Windows writes TRAIN.CSV
        if name in found:
            raise UserError(f"{folder} holds both {found[name].name} and {path.name}: leave one {name} there.")
        if name in SPLITS:
            found[name] = path
    if found and "train" not in found:
        other = next(iter(found.values()))
        raise UserError(
            f"{folder} holds {other.name} and no train{''.join(other.suffixes)} to learn from: add it, or name the "
            "file to learn from by itself."
        )
    return {name: found[name] for name in SPLITS if name in found}

"""Text of the Hugging Face hub as a corpus, through the library `datasets`: online, cached, or from a folder."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from bertedu.corpora.assembling import corpus_from_documents
from bertedu.corpora.documents import Corpus, Document
from bertedu.corpora.readers import text_documents
from bertedu.errors import UserError
from bertedu.extras import needs_extra
from bertedu.segmentation import split_sentences

ROWS_LOOKED_AT = 1000
HUB_NAME = re.compile(r"[A-Za-z0-9_][\w.-]*(/[A-Za-z0-9_][\w.+-]*){0,2}", re.ASCII)


def hub_corpus(name: str) -> Corpus:
    """The corpus of a data set's split `train`: its column `text`, or its only column of text.

    name is `USER/NAME`, `USER/NAME/CONFIGURATION`, or the path of a folder with data files (parquet, jsonl, csv).
    Raises UserError where the set cannot be reached, does not exist, or has no text to read.
    """
    name = name.removeprefix("hub:")
    rows = load_split(name)
    documents = row_documents(rows[text_column(rows, name)], name)
    if not documents:
        raise UserError(f"hub:{name} holds no sentence: choose a data set with running text.")
    return corpus_from_documents(f"hub:{name}", documents, f"Text of {name}, split train")


def load_split(name: str, split: str = "train"):
    """The rows of a split; the last part of the name is taken for a configuration where there is no such set."""
    if not HUB_NAME.fullmatch(name) and not (name and os.path.isdir(name) and ".." not in Path(name).parts):
        raise UserError(
            f"hub:{name} cannot be loaded (no data set has such a name): check the name, which is NAME, USER/NAME or "
            "USER/NAME/CONFIGURATION."
        )
    with needs_extra("hub"):
        from datasets import load_dataset  # a second of import, for those who read from the hub only
        from datasets.exceptions import DatasetGenerationError, DatasetsError

    set_name, slash, configuration = name.rpartition("/")
    choices: list[tuple[str, str | None]] = [(name, None)]
    if slash and set_name:
        choices.append((set_name, configuration))
    if name.count("/") > 1 and not Path(name).exists():  # USER/NAME/CONFIGURATION is no name of a set
        choices.reverse()
    problem: BaseException | None = None
    for path, chosen in choices:
        try:
            return load_dataset(path, chosen, split=split)
        except ConnectionError as error:
            raise UserError(
                f"hub:{name} cannot be reached ({one_line(error)}): connect to a network, or name files of this "
                "machine (to pre-train, the corpus documentation needs none)."
            ) from error
        except DatasetGenerationError as error:  # a damaged file, which only the cause tells about
            problem = problem or error.__cause__ or error
        except (OSError, ValueError, DatasetsError) as error:
            problem = problem or error
    raise UserError(
        f"hub:{name}, split {split}, cannot be loaded ({one_line(problem)}): check the name, its configuration "
        "(hub:USER/NAME/CONFIGURATION), the split and the files."
    ) from problem


def one_line(error: BaseException | None) -> str:
    """What an error of the library says, on one line and without the stop."""
    return " ".join(str(error).split()).rstrip(".")


def text_column(rows, name: str) -> str:
    """The name of the column to read: `text`, or the only one that holds strings."""
    strings = [
        column for column, kind in rows.features.items() if getattr(kind, "dtype", "") in ("string", "large_string")
    ]
    if "text" in strings:
        return "text"
    if len(strings) == 1:
        return strings[0]
    raise UserError(
        f"hub:{name} has no column 'text', and its columns of strings are {', '.join(strings) or 'none'}: "
        "choose a data set with one column of text."
    )


def row_documents(texts: Iterable[str | None], source: str) -> list[Document]:
    """The documents in the rows of a column: each row one or more, where rows are articles.

    Where rows are lines (empty rows, headings, or single sentences), they are joined and read as a text file is.
    """
    rows = [(text or "").strip() for text in texts]
    looked_at = rows[:ROWS_LOOKED_AT]
    of_lines = not any("\n" in row for row in looked_at)
    if of_lines and (not all(looked_at) or sum(len(split_sentences(row)) for row in looked_at) < 3 * len(looked_at)):
        return text_documents("\n".join(rows), source)
    return [document for row in rows for document in text_documents(row, source)]

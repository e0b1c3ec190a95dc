"""The rows of every task as text in its public format, and the files on the disk."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bertedu.corpora.tasks import (
    aspects,
    choices,
    entities,
    inference,
    parts_of_speech,
    questions,
    sentiment,
    similarity,
    summaries,
    topics,
)
from bertedu.corpora.tasks.grammar import PARTS
from bertedu.corpora.world.sentences import random_for
from bertedu.files import write_text

SEED = 0


def table(rows: Sequence[dict[str, str]]) -> str:
    """Rows with TABs between columns, below a header; quotes around values where they are needed."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def json_lines(rows: Sequence[dict[str, Any]]) -> str:
    """An object a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def columns(rows: Sequence[Sequence[tuple[str, str]]]) -> str:
    """CoNLL columns: a word, a TAB and its tag a line, an empty line after each sentence."""
    return "".join("".join(f"{word}\t{tag}\n" for word, tag in row) + "\n" for row in rows)


def squad(articles: Sequence[dict[str, Any]]) -> str:
    """SQuAD's JSON, version 2.0, a line for each article."""
    lines = ",\n".join(json.dumps(article, ensure_ascii=False) for article in articles)
    return f'{{"version": "v2.0", "data": [\n{lines}\n]}}\n'


# The folder of each task: the ending of its files, what makes the rows, and what writes them.
TASKS: dict[str, tuple[str, Callable[..., Any], Callable[..., str]]] = {
    "sentiment": ("tsv", sentiment.rows, table),
    "aspects": ("tsv", aspects.rows, table),
    "topics": ("tsv", topics.rows, table),
    "entities": ("conll", entities.rows, columns),
    "parts_of_speech": ("conll", parts_of_speech.rows, columns),
    "questions": ("json", questions.rows, squad),
    "inference": ("tsv", inference.rows, table),
    "similarity": ("tsv", similarity.rows, table),
    "choices": ("jsonl", choices.rows, json_lines),
    "summaries": ("jsonl", summaries.rows, json_lines),
}
# Tasks whose rows in the task's own folder are written by hand: what templates make of them stands beside, as a stress
# set, for what a model does with the same few constructions over and over.
BY_HAND = ("sentiment", "topics", "entities", "questions", "inference", "similarity")


def folder_of(name: str) -> str:
    """Where what the templates make is stored: stress/inference for a task whose own rows are written by hand."""
    return f"stress/{name}" if name in BY_HAND else name


def make_files(seed: int = SEED) -> dict[str, str]:
    """The text of every file by its name, such as sentiment/train.tsv: the same for the same seed everywhere."""
    return {
        f"{folder_of(name)}/{part}.{ending}": write(rows(part, random_for(seed, f"{name} {part}")))
        for name, (ending, rows, write) in TASKS.items()
        for part in PARTS
    }


def write_tasks(folder: str | Path) -> list[Path]:
    """Write all files into a folder; returns their paths. Raises UserError where it cannot be written."""
    paths = []
    for name, text in make_files().items():
        paths.append(Path(folder) / name)
        write_text(paths[-1], text)
    return paths

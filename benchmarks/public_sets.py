"""The public sets that are fine-tuned on: each as rows to learn from, for validation and to test."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bertedu.corpora.readers import LabelledText
from bertedu.corpora.task_data import read_labelled, read_questions, read_tagged

Rows = Sequence[Any]


def shuffled(rows: Sequence[Any]) -> Rows:
    """The rows in another, always the same order."""
    rows = list(rows)
    random.Random("benchmark").shuffle(rows)
    return rows


def movies(folder: Path) -> tuple[Rows, Rows, Rows]:
    """Sentences of film reviews, 80/10/10: the set has no split of its own."""
    files = {name: folder / f"mr_sentence_polarity/rt-polarity.{name[:3]}.gz" for name in ("negative", "positive")}
    rows = shuffled(read_labelled(files))
    tenth = len(rows) // 10
    return rows[2 * tenth :], rows[:tenth], rows[tenth : 2 * tenth]


def intents(folder: Path) -> tuple[Rows, Rows, Rows]:
    """Questions to a bank; a tenth of the training rows chooses the best epoch."""
    rows = shuffled(read_labelled(folder / "banking77/train.csv.gz"))
    return rows[1000:], rows[:1000], read_labelled(folder / "banking77/test.csv.gz")


def inference(folder: Path) -> tuple[Rows, Rows, Rows]:
    """Premise and hypothesis, with the changed versions among them."""
    train, dev, test = (
        read_labelled(folder / f"cad_nli/all_combined/{part}.tsv.gz") for part in ("train", "dev", "test")
    )
    return shuffled(train), dev, test


def likeness(folder: Path) -> tuple[Rows, Rows, Rows]:
    """Pairs of captions with a score from 0 to 5."""
    header = ["group", "genre", "year", "id", "score", "sentence1", "sentence2"]

    def part(name: str) -> list[LabelledText]:
        path = folder / f"stsb_open_subset/sts-{name}.csv.gz"
        return read_labelled(path, problem_type="regression", header=header, delimiter="\t", quoting=False)

    return shuffled(part("train")), part("dev"), part("test")


def names(folder: Path) -> tuple[Rows, Rows, Rows]:
    """Rare entities in posts."""
    files = ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
    train, dev, test = (read_tagged(folder / f"wnut17/{name}.gz") for name in files)
    return shuffled(train), dev, test


def parts_of_speech(folder: Path) -> tuple[Rows, Rows, Rows]:
    """Universal tags of the English Web Treebank."""
    train, dev, test = (
        read_tagged(folder / f"ud_english_ewt/en_ewt-ud-{part}.conllu.gz") for part in ("train", "dev", "test")
    )
    return shuffled(train), dev, test


def questions(folder: Path) -> tuple[Rows, Rows, Rows]:
    """Half of SQuAD 2.0's development set, split by article: ten to learn from, two to choose by, four to test."""
    rows = read_questions(folder / "squad_v2_half_dev/dev-v2.0.json.gz")
    titles = sorted({row.title for row in rows})
    random.Random("benchmark").shuffle(titles)
    parts = (titles[6:], titles[:2], titles[2:6])
    train, dev, test = ([row for row in rows if row.title in part] for part in parts)
    return shuffled(train), dev, test


def answers(folder: Path) -> tuple[Rows, Rows, Rows]:
    """Of the same questions those that have an answer, as in SQuAD 1.1."""
    train, dev, test = ([row for row in part if row.answers] for part in questions(folder))
    return train, dev, test

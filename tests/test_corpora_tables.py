"""Quotes in tables: marks around a value, or part of its text."""

import csv
import random

import pytest

from bertedu.corpora.readers.tables import read_table

QUOTES_OF_THE_TEXT = {
    "lone at the beginning": ['"Wow, what a film', "bad", '"the end'],
    "one in one row, one in the next": ['"a', 'b"', "c"],
    "before more words": ['"Yes" he said', "no", '"a" and "b"'],
    "doubled and lone": ['"He said ""hi" to me', 'six 6" nails', "x"],
    "nothing but one": ['"', "b", "c"],
    "three": ['"""', '" "" ', "c"],
}


@pytest.mark.parametrize("name", QUOTES_OF_THE_TEXT)
def test_quotes_that_are_no_marks_belong_to_the_text(tmp_path, name):
    texts = QUOTES_OF_THE_TEXT[name]
    (tmp_path / "a.tsv").write_text(
        "text\tlabel\n" + "".join(f"{one}\t{i}\n" for i, one in enumerate(texts)), encoding="utf-8"
    )
    assert [row["text"] for _, row in read_table(tmp_path / "a.tsv")] == texts


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_tables_that_the_csv_module_writes_are_read_as_they_were(tmp_path, delimiter):
    rng = random.Random(0)
    for _ in range(200):
        rows = [["".join(rng.choice('ab",\t\n') for _ in range(5)) + "x", str(i)] for i in range(4)]
        if delimiter == "\t":
            rows = [[one.replace("\t", ""), label] for one, label in rows]
        path = tmp_path / ("a.csv" if delimiter == "," else "a.tsv")
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=delimiter).writerows([["text", "label"], *rows])
        assert [[*row.values()] for _, row in read_table(path)] == rows

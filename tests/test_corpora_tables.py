"""Tables as spreadsheets and libraries write them: quotes, what stands between values, columns without a name."""

import csv
import random

import pytest

from bertedu.corpora.readers.tables import read_table
from bertedu.errors import UserError

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


ROWS = [("a, b", "x"), ("c; d", "y")]


@pytest.mark.parametrize("between", [";", "\t", "|", ","])
@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("said", ["", "sep={}\n", '"sep={}"\r\n'])
def test_what_stands_between_values_is_read_from_the_file(between, ending, said, tmp_path):
    with (tmp_path / f"a.{ending}").open("w", newline="", encoding="utf-8-sig") as file:
        file.write(said.format(between))
        csv.writer(file, delimiter=between).writerows([("text", "label"), *ROWS])
    rows = read_table(tmp_path / f"a.{ending}")
    assert [(row["text"], row["label"]) for _, row in rows] == ROWS
    first = 3 if said else 2
    assert [place.rpartition(" ")[2] for place, _ in rows] == [str(first), str(first + 1)]


def test_a_header_that_could_be_divided_in_two_ways_is_not_guessed(tmp_path):
    (tmp_path / "a.csv").write_text("text;label|x\na;b|c\n")
    with pytest.raises(UserError, match=r"the columns are \['text;label\|x'\]"):
        read_table(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "lines", [",text,label\n0,a,x\n1,b,y\n", "text,label,,\na,x,,\nb,y,,\n", ",text,,label\n7,a,,x\n9,b, ,y\n"]
)
def test_a_column_without_a_name_that_says_nothing_is_passed_over(lines, tmp_path):
    (tmp_path / "a.csv").write_text(lines)
    assert [row for _, row in read_table(tmp_path / "a.csv")] == [
        {"text": "a", "label": "x"},
        {"text": "b", "label": "y"},
    ]


@pytest.mark.parametrize(
    "lines", ["label,text,\nx,a,\ny,b, and more\n", ",text,label\na1,a,x\n", "text,,label\na,1,x\n"]
)
def test_what_stands_in_a_column_without_a_name_is_not_lost(lines, tmp_path):
    (tmp_path / "a.csv").write_text(lines)
    with pytest.raises(UserError, match=r"a.csv, line [23]: .* stands in a column without a name"):
        read_table(tmp_path / "a.csv")


def test_spaces_behind_the_delimiters_of_a_header_are_no_part_of_values(tmp_path):
    (tmp_path / "a.csv").write_text('text, label\n"a, b", "x"\nc,y\n')
    assert [[*row.values()] for _, row in read_table(tmp_path / "a.csv")] == [["a, b", "x"], ["c", "y"]]
    (tmp_path / "a.csv").write_text("text,label\n a, x\n")  # the header has none: spaces are the text's
    assert [[*row.values()] for _, row in read_table(tmp_path / "a.csv")] == [[" a", " x"]]


def test_a_header_with_a_space_behind_one_delimiter_alone_changes_no_value(tmp_path):
    (tmp_path / "a.csv").write_text("text, label,more\n a, x,y\n")
    assert read_table(tmp_path / "a.csv")[0][1] == {"text": " a", "label": " x", "more": "y"}


def test_quotes_behind_a_space_are_no_part_of_a_label(tmp_path):
    (tmp_path / "a.csv").write_text('text,label\nb,y\na, "x"\n')
    with pytest.raises(UserError, match=r"a.csv, line 3: a space before the quotes in ' \"x\"' makes them part of it"):
        read_table(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text('text,label\n "Yes" he said,y\n')
    assert read_table(tmp_path / "a.csv")[0][1]["text"] == ' "Yes" he said'


def test_a_table_of_markdown_has_no_row_of_dashes(tmp_path):
    (tmp_path / "a.csv").write_text("| text | label |\n|:---|---:|\n| a | x |\n")
    with pytest.raises(UserError, match=r"a.csv, line 2 is a rule of a table of Markdown: save the table as CSV"):
        read_table(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("text,label\n---,x\n")
    assert read_table(tmp_path / "a.csv")[0][1] == {"text": "---", "label": "x"}


def test_what_nobody_sees_in_a_header_is_no_part_of_a_name(tmp_path):
    (tmp_path / "a.csv").write_text("\u200btext,label\u00ad\u200e\na,x\n", encoding="utf-8")
    assert read_table(tmp_path / "a.csv")[0][1] == {"text": "a", "label": "x"}


@pytest.mark.parametrize("name", [".csv", "a.b.CSV", " .csv"])
def test_a_table_is_known_by_the_end_of_its_name(name, tmp_path):
    (tmp_path / name).write_text("text,label\na,x\n")
    assert read_table(tmp_path / name)[0][1] == {"text": "a", "label": "x"}

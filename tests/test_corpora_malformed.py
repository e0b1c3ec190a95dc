"""Malformed data files: each ends in one sentence with its place, its value and a remedy, and none is half read."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from support.malformed import CONLLU_WORD, as_bytes, scores, squad

from bertedu.corpora.task_data import read_choices, read_labelled, read_questions, read_summaries, read_tagged
from bertedu.errors import UserError

THREE_MEGABYTES = "word " * 600_000


def twice(whole: dict) -> dict:
    whole["data"].append(squad()["data"][0])
    return whole


class Malformed(NamedTuple):
    """What is wrong, the file's name and content, who reads it, and what its message must hold."""

    wrong: str
    name: str
    content: str | bytes | dict
    read: Callable
    says: tuple[str, ...]


def three_labels(path: Path):
    return read_labelled(path, labels=["positive", "negative", "neutral"])


def many_labels(path: Path):
    return read_labelled(path, problem_type="multi_label_classification")


def bioes(path: Path):
    return read_tagged(path, scheme="BIOES")


FILES = [
    Malformed("empty", "a.csv", "", read_labelled, ("is empty",)),
    Malformed("white space only", "a.conll", "\n \n\t\n", read_tagged, ("is empty",)),
    Malformed("empty, compressed", "a.csv.gz", gzip.compress(b""), read_labelled, ("is empty",)),
    Malformed("a header alone", "a.csv", "text,label\n", read_labelled, ("a header and no row",)),
    Malformed(
        "a column too few", "a.tsv", "text\tlabel\nfine\tyes\nno label\n", read_labelled, ("line 3", "1 column where")
    ),
    Malformed("a column too many", "a.csv", "text,label\nwell, fine,yes\n", read_labelled, ("line 2", "3 columns")),
    Malformed("a row below two lines", "a.csv", 'text,label\n"a\nb",c\nd\n', read_labelled, ("line 4", "1 column")),
    Malformed("an empty row", "a.csv", "text,label\na,b\n\nc,d\n", read_labelled, ("line 3", "empty")),
    Malformed("an empty line for a header", "a.csv", "\n\na,b\n", read_labelled, ("[]", "a header")),
    Malformed("a column twice", "a.csv", "text,label,label\na,b,c\n", read_labelled, ("'label', 'label'",)),
    Malformed(
        "other columns", "a.csv", "comment,mark\na,b\n", read_labelled, ("(text, sentence,", "'comment', 'mark'")
    ),
    Malformed("one column", "a.csv", "text\na\n", read_labelled, ("['text']", "save it as .csv")),
    Malformed("no known suffix", "a.data", "text,label\na,b\n", read_labelled, (".jsonl", "delimiter")),
    Malformed("a quote never closed", "a.csv", 'text,label\na,b\n"c,d\ne,f\n', read_labelled, ("line 3", "quote")),
    Malformed("text after a quote", "a.csv", 'text,label\n"Oh" he said,b\n', read_labelled, ("line 2", "not balanced")),
    Malformed(
        "plain quotes in a TSV", "a.tsv", 'text\tlabel\n"a\tb\nc"\td\ne\n', read_labelled, ("line 2", "quoting=False")
    ),
    Malformed(
        "a label never seen",
        "a.csv",
        "text,label\na,positiv\n",
        three_labels,
        ("line 2", "'positiv'", "write 'positive'"),
    ),
    Malformed("no label", "a.csv", "text,label\na,\n", read_labelled, ("line 2", "the label is ''")),
    Malformed("no text", "a.csv", "text,label\n  ,b\n", read_labelled, ("line 2", "text is '  '")),
    Malformed("a label twice", "a.csv", 'text,label\na,"x, y, x"\n', many_labels, ("line 2", "'x'", "twice")),
    Malformed("a score that is none", "a.csv", "text,score\na,1.5\nb,nan\n", scores, ("line 3", "'nan'", "finite")),
    Malformed("a decimal comma", "a.csv", 'text,score\na,"3,5"\n', scores, ("line 2", "'3,5'", "a point")),
    Malformed(
        "mixed encodings",
        "a.csv",
        "text,label\nthé,b\n".encode() + "café,c\n".encode("latin1"),
        read_labelled,
        ("line 3", "0xe9"),
    ),
    Malformed("UTF-16", "a.tsv", "text\tlabel\na\tb\n".encode("utf-16"), read_labelled, ("UTF-16", "iconv")),
    Malformed("a NUL", "a.tsv", "text\tlabel\na\0\tb\n", read_labelled, ("line 2", "NUL")),
    Malformed(
        "a 3 MB line", "a.csv", f"text,label\na,b\n{THREE_MEGABYTES},c\n", read_labelled, ("line 3", "1,000,000")
    ),
    Malformed(
        "a 3 MB line of a list", "a.jsonl", f'{{"text": "{THREE_MEGABYTES}"}}\n', read_labelled, ("line 1", "3,000,0")
    ),
    Malformed("a 3 MB word", "a.conll", f"cat\tO\n{THREE_MEGABYTES}\tO\n", read_tagged, ("line 2", "3,000,002")),
    Malformed(
        "a 3 MB context",
        "a.json",
        {"data": [{"paragraphs": [{"context": THREE_MEGABYTES, "qas": []}]}]},
        read_questions,
        ("data[0].paragraphs[0]", "3,000,000"),
    ),
    Malformed("old line ends", "a.conll", "cat\tO\rsings\tO\r", read_tagged, ("line 1", "\\r")),
    Malformed(
        "compressed, cut short", "a.csv.gz", gzip.compress(b"text,label\na,b\n" * 99)[:-9], read_labelled, ("gzip",)
    ),
    Malformed(
        "JSON lines cut short",
        "a.jsonl",
        '{"text": "a", "label": "b"}\n{"text": "c',
        read_labelled,
        ("line 2", "column 10"),
    ),
    Malformed("a list of no objects", "a.jsonl", '["a", "b"]\n', read_labelled, ("entry 1", "'a'")),
    Malformed("a number as a text", "a.jsonl", '{"text": 7, "label": "b"}\n', read_labelled, ("line 1", "7")),
    Malformed("a key twice", "a.jsonl", '{"text": "a", "text": "b"}\n', read_labelled, ("'text' twice",)),
    Malformed(
        "NaN in JSON", "a.jsonl", '{"text": "a", "score": 1}\n{"text": "a", "score": NaN}\n', scores, ("line 2", "NaN")
    ),
    Malformed(
        "a key that is missing",
        "a.jsonl",
        '{"text": "a", "label": "b"}\n{"text": "a"}\n',
        read_labelled,
        ("line 2", "'label'"),
    ),
    Malformed(
        "half a character", "a.jsonl", '{"text": "a\\ud83d", "label": "b"}\n', read_labelled, ("line 1", "ud83d")
    ),
    Malformed("endless brackets", "a.jsonl", "[" * 200_000, read_labelled, ("a.jsonl", "cannot be read")),
    Malformed("columns missing", "a.conll", "cat\tO\nsings\n", read_tagged, ("line 2", "'sings'")),
    Malformed("a tag without a type", "a.conll", "cat\tB-animal\ndog\tB\n", read_tagged, ("line 2", "'B'", "B-type")),
    Malformed("a tag of another scheme", "a.conll", "cat\tX-animal\n", read_tagged, ("line 1", "'X-animal'", "BIO")),
    Malformed("a tag of no scheme", "a.conll", "cat\tU-animal\n", bioes, ("line 1", "'U-animal'", "BIOES")),
    Malformed("a tag and no word", "a.conll", "cat\tO\n\tO\n", read_tagged, ("line 2", "the word is ''")),
    Malformed(
        "more tags than words",
        "a.jsonl",
        '{"words": ["a"], "tags": ["O", "O"]}\n',
        read_tagged,
        ("line 1", "1 word for 2 tags"),
    ),
    Malformed("nine columns", "a.conllu", "1\tA\ta\tX\t_\t_\t0\troot\t_\n\n", read_tagged, ("line 1", "9 columns")),
    Malformed(
        "a word left out",
        "a.conllu",
        CONLLU_WORD.format(1, "VERB") + CONLLU_WORD.format(3, "VERB") + "\n",
        read_tagged,
        ("line 2", "'3'", "2 should"),
    ),
    Malformed(
        "a word without a tag", "a.conllu", CONLLU_WORD.format(1, "_") + "\n", read_tagged, ("line 1", "no tag in upos")
    ),
    Malformed(
        "no universal tag",
        "a.conllu",
        CONLLU_WORD.format(1, "VERV") + "\n",
        read_tagged,
        ("line 1", "the tag 'VERV'", "write 'VERB'"),
    ),
    Malformed(
        "comments alone",
        "a.conllu",
        "# text = A\n\n" + CONLLU_WORD.format(1, "X"),
        read_tagged,
        ("line 1", "without a word"),
    ),
    Malformed("truncated JSON", "a.json", json.dumps(squad())[:150], read_questions, ("line 1, column 1", "cut short")),
    Malformed(
        "truncated JSON of lines",
        "a.json",
        json.dumps(squad(), indent=1)[:150],
        read_questions,
        ("line 11, column 3", "cut short"),
    ),
    Malformed("not SQuAD", "a.json", [1, 2], read_questions, ("'data'", "[1, 2]")),
    Malformed("no question", "a.json", {"data": []}, read_questions, ("no question",)),
    Malformed(
        "an answer that is elsewhere",
        "a.json",
        squad(answers=[{"text": "the cat", "answer_start": 9}]),
        read_questions,
        ("data[0].paragraphs[0].qas[0]", "'q1'", "' the ca'", "write 10"),
    ),
    Malformed(
        "an answer that is nowhere",
        "a.json",
        squad(answers=[{"text": "a dog", "answer_start": 10}]),
        read_questions,
        ("'q1'", "'the c'", "nowhere"),
    ),
    Malformed(
        "an answer past the end",
        "a.json",
        squad(answers=[{"text": "the cat", "answer_start": 999}]),
        read_questions,
        ("999", "nothing", "write 10"),
    ),
    Malformed(
        "an answer before the start",
        "a.json",
        squad(answers=[{"text": "sings.", "answer_start": -6}]),
        read_questions,
        ("-6", "from 0"),
    ),
    Malformed(
        "an offset that is a text",
        "a.json",
        squad(answers=[{"text": "the cat", "answer_start": "10"}]),
        read_questions,
        ("'10'", "from 0"),
    ),
    Malformed("no answer", "a.json", squad(answers=[]), read_questions, ("'q1'", "0 answers")),
    Malformed(
        "an impossible answer", "a.json", squad(is_impossible=True), read_questions, ("'q1'", "True", "1 answer:")
    ),
    Malformed("a number as an id", "a.json", squad(id=7), read_questions, ("qas[0]", "the id is 7")),
    Malformed(
        "an id twice", "a.json", twice(squad()), read_questions, ("data[1].paragraphs[0].qas[0]", "'q1'", "of data[0]")
    ),
    Malformed(
        "no such choice",
        "a.jsonl",
        '{"question": "a", "choices": ["b", "c"], "label": 2}\n',
        read_choices,
        ("line 1", "answer 2", "0 to 1"),
    ),
    Malformed(
        "a choice twice",
        "a.jsonl",
        '{"question": "a", "choices": ["b", "b"], "label": 1}\n',
        read_choices,
        ("line 1", "('b', 'b')"),
    ),
    Malformed("no choices", "a.jsonl", '{"question": "a", "label": 1}\n', read_choices, ("line 1", "'choices'")),
    Malformed("no summary", "a.jsonl", '{"text": "a", "summary": " "}\n', read_summaries, ("line 1", "summary is ' '")),
]


@pytest.mark.parametrize("malformed", FILES, ids=lambda malformed: malformed.wrong)
def test_a_malformed_file_is_refused_in_words(tmp_path, malformed):
    path = tmp_path / malformed.name
    path.write_bytes(as_bytes(malformed.content))
    with pytest.raises(UserError) as caught:
        malformed.read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    for part in malformed.says:
        assert part in message
    told = message.removeprefix(str(path))
    assert told.endswith(".") and not re.search(r"\n|[.!?] [A-Z]", told), "this is not one sentence"
    assert len(told) < 340 and re.search(r": [a-z]", told), "this is too long or has no remedy"

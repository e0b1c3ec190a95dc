"""Data files that are damaged, cut short or not there: never half read, never a traceback."""

import gzip
import json
import random

import pytest
from support.malformed import CONLLU_WORD, as_bytes, scores, squad
from support.processor_time import processor_seconds, yardstick

from bertedu.corpora.readers.opening import read_plain_text
from bertedu.corpora.readers.plain_text import text_documents
from bertedu.corpora.task_data import read_labelled, read_questions, read_tagged
from bertedu.errors import UserError

WHOLE = {
    "a.csv": ('text,label\n"Oh, ""no""",a\nfine,b\n', read_labelled),
    "a.tsv": ("text\tscore\none\t1.5\ntwo\t2\n", scores),
    "a.jsonl": ('{"text": "one", "label": "a"}\n{"text": "\\u00e9", "label": "b"}\n', read_labelled),
    "a.conll": ("cat\tB-animal\nsings\tO\n\nyes\tO\n", read_tagged),
    "a.conllu": ("# text = A\n" + CONLLU_WORD.format(1, "VERB") + "1.1" + "\t_" * 9 + "\n\n", read_tagged),
    "a.json": (json.dumps(squad()), read_questions),
    "a.json.gz": (gzip.compress(json.dumps(squad()).encode(), mtime=0), read_questions),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_damaged_byte_is_refused_in_words(tmp_path, name):
    content, read = WHOLE[name]
    whole = as_bytes(content)
    path = tmp_path / name
    path.write_bytes(whole)
    assert read(path)
    chance = random.Random(name)
    refused = 0
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            position = chance.randrange(len(damaged))
            damaged[position : position + chance.randint(0, 2)] = chance.choice(
                [b'"', b"\t", b",", b"\n", b"\r", b"{", b"]", b"\\", b"\xff", b"\0", b"9", b"-", b"null", b""]
            )
        path.write_bytes(damaged)
        try:
            assert read(path)
        except UserError:
            refused += 1
    assert refused > 30


def test_a_file_cut_anywhere_is_never_half_read(tmp_path):
    for name in ("a.json", "a.json.gz"):
        content, read = WHOLE[name]
        whole = as_bytes(content)
        for end in range(len(whole)):
            (tmp_path / name).write_bytes(whole[:end])
            with pytest.raises(UserError):
                read(tmp_path / name)


def test_a_missing_file_is_refused_in_words(tmp_path):
    for name in ("a.csv", "a.csv.gz", "a.jsonl"):
        with pytest.raises(UserError, match="check the name"):
            read_labelled(tmp_path / name)
    with pytest.raises(UserError, match="is a folder where a file should be"):
        read_questions(tmp_path)


def test_a_few_bytes_of_gzip_do_not_fill_the_memory(tmp_path, monkeypatch):
    """Zeros pack a thousand times smaller: a file of 5 MB may hold 5 GB."""
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"A word. " * 10_000))
    assert len(read_plain_text(path)) == 80_000
    monkeypatch.setenv("BERTEDU_MOST_BYTES", "79999")
    with pytest.raises(UserError, match=r"a\.txt\.gz holds more than 79,999 bytes.*BERTEDU_MOST_BYTES"):
        read_plain_text(path)


@pytest.mark.parametrize(
    "unit",
    ["[Illustration", "!", ".", "...", "_a", "Mr.", "Mr. ", "= ", "a.b.", "«", "(", "@-@ ", "\u0301", "1.", ". \u201d"],
)
def test_a_text_of_marks_takes_linear_time(unit):
    text = f"A word. {unit * 200_000} Another word."
    assert processor_seconds(lambda: text_documents(text, "a.txt")) < 100 * yardstick()

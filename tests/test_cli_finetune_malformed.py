"""`bertedu finetune` on malformed data, as a person runs it: one sentence on stderr, exit code 2, nothing written."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from bertedu.cli import main
from bertedu.config import BertConfig
from bertedu.model import BertForPreTraining
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

HEADER = "text,label\n"
GOOD = HEADER + "a fine day,yes\na bad day,no\n" * 10
GOOD_TAGS = "Anna\tB-person\nsings\tO\n\n" * 10
PAIRS = "sentence1\tsentence2\tscore\n" + "a\tb\t0\na\ta\t5\n" * 10
THREE_MEGABYTES = "word " * 600_000


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The folder of a very small pre-trained BERT."""
    folder = tmp_path_factory.mktemp("base")
    torch.manual_seed(0)
    tokenizer = BertTokenizer([*SPECIAL_TOKENS, *"abcd", "."])
    BertForPreTraining(BertConfig(len(tokenizer), 16, 2, 2, 32, max_position_embeddings=64)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def squad(*changes: dict, context: Any = "At night, the cat sings.") -> str:
    """A file with one question for each of the changes; without them its answer stands at character 10."""
    answer = {"text": "the cat", "answer_start": 10}
    entries = [
        {"id": f"q{n}", "question": "Who sings?", "answers": [answer], **given} for n, given in enumerate(changes)
    ]
    return json.dumps({"data": [{"title": "Cats", "paragraphs": [{"context": context, "qas": entries}]}]})


class Malformed(NamedTuple):
    """What is wrong; the task; the files by name (None for a folder); the options; what the sentence must hold."""

    wrong: str
    task: str
    files: dict[str, str | bytes | None]
    says: tuple[str, ...]
    options: tuple[str, ...] = ()


def one(wrong: str, task: str, name: str, content: str | bytes | None, *says: str) -> Malformed:
    """A run on one file."""
    return Malformed(wrong, task, {name: content}, (name, *says), ("--data", name))


def two(wrong: str, task: str, suffix: str, good: str, content: str | bytes | None, *says: str) -> Malformed:
    """A run on a good file, tested on a malformed one."""
    files = {f"good{suffix}": good, f"bad{suffix}": content}
    return Malformed(wrong, task, files, (f"bad{suffix}", *says), ("--data", f"good{suffix}", "--test", f"bad{suffix}"))


TAGGED = '{"words": ["a", "b"], "tags": ["%s", "%s"]}\n'

FILES = [
    one("empty", "classification", "a.csv", "", "is empty", "name a file with data"),
    one("a header alone", "classification", "a.csv", HEADER, "a header and no row", "name a file with data"),
    one("columns lost", "classification", "a.csv", GOOD + "no label\n", "line 22", "'no label'", "delimiter"),
    one("columns gained", "classification", "a.csv", GOOD + "well, then,yes\n", "line 22", "3 columns", "delimiter"),
    one("no column for the text", "classification", "a.csv", "words,label\na,b\n", "line 2", "'words'", "rename one"),
    one("an unclosed quote", "classification", "a.csv", GOOD + '"oh,yes\nso,no\n', "line 22", "close the quote"),
    one("no label", "classification", "a.csv", GOOD + "what,\n", "line 22", "the label is ''", "write it"),
    one("a float as a label", "classification", "a.csv", GOOD + "so,3.5\n", "line 22", "'3.5'", "regression"),
    one("a float in JSON", "classification", "a.jsonl", '{"text": "a", "label": 0.5}\n', "line 1", "0.5", "regression"),
    one("the header twice", "classification", "a.csv", GOOD + HEADER, "line 22 is the header", ": remove the line"),
    one("no agreed label", "classification", "a.csv", "gold_label,text\nyes,a\n-,b\n", "line 3", "'-'", "remove such"),
    one("one class", "classification", "a.csv", HEADER + "a,yes\n" * 9, "'yes'", "add rows of other classes"),
    one("one row", "classification", "a.tsv", "text\tlabel\na\tb\n", "no label but 'b'", "add rows"),
    one("a long line", "classification", "a.jsonl", GOOD + THREE_MEGABYTES, "line 22", "3,000,000", "divide the text"),
    one("a long text", "classification", "a.csv", f"{GOOD}{THREE_MEGABYTES},no\n", "line 22", "1,000,000", "divide"),
    one("a NUL", "classification", "a.csv", GOOD + "a\0b,yes\n", "line 22", "NUL", "save the file as UTF-8"),
    one("UTF-16", "classification", "a.csv", GOOD.encode("utf-16"), "UTF-16", "iconv -f utf-16"),
    one("Latin-1", "classification", "a.csv", (GOOD + "café,no\n").encode("latin-1"), "line 22", "'café,no'", "iconv"),
    one(
        "two encodings",
        "classification",
        "a.csv",
        (GOOD + "größer,no\n").encode() + "café,no\n".encode("latin-1"),
        "line 23",
        "0xe9",
        "'café,no'",
        "line 22 is",
        "write this line in UTF-8",
    ),
    one("no text file", "classification", "a.jsonl", b"\x89PNG\r\n\x1a\n\x00\x00\xff", "line 1", "0x89", "convert"),
    one(
        "not whole", "classification", "a.csv.gz", b"\x1f\x8b\x08\x00abc", "not a whole gzip file", "compress it again"
    ),
    one("an unknown ending", "classification", "a.xlsx", "PK", "does not say how to read it", "save it as .csv"),
    one(
        "a folder as a file",
        "classification",
        "b.csv",
        None,
        "b.csv",
        "is a folder",
        "name a file",
    ),
    one("truncated JSON", "classification", "a.jsonl", '{"text": "a", "lab', "line 1, column 15", "cut short"),
    one("a list in JSON lines", "classification", "a.jsonl", "[1, 2]\n", "entry 1", "1 is not", "write {…}"),
    one("a key twice", "classification", "a.jsonl", '{"text": "a", "text": "b"}\n', "'text' twice", "rename or remove"),
    two("a label never seen", "classification", ".csv", GOOD, HEADER + "a,yes\nb,nay\n", "line 3", "'nay'", "2 labels"),
    two("a label misspelt", "classification", ".csv", GOOD, HEADER + "a,yess\n", "line 2", "write 'yes'"),
    one("one label of many", "multi-label", "a.csv", HEADER + "a,yes\nb,\n", "no label but 'yes'", "add rows"),
    two("labels never seen", "multi-label", ".csv", GOOD, HEADER + '"a","yes,nay"\n', "line 2", "'nay'", "are learned"),
    two("a tag never seen", "entities", ".conll", GOOD_TAGS, "Rome\tB-place\n", "line 1", "'B-place'", "are learned"),
    two("a folder to test by", "entities", ".conll", GOOD_TAGS, None, "is a folder", "name one of the files"),
    two("a score out of range", "similarity", ".tsv", PAIRS, PAIRS + "a\tb\t7\n", "line 22", "'7'", "from 0 to 5"),
    one("no number", "regression", "a.csv", "text,score\na,1\nb,good\n", "line 3", "'good'", "with a point"),
    one("not finite", "regression", "a.jsonl", '{"text": "a", "score": NaN}\n', "NaN", "write one"),
    one("one text of a pair", "similarity", "a.tsv", "text\tscore\na\t1\n", "similarity needs two", "sentence2"),
    one(
        "I- at the beginning",
        "entities",
        "a.conll",
        "in\tO\nRome\tI-place\n\nBern\tB-place\n",
        "line 2",
        "'I-place'",
        "'B-place'",
    ),
    one("I- of another type", "entities", "a.conll", "A\tB-b\nC\tI-c\n", "line 2", "'I-c'", "after the tag 'B-b'"),
    one("I- in JSON", "entities", "a.jsonl", TAGGED % ("B-b", "O") + TAGGED % ("O", "I-b"), "line 2", "'I-b'", "'B-b'"),
    one("nothing but O", "entities", "a.conll", "in\tO\nRome\tO\n", "every word has the tag 'O'", "add sentences"),
    one("a tag lost", "entities", "a.conll", GOOD_TAGS + "Rome\n", "line 31", "'Rome'", "write the word, its tag"),
    one("a tag out of the scheme", "entities", "a.conll", "Rome\tplace\n", "line 1", "'place'", "write O or B-type"),
    one("BIOES", "entities", "a.conll", "Rome\tS-place\n", "every word has the tag"),
    one("lists of different lengths", "tagging", "a.jsonl", '{"words": ["a"], "tags": []}\n', "line 1", "[]", "write"),
    one(
        "no universal tag", "tagging", "a.conllu", "1\ta\ta\tNOUM" + "\t_" * 6 + "\n", "line 1", "'NOUM'", "write 'NUM'"
    ),
    one("truncated SQuAD", "question-answering", "a.json", squad({})[:90], "line 1, column", "cut short"),
    one("not SQuAD", "question-answering", "a.json", '{"questions": []}', "no list 'data'", "data > paragraphs > qas"),
    one("a text for a list", "question-answering", "a.json", '{"data": ["a"]}', "data[0] is 'a'", "write an object"),
    one(
        "an answer out of its context",
        "question-answering",
        "a.json",
        squad({"answers": [{"text": "the dog", "answer_start": 10}]}),
        "data[0].paragraphs[0].qas[0] (id 'q0')",
        "'the dog'",
        "correct it",
    ),
    one(
        "an answer elsewhere",
        "question-answering",
        "a.json",
        squad({"answers": [{"text": "the cat", "answer_start": 9}]}),
        "(id 'q0')",
        "character 9",
        "write 10",
    ),
    one("an id twice", "question-answering", "a.json", squad({}, {"id": "q0"}), "qas[1]", "'q0'", "give each its own"),
    one(
        "an endless context", "question-answering", "a.json", squad({}, context=THREE_MEGABYTES), "3,000,000", "divide"
    ),
    one("no context", "question-answering", "a.json", squad({}, context=7), "paragraphs[0]", "7", "write a text"),
    one(
        "choices gained",
        "multiple-choice",
        "a.jsonl",
        '{"question": "a", "choices": ["b", "c"], "label": 0}\n'
        '{"question": "a", "choices": ["b", "c", "d"], "label": 0}\n',
        "line 2",
        "3 choices",
        "give every row as many",
    ),
    one(
        "a number without end",
        "multiple-choice",
        "a.csv",
        f"question,option1,option2,answer\na,b,c,{'9' * 5000}\n",
        "line 2",
        "'999",
        "from 1 to 2",
    ),
    one(
        "no summary",
        "summarization",
        "a.jsonl",
        '{"text": "a", "summary": ""}\n',
        "line 1",
        "summary is ''",
        "write it",
    ),
    Malformed(
        "a wish that only the task can refuse",
        "similarity",
        {"a.tsv": PAIRS},
        ("nothing is left to learn", "leave --freeze-encoder out"),
        ("--data", "a.tsv", "--freeze-encoder"),
    ),
    Malformed(
        "a missing split",
        "classification",
        {"set/test.csv": GOOD},
        ("set holds test.csv", "no train.csv", "add it"),
        ("--data", "set"),
    ),
    Malformed(
        "a split twice",
        "classification",
        {"set/train.csv": GOOD, "set/train.tsv": GOOD},
        ("train.csv and train.tsv", "leave one"),
        ("--data", "set"),
    ),
    Malformed(
        "a bad split of a folder",
        "classification",
        {"set/train.csv": GOOD, "set/validation.csv": HEADER + "a,nay\n"},
        ("set/validation.csv, line 2", "'nay'"),
        ("--data", "set"),
    ),
    Malformed(
        "a folder of other files",
        "question-answering",
        {"set/squad.json": squad({})},
        ("set is a folder without a file train", "name a file"),
        ("--data", "set"),
    ),
    Malformed(
        "a folder of one label",
        "classification",
        {"set/yes/a.txt": "a"},
        ("set is a folder and has 1 folder", "name a file"),
        ("--data", "set"),
    ),
]


@pytest.mark.parametrize("case", FILES, ids=lambda case: case.wrong)
def test_a_malformed_file_is_refused_in_words_and_leaves_no_folder(case, base, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, content in case.files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir()
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = set(tmp_path.rglob("*"))
    with pytest.raises(SystemExit) as ended:
        main(["finetune", case.task, *case.options, "--model", str(base), "--output", "runs/bad", "--device", "cpu"])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.startswith("bertedu: ") and said.count("\n") == 1 and said.endswith(".\n")
    for part in case.says:
        assert part in said, said
    assert not re.search(r"[.!?] [A-Z]", said) and len(said) < 340, "this is not one sentence to read at a glance"
    assert set(tmp_path.rglob("*")) == before, "something was written"


@pytest.mark.slow
def test_a_refusal_in_a_process_of_its_own_is_one_sentence_without_traceback(base, tmp_path):
    (tmp_path / "a.csv").write_text(GOOD + "what,\n")
    command = [sys.executable, "-m", "bertedu", "finetune", "classification", "--data", "a.csv", "--model", str(base)]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 2 and "Traceback" not in ended.stdout + ended.stderr
    assert ended.stderr.startswith("bertedu: a.csv, line 22: the label is ''")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def finetuned(base: Path, *options: str) -> dict[str, Any]:
    """The metrics of a run of one epoch into runs/good."""
    with pytest.raises(SystemExit) as ended:
        main(["finetune", *options, "--model", str(base), "--epochs", "1", "--output", "runs/good", "--device", "cpu"])
    assert ended.value.code == 0
    return json.loads(Path("runs/good/metrics.json").read_text())


def test_a_byte_order_mark_is_no_part_of_the_first_column(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert finetuned(base, "classification", "--data", "a.csv")["rows"]["train"] == 18


def test_the_splits_of_a_folder_are_found(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("set").mkdir()
    Path("set/README.md").write_text("about")
    for name, count in (("train", 10), ("validation", 3), ("test", 2)):
        Path(f"set/{name}.csv").write_text(HEADER + "a,yes\nb,no\n" * count)
    assert finetuned(base, "classification", "--data", "set")["rows"] == {"train": 20, "validation": 6, "test": 4}

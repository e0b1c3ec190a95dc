"""What people bring: files as other programs write them, which must be read, or refused where a fault is planted.

What comes out of a whole file is known from how it was made; with a fault in it nothing but a refusal may come out.
"""

import csv
import io
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bertedu.corpora.readers import read_documents
from bertedu.corpora.task_data import read_labelled, read_tagged
from bertedu.production.protocol import Asked, Limits, parse_request
from support.hostile.oracle import Input, sentence

SEVERAL = "multi_label_classification"
LETTERS = {"BIO": "BIIB", "BIOES": "BIES", "BILOU": "BILU", "BMES": "BMES"}  # begins, goes on, ends, alone
EMPTY_CELLS = ("nan", "NaN", "<NA>", "#N/A", "NaT", "#NAME?", "#DIV/0!", "", "\u200b", "\ufeff \u00ad")


def some_rows(rng: random.Random) -> list[tuple[str, str]]:
    """Texts with a label each: two labels at least."""
    rows = [(f"{sentence(rng)} {number}", rng.choice(("yes", "no", "7"))) for number in range(rng.randint(1, 6))]
    return [*rows, ("the last, but; one|", "yes"), ("the last", "no")]


def table(rng: random.Random, folder: Path) -> Input:
    """A table of a spreadsheet or of `pandas`."""
    path, between = folder / f"a.{rng.choice(('csv', 'tsv'))}", rng.choice(",;\t|")
    rows: list[list[str]] = [list(row) for row in some_rows(rng)]
    expected, header = [tuple(row) for row in rows], ["text", "label"]
    fault = rng.choice((None, None, "cell", "nameless", "missing", "long", "cut", "twice", "rule", "late", "list"))
    if fault == "cut" and between == "\t":  # there a lone quote belongs to the text
        fault = "twice"
    row = rng.choice(rows)
    if fault == "missing":
        row[rng.randrange(2)] = rng.choice(EMPTY_CELLS)
    elif fault == "list":
        row[1] = rng.choice(("['yes']", "[1, 2]", '["no", "yes"]'))
    if rng.random() < 0.3 or fault == "nameless":
        header, rows[:] = ["", *header], [[str(number), *one] for number, one in enumerate(rows)]
    if rng.random() < 0.3:
        header, rows[:] = [*header, "", ""], [[*one, "", ""] for one in rows]
    row = rng.choice(rows)
    if fault == "nameless":
        row[0] = "one"
    elif fault == "long":
        row.append("more")
    elif fault == "rule":
        rows.insert(0, [rng.choice(("---", ":---", "-----:"))] * len(header))
    elif fault == "cell":
        row.pop()
    text = io.StringIO()
    writer = csv.writer(text, delimiter=between, lineterminator=rng.choice(("\n", "\r\n")))
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    csv.writer(text, delimiter=between, lineterminator="\n", quoting=quoting).writerow(header)
    writer.writerows(rows)
    content = rng.choice(("", "", f"sep={between}\n")) + text.getvalue() + rng.choice(("", "\n\n"))
    if fault == "cut":
        content = content.rstrip() + f'\n"cut{between}yes'
    elif fault == "twice":
        content = content.replace("label", "text", 1)
    elif fault == "late":
        between = between if between != "\t" else ","
        content = f'text{between}label\na{between}yes\nb{between} "no"\n'
    path.write_bytes(("\ufeff" * rng.choice((0, 0, 1, 2)) + content).encode())
    return Input(
        lambda: [(one.text, one.label) for one in read_labelled(path)],
        None if fault else lambda: expected,
        not fault,
        str(path),
    )


def listed_labels(rng: random.Random, folder: Path) -> Input:
    """Several labels a row, in a list, in the text of one, or with commas."""
    path = folder / "a.jsonl"
    rows = [(text, rng.sample(("x", "y", "z z"), rng.randint(0, 3))) for text, _ in some_rows(rng)]
    forms: tuple[Callable[[list[str]], Any], ...] = (list, str, json.dumps, ", ".join, lambda labels: str((*labels,)))
    form, fault = rng.choice(forms), rng.choice((None, ";", "|", "zeros", "twice", "numpy", "bare", "object"))
    written: list[Any] = [form(labels) for _, labels in rows]
    if fault == "zeros":
        one, kind = rng.choice((str, list)), rng.choice((int, bool, float))
        written = [one([kind(rng.randint(0, 1)) for _ in range(3)]) for _ in rows]
    elif fault in ("numpy", "bare", "object"):
        odd = {"numpy": "['x' 'y']", "bare": "[x, y]", "object": "{'x': 1}"}
        written[rng.randrange(len(rows))] = odd[str(fault)]
    elif fault == "twice":
        written[rng.randrange(len(rows))] = form(["x", "y", "x"])
    elif fault:
        written[rng.randrange(len(rows))] = f"x{fault}y"
    objects = [{"text": text, "labels": one} for (text, _), one in zip(rows, written, strict=True)]
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    return Input(
        lambda: [(one.text, list(one.label)) for one in read_labelled(path, problem_type=SEVERAL)],
        None if fault else lambda: rows,
        not fault,
        str(path),
    )


def json_of_others(rng: random.Random, folder: Path) -> Input:
    """Objects in a list or in lines, as programs write them and as people do."""
    path = folder / f"a.{rng.choice(('jsonl', 'json', 'ndjson'))}"
    rows = some_rows(rng)
    objects = [{"label": label, "more": [{}], "text": text} for text, label in rows]
    lines = [json.dumps(one, ensure_ascii=rng.random() < 0.5) for one in objects]
    faults = (None, None, "comma", "quotes", "cut", "value", "comment", "nothing")
    fault, at = rng.choice(faults), rng.randrange(len(lines))
    broken = {
        "comma": "{" + lines[at][1:-1] + ",}",
        "quotes": "{'text': 'a', 'label': 'yes'}",
        "cut": lines[at][: rng.randrange(1, len(lines[at]))],
        "value": rng.choice(("null", "7", '["text"]', "NaN", '{"text": "a", "label": null}')),
        "comment": "// the best ones",
    }
    lines[at] = broken.get(str(fault), lines[at])
    if rng.random() < 0.5:
        content = "[" + rng.choice((",", ",\n ")).join(lines) + "]"
    else:
        content = "\n".join(lines) + rng.choice(("", "\n", "\n\n \n"))
    if fault == "nothing":
        content = rng.choice(("[]", "[ ]\n", "", " \n", "{}", "[{}]", '{"text": [], "label": []}'))
    path.write_bytes(("\ufeff" * rng.choice((0, 0, 1)) + content).encode())
    return Input(
        lambda: [(one.text, one.label) for one in read_labelled(path)],
        None if fault else lambda: rows,
        not fault,
        str(path),
    )


def tags(rng: random.Random, folder: Path) -> Input:
    """Entities in any scheme, perhaps with a header, with numbers before the words, or with a tag that breaks it."""
    path, scheme = folder / f"a.{rng.choice(('conll', 'tsv', 'txt'))}", rng.choice(list(LETTERS))
    begins, goes_on, ends, alone = LETTERS[scheme]
    sentences: list[list[tuple[str, str, str]]] = []  # word, tag as written, tag of BIO
    for lengths in [[3, 0, 1], [2], *([rng.randint(0, 3) for _ in range(rng.randint(1, 4))] for _ in range(4))]:
        found: list[tuple[str, str, str]] = []
        for length in lengths:
            letters = [begins, *[goes_on] * (length - 2), ends] if length > 1 else [alone] * length
            found += [(f"w{n}", f"{one}-x", f"{'I' if n else 'B'}-x") for n, one in enumerate(letters)]
            found.append(("und", "O", "O"))
        sentences.append(found)
    fault = rng.choice((None, "letter", "open", "column", "commas", "counted", "both", "ignored"))
    at = rng.choice(sentences)
    if fault == "letter":
        at.insert(rng.randrange(len(at)), ("odd", rng.choice(("X-x", "b-x", "0", "B_x", "x", "B-")), "O"))
    elif fault == "ignored":
        at.append(("odd", "-100", "O"))
    elif fault == "open":
        at.append(("odd", f"{goes_on}-x", "O"))
    between = rng.choice(("\t", " ", " _ _ ")) if fault != "commas" else ","
    numbered = rng.random() < 0.3 and between == "\t"
    lines = []
    for one in sentences:
        first = [[str(number)] * numbered for number in range(1, len(one) + 1)]
        lines += [between.join([*before, *row[:2]]) for before, row in zip(first, one, strict=True)] + [""]
    if fault == "counted":
        form = rng.choice(("{}.", "0{}", "1-{}", "2:{}", "s.{}"))
        lines = [
            between.join([form.format(number), *row[:2]]) if row else ""
            for one in sentences
            for number, row in enumerate([*one, ()], start=1)
        ]
    elif fault == "both":
        lines = [between.join((*line.split(between), line.split(between)[-1])) if line else "" for line in lines]
    elif fault == "column":
        lines[rng.randrange(len(lines) - 1)] = "alone"
    if rng.random() < 0.3 and not fault and not numbered:
        lines.insert(0, between.join(("Token", "Tag")))
    path.write_bytes(rng.choice(("\n", "\r\n")).join(lines).encode())
    return Input(
        lambda: [[*zip(one.words, one.tags, strict=True)] for one in read_tagged(path)],
        None if fault else lambda: [[(word, bio) for word, _, bio in one] for one in sentences],
        not fault,
        str(path),
    )


def folders(rng: random.Random, folder: Path) -> Input:
    """Texts in a folder for each label, with what systems leave there, or with what is no text."""
    rows = [(f"{sentence(rng)} {number}", label) for label in ("no", "yes") for number in range(rng.randint(1, 3))]
    place = folder / "texts"
    shutil.rmtree(place, ignore_errors=True)
    for number, (text, label) in enumerate(rows):
        (place / label).mkdir(parents=True, exist_ok=True)
        (place / label / f"{number}.txt").write_bytes(text.encode() + rng.choice((b"", b"\n", b"\r\n")))
    for left in rng.sample((".DS_Store", "Thumbs.db", "desktop.ini", "1.txt~", "#1.txt#"), k=rng.randint(0, 2)):
        (place / rng.choice(("no", "yes")) / left).write_bytes(b"\xff\0")
    fault = rng.choice((None, "pipe", "loop", "folder", "empty", "unsup", "bytes", "nothing", "half"))
    odd = place / "yes" / f"odd{rng.choice((' ', '.', chr(10), 'ü', ''))}.txt"
    if fault == "pipe":
        os.mkfifo(odd)
    elif fault in ("loop", "nothing"):
        odd.symlink_to(odd.name if fault == "loop" else "gone.txt")
    elif fault == "folder":
        odd.mkdir()
    elif fault == "unsup":
        (place / "unsup").mkdir()
        (place / "unsup" / "1.txt").write_text("a text")
    elif fault:
        odd.write_bytes({"empty": b" \n", "bytes": b"caf\xe9", "half": b"\xed\xa0\xbd"}[fault])
    return Input(
        lambda: [(one.text, one.label) for one in read_labelled(place)], None if fault else lambda: rows, not fault
    )


LONE = "The cat sat. It slept."  # in each line of what is no running text


def running_text(rng: random.Random, folder: Path) -> Input:
    """Sentences with any line ends and blanks between paragraphs, or lines of another format."""
    path, end = folder / "a.txt", rng.choice(("\n", "\r\n", "\r", "\x85", "\u2028"))
    sentences = [f"{rng.choice(('It', 'Она', 'वह'))} {'x' * (n % 7 + 1)} y{rng.choice('.!?…')}" for n in range(12)]
    blank = end + rng.choice(("", " ", "\u200b", "\ufeff", "\u00a0", "\u00ad \t")) + end
    content = blank.join(f"{first} {second}" for first, second in zip(sentences[::2], sentences[1::2], strict=True))
    fault = rng.choice((None, None, "json", "tags", "utf-16", "latin-1", "nothing"))
    if fault in ("json", "tags"):
        content = "\n".join([f'{{"text": "{LONE}"}}' if fault == "json" else f"<p>{LONE}</p>"] * 9)
    elif fault == "nothing":
        content = rng.choice(("", " \n", "\u200b\n" * 9, ". " * 9, "[Illustration" * 9))
    path.write_bytes(
        ("é " + content if fault == "latin-1" else content).encode(
            fault if fault in ("utf-16", "latin-1") else "utf-8", "replace"
        )
    )
    return Input(
        lambda: [one for document in read_documents(path) for one in document.sentences],
        None if fault else lambda: sentences,
        not fault,
        str(path),
    )


def bodies(rng: random.Random, folder: Path) -> Input:
    """What clients send to the service."""
    text, pair = sentence(rng), rng.choice((None, sentence(rng)))
    value: Any = {"text": text} if pair is None else {"text": text, "pair": pair}
    whole = json.dumps(value, ensure_ascii=rng.random() < 0.5).encode()
    good = (whole, b"\xef\xbb\xbf" + whole, b" \r\n" + whole + b"\n", json.dumps(value, indent=1).encode())
    bad = (
        *(b"", b" \n", b"null", b"text=a", b"{}", whole * 2, whole[:-1], whole + b",", b"[" + whole + b"]"),
        *(json.dumps(whole.decode()).encode(), whole.replace(b'"', b"'"), whole.decode().encode("utf-16")),
        *(json.dumps({rng.choice(("Text", "inputs", "instances", "query", "")): text}).encode(), b"[" * 99_999),
        json.dumps({"text": rng.choice((None, 1, True, [], [text], {}, "", "\u200b\u00ad", "\0", "\ud83d"))}).encode(),
        json.dumps({"texts": rng.choice((None, text, [], [[text]], {"0": text}, [text] * 99))}).encode(),
        b'{"text": "caf\xe9"}',
        b'{"text": "a", "text": "b"}',
    )
    fault = rng.random() < 0.8
    body = rng.choice(bad if fault else good)
    return Input(lambda: parse_request(body, Limits()), None if fault else lambda: [Asked(text, pair)], not fault)


KINDS: dict[str, Callable[[random.Random, Path], Input]] = {
    "tables of others": table,
    "JSON of others": json_of_others,
    "several labels": listed_labels,
    "tags of others": tags,
    "folders of others": folders,
    "running text of others": running_text,
    "bodies of requests": bodies,
}

"""Files of labelled data and of text, damaged: each reader against a simpler one."""

import csv
import gzip
import io
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bertedu.corpora.readers.plain_text import read_documents
from bertedu.corpora.task_data import read_labelled, read_tagged
from bertedu.files import LIMIT
from support.hostile.oracle import NASTY, STRANGE, WORDS, Input, damaged, decoded, lines_of, sentence


def store(path: Path, data: bytes) -> None:
    """Write a file, compressed where its name says so."""
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def table(rng: random.Random, folder: Path, ending: str) -> Input:
    """A table with a header, quoted where it must be."""
    path, delimiter = folder / f"a.{ending}", "," if ending.startswith("csv") else "\t"
    rows = [
        (f"{sentence(rng)}{rng.choice(('', ', yes', '; no'))}", rng.choice(("yes", "no")))
        for _ in range(rng.randint(1, 9))
    ]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=rng.choice(("\n", "\r\n"))).writerows(
        [("text", "label"), *rows]
    )
    data, hurt = damaged(rng, text.getvalue().encode())
    store(path, data)

    def simpler() -> list[tuple[Any, Any]]:
        header, *records = csv.reader(
            io.StringIO(decoded(path).rstrip("\r\n"), newline=""), delimiter=delimiter, strict=True
        )
        header = [name.strip() for name in header]
        column = next(name for name in ("label", "labels", "gold_label", "category", "score") if name in header)
        return [
            (row[header.index(next(n for n in ("text", "sentence") if n in header))], row[header.index(column)].strip())
            for row in records
        ]

    return Input(lambda: [(row.text, row.label) for row in read_labelled(path)], simpler, not hurt, str(path))


def json_lines(rng: random.Random, folder: Path, ending: str = "jsonl") -> Input:
    """Objects, a line each, with now and then a value of another type."""
    path = folder / f"a.{ending}"
    rows = [{"text": sentence(rng), "label": rng.choice(("yes", "no", 1, True))} for _ in range(rng.randint(1, 9))]
    strange = rng.random() < 0.3
    if strange:
        rng.choice(rows)[rng.choice(("text", "label"))] = rng.choice(STRANGE)
    data, hurt = damaged(
        rng,
        "".join(json.dumps(row, ensure_ascii=rng.random() < 0.5) + "\n" for row in rows).encode(
            "utf-8", "surrogatepass"
        ),
    )
    store(path, data)

    def simpler() -> list[tuple[str, str]]:
        found = [json.loads(line) for line in lines_of(path)]
        return [(row["text"], str(row["label"]).strip()) for row in found]

    return Input(
        lambda: [(row.text, row.label) for row in read_labelled(path)], simpler, not hurt and not strange, str(path)
    )


def columns(rng: random.Random, folder: Path, ending: str = "conll") -> Input:
    """Words and tags, a TAB between them."""
    path = folder / f"a.{ending}"
    blocks = [
        [(rng.choice(WORDS[:6]), rng.choice(("O", "B-x", "B-y"))) for _ in range(rng.randint(1, 6))]
        for _ in range(rng.randint(1, 5))
    ]
    text = "\n\n".join("\n".join("\t".join(pair) for pair in block) for block in blocks) + "\n"
    data, hurt = damaged(rng, text.encode())
    store(path, data)

    def simpler() -> list[list[tuple[str, str]]]:
        found: list[list[tuple[str, str]]] = [[]]
        for line in decoded(path).replace("\r\n", "\n").split("\n"):
            values = line.rstrip(" \t").split("\t" if "\t" in text else " ")
            if len(values) > 1 and values[0].split(" ")[0] != "-DOCSTART-":
                found[-1].append((values[0], values[-1].strip()))
            elif not line.strip(" \t"):
                found.append([])
        return [block for block in found if block]

    return Input(lambda: tagged(path), simpler, not hurt, str(path))


def plain_text(rng: random.Random, folder: Path, ending: str = "txt") -> Input:
    """Running text: nothing may come out that does not stand in it, word by word."""
    path = folder / f"a.{ending}"
    unit = rng.choice(NASTY).replace("\0", "").replace("\ud800", "")
    unit *= rng.choice((1, 1, 1, 3000)) if len(unit) < 20 else 1
    unit = rng.choice((unit, unit, unit, f"\n\n_{' ' * 70}_\n\n"))
    text = "\n".join(f"{sentence(rng).capitalize()}. {sentence(rng)} {unit}." for _ in range(rng.randint(1, 9)))
    data, _ = damaged(rng, text.encode())
    store(path, data)

    def invented() -> set[str]:
        kept = {word for document in read_documents(path) for one in document.sentences for word in one.split()}
        text = decoded(path)
        if "llustration" in text:  # what stands before and behind a caption grows together
            return set()
        there = "".join(text.replace("_", "").replace("<unk>", "[UNK]").split())
        return {word for word in kept if word.replace("_", "") not in there}

    return Input(invented, set, names=str(path))


def conllu(rng: random.Random, folder: Path) -> Input:
    """CoNLL-U: ten columns, comments, tokens of several words and empty nodes."""
    path = folder / "a.conllu"
    tags = ("NOUN", "VERB", "PUNCT", "X")
    blocks = []
    for _ in range(rng.randint(1, 4)):
        rows = ["# text = some words"] if rng.random() < 0.5 else []
        for number in range(1, rng.randint(2, 6)):
            if rng.random() < 0.2:
                rows.append("\t".join([rng.choice((f"{number}-{number + 1}", f"{number}.1")), "don't", *"________"]))
            rows.append("\t".join([str(number), rng.choice(WORDS), "_", rng.choice(tags), *"______"]))
        blocks.append("\n".join(rows))
    data, hurt = damaged(rng, ("\n\n".join(blocks) + "\n\n").encode())
    path.write_bytes(data)

    def simpler() -> list[list[tuple[str, str]]]:
        found: list[list[tuple[str, str]]] = [[]]
        for line in lines_of(path):
            values = line.split("\t")
            if not line.strip(" \t"):
                found.append([])
            elif not line.startswith("#") and not {"-", "."} & set(values[0]):
                found[-1].append((values[1], values[3].strip()))
        return [block for block in found if block]

    return Input(lambda: tagged(path), simpler, not hurt, str(path))


def tagged(path: Path) -> list[list[tuple[str, str]]]:
    """Sentences as pairs of word and tag."""
    return [list(zip(row.words, row.tags, strict=True)) for row in read_tagged(path)]


def folders(rng: random.Random, folder: Path) -> Input:
    """A folder for each label with a file for each text, and now and then something else among them."""
    place = folder / f"folders-{rng.randrange(2**40)}"
    wanted, hurt = [], False
    labels = sorted(rng.sample(("no", "yes", "may be", "日本", "U.S."), rng.choice((1, 2, 2, 3, 3))))
    for label in labels:
        (place / label).mkdir(parents=True)
        for number in range(rng.randint(1, 3)):
            text = "\n".join(sentence(rng) for _ in range(rng.randint(1, 3)))
            data, damage = damaged(rng, f"{text}\n".encode()) if rng.random() < 0.1 else (f"{text}\n".encode(), False)
            (place / label / f"{number}.txt").write_bytes(data)
            wanted.append((place / label / f"{number}.txt", label))
            hurt |= damage
    (place / ".hidden").mkdir()
    (place / "README.md").write_text("about")
    beside = place / labels[0] / "z"
    strange = rng.choice((*[None] * 6, "folder", "pipe", "loop", "nowhere", "empty label", "hidden"))
    if strange == "folder":
        beside.mkdir()
    elif strange == "pipe":
        os.mkfifo(beside)
    elif strange in ("loop", "nowhere"):
        beside.symlink_to(beside if strange == "loop" else place / "nowhere")
    elif strange == "empty label":
        (place / "zzz").mkdir()
    elif strange == "hidden":
        (place / labels[0] / ".z").write_bytes(b"\xff")
    refused = strange not in (None, "hidden") or len(labels) < 2

    def simpler() -> list[tuple[str, str]]:
        return [(decoded(path).replace("\r\n", "\n").rstrip("\n"), label) for path, label in wanted]

    def read() -> list[tuple[str, str]]:
        return [(row.text, row.label) for row in read_labelled(place)]

    return Input(read, None if refused else simpler, not hurt and not refused, str(place))


def compressed(rng: random.Random, folder: Path) -> Input:
    """A compressed file of any kind, damaged before or after it was compressed, or one that expands too far."""
    kinds: tuple[tuple[Callable[..., Input], str], ...] = (
        *(
            (table, "csv.gz"),
            (table, "tsv.gz"),
            (json_lines, "jsonl.gz"),
            (columns, "conll.gz"),
            (plain_text, "txt.gz"),
        ),
    )
    draw, ending = rng.choice(kinds)
    made = draw(rng, folder, ending)
    path = folder / f"a.{ending}"
    how = rng.randrange(4)
    if how == 0:
        path.write_bytes(
            path.read_bytes() + gzip.compress(b"") + bytes(rng.randrange(9))
        )  # as `cat` and tapes leave it
    elif how == 1:
        path.write_bytes(path.read_bytes() + gzip.compress(b"\n" * 1_000_000))
        return Input(lambda: with_most_bytes(1000, made.run), None, names=str(path))
    elif how == 2:
        data, hurt = damaged(rng, path.read_bytes())
        path.write_bytes(data)
        made.must_pass &= not hurt
    return made


def with_most_bytes(most: int, run: Callable[[], Any]) -> Any:
    """Run under another limit of how large a file may be."""
    before = os.environ.get(LIMIT)
    os.environ[LIMIT] = str(most)
    try:
        return run()
    finally:
        del os.environ[LIMIT]
        if before is not None:
            os.environ[LIMIT] = before


KINDS: dict[str, Callable[[random.Random, Path], Input]] = {
    "tables with commas": lambda rng, folder: table(rng, folder, "csv"),
    "tables with TABs": lambda rng, folder: table(rng, folder, "tsv"),
    "JSON lines": json_lines,
    "CoNLL columns": columns,
    "CoNLL-U": conllu,
    "folders by label": folders,
    "compressed files": compressed,
    "plain text": plain_text,
}

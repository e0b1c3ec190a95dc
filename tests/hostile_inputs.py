"""Inputs of a saboteur, drawn from a seed, each with an oracle that says what must come out.

A kind draws one input: a file that is written well and then perhaps damaged, or a command with strange options. What
comes out is a value, which must equal what a second, simpler reading of the same bytes gives, or a refusal, which must
be one sentence of readable characters. A refusal of what nobody damaged is an error too.
"""

import csv
import io
import json
import math
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from click.testing import CliRunner
from safetensors.torch import load_file, save_file

from bertedu.cli import main
from bertedu.config import BertConfig
from bertedu.corpora.readers.plain_text import read_documents
from bertedu.corpora.task_data import read_choices, read_labelled, read_questions, read_summaries, read_tagged
from bertedu.errors import UserError, visible
from bertedu.finetuning.plan import FinetuningPlan
from bertedu.model import BertForMaskedLM
from bertedu.pretraining.plan import Plan
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training.metrics import read_metrics

WORDS = (
    "cat",
    "dog",
    "sat",
    "Mat",
    "naïve",
    "日本",
    "e.g.",
    "U.S.",
    "3.5",
    "end.",
    "no!",
    "[MASK]",
    "=",
    "_it_",
    "«a»",
)
NASTY = (
    *("\0", "\ud800", "\x1b]0;x\x07", "\u202e", "\u2028", "\ufeff", "\r", "\n", "\t", '"', ",", "{", "[" * 5000, "\\"),
    *("9" * 6000, "NaN", "-Infinity", "1e999", "null", "true", "[Illustration", "-DOCSTART-", "B-", "[CLS]", "\u0301"),
)
STRANGE = (None, True, -1, 0, 2**70, 1e300, "", "\0", "x" * 3000, [], {}, [[]], {"a": None}, [1, "a"], "0.1", 0.5, -0.0)
LONGEST_MESSAGE = 1200
TEXT_COMMANDS = ("fill-mask", "attention", "answer")


class Wrong(AssertionError):
    """Something came out that must not."""


@dataclass
class Input:
    """What is run, what its value must equal (given what was said), and whether a refusal is a mistake."""

    run: Callable[[], Any]
    expected: Callable[[], Any] | None  # None: nothing but a refusal may come out
    must_pass: bool = False


def check(made: Input) -> str:
    """Run an input; returns "accepted" or "refused". Raises Wrong for anything that must not come out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = made.run()
        except UserError as error:
            said = str(error)
            if made.must_pass:
                raise Wrong(f"refused, and nothing is wrong: {said[:300]}") from error
            if ("\n" in visible(said).strip() and len(said.splitlines()) > 2) or len(said) > LONGEST_MESSAGE:
                raise Wrong(f"this is no sentence: {said[:300]!r} ({len(said)} characters)") from error
            return "refused"
    if made.expected is None:
        raise Wrong(f"taken in silence: {found!r}"[:300])
    wanted = made.expected()
    if found != wanted:
        raise Wrong(f"{found!r}"[:300] + " where there should be " + f"{wanted!r}"[:300])
    return "accepted"


def damaged(rng: random.Random, data: bytes) -> tuple[bytes, bool]:
    """The bytes, in two of three inputs damaged in one to three places; and whether they were."""
    if rng.random() < 1 / 3:
        return data, False
    before = data
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(7)
        if how == 0:
            data = data[:at]
        elif how == 1:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif how == 2:
            data = data[:at] + rng.choice(NASTY).encode("utf-8", "surrogatepass") + data[at:]
        elif how == 3:
            until = rng.randrange(at, len(data) + 1)
            data = data[:at] + data[until:]
        elif how == 4:
            data = data[:at] + data[at : at + rng.randrange(200)] * 2 + data[at:]
        elif how == 5:
            data = data.decode("utf-8", "replace").encode(rng.choice(("utf-16", "utf-32", "latin-1")), "replace")
        else:
            data = data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"")))
    return data, data != before


def sentence(rng: random.Random) -> str:
    """Some words."""
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 8)))


def decoded(path: Path) -> str:
    """The text of a file, as strictly as can be."""
    return path.read_bytes().decode("utf-8-sig")


# Labelled data ------------------------------------------------------------------------------------------------


def table(rng: random.Random, folder: Path, ending: str) -> Input:
    """A table with a header, quoted where it must be."""
    path, delimiter = folder / f"a.{ending}", "," if ending == "csv" else "\t"
    rows = [
        (f"{sentence(rng)}{rng.choice(('', ', yes', '; no'))}", rng.choice(("yes", "no")))
        for _ in range(rng.randint(1, 9))
    ]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=rng.choice(("\n", "\r\n"))).writerows(
        [("text", "label"), *rows]
    )
    data, hurt = damaged(rng, text.getvalue().encode())
    path.write_bytes(data)

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

    return Input(lambda: [(row.text, row.label) for row in read_labelled(path)], simpler, not hurt)


def json_lines(rng: random.Random, folder: Path) -> Input:
    """Objects, a line each, with now and then a value of another type."""
    path = folder / "a.jsonl"
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
    path.write_bytes(data)

    def simpler() -> list[tuple[str, str]]:
        found = [json.loads(line) for line in decoded(path).removesuffix("\n").split("\n")]
        return [(row["text"], str(row["label"]).strip()) for row in found]

    return Input(lambda: [(row.text, row.label) for row in read_labelled(path)], simpler, not hurt and not strange)


def columns(rng: random.Random, folder: Path) -> Input:
    """Words and tags, a TAB between them."""
    path = folder / "a.conll"
    blocks = [
        [(rng.choice(WORDS[:6]), rng.choice(("O", "B-x", "B-y"))) for _ in range(rng.randint(1, 6))]
        for _ in range(rng.randint(1, 5))
    ]
    text = "\n\n".join("\n".join("\t".join(pair) for pair in block) for block in blocks) + "\n"
    data, hurt = damaged(rng, text.encode())
    path.write_bytes(data)

    def simpler() -> list[list[tuple[str, str]]]:
        found: list[list[tuple[str, str]]] = [[]]
        for line in decoded(path).replace("\r\n", "\n").split("\n"):
            values = line.rstrip(" \t").split("\t" if "\t" in text else " ")
            if len(values) > 1 and values[0].split(" ")[0] != "-DOCSTART-":
                found[-1].append((values[0], values[-1].strip()))
            elif not line.strip(" \t"):
                found.append([])
        return [block for block in found if block]

    return Input(lambda: [list(zip(row.words, row.tags, strict=True)) for row in read_tagged(path)], simpler, not hurt)


def squad(rng: random.Random, folder: Path) -> Input:
    """Questions with answers in a context, now and then with a strange value."""
    path = folder / "a.json"
    entries = []
    context = sentence(rng) + " the cat sings."
    for number in range(rng.randint(1, 4)):
        answer = {"text": "the cat", "answer_start": context.index("the cat")}
        entries.append({"id": f"q{number}", "question": sentence(rng), "answers": [answer], "is_impossible": False})
    strange = rng.random() < 0.4
    if strange:
        place = rng.choice((rng.choice(entries), entries[0]["answers"][0]))
        place[rng.choice(list(place))] = rng.choice(STRANGE)
    whole: Any = {"data": [{"title": rng.choice(WORDS), "paragraphs": [{"context": context, "qas": entries}]}]}
    data, hurt = damaged(rng, json.dumps(whole).encode())
    path.write_bytes(data)

    def simpler() -> list[Any]:
        paragraphs = [p for article in json.loads(decoded(path))["data"] for p in article["paragraphs"]]
        return [
            (q["id"], q["question"], p["context"], [(a["text"], a["answer_start"]) for a in q.get("answers", [])])
            for p in paragraphs
            for q in p["qas"]
        ]

    def read() -> list[Any]:
        found = read_questions(path)
        return [(q.id, q.question, q.context, [(a.text, a.start) for a in q.answers]) for q in found]

    return Input(read, simpler, not hurt and not strange)


def choices(rng: random.Random, folder: Path) -> Input:
    """Questions with choices."""
    path = folder / "a.jsonl"
    rows = [
        {"question": sentence(rng), "choices": ["a b", "c", "d"], "label": rng.randrange(3)}
        for _ in range(rng.randint(1, 5))
    ]
    strange = rng.random() < 0.4
    if strange:
        rng.choice(rows)[rng.choice(("question", "choices", "label"))] = rng.choice(STRANGE)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    expected = [(row["question"], row["choices"], row["label"]) for row in rows]
    return Input(
        lambda: [(row.question, list(row.choices), row.label) for row in read_choices(path)],
        lambda: expected,
        not strange,
    )


def summaries(rng: random.Random, folder: Path) -> Input:
    """Texts with summaries."""
    path = folder / "a.jsonl"
    rows = [{"text": sentence(rng), "summary": sentence(rng)} for _ in range(rng.randint(1, 5))]
    data, hurt = damaged(rng, "".join(json.dumps(row) + "\n" for row in rows).encode())
    path.write_bytes(data)

    def simpler() -> list[tuple[str, str]]:
        found = [
            json.loads(line)
            for line in decoded(path).replace("\r\n", "\n").removesuffix("\r").removesuffix("\n").split("\n")
        ]
        return [(row["text"], row["summary"]) for row in found]

    return Input(lambda: [(row.text, row.summary) for row in read_summaries(path)], simpler, not hurt)


def plain_text(rng: random.Random, folder: Path) -> Input:
    """Running text: nothing may come out that does not stand in it, word by word."""
    path = folder / "a.txt"
    unit = rng.choice(NASTY).replace("\0", "").replace("\ud800", "")
    unit *= rng.choice((1, 1, 1, 3000)) if len(unit) < 20 else 1
    text = "\n".join(f"{sentence(rng).capitalize()}. {sentence(rng)} {unit}." for _ in range(rng.randint(1, 9)))
    data, _ = damaged(rng, text.encode())
    path.write_bytes(data)

    def invented() -> set[str]:
        kept = {word for document in read_documents(path) for one in document.sentences for word in one.split()}
        text = decoded(path)
        if "llustration" in text:  # what stands before and behind a caption grows together
            return set()
        there = "".join(text.replace("_", "").replace("<unk>", "[UNK]").split())
        return {word for word in kept if word.replace("_", "") not in there}

    return Input(invented, set)


# Saved folders ------------------------------------------------------------------------------------------------


def small_model(folder: Path) -> Path:
    """A folder with a very small model, made once."""
    place = folder / "model"
    if not place.exists():
        torch.manual_seed(0)
        tokenizer = BertTokenizer([*SPECIAL_TOKENS, *"abcdefghij", "cat", "dog", ".", "##s"])
        sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
        BertForMaskedLM(BertConfig(len(tokenizer), max_position_embeddings=40, **sizes)).save_pretrained(place)
        tokenizer.save_pretrained(place)
        (place / "whole").mkdir()
        for name in ("config.json", "tokenizer_config.json", "vocab.txt", "model.safetensors"):
            (place / "whole" / name).write_bytes((place / name).read_bytes())
    return place


def strange_json(rng: random.Random, values: dict[str, Any]) -> tuple[bytes, bool]:
    """An object with some strange values, or another value, or damaged bytes; and whether anything is changed."""
    changed: Any = dict(values)
    how = rng.randrange(5)
    if how == 0:
        return damaged(rng, json.dumps(values, indent=1).encode())
    if how == 1:
        return rng.choice((b"[" * 100_000, b"9" * 6000, b'{"a":' * 3000 + b"1", b"null", b"[]", b"7", b'""', b"")), True
    for _ in range(rng.randint(1, 2)):
        changed[rng.choice(list(values))] = rng.choice(STRANGE)
    return json.dumps(changed).encode(), json.dumps(changed) != json.dumps(values)  # 0 == False, and is no false


def config(rng: random.Random, folder: Path) -> Input:
    """config.json: what is taken is what stands there."""
    place = small_model(folder)
    values = json.loads((place / "whole/config.json").read_text())
    data, hurt = strange_json(rng, values | {"id2label": {"0": "no", "1": "yes"}})
    (place / "config.json").write_bytes(data)

    def read() -> list[Any]:
        found = BertConfig.load(place)
        there = json.loads(decoded(place / "config.json"))
        return [
            name
            for name in values
            if there.get(name) is not None and hasattr(found, name) and getattr(found, name) != there[name]
        ]

    return Input(read, list, not hurt)


def tokenizer_config(rng: random.Random, folder: Path) -> Input:
    """tokenizer_config.json beside a vocabulary."""
    place = small_model(folder)
    data, hurt = strange_json(rng, json.loads((place / "whole/tokenizer_config.json").read_text()))
    (place / "tokenizer_config.json").write_bytes(data)
    (place / "vocab.txt").write_bytes((place / "whole/vocab.txt").read_bytes())

    def simpler() -> list[Any]:
        there = json.loads(decoded(place / "tokenizer_config.json"))
        return [there.get("do_lower_case", True), there.get("strip_accents")]

    def read() -> list[Any]:
        normalization = BertTokenizer.from_pretrained(place).normalization
        return [normalization.lowercase, normalization.strip_accents]

    return Input(read, simpler, not hurt)


def vocabulary(rng: random.Random, folder: Path) -> Input:
    """vocab.txt: a token a line, none lost and none made up."""
    path = folder / "vocab.txt"
    tokens = [*SPECIAL_TOKENS, *rng.sample([f"{word}{number}" for word in WORDS for number in range(3)], 9)]
    data, hurt = damaged(rng, ("\n".join(tokens) + "\n").encode())
    path.write_bytes(data)
    return Input(
        lambda: BertTokenizer.from_pretrained(path).tokens,
        lambda: decoded(path).replace("\r\n", "\n").removesuffix("\n").split("\n"),
        not hurt,
    )


def run_json(rng: random.Random, folder: Path) -> Input:
    """run.json of either kind of run."""
    path = folder / "run.json"
    whole = {
        "corpus": ["world"],
        "preset": "tiny",
        "vocab_size": 300,
        "mask_rates": [0.4, 0.3],
        "seed": 1,
        "minutes": 5.0,
        "steps": None,
        "betas": [0.9, 0.98],
    }
    tuned = {"task": "tagging", "model": "m", "data": "d", "seed": 0, "epochs": 2.0, "dropout": None, "crf": False}
    read, values = rng.choice(((Plan.read, whole), (FinetuningPlan.read, tuned)))
    data, hurt = strange_json(rng, values)
    path.write_bytes(data)

    def simpler() -> dict[str, Any]:
        return {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in json.loads(decoded(path)).items()
        }

    return Input(lambda: read(folder), simpler, not hurt)


def metrics(rng: random.Random, folder: Path) -> Input:
    """metrics.jsonl: whole lines, all of them; the last may be cut short."""
    path = folder / "metrics.jsonl"
    lines = [{"step": step, "loss": rng.random()} for step in range(rng.randint(1, 9))]
    data, hurt = damaged(rng, "".join(json.dumps(line) + "\n" for line in lines).encode())
    path.write_bytes(data)

    def simpler() -> list[dict[str, Any]]:
        *whole, last = decoded(path).split("\n")
        found = [json.loads(line) for line in whole]
        try:
            return [*found, json.loads(last)]
        except (ValueError, RecursionError):
            return found

    return Input(lambda: read_metrics(folder), simpler, not hurt)


def weights(rng: random.Random, folder: Path) -> Input:
    """model.safetensors: what is taken is finite and stands in the file."""
    place = small_model(folder)
    for name in ("config.json", "tokenizer_config.json", "vocab.txt"):
        (place / name).write_bytes((place / "whole" / name).read_bytes())
    whole, path = place / "whole/model.safetensors", place / "model.safetensors"
    tensors = load_file(whole)
    name = rng.choice(list(tensors))
    changes: list[Callable[[Any], Any]] = [
        *(lambda t: t.fill_(math.inf), lambda t: t.fill_(math.nan), lambda t: t.long(), lambda t: t.bool()),
        *(lambda t: t.to(torch.complex64), lambda t: t.to(torch.float8_e5m2), lambda t: t[:1], lambda t: t[None]),
    ]
    must_pass = False
    match rng.randrange(4):
        case 0:
            tensors[name] = rng.choice(changes)(tensors[name].clone())
            if (
                tensors[name].shape == load_file(whole)[name].shape
                and tensors[name].is_floating_point()
                and tensors[name].dtype.itemsize > 1
                and bool(tensors[name].isfinite().all())
            ):
                must_pass = True  # the first row of a tensor of one row
            save_file(tensors, path)
        case 1:
            save_file(
                {n: t.to(rng.choice((torch.float16, torch.bfloat16, torch.float64))) for n, t in tensors.items()}, path
            )
            must_pass = True
        case 2:
            data, hurt = damaged(rng, whole.read_bytes())
            path.write_bytes(data)
            must_pass = not hurt
        case _:
            tensors[f"bert.{name}" if not name.startswith("bert.") else name.removeprefix("bert.")] = tensors[name] + 1
            save_file(tensors, path)

    def differing() -> list[str]:
        model = BertForMaskedLM.from_pretrained(place)
        bad = [n for n, value in model.state_dict().items() if not torch.isfinite(value).all()]
        sums = sum(float(t.double().sum()) for t in load_file(path).values())
        mine = sum(float(t.double().sum()) for t in model.parameters())
        return (
            bad
            if math.isclose(sums, mine, rel_tol=1e-2, abs_tol=1e-2) or len(load_file(path)) != len(load_file(whole))
            else [*bad, "sums"]
        )

    return Input(differing, list, must_pass)


# Commands -----------------------------------------------------------------------------------------------------


def ended(arguments: list[str]) -> str:
    """What a command printed. Raises UserError with its sentence for exit code 2, and Wrong for any other end."""
    done = CliRunner().invoke(main, arguments)
    if done.exit_code == 2 and isinstance(done.exception, SystemExit):
        said = [line for line in done.stderr.splitlines() if line.startswith("bertedu: ")]
        if len(said) != 1 or visible(done.output) != done.output:
            raise Wrong(f"{arguments}: exit code 2 with {done.stderr[:300]!r}")
        raise UserError(said[0])
    if done.exit_code != 0:
        raise Wrong(f"{arguments}: exit code {done.exit_code}, {done.exception!r}")
    if visible(done.output) != done.output:
        raise Wrong(f"{arguments}: control characters in {done.output[:200]!r}")
    return done.stdout


def look(rng: random.Random, folder: Path) -> Input:
    """fill-mask and attention with strange texts, numbers and names; what must come out is known by counting."""
    place = small_model(folder)
    for name in ("config.json", "tokenizer_config.json", "vocab.txt", "model.safetensors"):
        (place / name).write_bytes((place / "whole" / name).read_bytes())
    command = rng.choice(TEXT_COMMANDS[:2])
    text = " ".join(
        rng.choices(("a", "cat", "[MASK]", "dogs", "", *NASTY[2:8], "[SEP]", "x" * 300), k=rng.randint(0, 6))
    )
    model = str(place)
    named = rng.random() < 0.8
    if not named:
        model = rng.choice(
            (
                "",
                ".",
                "runs/none",
                "../x",
                "/dev/zero",
                "/proc/self",
                "a\0",
                "\udcff",
                f"{folder}/",
                "hub:x/../y",
                "x" * 5000,
            )
        )
    if command == "fill-mask":
        top = rng.choice((1, 2, 5, 0, -3, 2**70))
        arguments = [command, "--model", model, "--top", str(top), "--", text]

        def counted() -> int:
            return ended(arguments).count("%")

        masks = text.count("[MASK]")
        possible = named and top > 0 and masks and "\0" not in text
        return Input(counted, (lambda: masks * min(top, 19)) if possible else None)
    page = folder / rng.choice(("a.html", "a.png", "dir", "b.html"))
    (folder / "dir").mkdir(exist_ok=True)
    arguments = [
        command,
        "--model",
        model,
        *rng.choice(((), ("--html", str(page)), ("--png", str(page)), ("--html", ""))),
        "--",
        text,
    ]

    def printed() -> bool:
        out = ended(arguments)
        return (out.startswith("written: ") and page.is_file()) or out.startswith("Heat maps of all 2 attention heads")

    return Input(printed, (lambda: True) if named and arguments[3:5] != ["--html", ""] else None)


BAD_OPTIONS = (
    *(
        ("--seed", str(2**64)),
        ("--seed", "-1"),
        ("--max-length", str(2**70)),
        ("--max-length", "0"),
        ("--batch-size", "0"),
    ),
    *(("--accumulation", "-1"), ("--accumulation", str(2**70)), ("--learning-rate", "nan"), ("--learning-rate", "-1")),
    *(
        ("--output", ""),
        ("--resume", ""),
        ("--resume", "/nowhere"),
        ("--device", "tpu"),
        ("--precision", "fp64"),
        ("--nosuch", "1"),
    ),
    *(
        ("--seed", "x"),
        ("--learning-rate", "inf"),
        ("--batch-size", str(2**70)),
        ("--seed", "\0"),
        ("--output", "\udcff"),
    ),
)
BAD_PRETRAIN = (
    ("--minutes", "nan"),
    ("--steps", "0"),
    ("--tokens", "-5"),
    ("--vocab-size", "0"),
    ("--mask-rates", "0", "2"),
    ("--corpus", ""),
    ("--corpus", "hub:"),
    ("--corpus", "/dev/zero"),
    ("--corpus", "hub:../../etc"),
    ("--corpus", "\x1b[2J"),
    ("--from", "./nowhere"),
    ("--preset", "huge"),
)
BAD_FINETUNE = (
    ("--epochs", "nan"),
    ("--dropout", "2"),
    ("--seeds", "0"),
    ("--seeds", str(10**9)),
    ("--data", ""),
    ("--data", "/dev/zero"),
    ("--test", "nowhere.csv"),
    ("--pooling", "best"),
    ("--layer-decay", "0"),
    ("--head-rate", "-1"),
    ("--patience", "-1"),
    ("--crf",),
    ("--model", "./nowhere"),
)


def training(rng: random.Random, folder: Path) -> Input:
    """pretrain and finetune with an option that cannot be: refused, and no folder is made."""
    (folder / "book.txt").write_text("The cat sat on the mat. It was tired. It slept. " * 20)
    (folder / "a.csv").write_text("text,label\n" + "a cat,yes\na dog,no\n" * 9)
    output = folder / "run"
    if rng.random() < 0.5:
        arguments = [
            "pretrain",
            "--corpus",
            str(folder / "book.txt"),
            "--output",
            str(output),
            *rng.choice((*BAD_OPTIONS, *BAD_PRETRAIN)),
        ]
        if not {"--steps", "--minutes", "--tokens"} & set(arguments):
            arguments += ["--steps", "1"]
    else:
        arguments = [
            "finetune",
            "classification",
            "--model",
            str(small_model(folder) / "whole"),
            "--data",
            str(folder / "a.csv"),
        ]
        arguments += ["--output", str(output), *rng.choice((*BAD_OPTIONS, *BAD_FINETUNE))]

    def run() -> None:
        try:
            ended(arguments)
        except UserError:
            if output.exists():
                raise Wrong(f"{arguments}: refused, and a folder was made") from None
            raise

    return Input(run, None)


KINDS: dict[str, Callable[[random.Random, Path], Input]] = {
    "tables with commas": lambda rng, folder: table(rng, folder, "csv"),
    "tables with TABs": lambda rng, folder: table(rng, folder, "tsv"),
    "JSON lines": json_lines,
    "CoNLL columns": columns,
    "SQuAD": squad,
    "multiple choice": choices,
    "summaries": summaries,
    "plain text": plain_text,
    "config.json": config,
    "tokenizer_config.json": tokenizer_config,
    "vocab.txt": vocabulary,
    "run.json": run_json,
    "metrics.jsonl": metrics,
    "model.safetensors": weights,
    "fill-mask and attention": look,
    "pretrain and finetune": training,
}

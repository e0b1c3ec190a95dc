"""Commands with strange options, texts, files and surroundings: what must come out is known by counting."""

import os
import random
import re
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from bertedu.cli import main
from bertedu.errors import UserError, visible
from bertedu.finetuning.tasks.question_answering import SpanFinder
from support.hostile.json_files import small_model
from support.hostile.oracle import NASTY, Input, Wrong, damaged

NO_MODELS = (*("", ".", "runs/none", "../x", "/dev/zero", "/proc/self", "a\0", "\udcff", "hub:x/../y", "x" * 5000),)


def ended(arguments: list[str], codes: tuple[int, ...] = (0,)) -> str:
    """What a command printed. Raises UserError with its sentence for exit code 2, and Wrong for any other end than
    with one of these codes."""
    done = CliRunner().invoke(main, arguments)
    if done.exit_code == 2 and isinstance(done.exception, SystemExit):
        said = [line for line in done.stderr.splitlines() if line.startswith("bertedu: ")]
        if len(said) != 1 or visible(done.output) != done.output:
            raise Wrong(f"{arguments}: exit code 2 with {done.stderr[:300]!r}")
        raise UserError(said[0])
    if done.exit_code not in codes or not isinstance(done.exception, SystemExit | None):
        raise Wrong(f"{arguments}: exit code {done.exit_code}, {done.exception!r}")
    if visible(done.output) != done.output:
        raise Wrong(f"{arguments}: control characters in {done.output[:200]!r}")
    return done.stdout


def look(rng: random.Random, folder: Path) -> Input:
    """fill-mask and attention with strange texts, numbers and names; what must come out is known by counting."""
    place = small_model(folder)
    command = rng.choice(("fill-mask", "attention"))
    text = " ".join(
        rng.choices(("a", "cat", "[MASK]", "dogs", "", *NASTY[2:8], "[SEP]", "x" * 300), k=rng.randint(0, 6))
    )
    model = str(place)
    named = rng.random() < 0.8
    if not named:
        model = rng.choice((*NO_MODELS, f"{folder}/"))
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


NO_TEXTS = ("/dev/zero", "/proc/self/mem", "nowhere.txt", ".", "", "pipe", "latin.txt", "a\0b", "y" * 5000)


def answer(rng: random.Random, folder: Path) -> Input:
    """answer with a text or a file: each answer stands in the text, and there are no more than asked for."""
    place = small_model(folder, SpanFinder)
    words = (*("a cat", "dogs", "[SEP]", "\n", "日本", "é", "\u200b"), *NASTY[2:10], "x" * 300)
    text, question = (" ".join(rng.choices(words, k=rng.randint(0, most))) for most in (120, 6))
    top, named = rng.choice((1, 3, 2**70, 0, -1)), rng.random() < 0.9
    arguments = ["answer", "--model", str(place) if named else rng.choice(NO_MODELS), "--top", str(top)]
    file, readable = folder / "text.txt", True
    how = rng.randrange(4)
    if how == 0:
        arguments += ["--text", text, "--", question]
    else:
        data = text.encode("utf-8", "surrogatepass")
        if how == 1:
            data = damaged(rng, data)[0]
        if how == 3:
            (folder / "latin.txt").write_bytes("é".encode("latin-1"))
            if not (folder / "pipe").exists():
                os.mkfifo(folder / "pipe")
            file, readable = rng.choice([Path(name) if name[:1] == "/" else folder / name for name in NO_TEXTS]), False
        else:
            file.write_bytes(data)
        arguments += ["--", question, str(file)]

    def invented() -> list[str]:
        out = ended(arguments)
        there = text if how == 0 else file.read_bytes().decode("utf-8-sig")
        said, *rest = re.split(r"^ {2} *\d+\.\d%  ", out, flags=re.MULTILINE)
        spans = [one.removesuffix("\n") for one in rest[:-1]]
        if rest[-1] != "(no answer in this text)\n" or len(spans) > top:
            return [out]
        said = said.removeprefix("The model says: ").strip()
        found = said == "no answer in this text" or said in visible(" ".join(there.split()))
        return [one for one in spans if one not in visible(there)] + [said] * (not found)

    possible = named and readable and top > 0 and "\0" not in "".join(arguments)
    return Input(invented, list if possible else None)


KINDS: dict[str, Callable[[random.Random, Path], Input]] = {
    "fill-mask and attention": look,
    "answer": answer,
    "pretrain and finetune": training,
}

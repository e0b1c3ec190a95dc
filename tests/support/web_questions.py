"""What the BERT in JavaScript is asked in tests, and what PyTorch says: rows of ids, and texts of every script."""

import json
import random
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bertedu import BertForPreTraining, BertTokenizer

REPOSITORY = Path(__file__).resolve().parents[2]
CHECKPOINTS = {name: REPOSITORY / "data" / "checkpoints" / name for name in ("world-tiny", "mixed-mini")}
ANSWERS = Path(__file__).with_name("web_answers.js")
LOGITS_WITHIN, WEIGHTS_WITHIN = 1e-4, 1e-5
MOST_SCORED = 8  # tokens of a long text whose words are scored: each costs as much as a token of the encoder
# The first and last code points of blocks from which random texts are drawn, so that all kinds of letters come often.
SCRIPTS = (
    *((0x20, 0x7E), (0x20, 0x7E), (0xA0, 0x24F), (0x2B0, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x530, 0x58F)),
    *((0x590, 0x5FF), (0x600, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1100, 0x11FF), (0x1E00, 0x1FFF)),
    *((0x2000, 0x206F), (0x20A0, 0x20CF), (0x2100, 0x214F), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3)),
    *((0xF900, 0xFAFF), (0xFB00, 0xFDFF), (0xFE00, 0xFFFD), (0x1D100, 0x1D1FF), (0x1F300, 0x1F6FF), (0x0, 0x10FFFF)),
)


def node() -> str:
    """The program of Node; a test that needs it is skipped where there is none."""
    return shutil.which("node") or pytest.skip("no Node was found (on Debian: apt install nodejs)")


def ask_node(folder: Path, ask: str, rows: Sequence[Any], module: Path = ANSWERS) -> bytes:
    """What a function of a module says in Node of a folder's files. Fails with what Node writes where it stops."""
    question = {"web": module.as_uri(), "folder": str(folder), "ask": ask, "rows": rows}
    script = Path(__file__).with_name("web_node.mjs")
    done = subprocess.run([node(), str(script)], input=json.dumps(question).encode(), capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode()[-2000:]
    return done.stdout


@cache
def opened(name: str) -> tuple[BertForPreTraining, BertTokenizer]:
    """A checkpoint of the course as PyTorch computes it."""
    return BertForPreTraining.from_pretrained(CHECKPOINTS[name]).eval(), BertTokenizer.from_pretrained(
        CHECKPOINTS[name]
    )


def assigned(code: int) -> bool:
    """Whether Python's Unicode has a character there that may stand in a text."""
    return unicodedata.category(chr(code)) not in ("Cn", "Cs")


@cache
def characters() -> tuple[tuple[str, ...], ...]:
    """The characters of each block of SCRIPTS."""
    return tuple(tuple(chr(code) for code in range(first, last + 1) if assigned(code)) for first, last in SCRIPTS)


def random_texts(count: int, seed: int = 0) -> list[str]:
    """Texts of one to thirty characters, each of one or two blocks, some with spaces or special tokens between."""
    chance = random.Random(seed)
    texts = []
    for _ in range(count):
        blocks = [chance.choice(characters()) for _ in range(chance.randint(1, 2))]
        parts = [chance.choice(chance.choice(blocks)) for _ in range(chance.randint(1, 30))]
        for _ in range(chance.randint(0, 4)):
            parts.insert(
                chance.randint(0, len(parts)), chance.choice((" ", " ", "\u0301", "[MASK]", "a" * 101, "it", "\t"))
            )
        texts.append("".join(parts))
    return texts


def rows_for(name: str, count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Sequences from one token to all positions of a model: half are texts and pairs, half ids at random."""
    model, tokenizer = opened(name)
    chance = random.Random(seed)
    most, words = model.config.max_position_embeddings, list(tokenizer.vocab)[5:]
    texts = iter(random_texts(3 * count, seed))
    rows = []
    for number in range(count):
        length = 1 + number * (most - 1) // max(1, count - 1)
        if number % 2:
            ids = [chance.randrange(len(tokenizer)) for _ in range(length)]
            types = [int(position >= length // 2) for position in range(length)]
        else:
            first = f"{' '.join(chance.choices(words, k=max(1, length // 2)))} {next(texts)}"
            encoding = tokenizer(first, next(texts) if number % 4 else None, max_length=max(3, length))
            ids, types = encoding.input_ids[0].tolist(), encoding.token_type_ids[0].tolist()
        scored = sorted(chance.sample(range(len(ids)), min(len(ids), MOST_SCORED)))
        rows.append({"ids": ids, "types": types, "changes": {"scored": scored}})
    return rows


@torch.no_grad()
def expected(model: BertForPreTraining, row: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What PyTorch computes in float32: word scores [N, V], next sentence [2], attention weights [L, H, T, T]."""
    scored = torch.zeros(1, len(row["ids"]), dtype=torch.bool)
    scored[0, row["changes"]["scored"]] = True
    ids, types = torch.tensor([row["ids"]]), torch.tensor([row["types"]])
    output = model(ids, token_type_ids=types, masked_positions=scored, output_attentions=True)
    assert output.attentions is not None and output.seq_relationship_logits is not None
    weights = torch.cat(output.attentions)
    return output.prediction_logits.numpy(), output.seq_relationship_logits[0].numpy(), weights.numpy()


def largest_differences(
    model: BertForPreTraining, rows: Sequence[dict[str, Any]], numbers: np.ndarray
) -> tuple[float, float]:
    """The largest difference of a logit, and of an attention weight, between JavaScript's numbers and PyTorch's."""
    logits, weights, start = 0.0, 0.0, 0
    for row in rows:
        parts = expected(model, row)
        for part in parts:
            found = numbers[start : start + part.size].reshape(part.shape)
            start += part.size
            difference = float(np.abs(found - part).max())
            assert not np.isnan(difference), "a number is none"
            if part is parts[-1]:
                weights = max(weights, difference)
            else:
                logits = max(logits, difference)
    assert start == numbers.size
    return logits, weights


def asked_in_node(folder: Path, rows: Sequence[dict[str, Any]]) -> np.ndarray:
    """All numbers of the rows, as Node computes them."""
    return np.frombuffer(ask_node(folder, "answerRows", rows), np.float32)


def in_lots(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """The rows, so many at a time."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]

"""An input with an oracle that says what must come out of it, and how bytes and JSON are damaged.

What comes out is a value, which must equal what a second, simpler reading of the same bytes gives, or a refusal, which
must be one sentence of readable characters that names the file. A refusal of what nobody damaged is an error too.
"""

import json
import random
import warnings
import zlib
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertedu.errors import UserError, visible

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


class Wrong(AssertionError):
    """Something came out that must not."""


@dataclass
class Input:
    """What is run, what its value must equal, whether a refusal is a mistake, and what a refusal must name."""

    run: Callable[[], Any]
    expected: Callable[[], Any] | None  # None: nothing but a refusal may come out
    must_pass: bool = False
    names: str = ""  # such as the file that is to be mended


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
            if made.names not in said:
                raise Wrong(f"{made.names} is not named: {said[:300]}") from error
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
    """The text of a file, compressed or not, as strictly as can be."""
    data = path.read_bytes()
    return (unpacked(data) if path.suffix == ".gz" else data).decode("utf-8-sig")


def unpacked(data: bytes) -> bytes:
    """What was compressed with gzip: whole members one after another, perhaps with zeros behind the last."""
    found = b""
    while data.rstrip(b"\0"):
        member = zlib.decompressobj(wbits=31)
        found += member.decompress(data)
        if not member.eof:
            raise ValueError("the member is cut short")
        data = member.unused_data
    return found


def lines_of(path: Path) -> list[str]:
    r"""The lines of a file without their ends, \n or \r\n."""
    lines = [line.removesuffix("\r") for line in decoded(path).split("\n")]
    return lines if lines[-1] else lines[:-1]


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


def altered(rng: random.Random, value: Any) -> Any:
    """JSON with a strange value, or nothing, in one to three places at any depth."""
    changed = json.loads(json.dumps(value))
    for _ in range(rng.randint(1, 3)):
        inside = changed
        while True:
            places = list(inside) if isinstance(inside, dict) else range(len(inside))
            if not places:
                break
            place = rng.choice(list(places))
            if isinstance(inside[place], dict | list) and rng.random() < 0.8:
                inside = inside[place]
                continue
            if rng.random() < 0.2:
                del inside[place]
            else:
                inside[place] = deepcopy(rng.choice(STRANGE))
            break
    return changed

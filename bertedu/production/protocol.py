"""What a client may send, and what is said to one who sends something else.

A request is JSON in UTF-8: {"text": "…"} or {"texts": ["…", "…"]}, and where two texts belong together "pair" or
"pairs" beside it. Everything else is refused with a status code that says whose mistake it is, and one sentence that
says how to put it right. Nothing is read beyond the limits: memory is what a hostile client would go for.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from bertedu.errors import UserError, shown
from bertedu.json_values import can_be_written, parse_json
from bertedu.utf8 import without_unseen

EXAMPLE = 'send {"text": "…"} or {"texts": ["…", "…"]}'
FIELDS = ("text", "texts", "pair", "pairs")
MOST_DRAINED = 4  # times the limit: so much of a body that is too large is read and dropped, to be heard by its sender
RETRY_SECONDS = 1


@dataclass(frozen=True)
class Limits:
    """How much one client may ask for at once."""

    body_bytes: int = 262_144
    characters: int = 20_000  # of one text
    texts: int = 64  # of one request
    body_seconds: float = 10.0  # until the whole body is there
    answer_seconds: float = 20.0  # until all its texts are answered


@dataclass(frozen=True, slots=True)
class Asked:
    """One text, or two that belong together."""

    text: str
    pair: str | None = None

    def __len__(self) -> int:
        """Characters."""
        return len(self.text) + len(self.pair or "")


class Refusal(UserError):
    """A request that is not answered: its status code and the sentence that the client reads."""

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status = status

    @property
    def headers(self) -> dict[str, str]:
        """What goes with it: when to try again (503), that the rest of the body is not read (408, 413)."""
        if self.status == 503:
            return {"Retry-After": str(RETRY_SECONDS)}
        return {"Connection": "close"} if self.status in (408, 413) else {}


async def read_body(headers: Mapping[str, str], pieces: AsyncIterator[bytes], limits: Limits) -> bytes:
    """The body of a request, read piece by piece. Raises Refusal for one that is too large, too slow or compressed.

    Compressed bodies are refused since a small one may unpack to gigabytes.
    """
    if headers.get("content-encoding", "").lower() not in ("", "identity"):
        raise Refusal(415, "the body is compressed: send it as it is, without Content-Encoding.")
    too_large = Refusal(413, f"the body has more than {limits.body_bytes:,} bytes: send fewer or shorter texts.")
    if int(headers.get("content-length", 0)) > limits.body_bytes and "expect" in headers:
        raise too_large  # the client waits for a word before it sends
    found, size = [], 0
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for piece in pieces:
                size += len(piece)
                if size <= limits.body_bytes:
                    found.append(piece)
                else:
                    found.clear()  # a client that is still sending does not hear an answer: read on for a while
                if size > limits.body_bytes * MOST_DRAINED:
                    break
    except TimeoutError:
        seconds = f"{limits.body_seconds:g} seconds"
        raise Refusal(408, f"the body was not there after {seconds}: send it at once, in one piece.") from None
    if size > limits.body_bytes:
        raise too_large
    return b"".join(found)


def parse_request(body: bytes, limits: Limits) -> list[Asked]:
    """The texts in a body. Raises Refusal: 400 for what is no JSON in UTF-8, 422 for JSON that says something else."""
    if not body.strip():
        raise Refusal(400, f"the body is empty: {EXAMPLE}.")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{body[error.start]:02x} at position {error.start:,}"
        raise Refusal(400, f"the body is not UTF-8 ({byte}): encode it as UTF-8.") from None
    try:
        value = parse_json(text, "the body")
    except UserError as error:
        problem = str(error).rpartition(": ")[0]  # what follows is a remedy for files
        raise Refusal(400, f"{problem}: {EXAMPLE}.") from None
    return asked_in(value, limits)


def asked_in(value: Any, limits: Limits) -> list[Asked]:
    """The texts in a JSON value. Raises Refusal (422) where it is not a request."""
    if not isinstance(value, dict):
        raise Refusal(422, f"the body is {kind_of(value)}, not an object: {EXAMPLE}.")
    for name in value:
        if name not in FIELDS:
            raise Refusal(422, f"there is no field {shown(name)}: {EXAMPLE}.")
    if ("text" in value) == ("texts" in value):
        raise Refusal(422, f"give either text or texts: {EXAMPLE}.")
    if "text" in value:
        if "pairs" in value:
            raise Refusal(422, "pairs goes with texts: send pair beside text.")
        pair = value.get("pair")
        return [Asked(checked(value["text"], "text", limits), None if pair is None else checked(pair, "pair", limits))]
    if "pair" in value:
        raise Refusal(422, "pair goes with text: send pairs beside texts.")
    texts = checked_list(value["texts"], "texts", limits)
    pairs = value.get("pairs")
    if pairs is None:
        return [Asked(text) for text in texts]
    seconds = checked_list(pairs, "pairs", limits)
    if len(seconds) != len(texts):
        raise Refusal(422, f"there are {len(texts)} texts and {len(seconds)} pairs: send as many of both.")
    return [Asked(text, pair) for text, pair in zip(texts, seconds, strict=True)]


def checked_list(value: Any, name: str, limits: Limits) -> list[str]:
    """A list of texts within the limits. Raises Refusal (422) for anything else."""
    if not isinstance(value, list):
        raise Refusal(422, f"{name} is {kind_of(value)}: send a list of texts.")
    if not 1 <= len(value) <= limits.texts:
        raise Refusal(422, f"{name} has {len(value):,} texts: send 1 to {limits.texts} in a request.")
    return [checked(text, f"{name}[{number}]", limits) for number, text in enumerate(value)]


def checked(value: Any, name: str, limits: Limits) -> str:
    """A text within the limits. Raises Refusal (422) for anything else."""
    if not isinstance(value, str):
        raise Refusal(422, f"{name} is {kind_of(value)}: send a text in quotes.")
    if not can_be_written(value):
        raise Refusal(422, f"{name} has half of a character (\\ud800 to \\udfff alone): send whole ones.")
    if len(value) > limits.characters:
        most = f"at most {limits.characters:,}"
        raise Refusal(422, f"{name} has {len(value):,} characters, and {most} are read: shorten or split it.")
    if not without_unseen(value):
        raise Refusal(422, f"{name} is empty: send at least one word.")
    return value


def kind_of(value: Any) -> str:
    """What a JSON value is, in words that repeat nothing of it."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")

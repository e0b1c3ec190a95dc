"""Messages over a socket between the examiner and the process of an answer."""

import json
import select
import socket
import time
from collections.abc import Sequence
from typing import Any

from bertedu.classroom.grading.serialization import MOST_BYTES, Unfit


class Gone(Exception):
    """The other side has ended."""


class TooLong(Exception):
    """The other side has not answered in time."""


class Channel:
    """One end of a pair of sockets. A message is JSON with some blobs of bytes."""

    def __init__(self, end: socket.socket, most: int = MOST_BYTES):
        self.end = end
        self.most = most
        self.deadline: float | None = None  # of the clock that never goes back

    def send(self, message: dict, blobs: Sequence[bytes] = ()) -> None:
        """Send a message; wait where the other side is slow. Raises Gone, TooLong, or Unfit."""
        text = json.dumps({**message, "blobs": [len(blob) for blob in blobs]}).encode()
        if len(text) + sum(map(len, blobs)) > self.most:
            raise Unfit("what came back is larger than the grader accepts")
        try:
            self.end.settimeout(None if self.deadline is None else max(0.01, self.deadline - time.monotonic()))
            self.end.sendall(len(text).to_bytes(8, "big") + text + b"".join(blobs))
            self.end.settimeout(None)
        except TimeoutError as error:
            raise TooLong from error
        except OSError as error:
            raise Gone from error

    def receive(self) -> tuple[dict, list[bytes]]:
        """The next message. Raises Gone, TooLong, or Unfit."""
        length = int.from_bytes(self.read(8), "big")
        if length > self.most:
            raise Unfit("a message that is too long")
        try:
            message: Any = json.loads(self.read(length))
            sizes = message["blobs"]
            if not all(type(size) is int and size >= 0 for size in sizes) or sum(sizes) > self.most:
                raise Unfit("a message with too much data")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise Unfit("not a message") from error
        return message, [self.read(size) for size in sizes]

    def read(self, count: int) -> bytes:
        """Exactly so many bytes."""
        parts, missing = [], count
        while missing:
            if self.deadline is not None:
                left = self.deadline - time.monotonic()
                if left <= 0 or not select.select([self.end], [], [], left)[0]:
                    raise TooLong
            try:
                part = self.end.recv(min(missing, 2**20))
            except OSError as error:
                raise Gone from error
            if not part:
                raise Gone
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

"""Clients that hold a service up without a single wrong byte: slow, silent, greedy, or gone half-way.

A siege opens many connections of one kind from a process of its own and keeps them open; one that the service closes is
opened anew. Meanwhile `neighbour` asks as anybody else would, and notes how long each answer took.
"""

import http.client
import json
import multiprocessing
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.synchronize import Event

HOST = b"Host: 127.0.0.1\r\n"
GET = b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n"
TEXTS = json.dumps({"texts": ["the cat sat on the mat"] * 16}).encode()
TEXT = json.dumps({"text": "the dog sat"}).encode()
CHUNKED = b"POST /answer HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
TRICKLE_SECONDS = 0.2  # between two bytes of a slow sender
START_SECONDS = 60.0  # until all connections have been opened once
ANEW_SECONDS = 0.1  # until a connection that was closed is opened anew
Sender = Iterator[tuple[bytes, float]]  # what is sent next, and the seconds until the next turn


def post(body: bytes) -> bytes:
    """A request with a body."""
    return b"POST /answer HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s" % (HOST, len(body), body)


def silent() -> Sender:
    """Never says a word."""
    yield b"", 3600.0


def slow(first: bytes, byte: bytes) -> Callable[[], Sender]:
    """Says the first part at once, and then a byte at a time."""

    def sender() -> Sender:
        yield first, 0.0
        while True:
            yield byte, TRICKLE_SECONDS

    return sender


def greedy(request: bytes) -> Callable[[], Sender]:
    """Sends one request after the other, as fast as the service takes them."""

    def sender() -> Sender:
        while True:
            yield request * 50, 0.0

    return sender


def once(data: bytes) -> Callable[[], Sender]:
    """Sends this and then says that no more will come."""

    def sender() -> Sender:
        yield data, 0.0
        yield b"END", 3600.0

    return sender


KINDS: dict[str, Callable[[], Sender]] = {
    "silent": silent,
    "slow heads": slow(b"GET /health HTTP/1.1\r\n" + HOST + b"X: ", b"a"),
    "slow bodies": slow(b"POST /answer HTTP/1.1\r\n" + HOST + b"Content-Length: 200000\r\n\r\n", b" "),
    "slow bodies that nobody asked for": slow(
        b"POST /no HTTP/1.1\r\n" + HOST + b"Content-Length: 200000\r\n\r\n", b" "
    ),
    "read nothing": greedy(GET),
    "read nothing, of pages": greedy(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"),
    "read nothing, of metrics": greedy(b"GET /metrics HTTP/1.1\r\n" + HOST + b"\r\n"),
    "read nothing, of answers": greedy(post(TEXTS)),
    "half-open pipelines": once(GET * 20 + post(TEXT) * 5 + b"GET /hea"),
    "pipelines that end": once(GET * 20 + post(TEXT) * 5),
    "tiny chunks": greedy(CHUNKED + b"1\r\n \r\n" * 5000),
    "tiny chunks that nobody asked for": greedy(CHUNKED.replace(b"/answer", b"/no") + b"1\r\n \r\n" * 5000),
    "many headers": greedy(b"GET /health HTTP/1.1\r\n" + HOST + b"X: a\r\n" * 9000 + b"\r\n"),
    "malformed": greedy(b"GET /health HTTP/1.1\r\nX: \0\r\n\r\n"),
}


class Besieger:
    """One connection that is opened again and again."""

    def __init__(self, kind: str, port: int):
        self.kind, self.address = kind, ("127.0.0.1", port)
        self.connection: socket.socket | None = None
        self.due = 0.0
        self.rest = b""

    def turn(self, now: float) -> None:
        """Do what is due."""
        try:
            if self.connection is None:
                self.connection = socket.create_connection(self.address, timeout=5)
                self.connection.setblocking(False)
                self.sender, self.rest = KINDS[self.kind](), b""
            if not self.rest:
                self.rest, wait = next(self.sender)
                self.due = now + wait
            if self.rest == b"END":
                self.connection.shutdown(socket.SHUT_WR)
                self.rest, self.due = b"", now + 3600
            elif self.rest:
                self.rest = self.rest[self.connection.send(self.rest) :]
        except BlockingIOError:
            self.due = now + 0.05
        except OSError:
            self.close(now)

    def close(self, now: float) -> None:
        """Forget a connection that the service has closed."""
        if self.connection is not None:
            self.connection.close()
        self.connection, self.due = None, now + ANEW_SECONDS


def besiege(kind: str, port: int, connections: int, seconds: float, begun: Event) -> None:
    """Hold so many connections of a kind for so long; says when each has been opened once."""
    besiegers = [Besieger(kind, port) for _ in range(connections)]
    for one in besiegers:
        one.turn(time.monotonic())
    begun.set()
    end = time.monotonic() + seconds
    while (now := time.monotonic()) < end:
        for one in besiegers:
            if one.due <= now:
                one.turn(now)
        closed = selectors.DefaultSelector()
        with closed:
            for one in besiegers:
                if one.connection is not None:
                    closed.register(one.connection, selectors.EVENT_READ, one)
            time.sleep(0.005)
            for key, _ in closed.select(0.02):
                with suppress(BlockingIOError):
                    try:
                        gone = not key.data.connection.recv(1, socket.MSG_PEEK)
                    except OSError as error:
                        gone = not isinstance(error, BlockingIOError)
                    if gone:
                        key.data.close(now)


@contextmanager
def siege(kind: str, port: int, connections: int, seconds: float) -> Iterator[None]:
    """A siege for as long as the block lasts, and no longer than these seconds. The block begins when all are there."""
    context = multiprocessing.get_context("spawn")
    begun = context.Event()
    process = context.Process(target=besiege, args=(kind, port, connections, seconds, begun))
    process.start()
    try:
        assert begun.wait(START_SECONDS), "the siege has not begun"
        yield
    finally:
        process.terminate()
        process.join()


def asked(port: int, number: int, timeout: float = 10.0) -> tuple[int, float]:
    """One request of a neighbour over a connection of its own, in turns for health and an answer: its status (0: none)
    and the seconds that it took.
    """
    begun = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        if number % 2:
            connection.request("GET", "/health")
        else:
            connection.request("POST", "/answer", json.dumps({"text": f"the cat number {number}"}))
        response = connection.getresponse()
        response.read()
        return response.status, time.perf_counter() - begun
    except (OSError, http.client.HTTPException):
        return 0, time.perf_counter() - begun
    finally:
        connection.close()

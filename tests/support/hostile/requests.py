"""Requests of an attacker, numbered: malformed, huge, slow to come to an end, or meant for another server.

`attack` sends one over a connection of its own and says what was wrong with the answer: nothing, for a service that
holds. SECRET stands in every one of them and may appear in no log.
"""

import json
import random
import re
import socket

SECRET = "swordfish"
SECONDS = 30.0
ANSWERS = {200, 400, 403, 404, 405, 408, 413, 414, 415, 421, 422, 431, 501, 503, 505}
HUGE = 3_000_000
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
TRACES = (b"Traceback", b'File "', b".py", b"Error(")
BODIES = [
    b"", b"{", b"[]", b"null", b"3", b'"' + SECRET.encode(), b'{"text": 3}', b'{"texts": {}}', b'{"text": "\\ud800"}',
    b'{"text": "a", "text": "b"}', b'{"text": 1e999}', b'{"text": NaN}', b'{"text": "\xff"}', b"\xff\xfe{\x00}\x00",
    b"[" * 100_000, b'{"a":' * 20_000, b'{"text": ' + b"9" * 50_000 + b"}", b'{"texts": [' + b'"a",' * 5000 + b'"a"]}',
    json.dumps({SECRET: SECRET}).encode(), json.dumps({"text": SECRET, "pairs": [SECRET]}).encode(),
]  # fmt: skip
TEXTS = [
    SECRET * 40, f"{SECRET} " * 2000, "\0" * 500 + SECRET, "\u202e" * 300, "[MASK] [SEP] [CLS] " * 30, "日本語" * 300,
    "a\u0301" * 5000, "<script>alert(1)</script>", "'; DROP TABLE texts; --", "\U0001f600" * 400, "x" * 19_999,
]  # fmt: skip
HEADS = [
    b"GET", b"\0\0\0\0", b"GET / HTTP/9.9", b"POST /answer", b"GET / HTTP/1.1\r\nHost", b"\x16\x03\x01\x02\x00\x01",
    b"GET " + b"/a" * 40_000 + b" HTTP/1.1", b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000, b"PRI * HTTP/2.0",
    b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 10_000, b"GET / HTTP/1.1\r\nX: a\0b", b"GET / HTTP/1.1\r\n: a",
    b"POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1", b"\r\n" * 2000,
    b"POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + b"9" * 5000,
    b"POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 4",
    b"POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a",
]  # fmt: skip
PATHS = [
    "/../../etc/passwd",
    f"/{SECRET}",
    "/%00",
    "//answer",
    "/answer/",
    "*",
    "http://elsewhere/",
    "/?a=" + "b" * 5000,
]


def post(
    body: bytes, path: str = "/answer", more: str = "", length: int | None = None, host: str = "127.0.0.1"
) -> bytes:
    """A request with a body; length: the one that it claims to have."""
    size = len(body) if length is None else length
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\n{more}Content-Length: {size}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


def chunked(body: bytes, ends: bool) -> bytes:
    """A body in chunks, without a length before it."""
    head = b"POST /answer HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    pieces = [body[start : start + 50_000] for start in range(0, len(body), 50_000)]
    sent = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return head + sent + (b"0\r\n\r\n" if ends else b"zz\r\n\r\n")


def request(number: int) -> tuple[str, bytes, bool]:
    """The request of a number: its kind, its bytes, and whether the client leaves without waiting for the answer."""
    rng = random.Random(number)
    kind = ("bytes", "head", "body", "text", "huge", "chunks", "cut", "path", "form", "header", "leaves", "good")[
        number % 12
    ]
    if kind == "bytes":
        return kind, rng.randbytes(rng.choice((1, 60, 5000))) + b"\r\n\r\n", False
    if kind == "head":
        return kind, rng.choice(HEADS) + b"\r\n\r\n", False
    if kind == "body":
        return kind, post(rng.choice(BODIES)), False
    if kind == "text":
        return kind, post(json.dumps({"text": rng.choice(TEXTS)}).encode()), False
    if kind == "huge":
        return kind, post(b" " * rng.choice((300_000, HUGE))), False
    if kind == "chunks":
        return kind, chunked(b'{"text": "' + b"a" * rng.choice((10, 300_000, HUGE)), rng.random() < 0.5), False
    if kind == "cut":  # claims more than it sends, and leaves
        return kind, post(b'{"text": "', length=rng.choice((11, 100_000, 10**9))), True
    if kind == "path":
        method = rng.choice(("GET", "PUT", "DELETE", "TRACE", "CONNECT", SECRET.upper()))
        return (
            kind,
            f"{method} {rng.choice(PATHS)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode(),
            False,
        )
    if kind == "form":
        form = rng.choice(
            (b"text=%ff", b"text=</textarea><script>" + SECRET.encode(), b"&" * 10_000, b"text=\xff", b"=" * 99)
        )
        return kind, post(form, "/", "Content-Type: application/x-www-form-urlencoded\r\n"), False
    if kind == "header":
        more = rng.choice(
            ("Content-Encoding: gzip\r\n", f"X-{SECRET}: {SECRET}\r\n", "Expect: 100-continue\r\n", "Range: a\r\n")
        )
        return (
            kind,
            post(b'{"text": "a"}', more=more, host=rng.choice(("127.0.0.1", "evil.example", "[::1", ""))),
            False,
        )
    if kind == "leaves":
        return kind, post(json.dumps({"text": rng.choice(TEXTS[2:5])}).encode()), True
    return kind, post(json.dumps({"text": f"the {SECRET} number {number}"}).encode()), False


def attack(number: int, port: int) -> str:
    """Send the request of a number; what is wrong with the answer, or nothing."""
    kind, sent, leaves = request(number)
    try:
        answer = exchanged(sent, leaves, kind in ("bytes", "head"), port)
    except TimeoutError:
        return f"{number} ({kind}): no answer within {SECONDS:g} seconds"
    except (ConnectionResetError, BrokenPipeError):
        answer = b""
    status = int(found[1]) if (found := STATUS.match(answer)) else None
    if kind == "good" and status != 200:
        return f"{number} (good): {status}"
    if (status is not None and status not in ANSWERS) or any(trace in answer for trace in TRACES):
        return f"{number} ({kind}): {answer[:200]!r}"
    if b"<script" in answer:
        return f"{number} ({kind}): not escaped"
    return ""


def exchanged(sent: bytes, leaves: bool, half: bool, port: int) -> bytes:
    """Send bytes over a new connection; what comes back until it is closed. half: say that no more will come."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        connection.sendall(sent)
        if leaves:
            return b""
        if half:
            connection.shutdown(socket.SHUT_WR)
        found = b""
        while piece := connection.recv(65_536):
            found += piece
        return found.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
